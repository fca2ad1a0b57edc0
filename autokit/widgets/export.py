"""A timeline is saved as one HTML file that plays offline, in any browser.

The pictures in which a folded module is open are drawn beforehand, and compressed.
"""

from __future__ import annotations

from os import PathLike
from typing import Any

from autokit import draw
from autokit.draw.files import write
from autokit.graphs.model import Graph, Timeline
from autokit.widgets.folds import packed_folds
from autokit.widgets.page import page
from autokit.widgets.payload import payload
from autokit.widgets.script import player_css, player_js

_START = {"step": 0, "playing": False, "selected": "", "speed": 1, "grain": "fine"}

# Of folds there is one open at a time, with those that it is in.
_FOLDS_JS = """
async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}
model.send = ({ opened }) => {
  const open = opened && (traits._folds.find((fold) => String(fold.opened) === String(opened))
    ?? traits._folds.find((fold) => fold.opened.at(-1) === opened.at(-1)));
  if (!open) throw new Error("that was not drawn beforehand");
  unpack(open.packed).then(({ _svg, _shortened }) => {
    Object.assign(traits, { _opened: open.opened, _shortened });
    model.set("_svg", _svg);
  });
};
"""


def save_html(
    timeline: Timeline,
    path: str | PathLike[str],
    title: str = "autokit: a computation, step by step",
    **picture: Any,
) -> None:
    """Write one HTML file that plays ``timeline`` in any browser, without a network.

    Parameters
    ----------
    timeline : Timeline
        As made by ``ak.record``.
    path : path-like
        Where to write; a file that stands there is replaced.
    title : str
        The page's title and heading.
    **picture
        ``depth``, ``direction``, ``limit`` and ``show``, as in :func:`autokit.draw.scene`.  Folds open
        one at a time, with those within them; of very many the innermost stay closed.
    """
    traits = {**_START, **payload(timeline, **picture), "_folds": packed_folds(timeline, **picture)}
    still = draw.html(timeline, **picture)
    write(path, page(title, player_css(), player_js(), traits, still, _FOLDS_JS))


def save(data: Graph | Timeline, path: str | PathLike[str], **options: Any) -> None:
    """Write a graph or a story in the form that the ending of ``path`` names; a story's page plays."""
    plays = isinstance(data, Timeline) and str(path).lower().endswith((".html", ".htm"))
    (save_html if plays else draw.save)(data, path, **options)  # type: ignore[arg-type]
