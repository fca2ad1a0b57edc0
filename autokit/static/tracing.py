"""Tracing: a function runs once on traced arrays, as a detour of the engine, and leaves its graph behind.

Every tensor that an operation meets, and that was there before, becomes a *state* of the graph: its array is
exchanged for a traced one as long as the function runs. A draw of random numbers becomes a node that draws
anew in each run, and an optimizer's settings become numbers that Python computes before each run.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np

from autokit.base.errors import name_in_program
from autokit.base.generator import STREAMS
from autokit.engine.detours import Detour
from autokit.engine.modes import thread
from autokit.engine.node import SEVERAL
from autokit.engine.operation import Operation, Rules, compute, unchanged
from autokit.engine.tensor import Tensor, new_tensor
from autokit.static.errors import refused
from autokit.static.graph import Node
from autokit.static.numbers import Counter, Number
from autokit.static.traced import Tape, Traced, any_traced

OPAQUE = {
    *("convolution", "transposed_convolution", "convolution_by_weight", "max_pool", "fold", "unfold"),
    *("index_backward", "add_rows", "add_at_places", "scatter_reduce", "diag_embed", "move", "resample"),
    *("sort", "topk", "kthvalue", "median", "median_along", "mode", "cummax", "cummin", "logcumsumexp"),
    *("cholesky", "qr", "svd", "eig", "eigh", "det", "slogdet", "inv", "pinv", "solve", "solve_triangular"),
    *("digamma", "polygamma"),
}
"""Operations that are one call in the graph: convolutions, pooling, sorting, decompositions, and others that
write into new arrays of their own."""

OPAQUE_DERIVATIVES = OPAQUE | {"index", "embedding", "diagonal", "prod", "cumprod", "gather"}
"""Operations whose derivatives are one call each."""


class Tracing(Detour):
    """The detour in whose ``with`` block operations are written down; afterwards all tensors are as before.

    Attributes
    ----------
    tape : Tape
    states : dict
        For each tensor that was there before: its node, and what it held.
    passes : int
        How many derivatives ran.
    """

    def __init__(self, tape: Tape | None = None) -> None:
        self.tape = tape or Tape()
        self.tape.has_example = tape is None
        self.states: dict[Tensor, _Kept] = {}
        self.names: dict[Any, str] = {}
        self.modules: dict[Any, str] = {}
        self.counters: list[tuple[Any, Counter]] = []
        self.optimizers: list[Any] = []
        self.settings: dict[Any, Any] = {}
        self.labels: set[str] = set()
        self.generators: dict[Any, Any] = {}
        self.streams: dict[Any, Any] = {}
        self.deriving = 0
        self.passes = 0

    def __enter__(self) -> Self:
        self.generators, self.streams = {}, {}
        for generator in {*STREAMS.values()}:
            self.source(generator)
        return super().__enter__()

    # ------------------------------------------------------------ operations

    def apply(
        self, operation: Any, operands: tuple[Any, ...], settings: dict[str, Any], proceed: Callable[..., Any]
    ) -> Any:
        """Note the calls of a rule as parts of its operation."""
        tape = self.tape
        outer = tape.operation, tape.phase, tape.module
        self._enter_module()
        operands = tuple([each.tensor() if isinstance(each, Number) else each for each in operands])
        for each in operands:
            if isinstance(each, Tensor):
                self.adopt(each)
        tape.operation = operation.name
        if not self.deriving and outer[1] != "update":
            tape.phase = "forward"
        try:
            if operation.name in OPAQUE:
                result = compute(_whole(operation), operands, settings)
            else:
                result = proceed(operands, settings)
            self._fix(result)
            self._derive(result)
            return result
        finally:
            tape.operation, tape.phase, tape.module = outer

    def _fix(self, result: Any) -> None:
        """Let a result that a rule computed from no traced array be a constant of the graph."""
        for tensor in result if isinstance(result, tuple) else (result,):
            if isinstance(tensor, Tensor) and isinstance(tensor.array, np.ndarray):
                tensor.array = self.created(tensor.array)

    def _derive(self, result: Any) -> None:
        """Let the derivatives of a result write down that they are derivatives."""
        several = isinstance(result, tuple)
        for tensor in result if several else (result,):
            node = getattr(tensor, "_node", None)
            while node is not None and not isinstance(node.rules, _TracedRules):
                node.rules = _TracedRules(node.rules, self)
                source = node.sources[0] if node.sources else None
                node = source if several and getattr(source, "shape", None) is SEVERAL else None

    def _enter_module(self) -> None:
        """Note the module that runs; one that was not met before brings its parameters and buffers."""
        scope = thread.state.scope
        module = None if scope is None else scope[1]()
        if module is None:
            self.tape.module = ""
            return
        if module not in self.modules:
            while scope[0] is not None:
                scope = scope[0]
            self.add_module(scope[1](), "")
            if module not in self.modules:
                self.add_module(module, type(module).__name__.lower())
        self.tape.module = self.modules[module]

    def add_module(self, root: Any, name: str) -> None:
        """Take the parameters and the buffers of a module as states, under their names."""
        for path, module in root.named_modules():
            self.modules.setdefault(module, ".".join(filter(None, (name, path))))
        for path, tensor in [*root.named_parameters(), *root.named_buffers()]:
            self.adopt(tensor, ".".join(filter(None, (name, path))))

    # ------------------------------------------------------------ states

    def adopt(self, tensor: Tensor, name: str = "") -> None:
        """Make a state of ``tensor``, unless it is traced already."""
        array = tensor.array
        if array.__class__ is Traced or array.__class__ is Counter:
            return
        if not isinstance(array, np.ndarray):
            raise refused("a static graph is traced on the CPU; move the tensors there, and say backend=")
        base = tensor.__dict__.get("_base")
        if base is not None:
            self.adopt(base)
        if tensor._node is not None:
            raise refused(
                f"{name_in_program(tensor) or 'a tensor'} was computed outside, and requires grad: its graph "
                "ends where the static one begins. Compute it in the function, or detach() it."
            )
        if "_hooks" in tensor.__dict__ or "_post_accumulate_hooks" in tensor.__dict__:
            raise refused("a hook runs in Python, and a graph holds no Python: remove it, or keep to eager.")
        label = name or self.names.get(tensor) or tensor.name or name_in_program(tensor) or "tensor"
        while label in self.labels:
            label += "_"
        self.labels.add(label)
        if base is not None:
            traced = base.array
            for step, settings in tensor.__dict__["_steps"]:
                traced = step.plain(traced, **settings)
        else:
            same = [kept.traced for kept in self.states.values() if kept.array is array]
            traced = same[0] if same else self.tape.given("state", array, label)
        self.states[tensor] = _Kept(tensor, array, traced)
        tensor.array = traced
        tensor._storage = None
        if tensor._grad is not None:
            before = self.tape.given("state", tensor._grad.array, f"{label}.grad")
            self.states[tensor].grad_before = before.node
            tensor._grad = new_tensor(before)

    def overwritten(self, tensor: Tensor) -> None:
        """Make a state of a tensor before it is written to."""
        self.adopt(tensor)

    def created(self, array: Any) -> Any:
        """A new tensor's array is a constant, and a new one in each run."""
        return array if isinstance(array, Traced) else Traced(self.tape, self.tape.constant(array))

    # ------------------------------------------------------------ random numbers

    def source(self, generator: Any) -> Any:
        """A generator whose draws are nodes; the stream is as before when the trace is done."""
        if isinstance(generator, _Draws):
            return generator
        if generator not in self.generators:
            self.streams[generator] = generator._source()
            self.generators[generator] = _Draws(self.tape, generator), copy.deepcopy(vars(generator))
        return self.generators[generator][0]

    # ------------------------------------------------------------ optimizers

    def watch(self, optimizer: Any) -> None:
        """Adopt what an optimizer trains, and see to it that nobody else changes its settings meanwhile."""
        if optimizer in self.settings:
            return
        self.settings[optimizer] = [dict(group) for group in optimizer.param_groups]
        for number, group in enumerate(optimizer.param_groups):
            for place, param in enumerate(group["params"]):
                self.adopt(param, "" if param in self.names else f"group{number}.{place}")

    def step(self, optimizer: Any, proceed: Callable[[], Any]) -> Any:
        """Trace a step of an optimizer, with its settings as numbers and its memory as states."""
        place = len(self.optimizers)
        self.optimizers.append(optimizer)
        self.watch(optimizer)
        known = set(optimizer.state)
        for param, memory in optimizer.state.items():
            if not isinstance(param, Tensor):
                continue
            self.adopt(param)
            for name, value in memory.items():
                self._adopt_memory(optimizer, self.states[param].label, name, value)
        settings = [dict(group) for group in optimizer.param_groups]
        tape = self.tape
        outer = tape.operation, tape.phase
        tape.operation, tape.phase = type(optimizer).__name__, "update"
        try:
            for number, group in enumerate(optimizer.param_groups):
                which = f"{type(optimizer).__name__} {place + 1}, " if place else ""
                group.update(self._numbers(group, f"{which}group {number}:" if number or place else ""))
            return proceed()
        finally:
            for group, before in zip(optimizer.param_groups, settings):
                group.update(before)
            tape.operation, tape.phase = outer
            begun = set(optimizer.state) - known
            for param in begun:
                del optimizer.state[param]
            if begun:
                raise LazyState

    def _adopt_memory(self, optimizer: Any, label: str, name: str, value: Any) -> None:
        if not isinstance(value, Tensor):
            return
        if name not in optimizer.numbers:
            self.adopt(value, f"{label}.{name}")
        elif value.array.__class__ is not Counter:
            counter = Counter(self.tape, value.array, f"{label}.{name}")
            self.states[value] = _Kept(value, value.array, counter)
            value.array = counter
            self.counters.append((value, counter))

    def _numbers(self, group: dict[str, Any], prefix: str) -> dict[str, Any]:
        """The settings of a group that are floats, also inside tuples, as numbers of the graph."""
        found: dict[str, Any] = {}
        for name, value in group.items():
            text = f"{prefix} {name}".strip()
            if isinstance(value, Tensor):
                value = value.array
                found[name] = Number(self.tape, value.item, text, value.item())
            elif value.__class__ is float:
                found[name] = Number(self.tape, partial(group.__getitem__, name), text, value)
            elif isinstance(value, tuple):
                found[name] = tuple(
                    [
                        Number(self.tape, partial(_element, group, name, at), f"{text}[{at}]", each)
                        if each.__class__ is float
                        else each
                        for at, each in enumerate(value)
                    ]
                )
        return found

    # ------------------------------------------------------------ the end

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        for kept in self.states.values():
            kept.restore()
        for generator, (_, state) in self.generators.items():
            seeded = generator._twister is not self.streams[generator]
            vars(generator).update(state)
            if seeded and error[0] is None:
                raise refused(
                    "the function seeds a generator, which would draw the same in each run: seed it outside."
                )
        for optimizer, settings in self.settings.items():
            for group, before in zip(optimizer.param_groups, settings):
                changed = [name for name in before if group[name] is not before[name]]
                group.update(before)
                if changed and error[0] is None:
                    raise refused(
                        f"the function changes {changed[0]} of the optimizer, as a scheduler does, and a "
                        "graph does not: call scheduler.step() outside, after the compiled step."
                    )


