"""A model's layers as a table: :func:`summary` runs the model once and says what goes in and out of each.

Multiply-adds are counted where they happen, in the products of matrices and the convolutions that the run
records, and not by the kinds of layers; so those of a learner's own layers count too.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from autokit import random
from autokit.autograd.modes import enable_grad
from autokit.devices import copied
from autokit.nn.module import Module
from autokit.ops.filled import zeros
from autokit.tensor import Tensor
from autokit.thread_state import thread

Shapes = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Layer:
    """One row: a module of the model.

    Attributes
    ----------
    path, depth : str, int
        Where it stands: ``"encoder.0"`` is of depth 2, and the model itself of depth 0.
    name, kind : str
        Its name in the module around it, and its class.
    inputs, outputs : tuple of shapes
        Of the tensors that the first call took and gave.
    calls : int
        How often it ran.
    parameters, trainable : int
        The elements of its own parameters, and how many of them require a gradient; 0 where another row has
        them already.
    multiply_adds : int
        Of its own operations, in all calls.
    shared : str
        The path under which the same module stands above; else empty.
    """

    path: str
    depth: int
    name: str
    kind: str
    inputs: Shapes
    outputs: Shapes
    calls: int
    parameters: int
    trainable: int
    multiply_adds: int
    shared: str


@dataclass(frozen=True)
class LayerTable:
    """What :func:`summary` gives: it prints as text, and shows itself as a table in a notebook.

    Attributes
    ----------
    layers : tuple of Layer
        The rows, in the order of the model's modules.
    parameters, trainable, multiply_adds : int
        Of the whole model.
    parameter_bytes, buffer_bytes, input_bytes, output_bytes : int
        The memory of the parameters, of the buffers, of what went in, and of what the innermost layers gave.
    shown_depth : int or None
        Rows deeper than that are left out of what is shown.
    """

    layers: tuple[Layer, ...]
    parameters: int
    trainable: int
    multiply_adds: int
    parameter_bytes: int
    buffer_bytes: int
    input_bytes: int
    output_bytes: int
    shown_depth: int | None = None

    def __repr__(self) -> str:
        return text(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from autokit.draw.layers import html

        return {"text/plain": text(self), "text/html": html(self)}


def summary(model: Module, *inputs: Any, depth: int | None = None, **keywords: Any) -> LayerTable:
    """The layers of ``model``: what goes in and out, parameters, multiply-adds and memory.

    Parameters
    ----------
    model : Module
        It runs once, in evaluation; its parameters, buffers, hooks, modes and gradients stay as they are, and
        so does the random generator.
    *inputs, **keywords
        What ``forward`` takes: tensors, or shapes such as ``(1, 784)``, for which zeros go in.
    depth : int, optional
        Show only the outer levels; what is inside counts in the totals nevertheless.

    Returns
    -------
    LayerTable
        ``print`` it, or leave it at the end of a cell; its attributes hold the numbers.

    Raises
    ------
    RuntimeError
        If ``forward`` fails; names the layer and what it was given.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit import nn
    >>> print(torch.summary(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), (5, 3)))
    Layer         Input  Output  Parameters  Multiply-adds
    Sequential    5×3    5×2
    ├─ 0: Linear  5×3    5×4             16             60
    ├─ 1: ReLU    5×4    5×4
    └─ 2: Linear  5×4    5×2             10             40
    <BLANKLINE>
    26 parameters, all trainable: 104 bytes
    100 multiply-adds
    input: 60 bytes; outputs of the layers: 200 bytes
    """
    if not isinstance(model, Module):
        raise TypeError(f"summary(): argument 'model' must be a Module, not {type(model).__name__}")
    if any(getattr(each, "has_uninitialized_params", bool)() for each in model.modules()):
        model = copy.deepcopy(model)  # running it would give the lazy layers their shapes
    dtype, device = _kind_of(model)
    made = [_as_input(each, dtype, device) for each in inputs]
    named = {name: _as_input(each, dtype, device) for name, each in keywords.items()}
    run = _Run(model)
    with ExitStack() as stack:
        for around in (_as_found(model), run.watching(), random.fork_rng(), enable_grad()):
            stack.enter_context(around)
        try:
            model(*made, **named)
        except Exception as error:
            raise run.failed(error) from error
    return _table(model, run, (made, named), depth)


def _kind_of(model: Module) -> tuple[Any, Any]:
    tensors: list[Tensor] = [*model.parameters(), *model.buffers()]
    for each in tensors:
        if each.is_floating_point():
            return each.dtype, each.device
    return None, None


def _as_input(value: Any, dtype: Any, device: Any) -> Any:
    """What goes into the model for ``value``: a copy, since a model may change what it gets."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    if isinstance(value, tuple | list):
        if value and all(isinstance(each, int) and not isinstance(each, bool) for each in value):
            return zeros(tuple(value), dtype=dtype, device=device)
        return type(value)([_as_input(each, dtype, device) for each in value])
    return value


