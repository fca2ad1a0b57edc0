"""What a notebook shows: small tensors by their numbers, stories by their moments, all of it in its theme."""

from __future__ import annotations

import base64
import re
from html import unescape
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import autokit as ak
from autokit import nn
from autokit.draw import mimebundle, themes
from autokit.draw.numbers import numbers
from autokit.graphs.moments import moments
from autokit.graphs.summary import summarize
from autokit.widgets.page import page as widget_page
from tests.draw import graphs
from tests.draw.graphs import timeline
from tests.support import require


def images(html: str) -> list[str]:
    return [base64.b64decode(data).decode() for data in re.findall(r'<img [^>]*base64,([^"]*)"', html)]


def texts(array: Any) -> list[str]:
    drawn = numbers(summarize(np.asarray(array)))
    assert drawn is not None
    texts = ["".join(text.itertext()) for text in ET.fromstring(drawn[0]) if text.tag.endswith("text")]
    return [text for text in texts if text]


def told(values: np.ndarray) -> list[str]:
    return [f"{value:.4g}".replace("-", "−") for value in values.ravel().tolist()]


def test_a_small_tensor_shows_each_of_its_numbers() -> None:
    rng = np.random.default_rng(0)
    for shape in ((7,), (3, 4), (10, 10), (1, 1)):
        array = rng.normal(size=shape).astype(np.float32)
        assert texts(array) == told(array)
    assert texts([True, False]) == ["True", "False"] and texts([np.nan, -np.inf]) == ["nan", "−inf"]
    assert numbers(summarize(np.ones(101))) is None and numbers(summarize(np.array(2.0))) is None
    assert numbers(summarize(np.ones((2, 21)))) is None, "wider than a page"


def test_slices_stand_apart_with_their_places_and_a_long_row_is_folded() -> None:
    array = np.arange(24.0).reshape(2, 3, 4)
    assert texts(array) == ["[0]", *told(array[0]), "[1]", *told(array[1])]
    deeper = texts(np.zeros((1, 2, 2, 2)))
    assert deeper[::5] == ["[0, 0]", "[0, 1]"]
    drawn = numbers(summarize(np.zeros(25)))
    assert texts(np.zeros(25)) == ["0"] * 25 and drawn is not None
    assert len(set(re.findall('<rect x="(.*?)"', drawn[0]))) == 10


def test_numbers_are_told_beside_a_tensors_table_and_above_its_graph() -> None:
    w = ak.tensor([[1.5, -2.0]], requires_grad=True)
    for tensor, pictures, last in ((w, 1, "−2"), (w * 2, 2, "−4")):
        bundle = mimebundle(tensor)
        assert bundle["text/plain"] == repr(tensor)
        drawn = images(bundle["text/html"])
        assert len(drawn) == pictures and f">{last}<" in drawn[0]
        assert min(float(size) for size in re.findall(r'font-size="(\d+)"', drawn[0])) >= 13
    assert len(images(mimebundle(ak.ones(20, 20))["text/html"])) == 1


# ------------------------------------------------------------ stories


def test_a_story_is_told_in_up_to_five_moments_with_their_sentences() -> None:
    a, b = ak.tensor(3.0, requires_grad=True), ak.tensor(-2.0, requires_grad=True)
    story = ak.record((a * b + a) ** 2)
    chosen = moments(story)
    assert len(chosen) == 5
    kinds = [story.steps[step].kind for step, _ in chosen]
    assert kinds == ["value", "turn", "accumulate", "accumulate", "finish"]
    assert story.steps[chosen[3][0]].instead, "two contributions meet"
    html = mimebundle(story)["text/html"]
    sentences = re.findall("<p>(.*?)</p>", html)
    assert sentences == [f"Step {step + 1} of {len(story)}. {words}" for step, words in chosen]
    drawn = images(html)
    assert len(set(drawn)) == 5 and "12.0" not in drawn[0] and "12.0" in drawn[-1]
    assert ak.animate(story).still()["text/html"].count("<img") == 5
    assert html == mimebundle(story)["text/html"]


