"""One palette: a colour has one meaning, in Python as in the browser, and is seen on light and dark pages."""

from __future__ import annotations

import re
from base64 import b64decode
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import autokit as ak
from autokit.draw import scene, svg, themes
from autokit.draw.heatmap import Heatmap, cells
from autokit.draw.thumbnail import Histogram, bars
from autokit.widgets.script import FOLDER
from tests.draw import graphs, standard
from tests.draw.graphs import timeline
from tests.draw.test_save import light

PACKAGE = Path(ak.__file__).parent
MEANINGS = {
    "forward": themes.FORWARD,
    "backward": themes.BACKWARD,
    "plus": themes.PLUS,
    "minus": themes.MINUS,
    "wrong": themes.ALARM,
    **{f"way-{place}": colour for place, colour in enumerate(themes.SERIES)},
}


def contrast(one: str, other: str) -> float:
    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_browser_has_the_same_palette_and_no_other_file_writes_one_of_its_colours() -> None:
    dark = themes.palette("dark")
    sheet = (FOLDER / "player.css").read_text("utf-8")
    said = dict(re.findall(r"--ak-([\w-]+): light-dark\((#\w+, #\w+)\)", sheet))
    for name, colour in MEANINGS.items():
        assert said[name] == f"{colour}, {dark[colour]}", name
    ours = {colour for each in MEANINGS.values() for colour in (each, dark[each])} | {*themes.ON_BOTH}
    places = {PACKAGE / "draw" / "themes.py", FOLDER / "player.css"}
    for file in (each for kind in ("py", "js", "css") for each in PACKAGE.rglob(f"*.{kind}")):
        written = set(re.findall(r"#[0-9a-f]{6}\b", file.read_text("utf-8").lower()))
        assert file in places or not written & ours, file


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_has_a_meaning_is_seen_and_numbers_are_read(theme: str) -> None:
    def shown(colour: str) -> str:
        return themes.palette(theme).get(colour, colour)

    for colour in MEANINGS.values():
        assert contrast(shown(colour), shown(themes.PAPER)) >= 4.5, colour
        assert contrast(shown(colour), shown(themes.CARD)) >= 4.5, colour
    for colour in (themes.GREY, themes.NOT_FINITE, *themes.ON_BOTH):
        assert contrast(shown(colour), shown(themes.PAPER)) >= 3, colour
    for strongest in themes.ON_BOTH:
        cells = [themes.mixed(shown(themes.PAPER), strongest, part / 8) for part in range(9)]
        assert all(contrast(cell, shown(themes.ON_EITHER)) >= 4.5 for cell in cells)
    for level in range(-themes.LEVELS, themes.LEVELS + 1):
        assert contrast(shown(themes.shade(level)), shown(themes.ink_on_shade(level))) >= 4.5, level


def test_a_number_is_green_above_zero_and_purple_below_wherever_it_stands() -> None:
    heat = cells(Heatmap((2.0, -2.0, 0.0), 1, 3, 11.0), 0, 0)
    shown = re.findall(r'h11" fill="none" stroke="(#\w+)"', heat)
    assert shown == [themes.MINUS, themes.shade(0), themes.PLUS]
    told = bars(Histogram((3, 5), -1.0, 1.0, 72.0, 30.0), 0, 0)
    assert re.findall('fill="(#.{6})"', told) == [themes.MINUS, themes.PLUS]
    drawn = svg(timeline(graphs.product()))
    signed = re.findall(r'data-sign="(.)"[^>]* fill="(#\w+)"[^>]*>([^<]*)', drawn)
    assert {number for _, _, number in signed} >= {"300.0", "1.0"}
    for sign, colour, number in signed:
        below = number.startswith(("-", "−"))
        assert (sign, colour) == (("−", themes.MINUS) if below else ("+", themes.PLUS)), number


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_gradient_goes_back_along_an_arrow_that_points_back(sign: float) -> None:
    a = ak.tensor(3.0, requires_grad=True)
    story = ak.record((a * sign).exp())
    picture = scene(story)
    for step in (1, len(story) - 1):
        root = ET.fromstring(svg(picture, story.state(step)))
        for line in picture.lines:
            group = next(g for g in root.iter() if g.get("data-element") == line.edge.element)
            parts = {part.get("data-part"): part for part in group}
            tip = tuple(map(float, parts["arrow"].get("points", "").split()[0].split(",")))
            back = group.get("data-status") == "backward"
            assert back == (step > 1 and line.edge.requires_grad)
            assert tip == pytest.approx(line.points[0 if back else -1], abs=0.1)
            colour = themes.PLUS if sign > 0 or line.edge.target == len(story.graph) - 1 else themes.MINUS
            assert parts["arrow"].get("fill") == (colour if back else themes.GREY)
    assert "Gradients go back along the arrows." in svg(picture)
    assert "Gradients go back" not in svg(standard.diamond())


def test_a_way_back_points_on_as_its_boxes_stand() -> None:
    a = ak.tensor(3.0, requires_grad=True)
    picture = scene(ak.graph(a.exp(), backward=True))
    tips = [tuple(map(float, tip)) for tip in re.findall(r'points="([\d.]+),([\d.]+) ', svg(picture))]
    assert tips == [pytest.approx(line.points[-1], abs=0.1) for line in picture.lines]


def test_a_playgrounds_arrows_point_back_live_and_still() -> None:
    board = ak.playground(lambda a: a * a, a=(-2.0, 2.0))
    still = b64decode(re.search(r"base64,([^\"]*)", board.still()["text/html"])[1]).decode()
    for drawn in (board._svg, still):
        tips = re.findall(r'data-status="backward".*?points="([\d.]+),([\d.]+) ', drawn)
        ends = [pytest.approx(each.points[0], abs=0.1) for each in board._scene.lines]
        assert [tuple(map(float, tip)) for tip in tips] == ends
