"""Tracing: a function runs once on traced arrays, as a detour of the engine, and leaves its graph behind.

Every tensor that an operation meets, and that was there before, becomes a *state* of the graph: its array is
exchanged for a traced one as long as the function runs. A draw of random numbers becomes a node that draws
anew in each run, and an optimizer's settings become numbers that Python computes before each run.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import get_ident
from typing import Any, Self

import numpy as np

from autokit.base.devices import to_numpy
from autokit.base.errors import name_in_program
from autokit.base.generator import STREAMS
from autokit.engine.detours import Detour
from autokit.engine.modes import thread
from autokit.engine.operation import Rules, compute, unchanged
from autokit.engine.record import PICK
from autokit.engine.tensor import Tensor, new_tensor
from autokit.nn.module import Module
from autokit.optim.optimizer import Optimizer
from autokit.static.errors import StaticError, refused
from autokit.static.graph import Node, found_in
from autokit.static.numbers import Counter, Number
from autokit.static.surroundings import Surroundings
from autokit.static.traced import Tape, Traced, noted

OPAQUE = {
    *("convolution", "transposed_convolution", "convolution_by_weight", "max_pool", "fold", "unfold"),
    *("index_backward", "add_rows", "add_at_places", "scatter_reduce", "diag_embed", "move", "resample"),
    *("sort", "topk", "kthvalue", "median", "median_along", "mode", "cummax", "cummin", "logcumsumexp"),
    *("cholesky", "qr", "svd", "eig", "eigh", "det", "slogdet", "inv", "pinv", "solve", "solve_triangular"),
    *("lstsq", "matrix_power", "digamma", "polygamma"),
}
"""Operations that are one call in the graph: convolutions, pooling, sorting, decompositions, and others that
write into new arrays of their own."""

OPAQUE_DERIVATIVES = OPAQUE | {"index", "embedding", "diagonal", "prod", "cumprod", "gather"}
"""Operations whose derivatives are one call each."""

ARRAY = vars(Tensor)["array"]
"""The field of a tensor, for which a trace puts a property."""

_HOOK = "a hook runs in Python, and a graph holds no Python: remove() its handle, or keep to eager."


class Tracing(Detour):
    """The detour in whose ``with`` block operations are written down; afterwards all tensors are as before.

    Attributes
    ----------
    tape : Tape
    around : Surroundings
        What the graph stands for.
    states : dict
        For each tensor that was there before, what it held.
    new : set of int
        The identities of tensors that were made meanwhile.
    optimizers : dict
        For each optimizer its groups: each with a copy of what it was, and one of what it is meanwhile.
    steps : int
        How many steps optimizers took.
    passes : int
        How many derivatives ran.
    """

    def __init__(self) -> None:
        self.tape = Tape()
        self.states: dict[Tensor, Kept] = {}
        self.new: set[int] = set()
        self.names: dict[Any, str] = {}
        self.modules: dict[Any, str] = {}
        self.around = Surroundings()
        self.optimizers: dict[Any, list[tuple[dict[str, Any], ...]]] = {}
        self.labels: set[str] = set()
        self.generators: dict[Any, tuple[_Draws, Any, dict[str, Any]]] = {}
        self.steps = self.passes = self.deriving = 0

    def __enter__(self) -> Self:
        setattr(Tensor, "array", property(self._array_of, self._set_array))  # noqa: B010
        for generator in {*STREAMS.values()}:
            self.source(generator)
        return super().__enter__()

    # ------------------------------------------------------------ operations

    def apply(self, operation: Any, operands: Any, settings: Any, proceed: Callable[..., Any]) -> Any:
        """Note the calls of a rule as parts of its operation."""
        operands = tuple([each.tensor(*operands) if isinstance(each, Number) else each for each in operands])
        phase = self.tape.phase if self.deriving or self.tape.phase == "update" else "forward"
        with self._part_of(operation.name, phase, self._module()):
            if operation.name in OPAQUE:
                opaque = copy.copy(operation)
                opaque.forward = opaque.plain = partial(noted, self.tape, operation.name, operation.forward)
                result = compute(opaque, operands, settings)
            else:
                result = proceed(operands, settings)
            for tensor in result if isinstance(result, tuple) else (result,):
                if isinstance(tensor, Tensor):
                    ARRAY.__set__(tensor, self.created(ARRAY.__get__(tensor)))
                    self._derive(tensor)
            return result

    @contextmanager
    def _part_of(self, operation: str, phase: str, module: str) -> Iterator[None]:
        """A ``with`` block whose nodes are part of an operation."""
        tape = self.tape
        outer = tape.operation, tape.phase, tape.module
        tape.operation, tape.phase, tape.module = operation, phase, module
        try:
            yield
        finally:
            tape.operation, tape.phase, tape.module = outer

    def _derive(self, tensor: Tensor) -> None:
        """Let the derivatives of a result write down that they are derivatives."""
        node = tensor._node
        if node is not None and node.rules is PICK:  # of one of several results
            node = node.sources[0]
        if node is not None and not isinstance(node.rules, _TracedRules):
            node.rules = _TracedRules(node.rules, self)

    def _module(self) -> str:
        """The path of the module that runs; one that was not met before brings its parameters and buffers."""
        scope = thread.state.scope
        module = None if scope is None else scope[1]()
        if module is not None and module not in self.modules:
            self.add_module(module, type(module).__name__.lower())
        return self.modules.get(module, "")

    def add_module(self, root: Any, name: str) -> None:
        """Take the parameters and the buffers of a module as states, under their names."""
        for path, module in root.named_modules():
            hooks = [] if module._hooks is None else vars(module._hooks).values()
            if any(hooks):
                raise refused(_HOOK)
            if module not in self.modules:
                self.modules[module] = f"{name}.{path}".strip(".")
                self.around.sizes += [(each, 0) for each in hooks]
                self.around.note_object(module)
                self.around.note_function(type(module).forward)
        for path, tensor in [*root.named_parameters(), *root.named_buffers()]:
            self.adopt(tensor, f"{name}.{path}".strip("."))

    # ------------------------------------------------------------ states

    def take_part(self, name: str, value: Any) -> None:
        """Let a module or an optimizer take part, or remember the name of a tensor."""
        if isinstance(value, Tensor):
            self.names.setdefault(value, name)
            if value._requires_grad and value._node is None:
                self.adopt(value)  # before its gradient is dropped
        elif isinstance(value, Module):
            self.add_module(value, name)
        elif isinstance(value, Optimizer):
            self.watch(value)

    def _array_of(self, tensor: Tensor) -> Any:
        """The array of a tensor; one that was there before becomes a state when it is read."""
        if self.thread == get_ident() and id(tensor) not in self.new:
            self.adopt(tensor)
        return ARRAY.__get__(tensor)

    def _set_array(self, tensor: Tensor, array: Any) -> None:
        if self.thread == get_ident() and id(tensor) not in self.new:
            try:
                self.adopt(tensor)
            except AttributeError:  # it has none yet
                self.new.add(id(tensor))
        ARRAY.__set__(tensor, array)

    def adopt(self, tensor: Tensor, name: str = "") -> None:
        """Make a state of ``tensor``, unless it is traced already."""
        array = ARRAY.__get__(tensor)
        if isinstance(array, Traced):
            return
        if hasattr(tensor, "materialize"):
            raise refused("a lazy layer finds its shapes when it first runs: call the model once before.")
        named = name_in_program(tensor)
        if tensor._node is not None:
            raise refused(
                f"{named or 'a tensor'} was computed outside, and requires grad: its graph ends where the "
                "static one begins. Compute it in the function, or detach() it."
            )
        if "_hooks" in tensor.__dict__ or "_post_accumulate_hooks" in tensor.__dict__:
            raise refused(_HOOK)
        label = name or self.names.get(tensor) or tensor.name or named or "tensor"
        while label in self.labels:
            label += "_"
        self.labels.add(label)
        kept = Kept(tensor, label, array, self._traced(tensor, label))
        self.states[tensor] = kept
        ARRAY.__set__(tensor, kept.traced)
        tensor._storage = None
        if tensor._grad is not None:
            before = self.tape.given("state", ARRAY.__get__(tensor._grad), f"{label}.grad")
            kept.grad_before, tensor._grad = before.node, new_tensor(before)

    def _traced(self, tensor: Tensor, label: str) -> Traced:
        """The traced array of a state: a view of its base, that of the same array, or a new one."""
        base = tensor.__dict__.get("_base")
        if base is not None:
            self.adopt(base)
            traced = base.array
            for step, settings in tensor.__dict__["_steps"]:
                traced = step.plain(traced, **settings)
            return traced
        array = ARRAY.__get__(tensor)
        same = [kept.traced for kept in self.states.values() if kept.array is array]
        return same[0] if same else self.tape.given("state", array, label)

    def created(self, array: Any) -> Any:
        """A new tensor's array is a constant, and a new one in each run."""
        return array if isinstance(array, Traced) else Traced(self.tape, self.tape.constant(to_numpy(array)))

    # ------------------------------------------------------------ random numbers

    def source(self, generator: Any) -> Any:
        """A generator whose draws are nodes; the stream is as before when the trace is done."""
        if isinstance(generator, _Draws):
            return generator
        if generator not in self.generators:
            twister = generator._source()
            self.generators[generator] = _Draws(self.tape, generator), twister, copy.deepcopy(vars(generator))
        return self.generators[generator][0]

    # ------------------------------------------------------------ optimizers

    def watch(self, optimizer: Any) -> None:
        """Adopt what an optimizer trains; its settings are numbers of the graph from now on."""
        if optimizer in self.optimizers:
            return
        groups = self.optimizers[optimizer] = []
        which = f"{type(optimizer).__name__} {len(self.optimizers)}, " if len(self.optimizers) > 1 else ""
        for place, group in enumerate(optimizer.param_groups):
            for number, param in enumerate(group["params"]):
                self.adopt(param, "" if param in self.names else f"group{place}.{number}")
            before = dict(group)
            for name in before:
                text = f"{which}group {place}: {name}" if place or which else name
                group[name] = self._number(partial(group.__getitem__, name), text)
            groups.append((group, before, dict(group)))
            self.around.note(group, [name for name in before if group[name] is before[name]])
        self.around.note(vars(optimizer), ("state", "param_groups"))

    def _number(self, read: Callable[[], Any], text: str) -> Any:
        """A setting: a float, also in a tuple or a tensor, is what ``read`` gives before each run."""
        value = read()
        if isinstance(value, Tensor):
            return self._number(lambda: float(ARRAY.__get__(read())), text)
        if isinstance(value, tuple):
            parts = [lambda place=place: read()[place] for place in range(len(value))]
            return tuple([self._number(part, f"{text}[{place}]") for place, part in enumerate(parts)])
        if not isinstance(value, float):
            return value
        return Number(self.tape, self.tape.number(read, text, np.array(value)), read)

    def step(self, optimizer: Any, proceed: Callable[[], Any]) -> Any:
        """Trace a step of an optimizer, with its memory as states."""
        self.watch(optimizer)
        self.steps += 1
        before = {param: dict(memory) for param, memory in optimizer.state.items()}
        for param, memory in before.items():
            for name, value in memory.items():
                if isinstance(value, Tensor):
                    self.adopt(value, f"{self.states[param].label}.{name}")
                    if name in optimizer.numbers:
                        value.array.__class__ = Counter
        try:
            with self._part_of(type(optimizer).__name__, "update", ""):
                return proceed()
        finally:
            after = dict(optimizer.state)
            optimizer.state.clear()
            optimizer.state.update(before)
            if after.keys() != before.keys():
                raise LazyState
            for param, memory in before.items():
                if any([after[param].get(name) is not memory.get(name) for name in {*after[param], *memory}]):
                    raise refused(
                        "the optimizer puts other objects into its state, and a run only writes into the "
                        "tensors there: keep numbers as tensors, and change them in place, as by add_()."
                    )

    # ------------------------------------------------------------ the end

    def __exit__(self, *error: object) -> None:
        setattr(Tensor, "array", ARRAY)  # noqa: B010
        super().__exit__(*error)
        for kept in self.states.values():
            kept.restore()
        wrong = ""
        for group, before, meanwhile in [group for groups in self.optimizers.values() for group in groups]:
            for name in [name for name in before if group[name] is not meanwhile[name]]:
                wrong = (
                    f"the function changes {name} of the optimizer, as a scheduler does, and a graph "
                    "does not: call scheduler.step() outside, after the compiled step."
                )
            group.update(before)
        for generator, (_, twister, state) in self.generators.items():
            if generator._twister is not twister:
                wrong = (
                    "the function seeds a generator, which would draw the same in each run: seed it outside."
                )
            vars(generator).update(state)
        if wrong and error[0] is None:
            raise refused(wrong)