def test_a_talk_has_a_fragment_for_each_chapter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOKIT_TALK", "1")
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    story = ak.record(nn.functional.cross_entropy(model(ak.randn(8, 64)), ak.arange(8)))
    fragments = mimebundle(story)["text/html"].split('<div class="fragment ')[1:]
    told = [unescape(re.findall(r"<p>Step (\d+) of \d+\. (.*?)</p>", each)[0][1]) for each in fragments]
    assert len(told) > 10 and told == [chapter.sentence for chapter in story.chapters]


def test_a_story_of_large_pictures_has_three_moments() -> None:
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    story = ak.record(nn.functional.cross_entropy(model(ak.randn(8, 64)), ak.arange(8)))
    html = mimebundle(story)["text/html"]
    assert len(images(html)) == 3 and len(html) < 300_000
    assert "Now the order is flipped" in html and "have their gradients" in html


def test_a_story_without_a_way_back_has_the_moments_that_there_are() -> None:
    for story in (timeline(graphs.product()), timeline(graphs.mlp())):
        steps = [step for step, _ in moments(story)]
        assert steps == sorted(set(steps)) and steps[-1] == len(story) - 1


def test_a_page_made_by_nbconvert_tells_the_story(monkeypatch: pytest.MonkeyPatch) -> None:
    require("nbconvert")
    import nbformat
    from nbconvert import HTMLExporter

    shown: list[dict[str, Any]] = []
    monkeypatch.setattr("autokit.widgets.live.display", lambda data, **_: shown.append(data))
    player = ak.animate(timeline(graphs.product()))
    player._ipython_display_()
    cell = nbformat.v4.new_code_cell("ak.animate(loss)")
    cell.outputs = [nbformat.v4.new_output("display_data", data) for data in shown]
    page, _ = HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    assert page.count('class="ak-still"') == len(moments(player.timeline)) >= 3
    assert all(sentence in page for _, sentence in moments(player.timeline))
    assert "Player(" not in page


# ------------------------------------------------------------ the theme


def paper_of(page: Any, html: str, around: str) -> str:
    """The colour of the middle of the image's upper margin, where it stands in ``around``."""
    require("matplotlib")  # which brings Pillow
    import io

    from PIL import Image

    page.set_content(around.format(html))
    page.wait_for_function("() => [...document.images].every((image) => image.complete)")
    shot = Image.open(io.BytesIO(page.locator("img").first.screenshot())).convert("RGB")
    return "#{:02x}{:02x}{:02x}".format(*shot.getpixel((shot.width // 2, 4)))


@pytest.mark.parametrize("system", ["light", "dark"])
def test_a_still_and_a_chart_have_the_theme_of_their_notebook(
    chromium: Any, system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("matplotlib")
    shown: list[dict[str, str]] = []
    monkeypatch.setattr("IPython.display.display", lambda data, **_: shown.append(data))
    ak.plot.heatmap(ak.eye(3), title="a map").figure._ipython_display_()
    assert shown[0]["text/plain"] == "A chart, a map"
    chart = shown[0]["text/html"]
    stills = [
        mimebundle(graphs.diamond())["text/html"],
        mimebundle(timeline(graphs.product()))["text/html"],
        chart,
    ]
    light, dark = themes.PAPER, themes.palette("dark")[themes.PAPER]
    page = chromium.new_page(color_scheme=system)
    body = '<body data-jp-theme-light="{}">{{}}'
    for still in stills:
        assert paper_of(page, still, body.format("true")) == light
        assert paper_of(page, still, body.format("false")) == dark
        assert paper_of(page, still, '<body class="vscode-dark">{}') == dark
        # What takes styles away, as GitHub, shows the system's.
        bare = re.sub("<style>.*?</style>", "", still)
        assert paper_of(page, bare, "{}") == (light if system == "light" else dark)
    fixed = ak.draw.html(graphs.diamond(), theme="dark")
    assert paper_of(page, fixed, body.format("true")) == dark
    page.close()


def test_every_colour_of_a_still_has_a_dark_one() -> None:
    (drawn,) = images(mimebundle(graphs.mlp())["text/html"])
    body, style = drawn.split("<style>")
    for aspect, colour in set(re.findall(r' (fill|stroke)="(#\w{6})"', body)):
        assert f'[{aspect}="{colour}"],' in style, colour
    assert (
        "<style"
        not in widget_page("t", "", "", {}, mimebundle(graphs.mlp())["text/html"]).split("<noscript>")[1]
    )
