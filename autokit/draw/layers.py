"""The layers of a model as an HTML table, in the colours of the page, light or dark."""

from __future__ import annotations

from autokit.draw.escape import isolate, markup
from autokit.draw.table import LEFT, RIGHT, tree
from autokit.graphs.layers import COLUMNS, Layer, LayerTable, rows, totals

_SIDES = [("left", LEFT)] * 3 + [("right", RIGHT)] * 2


def html(table: LayerTable) -> str:
    """A table with a row for each layer, which begins with the lines of a tree, and the totals below."""
    heads = "".join(
        f'<th scope="col" align="{side}" style="{style}">{name}</th>'
        for (side, style), name in zip(_SIDES, COLUMNS)
    )
    body = "".join(_row(marks, layer, note, cells) for marks, layer, note, cells in rows(table))
    below = "".join(f"<div>{markup(line)}</div>" for line in totals(table))
    return (
        f'<div><table aria-label="Layers of the model"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table>{below}</div>"
    )


def _row(marks: str, layer: Layer, note: str, cells: tuple[str, ...]) -> str:
    name = f"{markup(isolate(layer.name))}: " if layer.depth else ""
    words = f"{name}<b>{markup(isolate(layer.kind))}</b>" + (f" ({markup(isolate(note))})" if note else "")
    others = "".join(
        f'<td align="{side}" style="{style}">{markup(isolate(cell))}</td>'
        for (side, style), cell in zip(_SIDES[1:], cells)
    )
    style = f"{LEFT}; font-weight: normal; white-space: nowrap"
    return f'<tr><th scope="row" align="left" style="{style}">{tree(marks)}{words}</th>{others}</tr>'
