"""The layers of a model as a table: :func:`summary` runs it once, and lists the shapes in and out of each.

Multiply-adds are counted where they happen, in the products of matrices and the convolutions that the run
computes, and not by the kinds of layers; so those of a learner's own layers count too.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from autokit.base import doors
from autokit.base.generator import fork_rng
from autokit.engine.detours import Detour
from autokit.engine.modes import enable_grad, thread
from autokit.engine.tensor import Tensor
from autokit.nn.module import Module
from autokit.ops.create import zeros

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

    _repr_mimebundle_ = doors.shown


def expect(value: object, kind: type, call: str) -> None:
    """Raise a TypeError unless ``value``, an argument called as its ``kind`` is, is of that kind."""
    if not isinstance(value, kind):
        name = kind.__name__
        a = "an" if name[0] in "AEIO" else "a"
        told = f"{call}(): argument {name.lower()!r} must be {a} {name}"
        raise TypeError(f"{told}, not {type(value).__name__}")


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
    expect(model, Module, "summary")
    model = with_shapes_to_come(model)
    dtype, device = _kind_of(model)
    given = [_as_input(each, dtype, device) for each in inputs]
    named = {name: _as_input(each, dtype, device) for name, each in keywords.items()}
    run = _Run(model)
    with ExitStack() as stack:
        for around in (as_found(model), called(model, run.begins, run.ends), run.counting, enable_grad()):
            stack.enter_context(around)
        try:
            model(*given, **named)
        except Exception as error:
            raise run.failed(error) from error
    return _table(model, run, (given, named), depth)


def with_shapes_to_come(model: Module) -> Module:
    """``model``, or a copy where running it would give its lazy layers their shapes."""
    lazy = any(getattr(each, "has_uninitialized_params", bool)() for each in model.modules())
    return copy.deepcopy(model) if lazy else model


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
def as_found(model: Module) -> Iterator[None]:
    """Evaluate ``model``, and leave modes, buffers and the random generator as they were found."""
    modes = [(module, module.training) for module in model.modules()]
    before = [(each, each.array.copy()) for each in model.buffers()]
    model.eval()
    try:
        with fork_rng():
            yield
    finally:
        for buffer, array in before:
            buffer.array[...] = array
        for module, training in modes:
            module.training = training


@contextmanager
def called(model: Module, begins: Callable[..., None] | None, ends: Callable[..., None]) -> Iterator[None]:
    """Tell of each call of a module when it ``begins``, after the learner's own hooks, and when it ends."""
    modules = [*model.modules()]
    before = [module.__dict__.get("_hooks") for module in modules]
    handles = [module.register_forward_hook(ends) for module in modules]
    if begins is not None:
        handles += [module.register_forward_pre_hook(begins, with_kwargs=True) for module in modules]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
        for module, hooks in zip(modules, before):
            if hooks is None:
                module.__dict__.pop("_hooks", None)


# ---------------------------------------------------------------- the run


class _Run:
    """What happened while the model ran."""

    def __init__(self, model: Module) -> None:
        self.model = model
        self.paths = {id(module): path for path, module in reversed([*model.named_modules()])}
        self.running: list[tuple[Module, Shapes]] = []
        self.calls: dict[int, list[tuple[Shapes, Shapes]]] = {}
        self.output_bytes = 0
        self.counting = _Counting()

    def begins(self, module: Module, args: Any, kwargs: Any) -> None:
        """Note what a module is given."""
        self.running.append((module, _shapes((args, kwargs))))

    def ends(self, module: Module, args: Any, output: Any) -> None:
        """Note what it gave."""
        while self.running:
            running, inputs = self.running.pop()
            if running is module:
                break
        self.calls.setdefault(id(module), []).append((inputs, _shapes(output)))
        if not module._modules:
            self.output_bytes += sum(each.array.nbytes for each in tensors_in(output))

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


def tensors_in(value: Any) -> Iterator[Tensor]:
    """The tensors that ``value`` is or holds."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        yield from tensors_in([*value.values()])
    elif isinstance(value, tuple | list):
        for each in value:
            yield from tensors_in(each)


def _shapes(value: Any) -> Shapes:
    return tuple(tuple(each.array.shape) for each in tensors_in(value))


# ---------------------------------------------------------------- multiply-adds


class _Counting(Detour):
    """Counts, for each module by its ``id``, how often its operations multiply and add."""

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}

    def apply(self, operation: Any, operands: Any, settings: Any, proceed: Callable[..., Any]) -> Any:
        result = proceed(operands, settings)
        count = _PRODUCTS.get(operation.name)
        if count is not None:
            scope = thread.state.scope
            module = None if scope is None else id(scope[1]())
            shapes = [each.array.shape for each in operands if isinstance(each, Tensor)]
            shape = (result[0] if isinstance(result, tuple) else result).array.shape
            self.counts[module or 0] = self.counts.get(module or 0, 0) + count(shapes, shape, settings)
        return result


def _of_sum_of_products(shapes: Any, _: Any, settings: Any) -> int:
    sizes: dict[str, int] = {}
    for letters, shape in zip(settings["equation"].split("->")[0].split(","), shapes):
        sizes.update(zip(letters, shape))
    return math.prod(sizes.values()) * (len(shapes) - 1)


_PRODUCTS: dict[str, Callable[[Any, Any, Any], int]] = {
    **dict.fromkeys(
        ("mm", "mv", "dot", "bmm", "matmul", "linear"),
        lambda shapes, result, _: math.prod(result) * shapes[0][-1],
    ),
    "convolution": lambda shapes, result, _: math.prod(result) * math.prod(shapes[1][1:]),
    "transposed_convolution": lambda shapes, *_: math.prod(shapes[0]) * math.prod(shapes[1][1:]),
    "einsum": _of_sum_of_products,
    "rnn": lambda shapes, *_: shapes[0][0] * math.prod(shapes[2]),
    "lstm": lambda shapes, *_: shapes[0][0] * math.prod(shapes[3]),
    "gru": lambda shapes, *_: shapes[0][0] * math.prod(shapes[2]),
}
"""How often an operation multiplies and adds, by its operands' shapes, its result's, and its settings."""


# ---------------------------------------------------------------- the table


def _table(model: Module, run: _Run, given: Any, depth: int | None) -> LayerTable:
    layers: list[Layer] = []
    counts, counted = run.counting.counts, set[int]()
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
                0 if shared else counts.get(id(module), 0),
                shared,
            )
        )
    parameters = [*model.parameters()]
    return LayerTable(
        tuple(layers),
        sum(each.numel() for each in parameters),
        sum(each.numel() for each in parameters if each.requires_grad),
        sum(counts.values()),
        sum(each.array.nbytes for each in parameters),
        sum(each.array.nbytes for each in model.buffers()),
        sum(each.array.nbytes for each in tensors_in(given)),
        run.output_bytes,
        depth,
    )


COLUMNS = ("Layer", "Input", "Output", "Parameters", "Multiply-adds")
_MOST_SHAPES = 3


def rows(table: LayerTable) -> list[tuple[str, Layer, str, tuple[str, ...]]]:
    """For each row: the lines of the tree before it, its layer, a note on it, and the other cells."""
    shown = [each for each in table.layers if table.shown_depth is None or each.depth <= table.shown_depth]
    lines: list[tuple[str, Layer, str, tuple[str, ...]]] = []
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
        lines.append((tree_lines(shown, place), layer, ", ".join(notes), cells))
    return lines


def tree_lines(shown: list[Layer], place: int) -> str:
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
