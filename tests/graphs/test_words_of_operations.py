"""Every operation has its teaching words, and they can be told: in a formula, by names and by numbers."""

from __future__ import annotations

from string import Formatter

import pytest

import autokit
from autokit.graphs.words import fill
from autokit.ops.operation import OPERATIONS
from tests.ops.case import Case, call, flat
from tests.ops.cases import CASES
from tests.support import require

FIRST_OF_EACH = list({case.name: case for case in reversed(CASES)}.values())


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_an_operation_has_a_symbol_a_formula_and_local_derivatives(name: str):
    operation = OPERATIONS[name]
    templates = [operation.formula, *filter(None, map(operation.local, operation.operands))]
    assert operation.symbol and operation.formula
    if operation.derivatives:
        assert all(map(operation.local, operation.operands)) or "joint" not in operation.derivatives
        assert len(templates) > 1
    known = {*operation.operands, *operation.defaults, "out"}
    for template in templates:
        assert {field for _, field, _, _ in Formatter().parse(template) if field is not None} <= known
        assert not set("{}") & set(fill(template, dict.fromkeys(known, "x")))


@pytest.mark.parametrize("case", FIRST_OF_EACH, ids=lambda case: case.name)
def test_the_story_of_an_operation_is_told_to_its_end(case: Case):
    require("torch")
    tensors = [autokit.tensor(array, requires_grad=array.dtype.kind == "f") for array in case.arrays]
    results = [each for each in flat(call(autokit, case, tensors)) if isinstance(each, autokit.Tensor)]
    learning = [each for each in results if each.requires_grad and not each.dtype.is_complex]
    if not learning:
        return  # a test or a search, through which no gradient flows: there is no way back to tell of
    steps = autokit.record(sum(each.sum() for each in learning)).steps
    assert steps[-1].sentence
    for step in steps:
        assert step.sentence.strip() and not set("{}") & set(step.formula), step


def test_the_story_of_one_complex_number_is_told():
    z = autokit.tensor(1.0 + 2j, requires_grad=True)
    w = autokit.tensor([1.0 + 2j, 3j], requires_grad=True)
    steps = autokit.record((z * z.conj() * w).real.sum()).steps
    travels = [step for step in steps if step.kind == "travel"]
    assert travels and any(step.note == "" for step in travels) and steps[-1].sentence