class LazyState(StaticError):
    """The optimizer begins its memory in this step, so that the step has to run eagerly."""

    def __init__(self) -> None:
        super().__init__("the optimizer begins its memory in the first step: call the compiled function once")


class _TracedRules(Rules):
    """The derivatives of a node, which write down whose derivatives they are."""

    __slots__ = ()

    def __init__(self, rules: Rules, tracing: Tracing) -> None:
        tape, name, module = tracing.tape, rules.operation.name, tracing.tape.module
        opaque = name in OPAQUE_DERIVATIVES
        # One call is the derivative for NumPy's arrays, by a fast path where there is one.
        super().__init__(rules.operation, rules.learns, rules.wide, opaque)

        def wrapped(is_one_call: bool, place: int, vjp: Callable[..., Any], needs: Any) -> Any:
            def derivative(g: Any, *values: Any) -> Any:
                tape.operation, tape.phase, tape.module = name, "backward", module
                tracing.passes += 1
                if is_one_call and vjp is not unchanged and found_in((g, values), Traced):
                    return tape.call(f"{name}_backward", vjp, (g, *values))
                tracing.deriving += 1
                try:
                    return vjp(g, *values)
                finally:
                    tracing.deriving -= 1

            return place, derivative, needs

        self.for_arrays = tuple([wrapped(opaque, *each) for each in self.for_arrays])
        self.for_tensors = tuple([wrapped(False, *each) for each in self.for_tensors])


class _Draws:
    """A generator each of whose draws is a node of a graph."""

    def __init__(self, tape: Tape, generator: Any) -> None:
        self.tape, self.generator = tape, generator

    def __getattr__(self, name: str) -> Any:
        draw = getattr(self.generator, name)
        return lambda *args, **settings: self.tape.call(name, draw, args, settings, kind="draw")


class Kept:
    """What a tensor held before it was traced, and, after that, what the trace left in it."""

    def __init__(self, tensor: Tensor, label: str, array: Any, traced: Any) -> None:
        self.tensor, self.label, self.array, self.traced = tensor, label, array, traced
        self.node = traced.node
        self.grad, self.storage, self.requires_grad = tensor._grad, tensor._storage, tensor._requires_grad
        self.grad_before: Node | None = None
        self.left: Any = None

    def restore(self) -> None:
        """Give the tensor back what it held; what the trace left in it is kept here."""
        tensor = self.tensor
        self.left = tensor.array, tensor._grad, tensor._requires_grad
        tensor.array, tensor._grad, tensor._storage = self.array, self.grad, self.storage
        tensor._requires_grad, tensor._node = self.requires_grad, None