@contextmanager
def _as_found(model: Module) -> Iterator[None]:
    """Evaluate ``model`` with all parameters learning, and leave modes and buffers as they were found."""
    modes = [(module, module.training) for module in model.modules()]
    frozen = [each for each in model.parameters() if not each.requires_grad and each.is_floating_point()]
    before = [(each, copied(each.array)) for each in model.buffers()]
    model.eval()
    for each in frozen:
        each.requires_grad_(True)  # so that their products are recorded, and count
    try:
        yield
    finally:
        for each in frozen:
            each.requires_grad_(False)
        for buffer, array in before:
            buffer.array[...] = array
        for module, training in modes:
            module.training = training


# ---------------------------------------------------------------- the run


class _Run:
    """What happened while the model ran."""

    def __init__(self, model: Module) -> None:
        self.model = model
        self.paths = {id(module): path for path, module in reversed([*model.named_modules()])}
        self.running: list[tuple[Module, Shapes]] = []
        self.calls: dict[int, list[tuple[Shapes, Shapes]]] = {}
        self.output_bytes = 0
        self.multiply_adds: dict[int, int] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        state = thread.state
        modules = [*self.model.modules()]
        before = [module.__dict__["_hooks"] for module in modules]
        watchers = state.watchers
        handles = []
        try:
            for module in modules:
                handles.append(
                    module.register_forward_pre_hook(self._begins, with_kwargs=True)  # after the others
                )
                handles.append(module.register_forward_hook(self._ends))
            state.watchers = (*watchers, self._count)
            yield
        finally:
            state.watchers = watchers
            for handle in handles:
                handle.remove()
            for module, hooks in zip(modules, before):
                module.__dict__["_hooks"] = hooks

    def _begins(self, module: Module, args: Any, kwargs: Any) -> None:
        self.running.append((module, _shapes((args, kwargs))))

    def _ends(self, module: Module, args: Any, output: Any) -> None:
        while self.running:
            running, inputs = self.running.pop()
            if running is module:
                break
        self.calls.setdefault(id(module), []).append((inputs, _shapes(output)))
        if not module._modules:
            self.output_bytes += sum(each.array.nbytes for each in _tensors(output))

    def _count(self, node: Any) -> None:
        count = _PRODUCTS.get(node.operation.name)
        if count is not None:
            module = node.scope[1]() if node.scope is not None else None
            key = id(module) if module is not None else 0
            self.multiply_adds[key] = self.multiply_adds.get(key, 0) + count(node)

    def failed(self, error: Exception) -> RuntimeError:
        """What to say where the model fails: in which layer, and what that was given."""
        module, given = self.running[-1] if self.running else (self.model, ())
        path = self.paths.get(id(module), "")
        where = f"in its layer {path!r}" if path else "in its own forward"
        kind = f"{type(module).__name__}({module.extra_repr()})"
        what = ", ".join(map(_shape_text, given)) or "no tensors"
        return RuntimeError(
            f"the model fails {where}, {kind}, which was given {what}: {type(error).__name__}: {error}"
        )


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        yield from _tensors([*value.values()])
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _tensors(each)


def _shapes(value: Any) -> Shapes:
    return tuple(tuple(each.array.shape) for each in _tensors(value))


# ---------------------------------------------------------------- multiply-adds


def _of_product(first: int) -> Callable[[Any], int]:
    """Of a product of matrices, the first of which is the operand at this place."""
    return lambda node: math.prod(node.shape) * _shape(node, first)[-1]


def _of_convolution(node: Any) -> int:
    weight = _shape(node, 1)
    return math.prod(node.shape) * math.prod(weight[1:])


def _of_transposed_convolution(node: Any) -> int:
    weight = _shape(node, 1)
    return math.prod(_shape(node, 0)) * math.prod(weight[1:])


def _of_sum_of_products(node: Any) -> int:
    sizes: dict[Any, int] = {}
    for place, labels in enumerate((node.settings["left"], node.settings["right"])):
        sizes.update(zip(labels, _shape(node, place)))
    return math.prod(sizes.values())


def _of_recurrence(node: Any) -> int:
    return _shape(node, 0)[0] * math.prod(_shape(node, 3))


def _shape(node: Any, place: int) -> tuple[int, ...]:
    source = node.sources[place]
    return tuple(source.shape if source is not None else node.operand(place).shape)


_PRODUCTS: dict[str, Callable[[Any], int]] = {
    **dict.fromkeys(("mm", "mv", "dot", "bmm", "matmul", "folded_mm", "affine"), _of_product(0)),
    **dict.fromkeys(("addmm", "addmv", "baddbmm"), _of_product(1)),
    "addbmm": lambda node: _of_product(1)(node) * _shape(node, 1)[0],
    **dict.fromkeys(("convolution", "convolution_with_bias"), _of_convolution),
    **dict.fromkeys(
        ("transposed_convolution", "transposed_convolution_with_bias"), _of_transposed_convolution
    ),
    "einsum": _of_sum_of_products,
    "recurrence": _of_recurrence,
}
"""For each operation that multiplies and adds, how often it does so for one node."""


# ---------------------------------------------------------------- the table


