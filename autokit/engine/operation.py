"""How a rule becomes a function of tensors: :func:`operation` and :func:`derivative`.

A rule is a plain function of arrays, with its derivatives and the words that teach it around it::

    @operation(
        "×", "{a} · {b}",
        a=derivative("{b}", lambda g, b: g * b),
        b=derivative("{a}", lambda g, a: g * a),
    )
    def mul(a, b, /):
        return a * b

* What stands before the slash are tensors, the *operands*; what stands after it are *settings*, such as
  ``dim``.
* A derivative is a vector–Jacobian product: from ``g``, the gradient that arrives at the result, it computes
  the gradient of one operand. Its further arguments ask by name for what it needs: operands, settings,
  ``out`` (the result) or ``shape`` (of that operand). Operands and results that are asked for are *saved* for
  the backward pass.
* ``joint=`` in place of single derivatives computes the gradients of all operands at once.
* A rule may return a tuple: several results. Then ``g`` is a tuple too, with None where no gradient arrived.

The rule speaks NumPy, so the same lines run on arrays of NumPy and of CuPy, and on tensors: that is how a
derivative is differentiated again. It never thinks of dtypes or broadcasting: operands arrive with one
dtype, and the backward pass sums a gradient that is larger than its operand.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import unwrap
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from autokit.engine.detours import DETOURS, detour
from autokit.engine.modes import thread
from autokit.engine.operands import as_operands, bind, explained, has_reflected, in_float32
from autokit.engine.record import OUT, record, share_storage
from autokit.engine.tensor import Tensor, new_tensor

OPERATIONS: dict[str, Operation] = {}
"""Every operation by its name."""

FLOAT32 = np.dtype(np.float32)
FLOAT16 = np.dtype(np.float16)
_ndarray = np.ndarray


def unchanged(g: Any) -> Any:
    """The derivative that passes the gradient on as it is; the backward pass knows it and calls nothing."""
    return g


class derivative(NamedTuple):
    """The derivative by one operand: the local derivative in symbols, and the vector–Jacobian product.

    ``fast`` computes the same product on NumPy's arrays alone. A joint derivative, by all operands at once,
    gives the symbols for each operand, by name.
    """

    local: str | Mapping[str, str]
    vjp: Callable[..., Any]
    fast: Callable[..., Any] | None = None


class Rules:
    """The derivatives of an operation by those operands that require grad, and what they need saved.

    Attributes
    ----------
    operation : Operation
    learns : tuple of bool
        For each operand whether it requires grad.
    for_arrays, for_tensors : tuple of (place, vjp, needs)
        The derivatives: the operand's place, the function, and what it takes after ``g``: places in
        ``saved``, :data:`OUT`, or names of settings; None where it takes nothing.
    joint : bool
        Whether one derivative serves all operands; its place is then 0.
    wide : bool
        Whether the operands are in float16, for which the derivatives compute in float32.
    saves : tuple of int
        The places of the operands to save.
    saves_output : bool
        Whether the result is to be saved.
    """

    __slots__ = ("for_arrays", "for_tensors", "joint", "learns", "operation", "saves", "saves_output", "wide")

    def __init__(self, operation: Operation, learns: tuple[bool, ...], wide: bool, fast: bool) -> None:
        self.operation, self.learns, self.wide = operation, learns, wide
        self.joint = "joint" in operation.derivatives
        places = {name: place for place, name in enumerate(operation.operands)}
        chosen = [
            (places.get(name, 0), rule)
            for name, rule in operation.derivatives.items()
            if self.joint or learns[places[name]]
        ]
        asked: set[str] = set()
        for _, rule in chosen:
            asked.update(needs_of(rule.vjp), needs_of(rule.fast))
        self.saves_output = "out" in asked
        if operation.variadic:
            self.saves = tuple(range(len(learns))) if operation.operands[0] in asked else ()
            where: dict[str, Any] = {operation.operands[0]: "operands", "out": OUT}
        else:
            self.saves = tuple([place for name, place in places.items() if name in asked])
            where = {operation.operands[place]: at for at, place in enumerate(self.saves)} | {"out": OUT}

        def compiled(place: int, vjp: Callable[..., Any], asks: Callable[..., Any]) -> tuple[int, Any, Any]:
            # As the backward pass reads it: with places in ``saved`` for the operands' names.
            needs: Any = tuple([where.get(name, name) for name in needs_of(asks)])
            if len(needs) == 1 and needs[0].__class__ is int:
                (needs,) = needs  # the commonest form, which needs no list
            wider = in_float32(vjp) if wide and vjp is not unchanged else vjp
            return place, wider, None if needs == () else needs

        self.for_tensors = tuple([compiled(place, rule.vjp, rule.vjp) for place, rule in chosen])
        self.for_arrays = self.for_tensors
        if fast and not wide:
            self.for_arrays = tuple([compiled(place, *fastest(rule)) for place, rule in chosen])

    @property
    def portable(self) -> Rules:
        """The same without the fast paths, which are for NumPy's arrays alone."""
        return self.operation.rules(self.learns, self.wide, False)  # type: ignore[return-value]


