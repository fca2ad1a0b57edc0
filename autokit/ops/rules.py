"""What an operation consists of: its rule, its derivatives, and the ways of gradients back through it.

:mod:`autokit.ops.operation` makes functions of tensors from these.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from autokit.autograd.node import Node
from autokit.dtypes import COMPLEX, HALVES
from autokit.meta_array import of_shapes
from autokit.ops import complex_numbers
from autokit.ops.half import derivative_in_float32, in_float32
from autokit.ops.large import SHARED
from autokit.ops.names import OPERANDS
from autokit.ops.recording import OUTPUT
from autokit.tensor import Tensor

_WORDS = dict(zip("ab", OPERANDS))
SHAPE = "shape"


class Derivative(NamedTuple):
    """By one operand: the local derivative in symbols, and the rule that applies it.

    A rule for all operands may tell it of each, by the operands' names.
    ``on_arrays`` computes the same on arrays alone, faster: in one call of
    NumPy, or with fewer arrays on the way.  It may ask for less: an operand
    that it does not ask for may be changed in place before it runs.
    """

    local: str | Mapping[str, str]
    vjp: Callable[..., Any]
    on_arrays: Callable[..., Any] | None = None


class Rule(NamedTuple):
    """A derivative as the engine uses it.

    ``slot`` is the operand's place, or -1 where one rule serves all operands;
    ``vjp`` works on arrays; ``fetch`` says what it takes after ``g``: places
    of operands, and names.  Where it is one value, and settings after it,
    ``only`` is that value's place, or :data:`OUTPUT`, and ``chosen`` are the
    settings, None where there are none.
    """

    slot: int
    vjp: Callable[..., Any]
    fetch: tuple[int | str, ...]
    only: int | str | None
    chosen: tuple[int | str, ...] | None


class Way:
    """How gradients go back through an operation, for one pattern of operands that learn.

    ``rules`` are the derivatives that apply, each as the plain tuple that the
    engine unpacks, with None for an empty ``fetch``; and ``plain_rules`` the
    same for tensors, whose own derivatives can be taken, and which are all
    fetched in the general way; ``large_rules`` compute as ``rules``, on several
    threads where it pays; ``joint`` says that
    there is one for all operands; ``learns`` says for each operand whether a gradient
    is wanted; ``saves`` names the operands, and ``out``, that the rules need;
    ``spare`` are the places of the other operands; ``fitting`` says that what ``rules`` make of arrays has
    the operand's shape and dtype; ``alike`` is the way to go where the first operand has the shape of the
    result, which may be fitting then; ``complex`` says that the result or an operand is complex.
    """

    __slots__ = (
        "alike",
        "complex",
        "fitting",
        "joint",
        "large_rules",
        "learns",
        "plain_rules",
        "rules",
        "saves",
        "spare",
    )

    def __init__(
        self,
        rules: tuple[Rule, ...],
        plain_rules: tuple[Rule, ...],
        learns: tuple[bool, ...],
        saves: tuple[str, ...],
        spare: frozenset[int],
        fitting: bool,
    ) -> None:
        self.rules: tuple[Any, ...] = tuple([(*rule[:2], rule[2] or None, *rule[3:]) for rule in rules])
        self.large_rules: tuple[Any, ...] = tuple(
            [(slot, SHARED.get(vjp, vjp), *rest) for slot, vjp, *rest in self.rules]
        )
        self.plain_rules: tuple[Any, ...] = tuple(
            [(*rule[:2], rule[2] or None, None, None) for rule in plain_rules]
        )
        self.joint = bool(rules) and rules[0][0] < 0
        self.complex = False
        self.learns = learns
        self.saves = saves
        self.spare = spare
        self.fitting = fitting
        self.alike = self


class WayOfShapes(Way):
    """``way``, where the result has no elements."""

    __slots__ = ()

    def __init__(self, way: Way) -> None:
        for name in Way.__slots__:
            setattr(self, name, getattr(way, name))
        rules = [(slot, of_shapes(vjp), *rest) for slot, vjp, *rest in way.rules]
        self.rules = self.large_rules = tuple(rules)
        self.fitting, self.alike = False, self


class Operation:
    """A rule with its names and words; calling it computes, and records where a gradient is wanted."""

    def __init__(
        self,
        forward: Callable[..., Any],
        symbol: str,
        formula: str,
        derivatives: dict[str, Derivative],
        *,
        floating: bool = False,
        view: bool = False,
        mixed: bool = False,
        reduces: bool = False,
        own_precision: bool = False,
        elementwise: bool = False,
        linear: bool | None = None,
        fitting: bool | Literal["alike"] = False,
        name: str | None = None,
        backward: str | Callable[[Node], str] | None = None,
        on_arrays: Callable[..., Any] | None = None,
        layout: Callable[[Any], Any] | None = None,
    ) -> None:
        self.plain = forward
        self.forward = on_arrays or forward
        moves = view or own_precision
        self.name = name or forward.__name__
        self.on_halves = self.forward if moves else in_float32(self.forward, mixed, self.name)
        self.symbol = symbol
        self.formula = formula
        self.function: Callable[..., Tensor]
        self.floating = floating
        self.view = view
        self.mixed = mixed
        self.operands, self.defaults, self.variadic = _parameters(forward)
        self.derivatives = derivatives
        self.ways: dict[tuple[bool, ...], Way] = {}
        self._ways_of_halves: dict[tuple[bool, ...], Way] = {}
        self._ways_of_complex: dict[tuple[bool, ...], Way] = {}
        self._leads_to_real = self.name in complex_numbers.TO_REAL
        self.reduces = reduces or self.variadic or bool(self.defaults)
        self.elementwise = elementwise or not (self.reduces or view or mixed)
        self.linear = view if linear is None else linear
        self.jvp: Callable[..., Any] | None = None  # of a custom operation that takes tangents forward itself
        self.fitting = fitting
        self.layout = layout
        self.plain_rules = tuple(self._rule(name, each.vjp) for name, each in derivatives.items())
        self.rules = tuple(
            self._rule(name, vjp) if _names_its_needs(vjp) else rule._replace(vjp=vjp)
            for rule, name, vjp in zip(
                self.plain_rules, derivatives, [each.on_arrays or each.vjp for each in derivatives.values()]
            )
        )
        default_name = "".join(part.capitalize() for part in self.name.split("_")) + "Backward0"
        self._backward = backward or default_name

    def _rule(self, name: str, vjp: Callable[..., Any]) -> Rule:
        operands, settings, _ = _parameters(vjp)
        needs = (*operands, *settings)[1:]
        known = {*self.operands, *self.defaults, OUTPUT, SHAPE}
        if not known.issuperset(needs) or (name != "joint" and name not in self.operands):
            raise TypeError(f"the rule of {self.name} by {name} asks for {needs}; there are {sorted(known)}")
        places = {operand: place for place, operand in enumerate(self.operands)} if not self.variadic else {}
        fetch = tuple(places.get(need, need) for need in needs)
        first, chosen = fetch[:1], fetch[1:]
        single = first == (OUTPUT,) or (first and isinstance(first[0], int))
        only = first[0] if single and self.defaults.keys() - {SHAPE} >= set(chosen) else None
        return Rule(places.get(name, -1), vjp, fetch, only, chosen or None)

    @property
    def words(self) -> dict[str, str]:
        """What to call each operand where nobody has named it: PyTorch's keywords for ``a`` and ``b``."""
        return {name: _WORDS.get(name, name) for name in self.operands}

    def local(self, operand: str) -> str:
        """The local derivative by ``operand``, in symbols; empty where there is none."""
        one = self.derivatives.get("joint") or self.derivatives.get(operand)
        if one is None:
            return ""
        return one.local if isinstance(one.local, str) else one.local[operand]

    def backward_name(self, node: Node) -> str:
        """PyTorch's name of the backward node that ``node`` is."""
        return self._backward if isinstance(self._backward, str) else self._backward(node)

    def way(self, learns: tuple[bool, ...]) -> Way:
        """How gradients go back where these operands learn."""
        known = self.ways.get(learns)
        if known is None:
            known = self.ways[learns] = self._new_way(learns, self.rules, self.plain_rules)
        return known

    def own_way(self, way: Way, result: Any, sources: tuple[Any, ...]) -> Way:
        """``way`` as gradients go it where ``result``, or what it was made from, is of a rare dtype."""
        if way.__class__ is not Way:
            return way  # of samples, and found already
        if result.dtype in HALVES:
            return self._way_of_halves(way)
        if result.dtype in COMPLEX or (self._leads_to_real and complex_numbers.are_among(sources)):
            return self._way_of_complex(way)
        return way

    def _way_of_halves(self, way: Way) -> Way:
        """``way`` where the result is of half precision: its derivatives compute in float32."""
        known = self._ways_of_halves.get(way.learns)
        if known is None:
            wide = tuple(rule._replace(vjp=derivative_in_float32(rule.vjp, self.name)) for rule in self.rules)
            known = self._ways_of_halves[way.learns] = self._new_way(way.learns, wide, self.plain_rules)
        return known

    def _way_of_complex(self, way: Way) -> Way:
        """``way`` where numbers are complex: its derivatives in their plain form, if they are known."""
        known = self._ways_of_complex.get(way.learns)
        if known is None:
            rules = complex_numbers.rules_of(self.name, self.plain_rules)
            known = self._ways_of_complex[way.learns] = self._new_way(way.learns, rules, rules)
            known.complex = True
        return known

    def _new_way(
        self, learns: tuple[bool, ...], rules: tuple[Rule, ...], plain_rules: tuple[Rule, ...]
    ) -> Way:
        def applying(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
            return tuple([rule for rule in rules if rule.slot < 0 or learns[rule.slot]])

        needed = {need for rule in applying((*rules, *plain_rules)) for need in rule.fetch}
        names = enumerate((*self.operands, OUTPUT))
        saves = tuple(name for place, name in names if name in needed or place in needed)
        all_operands = self.operands * len(learns) if self.variadic else self.operands
        spare = frozenset(place for place, name in enumerate(all_operands) if name not in saves)

        def made(fitting: bool) -> Way:
            return Way(applying(rules), applying(plain_rules), learns, saves, spare, fitting)

        own = rules is self.rules
        way = made(own and self.fitting is True)
        if own and self.fitting == "alike" and learns == (True, False):
            way.alike = made(True)
        return way

    def __repr__(self) -> str:
        return f"<operation {self.name}>"


def _names_its_needs(function: Any) -> bool:
    """Whether a rule says by its parameters what it takes: not NumPy's own, and not what takes anything."""
    return hasattr(function, "__code__") and not _parameters(function)[2]


def _parameters(function: Callable[..., Any]) -> tuple[tuple[str, ...], dict[str, Any], bool]:
    """The names of the operands, the settings with their defaults, and whether there may be many operands.

    Operands stand before a slash or are ``*operands``; all others are settings.
    """
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    if code is None or hasattr(function, "__signature__"):
        parameters = inspect.signature(function).parameters.values()
        operands = tuple(p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL))
        settings = {p.name: p.default for p in parameters if p.name not in operands}
        return operands, settings, any(p.kind is p.VAR_POSITIONAL for p in parameters)
    # The same without the signature object, which takes most of the time of `import autokit`.
    positional, names = code.co_argcount, code.co_varnames
    variadic = bool(code.co_flags & inspect.CO_VARARGS)
    named = names[code.co_posonlyargcount : positional + code.co_kwonlyargcount]
    settings = dict.fromkeys(named, inspect.Parameter.empty)
    with_default = function.__defaults__ or ()
    settings.update(zip(names[positional - len(with_default) : positional], with_default))
    settings.update(function.__kwdefaults__ or {})
    operands = names[: code.co_posonlyargcount]
    last = positional + code.co_kwonlyargcount
    return (*operands, names[last]) if variadic else operands, settings, variadic
