"""The code of the widgets for the browser: the JavaScript files of ``browser/`` are joined to one module.

Each file there is a module of its own that says what it takes from which
other.  A notebook takes one file, so they are put one after the other, each
after those that it imports.  What they import of one another and export for
that stays behind, and so do comments, indents and spaces, which are for the
readers of the source.  No two files may give one name to what stands at their top level.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from autokit.draw.themes import of_thumbnails

FOLDER = Path(__file__).parent / "browser"

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=const|function)", re.MULTILINE)
_PART = re.compile(
    r"""
    (?P<text> "(?:\\.|[^"\\])*" | `(?:\\.|\$\{(?:[^`{}]|\{[^`{}]*\}|`[^`]*`)*\}|[^`\\])*` )
  | (?P<pattern> (?<=[(!])/(?![/*])(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\[])+/[a-z]* )
  | (?P<comment> /\*.*?\*/ | //[^\n]* )
  | (?P<space> \s+ )
  | (?P<code> [^\s"`/]+ | / )
    """,
    re.DOTALL | re.VERBOSE,
)
"""What a source is made of; in code a pattern follows a bracket or a "!", and a division does not."""

_OPENS, _CLOSES = frozenset("{,([=>&|?:"), frozenset("})],.?:&|;")


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
    r"""The same code, without its comments and without the air that is for readers; texts stay whole.

    >>> lean('const a = "x  y"; // said\n  b = a - -1;')
    'const a="x  y";\nb=a- -1;\n'
    """
    out = ""
    gap = ""
    for part in _PART.finditer(source):
        if part["space"] or part["comment"]:
            gap = "\n" if "\n" in gap + part[0] else " "
            continue
        if gap and out and _is_needed(gap, out[-1], part[0][0]):
            out += gap
        gap = ""
        out += part[0]
    return out + "\n"


def _is_needed(gap: str, before: str, after: str) -> bool:
    """Whether code means something else without the ``gap`` between two of its signs."""
    if gap == "\n":  # it may end a statement
        return before not in _OPENS and after not in _CLOSES
    return (_is_in_a_word(before) and _is_in_a_word(after)) or (before == after and before in "+-")


def _is_in_a_word(sign: str) -> bool:
    return sign.isalnum() or sign in "_$"