def fastest(rule: derivative) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The faster form of a derivative, and the form that says what it needs: NumPy's functions do not."""
    vjp = rule.fast or rule.vjp
    return vjp, vjp if hasattr(unwrap(vjp), "__code__") else rule.vjp


class Operation:
    """A rule with its names, its words and its derivatives.

    Attributes
    ----------
    name, symbol, formula : str
        What errors and pictures call it.
    backward : str
        The printed name of its nodes.
    plain, forward : callable
        The rule, and the function that computes the result from arrays, by a fast path where there is one.
    floating, view, mixed : bool
        See :func:`operation`.
    function : callable
        The function of tensors.
    operands, defaults
        The operands' names, and the settings with their defaults.
    variadic : bool
        Whether it takes any number of operands, as ``cat`` does.
    optional : frozenset of str
        The operands that may be left out, as ``bias=None``.
    words : dict
        By operand what its derivative does with tensors, in a sentence.
    derivatives : dict
        By operand, or one for all as ``"joint"``.
    """

    function: Callable[..., Any]
    words: Mapping[str, str] = MappingProxyType({})

    def __init__(
        self,
        forward: Callable[..., Any],
        symbol: str,
        formula: str,
        derivatives: dict[str, derivative],
        floating: bool,
        view: bool,
        mixed: bool,
        name: str | None,
        backward: str | None,
        fast: Callable[..., Any] | None,
    ) -> None:
        self.name = name or forward.__name__
        self.symbol, self.formula, self.derivatives = symbol, formula, derivatives
        self.floating, self.view, self.mixed = floating, view, mixed
        self.plain, self.forward = forward, on_numpy(fast, forward) if fast else forward
        self.operands, self.defaults, self.variadic, self.optional = parameters(forward)
        self.backward = (
            backward or "".join([part.capitalize() for part in self.name.split("_")]) + "Backward0"
        )
        self._rules: dict[Any, Rules | None] = {}
        offered = {*self.operands, *self.defaults, "out", "shape", "joint"}
        for operand, rule in derivatives.items():
            if not offered.issuperset([operand, *needs_of(rule.vjp)]):
                raise TypeError(f"the rule of {self.name} by {operand} asks for {needs_of(rule.vjp)}")

    def rules(self, learns: tuple[bool, ...], wide: bool = False, fast: bool = True) -> Rules | None:
        """The derivatives by the operands that require grad, or None where there are none."""
        try:
            return self._rules[learns, wide, fast]
        except KeyError:
            by_all = self.variadic or "joint" in self.derivatives
            names = range(len(learns)) if by_all else map(self.operands.index, self.derivatives)
            able = bool(self.derivatives) and any([learns[place] for place in names])
            self._rules[learns, wide, fast] = Rules(self, learns, wide, fast) if able else None
            return self._rules[learns, wide, fast]

    def local(self, operand: str) -> str:
        """The local derivative by ``operand``, in symbols; empty where there is none."""
        one = self.derivatives.get("joint") or self.derivatives.get(operand)
        if one is None:
            return ""
        return one.local if isinstance(one.local, str) else one.local.get(operand, "")

    def __repr__(self) -> str:
        return f"<operation {self.name}>"


