"""A timeline as one HTML file that plays offline: the player's code and css, and a stand-in for the kernel.

The file asks nothing of the network, and says so: its Content-Security-Policy
allows the two blocks of code and style written here, by their hash, and
pictures that are part of the file.  Without scripts it shows the still.  The
pictures with a fold open are drawn beforehand, and packed.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from os import PathLike
from pathlib import Path
from typing import Any

from autokit import draw
from autokit.graphs.model import Timeline
from autokit.widgets.folds import packed_folds
from autokit.widgets.payload import payload
from autokit.widgets.script import player_css, player_js

_PAGE_CSS = """
:root { color-scheme: light dark; }
body { margin: 0; padding: 1rem;
  background: light-dark(#ffffff, #14171a); color: light-dark(#1c2024, #e6e8ea);
  font-family: system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 75rem; margin: 0 auto; }
h1 { font-size: 1.1rem; font-weight: 600; margin: 0 0 0.75rem; }
noscript img { max-width: 100%; }
"""

# What anywidget's model does for the player in a notebook, where there is no notebook; with names of its own.
_MODEL_JS = """
{
  const listeners = new Map();
  const told = (name) => JSON.parse(document.getElementById("autokit-" + name).textContent);
  const traits = { step: 0, playing: false, selected: "", speed: 1, grain: "fine", ...told("story") };
  const folds = told("folds");
  async function unpack(packed) {
    const bytes = Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  }
  const model = {
    get: (name) => traits[name],
    set(name, value) {
      if (traits[name] === value) return;
      traits[name] = value;
      for (const call of [...(listeners.get("change:" + name) ?? [])]) call();
    },
    save_changes() {},
    // There is no kernel to ask: of folds there is one open at a time, with those that it is in.
    send({ opened }) {
      const open = opened && (folds.find((fold) => String(fold.opened) === String(opened))
        ?? folds.find((fold) => fold.opened.at(-1) === opened.at(-1)));
      if (!open) throw new Error("that was not drawn beforehand");
      unpack(open.packed).then(({ _svg, _shortened }) => {
        Object.assign(traits, { _opened: open.opened, _shortened });
        model.set("_svg", _svg);
      });
    },
    on: (event, call) => listeners.set(event, [...(listeners.get(event) ?? []), call]),
    off: (event, call) => listeners.set(event, (listeners.get(event) ?? []).filter((one) => one !== call)),
  };
  render({ model, el: document.getElementById("autokit-player") });
}
"""

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{css}</style>
</head>
<body>
<main>
<h1>{title}</h1>
<div id="autokit-player" class="ak-follows-system"></div>
<noscript>{still}</noscript>
</main>
<script type="application/json" id="autokit-story">{story}</script>
<script type="application/json" id="autokit-folds">{folds}</script>
<script type="module">{code}</script>
</body>
</html>
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
    css = player_css() + _PAGE_CSS
    code = player_js() + _MODEL_JS
    policy = (
        f"default-src 'none'; script-src {_hash(code)}; style-src {_hash(css)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    page = _PAGE.format(
        policy=policy,
        title=html.escape(title),
        css=css,
        still=draw.html(timeline, **picture),
        story=_json_in_html(payload(timeline, **picture)),
        folds=_json_in_html(packed_folds(timeline, **picture)),
        code=code,
    )
    Path(path).write_text(page, encoding="utf-8", errors="backslashreplace", newline="\n")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json_in_html(value: object) -> str:
    # No text in it can then end the script element or open a comment.
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
