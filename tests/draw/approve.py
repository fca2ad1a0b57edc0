"""The approved pictures of the ten standard graphs: ``python -m tests.draw.approve`` takes them anew.

Look at each before you commit it: alignment, overlap, contrast, calm.  They
are small, so that a box that moved or a colour that changed is seen, and the
face of a machine's letters is not.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from autokit.draw import svg
from autokit.draw.themes import recolour
from tests.draw.standard import STANDARD
from tests.support import chromium_path

APPROVED = Path(__file__).parent / "approved"
_WIDEST, _BLOCK = 420, 6


def pictures() -> dict[str, str]:
    """All that is approved, as SVG: each graph in light, and three in dark."""
    light = {name: svg(make()) for name, make in STANDARD.items()}
    dark = {f"{name}_dark": recolour(light[name], "dark") for name in ("diamond", "matmul_mlp", "conv_net")}
    return light | dark


def shot(page: Any, drawn: str) -> Any:
    """What the browser shows, made small."""
    from PIL import Image

    page.set_content(f'<body style="margin:0">{drawn}')
    image = Image.open(io.BytesIO(page.locator("svg").screenshot())).convert("RGB")
    scale = min(1.0, _WIDEST / image.width)
    return image.resize((round(image.width * scale), round(image.height * scale)), Image.Resampling.LANCZOS)


def difference(one: Any, other: Any) -> float:
    """The part of the blocks of two images that differ clearly; 1 where they differ in size."""
    if any(abs(a - b) > 2 for a, b in zip(one.size, other.size, strict=True)):
        return 1.0
    wide, high = (min(a, b) // _BLOCK for a, b in zip(one.size, other.size, strict=True))

    def blocks(image: Any) -> np.ndarray:
        pixels = np.asarray(image.convert("RGB"), np.float64)[: high * _BLOCK, : wide * _BLOCK]
        return pixels.reshape(high, _BLOCK, wide, _BLOCK, 3).mean((1, 3))

    return float((np.abs(blocks(one) - blocks(other)).max(-1) > 32).mean())


def main() -> None:
    from PIL import Image
    from playwright.sync_api import sync_playwright

    APPROVED.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 3200, "height": 2400})
        for name, drawn in pictures().items():
            small = shot(page, drawn).quantize(96, dither=Image.Dither.NONE)
            small.save(APPROVED / f"{name}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
