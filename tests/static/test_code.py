"""Generated code: it gives what the interpreter gives, can be read, and keeps its hands off what others hold."""

from __future__ import annotations

import linecache
import threading
from collections import namedtuple
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autokit.static.emit_numpy import build
from autokit.static.graph import Graph
from autokit.static.memory import ALIGNMENT, plan_memory
from autokit.static.passes import PASSES, run_passes
from autokit.static.passes import blocks as blocks_pass
from autokit.static.traced import Tape
from tests.static.programs import STEPS, assert_agrees, traced


@settings(max_examples=400)
@given(STEPS)
def test_code_computes_what_the_interpreter_computes(steps: list[Any]) -> None:
    assert_agrees(traced(steps))


@settings(max_examples=400)
@given(STEPS, st.lists(st.sampled_from(list(PASSES)), max_size=6))
def test_no_pass_changes_what_is_computed(steps: list[Any], names: list[str]) -> None:
    graph = traced(steps)
    assert_agrees(graph, run_passes(graph, names)[-1].after if names else graph)


@settings(max_examples=400)
@given(STEPS)
def test_blocks_compute_the_same(steps: list[Any]) -> None:
    graph = traced(steps)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks_pass, "LARGE", 1)
        assert_agrees(graph, run_passes(graph)[-1].after)
