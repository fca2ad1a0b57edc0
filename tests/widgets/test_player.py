"""The player's Python side: traits that refuse nonsense, and an output without an address."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import traitlets

from autokit import draw
from autokit.graphs.model import Timeline
from autokit.widgets import Player
from autokit.widgets.payload import payload
from autokit.widgets.still import in_its_place
from tests.widgets import timelines


@pytest.fixture
def player() -> Player:
    return Player(timelines.product())


def test_repr_names_no_address(player: Player) -> None:
    assert repr(player) == "Player(3 nodes, 20 steps)"


def test_output_is_the_still_and_the_widget(
    player: Player, story: Timeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[dict[str, Any]] = []
    monkeypatch.setattr("autokit.widgets.live.display", lambda data, **_: shown.append(data))
    player._ipython_display_()
    still, live = shown
    bundle = draw.mimebundle(story)
    assert still == {**bundle, "text/html": in_its_place(bundle["text/html"])}
    assert bundle["text/html"] in still["text/html"]
    assert live.pop("application/vnd.jupyter.widget-view+json")["model_id"] == player.model_id
    assert live == {"text/plain": ""}, "so that no viewer shows the still twice, or a stray name"


def test_the_picture_can_be_asked_for(story: Timeline) -> None:
    player = Player(story, direction="TB", limit=2, step=3)
    assert player.step == 3
    assert player._svg == payload(story, direction="TB", limit=2)["_svg"] != Player(story)._svg


def test_play_pause_seek(player: Player) -> None:
    player.play()
    assert player.playing
    player.pause()
    assert not player.playing
    player.seek(-1)
    assert player.step == 19
    player.play()
    assert player.step == 0, "from the end it begins anew"
    for beyond in (20, -21):
        with pytest.raises(IndexError, match=f"step {beyond} is out of range: there are 20 steps"):
            player.seek(beyond)
    with pytest.raises(TypeError):
        player.seek(1.5)  # type: ignore[arg-type]


def test_step_stays_within_the_timeline(player: Player) -> None:
    player.step = 99
    assert player.step == 19
    player.step = -5
    assert player.step == 0
    with pytest.raises(traitlets.TraitError, match="expected an int"):
        player.step = "three"  # type: ignore[assignment]


def test_coarse_grain_stands_on_the_ends_of_chapters(player: Player, story: Timeline) -> None:
    player.step = 6
    player.grain = "coarse"
    assert player.step == story.chapters[5].last
    player.step = story.chapters[2].first
    assert player.step == story.chapters[2].last
    player.grain = "fine"
    player.step = 6
    assert player.step == 6


def test_traits_refuse_what_makes_no_sense(player: Player) -> None:
    with pytest.raises(
        traitlets.TraitError, match=r"names no node: 'c'; there are n0 \(a\), n1 \(b\), n2 \(c\)"
    ):
        player.selected = "c"
    with pytest.raises(traitlets.TraitError):
        player.speed = 0.0
    with pytest.raises(traitlets.TraitError, match="not nan"):
        player.speed = float("nan")
    with pytest.raises(traitlets.TraitError):
        player.grain = "medium"  # type: ignore[assignment]
    with pytest.raises(traitlets.TraitError, match="read-only"):
        player._svg = ""
    with pytest.raises(TypeError, match=r"ak\.record"):
        Player([1, 2])  # type: ignore[arg-type]


def test_traits_can_be_given_at_once(story: Timeline) -> None:
    player = Player(story, step=6, speed=2.0, selected="n1")
    assert (player.step, player.speed, player.selected) == (6, 2.0, "n1")


@pytest.mark.parametrize("ending", [".html", ".svg", ".json"])
def test_save(player: Player, tmp_path: Path, ending: str) -> None:
    player.save(tmp_path / f"flow{ending}")
    text = (tmp_path / f"flow{ending}").read_text(encoding="utf-8")
    if ending == ".json":
        assert text.rstrip("\n") == player.timeline.to_json() and json.loads(text)
    else:
        assert text.startswith("<!DOCTYPE html>" if ending == ".html" else "<svg")
