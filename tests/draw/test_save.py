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
from autokit.draw import scene, svg
from autokit.draw.themes import THEMES, palette, recolour
from tests.draw import graphs
from tests.draw.graphs import EXAMPLES, HOSTILE, timeline
from tests.draw.standard import STANDARD
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


@pytest.mark.parametrize("form", [form for form in FORMS if form != "gif"])
def test_a_graph_is_saved_in_every_form_but_one(form: str, tmp_path: Path) -> None:
    assert saved(graphs.diamond(), tmp_path, form)


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


def test_a_png_has_the_size_of_the_picture(tmp_path: Path) -> None:
    require("matplotlib")
    from PIL import Image

    picture = scene(graphs.diamond())
    for scale in (1, 2):
        image = Image.open(io.BytesIO(saved(graphs.diamond(), tmp_path, "png", scale=scale)))
        assert image.size == pytest.approx((picture.width * scale, picture.height * scale), abs=1.5)


@pytest.mark.parametrize("name", ["matmul_mlp", "conv_net", "square"])
def test_a_png_shows_what_the_svg_shows(name: str) -> None:
    """Each box has its colour where the scene says that it stands, and its texts lie inside of it."""
    require("matplotlib")
    import numpy as np
    from PIL import Image

    from autokit.draw.mpl import figure, png

    picture = scene(STANDARD[name]())
    pixels = np.asarray(Image.open(io.BytesIO(png(svg(picture), 1))).convert("RGB"))
    fills = {"leaf": (237, 244, 251), "constant": (246, 246, 244), "operation": (255, 255, 255)}
    for box in picture.boxes:
        x, y = int(box.x + box.width - 6), int(box.y + box.height / 2)
        assert tuple(pixels[y, x]) == fills[box.node.kind]
    made = figure(svg(picture))
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(made).get_renderer()
    shown = [text for text in made.axes[0].texts if text.get_text()]
    assert len(shown) > len(picture.boxes)
    for text in shown:
        area = text.get_window_extent(renderer)
        left, right = area.x0, area.x1
        top, bottom = picture.height - area.y1, picture.height - area.y0
        holders = [
            b
            for b in picture.boxes
            if b.x < text.get_position()[0] < b.x + b.width and b.y < text.get_position()[1] < b.y + b.height
        ]
        for box in holders:
            assert box.x <= left and right <= box.x + box.width + 0.5, text.get_text()
            assert box.y <= top + 0.5 and bottom <= box.y + box.height + 0.5, text.get_text()


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


def test_a_frame_laid_together_is_the_picture_drawn_at_once() -> None:
    require("matplotlib")
    import numpy as np
    from PIL import Image

    from autokit.draw.mpl import Painter, png
    from autokit.draw.svg import paper, pieces

    story = timeline(graphs.mlp())
    picture = scene(story)
    painter = Painter(picture.width, picture.height, "dark", 1)
    for step in (3, len(story) - 1, 3):
        state = story.state(step)
        laid = painter.paint([paper(picture.width, picture.height), *pieces(picture, state)])
        alone = Image.open(io.BytesIO(png(recolour(svg(picture, state), "dark"), 1))).convert("RGBA")
        assert alone.getpixel((0, 0))[3] == 0  # beside a round corner a dark page stays dark
        whole = Image.alpha_composite(Image.new("RGBA", alone.size, "#ffffff"), alone).convert("RGB")
        away = np.abs(np.asarray(laid, np.float64) - np.asarray(whole, np.float64)).max(-1)
        assert away.max() < 200 and (away > 24).mean() < 2e-3


def test_a_letter_that_the_first_face_lacks_is_drawn_in_one_that_has_it() -> None:
    require("matplotlib")
    from matplotlib.font_manager import get_font

    from autokit.draw.mpl import _families, faces

    (first, *others) = faces()
    assert first == "DejaVu Sans" and len(others) > 5
    assert _families("loss ∂ Σ ж") == [first]
    assert _families("\U0010fffd") == [first]  # which no face has
    lacked = {code for name in others for code in get_font(faces()[name]).get_charmap()}
    lacked -= set(get_font(faces()[first]).get_charmap())
    for code in sorted(code for code in lacked if code > 0x24F)[:20]:
        _, other = _families(f"a{chr(code)}")
        assert get_font(faces()[other]).get_char_index(code)


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


@pytest.mark.parametrize("name", [*EXAMPLES, "way back"])
def test_every_colour_has_a_counterpart(name: str) -> None:
    drawn = svg(ak.graph(dead(), backward=True)) if name == "way back" else svg(EXAMPLES[name]())
    known = palette("dark")
    assert set(re.findall(r' (?:fill|stroke)="(#\w+)"', drawn)) <= set(known)
    assert recolour(drawn, "light") == drawn


def test_a_name_that_looks_like_a_colour_stays_a_name() -> None:
    b = graphs.Builder()
    b.add(label=' fill="#ffffff"', value=1.0)
    root = ET.fromstring(recolour(svg(b.graph()), "dark"))
    assert ' fill="#ffffff"' in {
        "".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")
    }


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
        assert {element.tag.split("}")[1] for element in root.iter()} <= {
            "svg",
            "title",
            "g",
            "rect",
            "path",
            "polygon",
            "text",
            "tspan",
        }
        assert not BAD.search(drawn)
    assert "&lt;script&gt;" in svg(shown, show=FACTS)
    assert "<script" not in draw.html(shown, show=FACTS)
