"""The layers of a model as an HTML table, in the colours of the page, light or dark."""

from __future__ import annotations

from autokit.draw.escape import isolate, markup
from autokit.graphs.layers import COLUMNS, Layer, LayerTable, rows, totals

_INDENT = 1.4


def html(table: LayerTable) -> str:
    """A table with a row for each layer, indented as the modules are nested, and the totals below."""
    heads = "".join(
        f'<th scope="col" align="{"left" if place < 3 else "right"}">{name}</th>'
        for place, name in enumerate(COLUMNS)
    )
    body = "".join(_row(layer, note, cells) for _, layer, note, cells in rows(table))
    below = "".join(f"<div>{markup(line)}</div>" for line in totals(table))
    return (
        f'<div><table aria-label="Layers of the model"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table>{below}</div>"
    )


def _row(layer: Layer, note: str, cells: tuple[str, ...]) -> str:
    name = f"{markup(isolate(layer.name))}: " if layer.depth else ""
    words = f"{name}<b>{markup(isolate(layer.kind))}</b>" + (f" ({markup(isolate(note))})" if note else "")
    indent = f"padding-left: {0.5 + layer.depth * _INDENT:g}em"
    others = "".join(
        f'<td align="{"left" if place < 2 else "right"}">{markup(isolate(cell))}</td>'
        for place, cell in enumerate(cells)
    )
    style = f"{indent}; font-weight: normal; white-space: nowrap"
    head = f'<th scope="row" align="left" style="{style}">{words}</th>'
    return f"<tr>{head}{others}</tr>"