def operation(
    symbol: str,
    formula: str,
    *,
    floating: bool = False,
    view: bool = False,
    mixed: bool = False,
    name: str | None = None,
    backward: str | None = None,
    fast: Callable[..., Any] | None = None,
    words: Mapping[str, str] | None = None,
    **derivatives: derivative,
) -> Callable[[Callable[..., Any]], Any]:
    """Make a function of tensors from a rule; see the head of this file.

    Parameters
    ----------
    symbol, formula : str
        For the picture: ``"×"``, and ``"{a} · {b}"`` with the operands in braces.
    floating : bool
        Integers become the default floating point dtype first.
    view : bool
        The result shares the operand's memory.
    mixed : bool
        The operands keep their own dtypes.
    name : str, optional
        The operation's name, where it is not that of the function.
    backward : str, optional
        The printed name of the node, where it does not follow from the name.
    fast : callable, optional
        Computes the same result in less time, on NumPy's arrays alone.
    words : dict, optional
        For operands whose derivative symbols alone do not explain, a sentence on what it does with tensors:
        it may name the operands, ``{out}``, and the counts that :mod:`autokit.graphs.words` puts in.
    **derivatives
        Under each operand's name its :class:`derivative`, or one for all as ``joint``.
    """

    def build(forward: Callable[..., Any]) -> Any:
        rule = Operation(forward, symbol, formula, derivatives, floating, view, mixed, name, backward, fast)
        rule.words = words or rule.words
        OPERATIONS[rule.name] = rule
        if rule.defaults or rule.variadic or view or mixed or len(rule.operands) > 2:
            function = _general(rule)
        elif len(rule.operands) == 1:
            function = _unary(rule)
        else:
            function = _binary(rule)
            function.operator = _binary(rule, True)  # type: ignore[attr-defined]
        wraps(forward)(function)
        del function.__wrapped__  # type: ignore[attr-defined]
        function.__name__ = function.__qualname__ = rule.name
        function.operation = rule  # type: ignore[attr-defined]
        rule.function = function
        return function

    return build


def _unary(operation: Operation) -> Callable[..., Tensor]:
    """The function of tensors for a rule with one operand: it computes, and records if grad is required."""
    forward = operation.forward
    rules = operation.rules((True,))

    def apply(input: Any) -> Tensor:
        try:
            array = input.array
        except AttributeError:
            return run(operation, (input,), {})
        if DETOURS or array.dtype is not FLOAT32:
            return run(operation, (input,), {})
        result = forward(array)
        if input._requires_grad and rules is not None and (state := thread.state).recording:
            return record(state, result, (input,), (input._node or input,), None, rules)
        return new_tensor(result)

    return apply


def _binary(operation: Operation, is_operator: bool = False) -> Callable[..., Tensor]:
    """The function of tensors for a rule with two operands; an operator lets other classes reflect it."""
    forward = operation.forward
    both, first, second = map(operation.rules, ((True, True), (True, False), (False, True)))

    def apply(input: Any, other: Any) -> Tensor:
        try:
            a, b = input.array, other.array
        except AttributeError:
            if is_operator and has_reflected(operation, other):
                return NotImplemented
            return run(operation, (input, other), {})
        if DETOURS or a.dtype is not FLOAT32 or b.dtype is not FLOAT32:
            return run(operation, (input, other), {})
        try:
            result = forward(a, b)
        except Exception as error:
            if a.__class__ is not b.__class__:  # one of them on a GPU
                return run(operation, (input, other), {})
            raise explained(operation, (input, other), error) from None
        state = thread.state
        if input._requires_grad:
            if other._requires_grad:
                rules, sources = both, (input._node or input, other._node or other)
            else:
                rules, sources = first, (input._node or input, other if b.size <= state.keep else None)
        elif other._requires_grad:
            rules, sources = second, (input if a.size <= state.keep else None, other._node or other)
        else:
            return new_tensor(result)
        if rules is not None and state.recording:
            return record(state, result, (input, other), sources, None, rules)
        return new_tensor(result)

    return apply


def _general(operation: Operation) -> Callable[..., Any]:
    """The function of tensors for every other rule: one with settings, or with more operands."""
    count, defaults, variadic = len(operation.operands), operation.defaults, operation.variadic

    def apply(*operands: Any, **settings: Any) -> Any:
        if not variadic and (len(operands) != count or settings.keys() != defaults.keys()):
            operands, settings = bind(operation, operands, settings)
        elif variadic:
            settings = {**defaults, **settings}
        if DETOURS:
            return detour(operation, operands, settings, compute)
        return compute(operation, operands, settings)

    return apply


