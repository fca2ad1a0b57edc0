"""A table as HTML for a notebook, and as plain text."""

from __future__ import annotations

from autokit.draw.escape import in_a_line, isolate, markup
from autokit.draw.metrics import columns
from autokit.graphs.model import Table

_WIDEST = 60
_TREE = " │├└─"

LEFT, RIGHT = (f"text-align: {side}; vertical-align: middle; padding-block: 0" for side in ("left", "right"))
"""A notebook's own style moves all cells to the right, where no tree is seen, and parts its lines."""


def table_html(table: Table) -> str:
    """The table as HTML that any viewer shows: one that strips the styles of cells has their ``align``."""
    head = "".join(f'<th align="left" scope="col" style="{LEFT}">{_cell(word)}</th>' for word in table.head)
    rows = "".join(
        f'<tr><th align="left" scope="row" style="{LEFT}">{_cell(row[0])}</th>'
        + "".join(f'<td align="left" style="{LEFT}">{_cell(cell)}</td>' for cell in row[1:])
        + "</tr>"
        for row in table.rows
    )
    header = f"<thead><tr>{head}</tr></thead>" if any(table.head) else ""
    notes = "".join(f"<div>{_cell(note)}</div>" for note in table.notes)
    title = f"<caption>{_cell(table.title)}</caption>"
    return f"<div><table>{title}{header}<tbody>{rows}</tbody></table>{notes}</div>"


def table_text(table: Table) -> str:
    """The table in plain text."""
    cells = [[_shown(cell) for cell in row] for row in (table.head, *table.rows) if any(row)]
    widths = [max(map(columns, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(c + " " * (w - columns(c)) for c, w in zip(row, widths)).rstrip() for row in cells]
    return "\n".join([isolate(table.title), *lines, *map(isolate, table.notes)])


def _shown(words: str) -> str:
    return in_a_line(words, _WIDEST)


def tree(marks: str) -> str:
    """The lines of a tree before a name; who listens hears the name alone."""
    return f'<tt aria-hidden="true">{marks.replace(" ", "&nbsp;")}</tt>' if marks else ""


def _cell(words: str) -> str:
    inner = words.lstrip(_TREE)
    return tree(words[: len(words) - len(inner)]) + markup(_shown(inner))
