"""The monitor: the numbers on the screen are those of the run, and it stands still when the run ends."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import autokit as torch
from autokit import nn, optim
from autokit.graphs.summary import number
from autokit.widgets.monitor import POINTS, Monitor, _lines
from tests.widgets.live import show
from tests.widgets.test_playground import pictures


def run(steps: int = 40, poison: int = -1, done: bool = True) -> Monitor:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = optim.SGD(model.parameters(), lr=0.05)
    x = torch.randn(8, 3)
    watch = torch.monitor(model, optimizer, total=steps, every=4)
    with watch if done else nullcontext():
        for step in range(steps):
            optimizer.zero_grad()
            loss = (model(x) - 1).pow(2).mean()
            if step == poison:
                loss = (loss - 100).log()
            loss.backward()
            optimizer.step()
            watch.step(loss)
    return watch


def test_the_traits_stand_exactly_at_the_end() -> None:
    watch = run()
    assert (watch.steps, watch.total, watch.running, watch.alarm) == (40, 40, False, "")
    assert watch.loss == watch._watch.history.losses[-1] and watch.learning_rate == 0.05
    assert repr(watch) == "Monitor(40 steps, 2 layers)"


def test_the_still_is_a_figure_and_a_table_and_the_same_on_every_run() -> None:
    watch = run()
    ((alt, drawn),) = pictures(watch)
    assert alt.startswith("After 40 steps of 40 the loss is") and "<path" in drawn
    lines = watch.still()["text/plain"].splitlines()
    assert [line.split()[0] for line in lines[3:]] == ["0", "1", "2"]
    assert watch.still() == run().still()
    assert len(watch.figure().axes) == 3, "a learning rate that never changes takes no chart"


def test_a_run_that_fails_still_has_its_still() -> None:
    model = nn.Linear(1, 1)
    watch = torch.monitor(model, optim.SGD(model.parameters()))
    with pytest.raises(ZeroDivisionError), watch:
        _ = 1 / 0
    assert not watch.running and watch.still()["text/plain"].startswith("No step was taken so far.")


def test_a_long_run_is_sent_as_means() -> None:
    sent = _lines(range(10_000), [(float(k),) for k in range(10_000)])
    assert len(sent) <= POINTS * 8 and _lines([], []) == b""
    assert np.frombuffer(sent, "<f4")[-2:].tolist() == [9999, 9999], "it ends where the run does"


def fake(*losses: float, rates: Any = (0.1,), scale: str | None = None) -> Monitor:
    """A run of these losses, with the learning rates in turn."""
    model = nn.Linear(1, 1)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    watch = torch.monitor(model, optimizer, scale=scale)
    for step, loss in enumerate(losses):
        optimizer.param_groups[0]["lr"] = rates[step % len(rates)]
        watch.step(loss)
    watch.finish()
    return watch


def test_the_scale_of_the_losses_is_said_and_stays() -> None:
    steps = (2.0, 1.9, 1e-6, 0.0, 3.0)
    for count in range(1, 6):
        watch = fake(*steps[:count])
        assert watch._told["powers"] and watch.figure().axes[0].get_yscale() == "log"
        assert watch._told["title"].startswith("Loss, in powers of ten")
    assert watch._told["title"].endswith("(1 at 0 or below are left out)")
    for watch in (fake(-1.0, 5.0, 1e-3), fake(*steps, scale="even")):
        assert watch._told["title"] == watch.figure().axes[0].get_title() == "Loss, in even steps"
        assert watch.figure().axes[0].get_yscale() == "linear"
    with pytest.raises(ValueError, match="'powers' or 'even', got 'log'"):
        fake(1.0, scale="log")


def test_the_headline_is_where_the_curve_ends(open_page: Callable[..., Any]) -> None:
    noisy = [1.5 + math.sin(7 * k) for k in range(1000)]
    steady, decayed = fake(*noisy), fake(*noisy, rates=(0.1, 0.05))
    for shown in show(open_page(), steady, decayed):
        charts = shown.locator.locator(".ak-charts section:visible")
        titles = charts.locator("h2").all_inner_texts()
        assert ("Learning rate" in titles) == (shown.widget is decayed) and titles[
            0
        ] == "Loss, in powers of ten"
        headline = float(shown.locator.locator(".ak-fact b").nth(1).inner_text())
        assert headline == pytest.approx(noisy[-1], abs=1e-4)
        dot = charts.first.locator(".ak-dot")
        x, y = (float(dot.get_attribute(name)) for name in ("cx", "cy"))
        end = charts.first.locator(".ak-curve").get_attribute("d").rpartition("L")[2]
        np.testing.assert_allclose([x, y], [float(each) for each in end.split(",")], atol=0.06)
        figures = shown.widget.figure().axes
        assert len(figures) == len(titles)
        assert figures[0].lines[-1].get_ydata()[-1] == noisy[-1]


def test_what_is_on_the_screen_is_what_python_says(open_page: Callable[..., Any]) -> None:
    watch = run()
    (shown,) = show(open_page(), watch)
    place, history = shown.locator, watch._watch.history
    facts = place.locator(".ak-fact b").all_inner_texts()
    assert facts == ["40 of 40", number(history.losses[-1]), "0.05"]
    rows = [row.locator("th, td").all_inner_texts() for row in place.locator("tbody tr").all()]
    assert [row[0] for row in rows] == ["0 · Linear", "1 · ReLU", "2 · Linear"]
    assert [rows[0][1], rows[2][1]] == [f"{norm:.3g}" for norm in history.norms[-1]]
    assert [rows[0][2], rows[2][2]] == [f"{ratio:.3g}" for ratio in history.ratios[-1]]
    assert rows[1][3] == "{} of {}".format(*history.dead["1 · ReLU"])
    curve = place.locator(".ak-charts section").first.locator(".ak-curve").get_attribute("d")
    assert len(re.findall("[ML]", curve)) == 40
    assert place.locator("[role=progressbar]").get_attribute("aria-valuenow") == "40"
    assert place.get_by_role("region", name="Ranks").is_hidden()
    watch.ranks = [[0.5, 2.0, 0.1], [0.7, 1.0, 1.1]]
    watch._tell()
    shown.update()
    row = place.get_by_role("row").filter(has_text="1.10 s").inner_text()  # waits for the drawing
    assert row.split("\t") == ["1", "0.7", "1.00 s", "1.10 s"]


def test_the_alarm_is_told_and_a_layer_chosen(open_page: Callable[..., Any]) -> None:
    watch = run(poison=9)
    (shown,) = show(open_page(), watch)
    alarm = shown.page.get_by_role("alert").inner_text()
    assert alarm == f"✗ {watch.alarm}" and "from log" in alarm
    shown.page.get_by_role("button", name="2 · Linear").focus()
    shown.page.keyboard.press("Enter")
    shown.page.wait_for_selector(".ak-charts [data-mark]")
    shown.page.wait_for_timeout(50)
    assert watch.selected == "2 · Linear"
    assert shown.close() == 0


def test_it_follows_the_run(open_page: Callable[..., Any]) -> None:
    model = nn.Linear(1, 1)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    watch = torch.monitor(model, optimizer, every=1)
    (shown,) = show(open_page(), watch)
    assert shown.locator.locator(".ak-phase").inner_text() == "Running"
    for _ in range(3):
        loss = model(torch.ones(2, 1)).pow(2).mean()
        loss.backward()
        optimizer.step()
        watch.step(loss)
    watch.finish()
    shown.update()
    shown.page.wait_for_function("document.querySelector('.ak-fact b').textContent === '3'")
    assert shown.locator.locator(".ak-phase").inner_text() == "Done"
    assert shown.locator.locator("[role=progressbar]").is_hidden(), "nobody said how many steps there will be"
