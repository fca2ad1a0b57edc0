"""The player's code as the browser gets it: the files of ``browser/`` as one module.

Each file there is a module of its own that says what it takes from which
other.  A notebook takes one file, so they are put one after the other, each
after those that it imports.  What they import of one another and export for
that stays behind, and so do comments and indents, which are for the readers of
the source.  No two files may give one name to what stands at their top level.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "browser"

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z]+\.js)";\n', re.MULTILINE)
_COMMENT = re.compile(r"/\*\*.*?\*/ ?|(?:^|[ \t])// [^\n]*", re.MULTILINE | re.DOTALL)
_EXPORT = re.compile(r"^export (?=const|function)", re.MULTILINE)
_INDENT = re.compile(r"\n\s+")
_AIR = re.compile(
    r"[ ](=>|===|!==|&&|\|\||\?\?|<=|>=|\?\?=|\+=|-=)[ ]"
    r"|(?<=[\w)])[ ](?=\{$)|(?<=\bif)[ ](?=\()|(?<=,[ ]\{)[ ]|(?<=\(\{)[ ]|\n(?=\})",
    re.MULTILINE,
)
_NAMED = re.compile(r"^(const|let) (\w+|[\[{][\w:, ]+[\]}]) = ", re.MULTILINE)


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
    """The style sheet of the player."""
    return (FOLDER / "player.css").read_text(encoding="utf-8")


def _collect(name: str, files: dict[str, str]) -> None:
    """Add ``name`` to ``files``, after what it imports."""
    source = (FOLDER / name).read_text(encoding="utf-8")
    for needed in _IMPORT.findall(source):
        if needed not in files:
            _collect(needed, files)
    # No text in these files spans lines, so that what a line begins with is for readers too.
    bare = _INDENT.sub("\n", _EXPORT.sub("", _COMMENT.sub("", _IMPORT.sub("", source)))).lstrip()
    # Nor is any of these signs in a text: they stand in code alone, where nobody reads the air around them.
    files[name] = _NAMED.sub(r"\1 \2=", _AIR.sub(_without_air, bare))


def _without_air(found: re.Match[str]) -> str:
    return found[1] or ""