def _element(group: dict[str, Any], name: str, at: int) -> float:
    """A number in one of a group's tuples, such as Adam's ``betas``."""
    return group[name][at]


class LazyState(Exception):
    """The optimizer begins its memory in this step, so that the step has to run eagerly."""


class _TracedRules:
    """The derivatives of a node, which write down whose derivatives they are."""

    def __init__(self, rules: Any, tracing: Tracing) -> None:
        self.rules, self.tracing = rules, tracing
        self.for_arrays = tuple([self._noted(*each) for each in self._computing().for_arrays])
        self.for_tensors = tuple(
            [self._noted(place, vjp, needs, True) for place, vjp, needs in rules.for_tensors]
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rules, name)

    @property
    def portable(self) -> _TracedRules:
        """Itself: it has the plain forms already."""
        return self

    def _computing(self) -> Any:
        """The rules whose derivatives run: of an opaque operation those for NumPy's arrays."""
        rules = self.rules
        opaque = rules.operation.name in OPAQUE_DERIVATIVES and isinstance(rules, Rules)
        return rules.operation.rules(rules.learns, rules.wide, True) if opaque else rules

    def _noted(
        self, place: int, vjp: Callable[..., Any], needs: Any, on_tensors: bool = False
    ) -> tuple[int, Any, Any]:
        tracing, name = self.tracing, self.rules.operation.name
        opaque = name in OPAQUE_DERIVATIVES and not on_tensors and vjp is not unchanged

        def noted(g: Any, *values: Any) -> Any:
            tape = tracing.tape
            tape.operation, tape.phase, tape.module = name, "backward", ""
            tracing.passes += 1
            if opaque and any_traced((g, values)):
                return tape.call(f"{name}_backward", vjp, (g, *values))
            if not on_tensors:
                return vjp(g, *values)
            tracing.deriving += 1
            try:
                return vjp(g, *values)
            finally:
                tracing.deriving -= 1

        return place, noted, needs