def run(operation: Operation, operands: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    """Compute and record an operation on any operands; features that listen in ``DETOURS`` see it first."""
    if DETOURS:
        return detour(operation, operands, settings, compute)
    return compute(operation, operands, settings)


def compute(operation: Operation, operands: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    """Convert the operands to one dtype, compute the result, and record it if an operand requires grad."""
    state, forward = thread.state, operation.forward
    operands = as_operands(operation, operands, cast)
    results: Any
    arrays: list[Any] = []
    learns: list[bool] = []
    sources: list[Any] = []  # as `source_of` finds them
    half = False
    for each in operands:
        if isinstance(each, Tensor):
            array, learnt = each.array, each._requires_grad
            if array.dtype is FLOAT16:
                half = True
            arrays.append(array)
            learns.append(learnt)
            if learnt:
                sources.append(each._node or each)
            else:
                sources.append(each if array.size <= state.keep else None)
        else:
            arrays.append(each)
            learns.append(False)
            sources.append(None if each is None else each.item())
    if half:
        half = not (operation.view or operation is cast.operation)
        forward = in_float32(operation.plain) if half else forward
    try:
        result = forward(*arrays, **settings)
    except Exception as error:
        raise explained(operation, operands, error) from None
    rules = operation.rules(tuple(learns), half) if True in learns and state.recording else None
    if rules is None or not (result.__class__ is tuple or result.dtype.kind == "f"):
        results = tuple(map(new_tensor, result)) if result.__class__ is tuple else new_tensor(result)
    else:
        results = record(state, result, operands, tuple(sources), settings or None, rules)
    return share_storage(operation, operands[0], results, settings) if operation.view else results


def on_numpy(fast: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is ``fast`` on NumPy's arrays and ``plain`` on others; a ufunc works on all of them."""
    if isinstance(fast, np.ufunc):
        return fast

    def forward(*arrays: Any, **settings: Any) -> Any:
        return (fast if arrays[0].__class__ is _ndarray else plain)(*arrays, **settings)

    return forward


def source_of(operand: Any) -> Any:
    """A node's source for ``operand``: the node that computed it, or itself; None for a large constant."""
    if not isinstance(operand, Tensor):
        return None if operand is None else operand.item()
    if operand._requires_grad:
        return operand._node or operand
    return operand if operand.array.size <= thread.state.keep else None


def on(function: Any, *operands: Any, **settings: Any) -> Any:
    """Call an operation inside a rule: on tensors it is recorded, on arrays its rule alone runs."""
    if any([isinstance(operand, Tensor) for operand in operands]):
        return function(*operands, **settings)
    rule = function.operation
    return rule.forward(*operands, **{**rule.defaults, **settings})


def needs_of(vjp: Callable[..., Any] | None) -> tuple[str, ...]:
    """What a derivative needs beside ``g``, by the names of its parameters; nothing for NumPy's functions."""
    code = None if vjp is None else getattr(unwrap(vjp), "__code__", None)
    return () if code is None else code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]


def parameters(function: Callable[..., Any]) -> tuple[tuple[str, ...], dict[str, Any], bool, frozenset[str]]:
    """The operands' names, the settings' defaults, if it is variadic, and which operands are optional."""
    # Read from the code object: `inspect.signature` would take most of the time of `import autokit`.
    code = function.__code__
    names, positional = code.co_varnames, code.co_argcount
    variadic = bool(code.co_flags & inspect.CO_VARARGS)
    operands = names[: code.co_posonlyargcount]
    defaults = dict(zip(reversed(names[:positional]), reversed(function.__defaults__ or ())))
    defaults.update(function.__kwdefaults__ or {})
    settings = {
        name: defaults.get(name) for name in names[len(operands) : positional + code.co_kwonlyargcount]
    }
    if variadic:
        operands = (*operands, names[positional + code.co_kwonlyargcount])
    return operands, settings, variadic, frozenset(defaults).intersection(operands)


@operation("→", "{a}", a=derivative("1", unchanged), mixed=True, name="to", backward="ToCopyBackward0")
def cast(a: Any, /, dtype: Any) -> Any:
    """The same values in another dtype."""
    return a.astype(dtype)
