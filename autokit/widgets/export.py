"""A timeline as one HTML file that plays offline: the player's code and css, and a stand-in for the kernel.

The file asks nothing of the network, and says so: its Content-Security-Policy
allows the two blocks of code and style written here, by their hash, and
pictures that are part of the file.  Without scripts it shows the still.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from os import PathLike
from pathlib import Path

from autokit import draw
from autokit.graphs.model import Timeline
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

# What anywidget's model does for the player in a notebook, where there is no notebook.
_MODEL_JS = """
const listeners = new Map();
const traits = { step: 0, playing: false, selected: "", speed: 1, grain: "fine",
  ...JSON.parse(document.getElementById("autokit-story").textContent) };
const model = {
  get: (name) => traits[name],
  set(name, value) {
    if (traits[name] === value) return;
    traits[name] = value;
    for (const call of [...(listeners.get("change:" + name) ?? [])]) call();
  },
  save_changes() {},
  send() { throw new Error("there is no kernel"); },
  on: (event, call) => listeners.set(event, [...(listeners.get(event) ?? []), call]),
  off: (event, call) => listeners.set(event, (listeners.get(event) ?? []).filter((other) => other !== call)),
};
render({ model, el: document.getElementById("autokit-player") });
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
<script type="module">{code}</script>
</body>
</html>
"""


def save_html(
    timeline: Timeline, path: str | PathLike[str], title: str = "autokit: a computation, step by step"
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
        still=draw.html(timeline),
        story=_json_in_html(payload(timeline)),
        code=code,
    )
    Path(path).write_text(page, encoding="utf-8", errors="backslashreplace", newline="\n")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json_in_html(value: object) -> str:
    # No text in it can then end the script element or open a comment.
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
