"""Tables for objects without a graph: a notebook shows a module, an optimizer or a data loader as a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from autokit.base.devices import to_numpy
from autokit.engine.tensor import Tensor
from autokit.graphs.model import Table
from autokit.graphs.summary import number
from autokit.nn.module import Module
from autokit.optim import Optimizer
from autokit.utils.data import DataLoader

ROWS = 200
"""A longer table is cut, and says so."""


def table_of(value: Any) -> Table:
    """The table of a module, an optimizer or a loader of data."""
    if isinstance(value, Module):
        return module_table(value)
    return optimizer_table(value) if isinstance(value, Optimizer) else loader_table(value)


def module_table(module: Module) -> Table:
    """The tree of a module: each with its class, its parameters' shapes, and how many numbers it holds."""
    rows: list[tuple[str, ...]] = []
    seen: set[int] = set()
    for depth, name, each in _tree(module):
        again = id(each) in seen
        seen.add(id(each))
        own = [(key, p) for key, p in each._parameters.items() if p is not None]
        shapes = ", ".join(f"{key} {_shape(p)}" for key, p in own)
        settings = each.extra_repr().replace("\n", " ") if not each._modules else ""
        sized = all(map(_known, each.parameters()))
        count = f"{_size(each.parameters()):,}" if sized else "not yet known"
        title = "    " * depth + (name or type(module).__name__)
        rows.append((title, type(each).__name__, settings, shapes, "shared" if again and own else count))
    total, learning = _size(module.parameters()), _size(p for p in module.parameters() if p.requires_grad)
    held = sum(p.array.nbytes for p in module.parameters() if _known(p))
    buffers = _size(module.buffers())
    notes = [f"{total:,} parameters, {learning:,} of them learn; {_bytes(held)}"]
    if buffers:
        notes.append(f"{buffers:,} numbers in buffers, which no optimizer changes")
    notes.append(f"in {'training' if module.training else 'evaluation'} mode")
    head = ("module", "class", "settings", "own parameters", "parameters")
    return _cut(type(module).__name__, head, rows, notes)


def _tree(module: Module) -> Iterator[tuple[int, str, Module]]:
    waiting: list[tuple[int, str, Module]] = [(0, "", module)]
    while waiting:
        depth, name, each = waiting.pop()
        yield depth, name, each
        if depth < 100:  # a module that holds itself would go on for ever
            children = [(depth + 1, key, child) for key, child in each._modules.items() if child is not None]
            waiting += reversed(children)


def optimizer_table(optimizer: Optimizer) -> Table:
    """The parameter groups of an optimizer, with their settings."""
    names = list(
        dict.fromkeys(name for group in optimizer.param_groups for name in group if name != "params")
    )
    rows = []
    for place, group in enumerate(optimizer.param_groups):
        params = group["params"]
        settings = [_setting(group.get(name, "")) for name in names]
        rows.append((str(place), str(len(params)), f"{_size(params):,}", *settings))
    state = sum(1 for group in optimizer.param_groups for p in group["params"] if p in optimizer.state)
    notes = [
        f"{state:,} of the tensors have a state from earlier steps" if state else "no step was taken so far"
    ]
    return _cut(type(optimizer).__name__, ("group", "tensors", "numbers", *names), rows, notes)


def loader_table(loader: DataLoader[Any]) -> Table:
    """What a loader goes through, and in what portions."""
    sampler = getattr(loader, "sampler", None)
    order = type(sampler).__name__ if sampler is not None else "that of the dataset"
    known = {"RandomSampler": "shuffled", "SequentialSampler": "as they stand"}
    rows: list[tuple[str, ...]] = [
        ("dataset", type(loader.dataset).__name__),
        ("samples", _length(loader.dataset)),
        ("batch size", str(loader.batch_size)),
        ("batches", _length(loader)),
        ("order", known.get(order, order)),
        ("last batch", "left out where it is not full" if loader.drop_last else "may be smaller"),
        ("workers", str(loader.num_workers)),
    ]
    return _cut("DataLoader", ("", ""), rows, [])


def _cut(title: str, head: tuple[str, ...], rows: list[tuple[str, ...]], notes: list[str]) -> Table:
    if len(rows) > ROWS:
        notes = [f"{len(rows) - ROWS:,} more rows are left out", *notes]
    return Table(title, head, tuple(rows[:ROWS]), tuple(notes))


def _known(tensor: Tensor) -> bool:
    return not hasattr(tensor, "materialize")  # that of a lazy layer has no shape yet


def _size(tensors: Iterable[Tensor]) -> int:
    return sum(int(tensor.array.size) for tensor in tensors if _known(tensor))


def _shape(tensor: Tensor) -> str:
    return f"[{', '.join(map(str, tensor.shape))}]" if _known(tensor) else "not yet known"


def _bytes(count: int) -> str:
    size, units = float(count), ["bytes", "KB", "MB", "GB"]
    while size >= 1024 and len(units) > 1:
        size /= 1024
        units.pop(0)
    return f"{size:.3g} {units[0]}" if size < 1000 or len(units) == 1 else f"{size:,.0f} {units[0]}"


def _setting(value: Any) -> str:
    if isinstance(value, Tensor):
        value = to_numpy(value.array).tolist()
    if isinstance(value, list | tuple):
        return f"({', '.join(map(_setting, value))})"
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return str(value)
    return number(value) if isinstance(value, int | float) else type(value).__name__


def _length(sized: Any) -> str:
    try:
        return f"{len(sized):,}"
    except TypeError:  # a stream
        return "not known beforehand"
