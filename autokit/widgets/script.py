"""The code of the widgets for the browser: the JavaScript files of ``browser/`` are joined to one module.

Each file there is a module of its own that says what it takes from which
other.  A notebook takes one file, so they are put one after the other, each
after those that it imports.  What they import of one another and export for
that stays behind, and so do comments, indents and empty lines, which are for
the readers of the source.  No two files may give one name to what stands at their top level.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from autokit.draw.themes import of_thumbnails

FOLDER = Path(__file__).parent / "browser"

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=const|function)", re.MULTILINE)
_COMMENT = re.compile(r"/\*[\s\S]*?\*/|(?<!\S)//.*")
"""No text of the sources holds what looks like a comment: a test sees to it."""


def player_js() -> str:
    """The source of the player, one ES module that imports nothing."""
    return bundle("player.js")


@cache
def bundle(name: str) -> str:
    """The file ``name`` and all that it imports, as one ES module."""
    files: dict[str, str] = {}
    _collect(name, files)
    return "".join(files.values())


def player_css() -> str:
    """The style sheet of the player and of its picture, whose thumbnails turn dark with the page."""
    written = "".join((FOLDER / name).read_text(encoding="utf-8") for name in ("player.css", "picture.css"))
    thumbnail = '.ak-stage g[data-part$="-heatmap"]'
    rules = [
        f'{thumbnail} [{aspect}="{light}"] {{ {aspect}: light-dark({light}, {dark}); }}\n'
        for light, dark in of_thumbnails().items()
        for aspect in ("fill", "stroke")
    ]
    return written + "".join(rules)


def _collect(name: str, files: dict[str, str]) -> None:
    """Add ``name`` to ``files``, after what it imports."""
    source = (FOLDER / name).read_text(encoding="utf-8")
    for needed in _IMPORT.findall(source):
        if needed not in files:
            _collect(needed, files)
    files[name] = lean(_EXPORT.sub("", _IMPORT.sub("", source)))


def lean(source: str) -> str:
    r"""The same code, without its comments, indents and empty lines, which are for readers.

    >>> lean('a = 1; // said\n\n  b = `${a}`;')
    'a = 1;\nb = `${a}`;\n'
    """
    return re.sub(r"\s*\n\s*", "\n", _COMMENT.sub("", source)).strip() + "\n"
