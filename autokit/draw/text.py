"""A graph as text: a table for terminals and screen readers, and the alternative text of a picture."""

from __future__ import annotations

from autokit.draw.card import WAY_BACK, describe, marks_text, shape_text
from autokit.draw.escape import in_a_line, isolate
from autokit.draw.fold import Fold
from autokit.draw.metrics import columns
from autokit.draw.part import LIMIT, Part, part
from autokit.graphs.model import NOT_COMPUTED, NOT_KEPT, Graph, Node, Summary, Timeline

_STORY = 12
"""How many nodes the story tells one by one."""

_HEAD = ("#", "name", "operation", "inputs", "shape", "dtype", "value")
_WIDEST = 40
_NO_VALUE = {"failed": "failed", **dict.fromkeys(WAY_BACK, "")}
_INPUTS = 4


def text(data: Graph | Timeline, *, limit: int = LIMIT, depth: int | None = None) -> str:
    """The graph as a plain table: one line for each node, in the order of the forward evaluation.

    Parameters
    ----------
    data : Graph or Timeline
    limit : int
        How many lines to write at most; the last ones say what is left out.
    depth : int, optional
        How many levels of modules to list; left out, as the graph's own view says.
    """
    graph = data.graph if isinstance(data, Timeline) else data
    drawn = part(graph, limit, depth)
    inputs = _inputs(drawn)
    rows = [(node.id, _row(node, inputs.get(i, []))) for i, node in enumerate(drawn.nodes)]
    for i, fold in enumerate(drawn.folds, len(drawn.nodes)):
        rows.append((fold.nodes[-1], _fold_row(fold, inputs.get(i, []))))
    cells = [(*_HEAD, graph.view.slopes), *(row for _, row in sorted(rows))]
    widths = [max(map(columns, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(map(_padded, row, widths)).rstrip() for row in cells]
    if drawn.left_out:
        lines.append(f"… {drawn.left_out} not listed")
    if graph.left_out:
        lines.append(isolate(graph.left_out))
    return "\n".join(lines).replace("−", "-")  # as in the program, to be copied


def story(graph: Graph, drawn: Part) -> str:
    """What is computed from what, in order: the newest dozen nodes told, the others counted."""
    if not drawn.nodes:
        return "An empty computation graph."
    inputs = _inputs(drawn)
    tellers = [(node.id, 1, _sentence(node, inputs.get(i, []))) for i, node in enumerate(drawn.nodes)]
    tellers += [
        (fold.nodes[-1], len(fold.nodes), _fold_sentence(fold, inputs.get(i, [])))
        for i, fold in enumerate(drawn.folds, len(drawn.nodes))
    ]
    told = sorted(tellers)[-_STORY:]
    count = len(graph.nodes) - len(drawn.numbers)
    earlier = count - sum(held for _, held, _ in told)
    kind = "Way back" if graph.nodes[0].kind in ("backward", "accumulate") else "Computation graph"
    sentences = [f"{kind} of {count:,} node{'s' * (count != 1)}."]
    if earlier:
        sentences.append(f"After {earlier:,} earlier:")
    sentences += [sentence for _, _, sentence in told]
    if drawn.left_out:
        sentences.append(f"Not drawn: {drawn.left_out}.")
    if graph.left_out:
        sentences.append(isolate(graph.left_out))
    return " ".join(sentences)


def _inputs(drawn: Part) -> dict[int, list[str]]:
    """For each box the names that it reads, in the order of its operands; many are cut short."""
    names = [_shown(node.name) for node in drawn.nodes] + [_shown(fold.title) for fold in drawn.folds]
    box = drawn.boxes()
    inputs: dict[int, list[str]] = {}
    edges = (*drawn.edges, *drawn.bundles, *drawn.cut, *(e for e in drawn.said if e.target in box))
    for edge in sorted(edges, key=lambda edge: (edge.target, edge.slot, edge.id)):
        name = names[box[edge.source]] if edge.source in box else drawn.numbers.get(edge.source, "…")
        inputs.setdefault(box[edge.target], []).append(name)
    for target, read in inputs.items():
        if len(read) > _INPUTS:
            inputs[target] = [*read[: _INPUTS - 1], f"{len(read) - _INPUTS + 1} more"]
    return inputs


def _row(node: Node, inputs: list[str]) -> tuple[str, ...]:
    return (
        str(node.id),
        _shown(node.name),
        _shown(node.operation if node.kind == "operation" else node.kind),
        ", ".join(inputs),
        shape_text(node.shape),
        _shown(node.dtype),
        _content(node.value, _NO_VALUE.get(node.kind, NOT_KEPT)),
        _content(node.gradient, NOT_COMPUTED if node.requires_grad else ""),
    )


def _fold_row(fold: Fold, inputs: list[str]) -> tuple[str, ...]:
    ids = f"{min(fold.nodes)}–{max(fold.nodes)}"
    what = f"{_shown(fold.caption)}: {fold.holds}" if fold.caption else fold.holds
    return ids, _shown(fold.title), what, ", ".join(inputs), shape_text(fold.shape), "", "folded", ""


def _fold_sentence(fold: Fold, inputs: list[str]) -> str:
    what = f"{_shown(fold.title)}{f' ({_shown(fold.caption)})' if fold.caption else ''}"
    return f"{what}: {fold.holds}, folded, of {' and '.join(inputs) or 'nothing'}."


def _sentence(node: Node, inputs: list[str]) -> str:
    what = _shown(describe(node))
    if node.kind in WAY_BACK:
        saves = f", saves {_shown(', '.join(node.saved))}" if node.saved else ""
        takes = f", takes from {' and '.join(inputs)}" if inputs else ""
        return f"{_shown(node.name)}: {what}{takes}{saves}, gradient {_content(node.gradient, NOT_COMPUTED)}."
    if node.kind == "failed":
        return f"{_shown(node.operation)} of {' and '.join(inputs)} failed: {isolate(' '.join(node.marks))}"
    if node.kind == "operation" and inputs:
        what = f"{_shown(node.operation)} of {' and '.join(inputs)}"
        what += f", shape {shape_text(node.shape)}" if node.shape else ""
    gradient = f", gradient {_content(node.gradient, NOT_COMPUTED)}" if node.gradient else ""
    return f"{_shown(node.name)}: {what}, value {_content(node.value, NOT_KEPT)}{gradient}."


def _content(summary: Summary | None, otherwise: str) -> str:
    if summary is None:
        return otherwise
    marks = marks_text(summary)
    return _shown(summary.text) + (f" ({marks})" if marks else "")


def _shown(words: str) -> str:
    """A name or a value fit for a line: not too long, visible, its reading direction kept to itself."""
    return in_a_line(words, _WIDEST)


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - columns(cell))
