"""Every form of a file: it opens, shows the same, is the same on every run, and no text is markup in it."""

from __future__ import annotations

import io
import json
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import autokit as ak
from autokit import draw
from autokit.draw import svg
from autokit.draw.themes import THEMES, recolour
from tests.draw import graphs
from tests.draw.graphs import HOSTILE, timeline
from tests.support import printed_by, require

FORMS = ("svg", "png", "pdf", "html", "dot", "gif", "json")


def saved(data, folder: Path, form: str, **options) -> bytes:
    path = folder / f"flow.{form}"
    data.save(path, **options)
    return path.read_bytes()


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_on_every_run(form: str, tmp_path: Path) -> None:
    if form in ("png", "pdf", "gif"):
        require("matplotlib")
    story = timeline(graphs.product())
    assert saved(story, tmp_path, form) == saved(story, tmp_path, form) != b""


LIMITED = """
import resource, signal, sys
import autokit as ak
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
a = ak.tensor([1.0, 2.0], requires_grad=True)
story = ak.record((a * a).sum())
story.save(sys.argv[1])
before = open(sys.argv[1], "rb").read()
resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
try:
    (story if sys.argv[1].endswith("gif") else story.graph).save(sys.argv[1])
except OSError:
    print(open(sys.argv[1], "rb").read() == before)
"""


@pytest.mark.parametrize("form", FORMS)
def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(form: str, tmp_path: Path) -> None:
    if form in ("png", "pdf", "gif"):
        require("matplotlib")
    path = tmp_path / f"flow.{form}"
    assert printed_by(f"import sys; sys.argv.append({str(path)!r})\n{LIMITED}") == "True\n"
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_saved_so_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="story"):
        graphs.diamond().save(tmp_path / "a.gif")
    with pytest.raises(ValueError, match=r"\.png"):
        graphs.diamond().save(tmp_path / "a.bmp")
    with pytest.raises(ValueError, match="theme"):
        graphs.diamond().save(tmp_path / "a.svg", theme="pink")
    with pytest.raises(ValueError, match="grain"):
        timeline(graphs.product()).save(tmp_path / "a.gif", grain="raw")
    with pytest.raises(ValueError, match="frames"):
        timeline(graphs.product()).save(tmp_path / "a.gif", frames=0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["png", "pdf", "gif"])
def test_without_matplotlib_it_is_said_how_to_get_it(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for name in ("mpl", "animation"):
        monkeypatch.delitem(sys.modules, f"autokit.draw.{name}", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"matplotlib, which comes with pip install .*\[lab\]"):
        saved(timeline(graphs.product()), tmp_path, form)


def test_a_gif_has_a_frame_for_each_chapter_or_step(tmp_path: Path) -> None:
    require("matplotlib")
    from PIL import Image

    a = ak.tensor(2.0, requires_grad=True)
    story = ak.record(a * a)
    for grain, count in (("coarse", len(story.chapters)), ("fine", len(story.steps))):
        image = Image.open(io.BytesIO(saved(story, tmp_path, "gif", grain=grain, seconds=0.5)))
        # Pillow joins frames that look alike, and lets them stand longer.
        assert 1 < image.n_frames <= count
        stands = 0
        for frame in range(image.n_frames):
            image.seek(frame)
            stands += image.info["duration"]
        assert stands == 500 * (count + 2)
    image = Image.open(io.BytesIO(saved(story, tmp_path, "gif", grain="fine", seconds=0.5, frames=3)))
    assert image.n_frames <= 3
    assert b"Computation graph of 2 nodes" in (tmp_path / "flow.gif").read_bytes()


# ------------------------------------------------------------ themes


def light(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", THEMES)
def test_every_text_has_contrast_in_every_theme(theme: str) -> None:
    pictures = [svg(timeline(graphs.mlp())), svg(graphs.odd_values()), svg(ak.graph(dead(), backward=True))]
    papers, inks = set(), set()
    for drawn in pictures:
        shown = recolour(drawn, theme)
        papers |= set(re.findall(r'data-part="(?:paper|box|badge)"[^>]*? fill="(#\w+)"', shown))
        inks |= set(re.findall(r'<text [^>]*? fill="(#\w+)"', shown))
    assert len(papers) > 1 and len(inks) >= 4
    for ink in inks:
        for paper in papers:
            high, low = sorted((light(ink), light(paper)), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 4.5, (theme, ink, paper)


def dead() -> ak.Tensor:
    x = ak.tensor([[1.0, -1.0], [2.0, -3.0]], requires_grad=True)
    return x.relu().sum()


# ------------------------------------------------------------ escaping

BAD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e]")


@pytest.mark.parametrize("form", ["svg", "html", "dot", "json"])
def test_hostile_names_are_text_in_every_form(form: str, tmp_path: Path) -> None:
    raw = saved(graphs.hostile(), tmp_path, form)
    words = raw.decode("utf-8")
    if form == "json":  # data: as they are, and JSON escapes what it must
        assert [node["label"] for node in json.loads(words)["nodes"]][: len(HOSTILE)] == list(HOSTILE)
        return
    assert not BAD.search(words)
    if form == "svg":
        ET.fromstring(raw)
    if form in ("svg", "html"):
        assert "<script" not in words and "<img src=x" not in words and "<b>left" not in words
    if form == "dot":
        assert "label=<" not in words and "\\\\u202egnp.exe" in words


def test_a_hostile_dot_file_is_read_by_graphviz_as_text(tmp_path: Path) -> None:
    from autokit.draw import embedded

    words = saved(graphs.hostile(), tmp_path, "dot").decode("utf-8")
    placed = [line for line in embedded.plain(words).splitlines() if line.startswith("node")]
    assert len(placed) == len(graphs.hostile())


def test_hostile_source_lines_and_modules_are_text() -> None:
    from dataclasses import replace

    from autokit.graphs.model import Source
    from autokit.graphs.view import FACTS

    graph = graphs.mlp()
    line = Source("<b>.py", 3, "x = '</text><script>alert(1)</script>' # \u202e \x1b & \"q\"")
    nodes = tuple(
        replace(node, source=line, module="<i>", saved=("<s>",), marks=("<m>",)) for node in graph.nodes
    )
    groups = tuple(replace(group, label="<u>&\u202e") for group in graph.groups)
    shown = replace(graph, nodes=nodes, groups=groups)
    for drawn in (svg(shown, show=FACTS), svg(shown, show=FACTS, depth=0)):
        root = ET.fromstring(drawn.encode("utf-8"))
        tags = {element.tag.split("}")[1] for element in root.iter()}
        assert tags <= {"svg", "title", "g", "rect", "path", "polygon", "text", "tspan"}
        assert not BAD.search(drawn)
    assert "&lt;script&gt;" in svg(shown, show=FACTS)
    assert "<script" not in draw.html(shown, show=FACTS)
