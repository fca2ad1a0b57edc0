"""One HTML file that plays offline: nothing asked of the network, and every text shown as text."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import autokit as ak
from autokit.graphs.model import Timeline
from autokit.widgets import save_html
from tests.widgets import timelines
from tests.widgets.pages import open_file, press

HOSTILE = "<script>alert(1)</script>"


def test_hostile_names_are_text(open_page: Callable[..., Any], tmp_path: Path) -> None:
    page = open_page()
    page.on("dialog", lambda dialog: pytest.fail("a name ran as a script"))
    story = timelines.product(a=HOSTILE, b="<!-- ", c='"><img src=x onerror=alert(1)>')
    save_html(story, tmp_path / "flow.html", title=HOSTILE)
    assert "<script>alert" not in (tmp_path / "flow.html").read_text(encoding="utf-8")
    page.goto((tmp_path / "flow.html").as_uri())
    assert page.title() == HOSTILE
    assert HOSTILE in page.locator(".ak-sentence").inner_text()
    page.locator("[data-element=n0]").click()
    assert page.locator(".ak-panel .ak-title").inner_text() == HOSTILE
    page.get_by_role("button", name="Show as table").click()
    assert page.locator(".ak-table tbody th").first.inner_text() == HOSTILE
    assert page.locator("main img").count() == 0 and page.locator("main script").count() == 0


def test_hostile_names_are_text_in_all_that_can_be_asked(
    open_page: Callable[..., Any], tmp_path: Path
) -> None:
    page = open_page(reduced_motion="reduce")
    page.on("dialog", lambda dialog: pytest.fail("a name ran as a script"))
    x, w = ak.tensor([[1.0, -2.0]]), ak.tensor([3.0, 4.0], requires_grad=True)
    x.name, w.name = HOSTILE, '"><img src=x onerror=alert(1)>'
    loss = (x * w).relu().sum()  # "</script><img src=x onerror=alert(2)>"
    loss.name = "]]>--><svg onload=alert(3)>"
    open_file(page, ak.record(loss), tmp_path)
    page.get_by_role("button", name="Code").click()
    assert "onerror=alert(2)" in page.locator(".ak-line").first.inner_text()
    press(page, "End", "ArrowDown", "ArrowDown")
    page.locator(".ak-grid td").last.focus()
    assert w.name in page.locator(".ak-sum").last.inner_text()
    assert w.name in page.locator(".ak-way").first.inner_text()
    page.get_by_text("The account").click()
    assert w.name in page.locator(".ak-account").inner_text()
    page.get_by_role("button", name="Show as table").click()
    assert page.locator("main img").count() == 0 and page.locator("main script").count() == 0


def test_asks_nothing_of_the_network(open_page: Callable[..., Any], story: Timeline, tmp_path: Path) -> None:
    page = open_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    open_file(page, story, tmp_path)
    press(page, "End")
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == [] and len(asked) == 1
    html = (tmp_path / "flow.html").read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy and "default-src 'none'" in policy[1] and "unsafe" not in policy[1]


def test_without_scripts_the_still_shows(
    open_page: Callable[..., Any], story: Timeline, tmp_path: Path
) -> None:
    page = open_page(java_script_enabled=False)
    save_html(story, tmp_path / "flow.html")
    page.goto((tmp_path / "flow.html").as_uri())
    still = page.locator("noscript img, img")
    assert still.is_visible() and still.bounding_box()["width"] > 100


def test_a_timeline_saves_itself_so(story: Timeline, tmp_path: Path) -> None:
    story.save(tmp_path / "a.html", title="T")
    save_html(story, tmp_path / "b.html", title="T")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
