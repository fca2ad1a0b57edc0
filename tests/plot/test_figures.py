"""A figure as a notebook shows it: an image with words; matplotlib's own settings stay."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
from textwrap import dedent

import numpy as np

from autokit.plot.functions import arrow_end, levels
from tests.support import printed_by, require

require("matplotlib")
import matplotlib  # noqa: E402

from autokit.plot.figures import figure, figure_html, style  # noqa: E402


def drawn() -> str:
    with style():
        made, (axes,) = figure(3, 2)
        axes.plot([1, 2], [3, 4])
    return figure_html(made, 'a < "b" & \x07')


def test_it_is_an_image_in_words_and_the_same_on_every_run() -> None:
    alt, source = re.fullmatch(r'<style>.*</style><img alt="(.*?)" .*base64,(.*)">', drawn()).groups()
    assert alt == r"a &lt; &quot;b&quot; &amp; \x07"
    svg = base64.b64decode(source).decode()
    ET.fromstring(svg)
    assert "dc:date" not in svg and drawn() == drawn()


def test_the_style_ends_with_its_block() -> None:
    before = dict(matplotlib.rcParams)
    with style():
        assert matplotlib.rcParams["svg.hashsalt"] == "autokit"
    assert dict(matplotlib.rcParams) == before


def test_levels_lie_between_the_ends() -> None:
    for values in (np.linspace(-1, 1, 50), np.linspace(0, 10, 50) ** 6, np.array([1.0, np.nan, 3.0])):
        lines = levels(values)
        assert len(lines) == 14 and lines == sorted(lines)
        assert np.nanmin(values) < lines[0] and lines[-1] < np.nanmax(values)
    assert levels(np.array([2.0, 2.0])) == [] and levels(np.array([np.nan])) == []


def test_no_gradient_has_no_arrow() -> None:
    ends = (0.0, 6.0), (0.0, 6.0)
    assert arrow_end((1, 1), (0, 0), *ends) is None and arrow_end((1, 1), (np.nan, 0), *ends) is None
    assert arrow_end((1, 1), (0, -9), *ends) == (1.0, 0.0)


def test_a_notebook_shows_the_second_chart_as_well_as_the_first() -> None:
    cell = "ak.plot.heatmap([[1.0]], title='T')"
    program = f"""
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        for cell in ["import autokit as ak", {cell!r}, {cell!r}]:
            shell.run_cell(cell, store_history=False)"""
    inline = "module://matplotlib_inline.backend_inline"
    assert printed_by(dedent(program), MPLBACKEND=inline).count("A chart, T") == 2
