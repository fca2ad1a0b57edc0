"""The player's moments look as approved, within a tolerance that a machine's letters need."""

from __future__ import annotations

from typing import Any

from tests.draw.approve import difference
from tests.support import require
from tests.widgets.approve import APPROVED, MOMENTS, shot

ENOUGH = 0.015


def test_the_moments_look_as_approved(chromium: Any) -> None:
    require("matplotlib")  # which brings Pillow
    from PIL import Image

    shown = {name: shot(chromium, moment) for name, moment in MOMENTS.items()}
    approved = {name: Image.open(APPROVED / f"{name}.png") for name in MOMENTS}
    away = {name: difference(shown[name], approved[name]) for name in MOMENTS}
    assert {name: part for name, part in away.items() if part > ENOUGH} == {}
    assert {path.stem for path in APPROVED.glob("*.png")} == set(MOMENTS)
    assert sum(path.stat().st_size for path in APPROVED.glob("*.png")) < 400_000
    # The measure sees what it is to see: another theme, another step.
    assert difference(shown["accumulate"], approved["accumulate_dark"]) > 0.5
    assert difference(shown["seed"], approved["start"]) > ENOUGH
