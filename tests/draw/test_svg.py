"""The markup: well-formed, as the player expects it, and with nothing that a viewer drops."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings

from autokit.draw import scene, svg
from autokit.draw.escape import visible
from autokit.graphs.model import Graph
from tests.draw import graphs
from tests.draw.graphs import EXAMPLES, HOSTILE, drawn_graphs, timeline

SVG = "{http://www.w3.org/2000/svg}"


def parse(drawn: str) -> ET.Element:
    return ET.fromstring(drawn.encode("utf-8"))


@settings(max_examples=60)
@given(drawn_graphs(most=6))
def test_any_names_give_well_formed_xml(graph: Graph) -> None:
    root = parse(svg(graph, layout="layered"))
    elements = [g.get("data-element") for g in root.iter(f"{SVG}g") if g.get("data-element")]
    assert sorted(elements) == sorted(x.element for x in (*graph.nodes, *graph.edges))


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_markup_that_the_player_relies_on(name: str) -> None:
    graph = EXAMPLES[name]()
    root = parse(svg(timeline(graph)))
    groups = {g.get("data-element"): g for g in root.iter(f"{SVG}g") if g.get("data-element")}
    for node in graph.nodes:
        group = groups[node.element]
        assert group.get("data-kind") == node.kind and group.get("data-status")
        assert len(group.findall(f"{SVG}rect[@data-part='box']")) == 1
        for field in ("value", "gradient", "pending"):
            assert len(group.findall(f".//{SVG}text[@data-field='{field}']")) == 1
    for edge in graph.edges:
        group = groups[edge.element]
        assert group.get("data-status")
        assert len(group.findall(f"{SVG}path[@data-part='line']")) == 1
        assert len(group.findall(f"{SVG}polygon[@data-part='arrow']")) == 1
        assert len(group.findall(f"{SVG}text[@data-field='flow']")) == 1
    assert root[0].tag == f"{SVG}title" and root.get("role") == "img"
    assert root.find(f"{SVG}rect[@data-part='paper']") is not None


def test_hostile_names_are_shown_as_they_are() -> None:
    root = parse(svg(graphs.hostile()))
    shown = {"".join(text.itertext()) for text in root.iter(f"{SVG}text")}
    for name in ("<script>alert(1)</script>", "a & b ]]> -->", "\u202egnp.exe"):
        assert name in HOSTILE and visible(name) in shown


def fields(drawn: str, element: str) -> dict[str, str]:
    group = next(g for g in parse(drawn).iter(f"{SVG}g") if g.get("data-element") == element)
    return {t.get("data-field", ""): t.text or "" for t in group.iter(f"{SVG}text") if t.get("data-field")}


def test_a_state_shows_what_it_says() -> None:
    story = timeline(graphs.product())
    picture = scene(story)
    before, after = svg(picture, story.state(1)), svg(picture, story.state(-1))
    assert fields(before, "n2") == {"value": "", "gradient": "—", "pending": ""}
    assert fields(after, "n2") == {"value": "300.0", "gradient": "1.0", "pending": ""}
    assert fields(before, "e0") == {"flow": ""} and fields(after, "e0") == {"flow": "1.0"}
    assert svg(picture) == after


def test_thumbnails_show_only_what_is_known() -> None:
    story = timeline(graphs.mlp())
    picture = scene(story)

    def hidden(step: int) -> list[bool]:
        root = parse(svg(picture, story.state(step)))
        group = next(g for g in root.iter(f"{SVG}g") if g.get("data-element") == "n1")
        found = {g.get("data-part"): g for g in group.iter(f"{SVG}g")}
        return [found[part].get("display") == "none" for part in ("value-heatmap", "gradient-heatmap")]

    assert hidden(0) == [True, True]
    assert hidden(1) == [False, True]
    assert hidden(-1) == [False, False]