def _table(model: Module, run: _Run, given: Any, depth: int | None) -> LayerTable:
    layers: list[Layer] = []
    counted: set[int] = set()
    seen: dict[int, str] = {}
    for path, module in model.named_modules(remove_duplicate=False):
        own = [each for each in module._parameters.values() if each is not None and id(each) not in counted]
        counted.update(map(id, own))
        calls = run.calls.get(id(module), [])
        inputs, outputs = calls[0] if calls else ((), ())
        shared = seen.get(id(module), "")
        seen.setdefault(id(module), path or type(module).__name__)
        layers.append(
            Layer(
                path,
                path.count(".") + 1 if path else 0,
                path.rpartition(".")[2],
                type(module).__name__,
                inputs,
                outputs,
                len(calls),
                sum(each.numel() for each in own),
                sum(each.numel() for each in own if each.requires_grad),
                0 if shared else run.multiply_adds.get(id(module), 0),
                shared,
            )
        )
    parameters = [*model.parameters()]
    return LayerTable(
        tuple(layers),
        sum(each.numel() for each in parameters),
        sum(each.numel() for each in parameters if each.requires_grad),
        sum(run.multiply_adds.values()),
        sum(each.array.nbytes for each in parameters),
        sum(each.array.nbytes for each in model.buffers()),
        sum(each.array.nbytes for each in _tensors(given)),
        run.output_bytes,
        depth,
    )


COLUMNS = ("Layer", "Input", "Output", "Parameters", "Multiply-adds")
_MOST_SHAPES = 3


def rows(table: LayerTable) -> list[tuple[str, Layer, str, tuple[str, ...]]]:
    """For each row: the lines of the tree before it, its layer, a note on it, and the other cells."""
    shown = [each for each in table.layers if table.shown_depth is None or each.depth <= table.shown_depth]
    made: list[tuple[str, Layer, str, tuple[str, ...]]] = []
    for place, layer in enumerate(shown):
        notes = [f"the same as {layer.shared}"] * bool(layer.shared)
        notes += [f"{layer.calls} calls"] * (layer.calls > 1 and not layer.shared)
        notes += ["not called"] * (layer.calls == 0)
        cells = (
            shapes_text(layer.inputs),
            shapes_text(layer.outputs),
            f"{layer.parameters:,}" if layer.parameters else "",
            f"{layer.multiply_adds:,}" if layer.multiply_adds else "",
        )
        made.append((_lines(shown, place), layer, ", ".join(notes), cells))
    return made


def _lines(shown: list[Layer], place: int) -> str:
    """The lines of the tree before a row: whether siblings follow it, and those around it."""
    layer = shown[place]
    marks = ""
    for depth in range(1, layer.depth + 1):
        following = next((each.depth for each in shown[place + 1 :] if each.depth <= depth), 0)
        more = following == depth
        marks += ("├─ " if more else "└─ ") if depth == layer.depth else ("│  " if more else "   ")
    return marks


def shapes_text(shapes: Shapes) -> str:
    """Shapes in a cell; of many the first ones.

    >>> shapes_text(((2, 3), ())), shapes_text(((1,),) * 5)
    ('2×3, scalar', '1, 1, 1, …')
    """
    texts = [*map(_shape_text, shapes[:_MOST_SHAPES]), *["…"] * (len(shapes) > _MOST_SHAPES)]
    return ", ".join(texts)


def _shape_text(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) if shape else "scalar"


def totals(table: LayerTable) -> list[str]:
    """What stands below the table."""
    frozen = table.parameters - table.trainable
    which = "all trainable" if not frozen else f"{table.trainable:,} trainable, {frozen:,} frozen"
    counted = f"{table.parameters:,} parameters, {which}: {size_text(table.parameter_bytes)}"
    if not table.parameters:
        counted = "no parameters"
    buffers = f"; buffers: {size_text(table.buffer_bytes)}" if table.buffer_bytes else ""
    return [
        counted + buffers,
        f"{table.multiply_adds:,} multiply-adds",
        f"input: {size_text(table.input_bytes)}; outputs of the layers: {size_text(table.output_bytes)}",
    ]


def size_text(count: int) -> str:
    """A number of bytes, in thousands where there are many.

    >>> size_text(60), size_text(1234), size_text(5_600_000)
    ('60 bytes', '1.2 kB', '5.6 MB')
    """
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def text(table: LayerTable) -> str:
    """The table in columns."""
    lines = []
    for marks, layer, note, cells in rows(table):
        name = f"{layer.name}: {layer.kind}" if layer.depth else layer.kind
        lines.append((marks + name + (f" ({note})" if note else ""), *cells))
    widths = [max(map(len, column)) for column in zip(COLUMNS, *lines)]
    shown = []
    for line in (COLUMNS, *lines):
        left = [cell.ljust(width) for cell, width in zip(line[:3], widths)]
        right = [cell.rjust(width) for cell, width in zip(line[3:], widths[3:])]
        shown.append("  ".join([*left, *right]).rstrip())
    return "\n".join([*shown, "", *totals(table)])
