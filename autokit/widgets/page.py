"""A widget as one HTML document that works offline, with its code, its styles, and a substitute for Python.

The document asks nothing of the network, and says so: its Content-Security-Policy
allows the two blocks of code and style written here, by their hash, and
pictures that are part of the file.  Without scripts it shows the still.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping
from typing import Any

from autokit.widgets.script import bundle

_CSS = """
:root { color-scheme: light dark; }
body { margin: 0; padding: 1rem;
  background: light-dark(#ffffff, #14171a); color: light-dark(#1c2024, #e6e8ea);
  font-family: system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 75rem; margin: 0 auto; }
h1 { font-size: 1.1rem; font-weight: 600; margin: 0 0 0.75rem; }
noscript img { max-width: 100%; }
"""

_MODEL_JS = "{\nconst traits = traitsOfThePage();\nconst model = makeModel(traits);\n"

_STYLE = re.compile(r'<style>.*?</style>| style="[^"]*"', re.DOTALL)
"""What the policy does not allow in a still, and who sees it there does not need."""

_RENDER_JS = 'render({ model, el: document.getElementById("autokit-player") });\n}\n'

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
<script type="application/json" id="autokit-traits">{traits}</script>
<script type="module">{code}</script>
</body>
</html>
"""


def page(title: str, css: str, code: str, traits: Mapping[str, Any], still: str, stand_in: str = "") -> str:
    """A document in which the widget of ``code`` runs with ``traits``, and no kernel.

    Parameters
    ----------
    title : str
        The page's title and heading.
    css, code : str
        The widget's.
    traits : mapping
        What its model holds, as JSON knows it; bytes too.
    still : str
        HTML to show where no scripts run.
    stand_in : str
        JavaScript for what a kernel would do when the ``model`` changes.
    """
    css += _CSS
    code += bundle("model.js") + _MODEL_JS + stand_in + _RENDER_JS
    policy = (
        f"default-src 'none'; script-src {_hash(code)}; style-src {_hash(css)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return _PAGE.format(
        policy=policy,
        title=html.escape(title),
        css=css,
        still=_STYLE.sub("", still),
        traits=_json_in_html(traits),
        code=code,
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json_in_html(value: object) -> str:
    # No text in it can then end the script element or open a comment.
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_bytes).replace("<", "\\u003c")


def _bytes(value: Any) -> dict[str, str]:
    return {"& bytes": base64.b64encode(bytes(value)).decode()}
