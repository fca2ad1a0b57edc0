"""The moments by which a story is told where nobody can play it."""

from __future__ import annotations

from autokit.graphs.model import Timeline


def moments(timeline: Timeline) -> list[tuple[int, str]]:
    """The first operation, the turn, two moments of the way back, and the end: steps, and what is told there.

    On the way back these are the first gradient that is passed on, and the last contribution that met
    another one; where none did, the second gradient.
    """
    chapters: dict[str, list[int]] = {}
    for step in timeline.steps:
        chapters.setdefault(step.kind, []).append(step.chapter)
    back = sorted(set(chapters.get("select", ())))
    met = [(k, step.sentence) for k, step in enumerate(timeline.steps) if step.instead]
    places = {*chapters.get("value", ())[:1], *chapters.get("turn", ()), *back[:1], *back[1 : 2 - bool(met)]}
    told = [timeline.chapters[k] for k in (*places, len(timeline.chapters) - 1)]
    return sorted({*met[-1:], *((each.last, each.sentence) for each in told)})