def _whole(operation: Operation) -> Operation:
    """``operation`` with a rule that is one call in the graph."""
    opaque = copy.copy(operation)

    def forward(*arrays: Any, **settings: Any) -> Any:
        tape = next((each.tape for each in arrays if isinstance(each, Traced)), None)
        if tape is None:
            return operation.forward(*arrays, **settings)
        return tape.call(operation.name, operation.forward, arrays, settings)

    opaque.forward = opaque.plain = forward
    return opaque


class _Draws:
    """A generator each of whose draws is a node of a graph."""

    def __init__(self, tape: Tape, generator: Any) -> None:
        self.tape, self.generator = tape, generator

    def __getattr__(self, name: str) -> Any:
        draw = getattr(self.generator, name)
        return lambda *args, **settings: self.tape.call(name, draw, args, settings, kind="draw")


class _Kept:
    """What a tensor held before it was traced."""

    __slots__ = (
        "array",
        "first",
        "grad",
        "grad_after",
        "grad_before",
        "new",
        "node",
        "requires_grad",
        "storage",
        "tensor",
        "traced",
    )

    def __init__(self, tensor: Tensor, array: Any, traced: Any) -> None:
        self.tensor, self.array, self.traced = tensor, array, traced
        self.node = self.first = traced.node if isinstance(traced, Traced) else traced
        self.grad, self.storage, self.requires_grad = tensor._grad, tensor._storage, tensor._requires_grad
        self.grad_before: Node | None = None
        self.grad_after: Any = None
        self.new: Any = None

    @property
    def label(self) -> str:
        """The name of the state."""
        return self.node.label

    def restore(self) -> None:
        """Give the tensor back what it held; what the trace left in it is kept here."""
        tensor = self.tensor
        self.new, self.grad_after = tensor.array, tensor._grad
        tensor.array, tensor._grad, tensor._storage = self.array, self.grad, self.storage
        tensor._requires_grad = self.requires_grad
        tensor._node = None
