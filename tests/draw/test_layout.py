"""The layout engines: each places every rectangle, and one takes over from another."""

from __future__ import annotations

import sys
import threading

import pytest

from autokit.draw import embedded
from autokit.draw.layout import Arrow, Plan, place
from tests.support import require


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


@pytest.mark.parametrize("engine", ["embedded", "layered", "auto", "dot"])
def test_every_engine_places_rectangles_apart_with_arrows_to_the_right(engine: str) -> None:
    if engine == "dot":
        require("dot")
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
