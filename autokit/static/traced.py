"""A traced array writes down what NumPy is asked to do with it.

NumPy hands each call on a :class:`Traced` to that class (NEP 13 and NEP 18), which notes it as a node on its
:class:`Tape` and computes it on the example's value. A tensor that holds such an array is an ordinary tensor,
so rules, derivatives and optimizers trace themselves.

The nodes of a graph never change, yet programs write into arrays. Therefore a traced array that owns its
memory is a cell: it holds the node of its newest value, and a version that counts the writes. A view keeps
the array that it looks into, its *base*, and the *chain* of calls that lead from there to it. Writing into a
view gives the base a new node; a view whose base was written to since plays its chain again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from autokit.base.devices import on_host
from autokit.base.errors import require
from autokit.engine.tensor import Tensor
from autokit.static.errors import StaticError, described, located, no_number_yet, program_line, refused
from autokit.static.graph import Graph, Node, evaluated, example_of, found_in, mapped

_REDUCTIONS = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}
_ABOUT_SHAPES = {np.shape, np.ndim, np.size, np.result_type, np.can_cast, np.iscomplexobj, np.isrealobj}
_FACTS = {"shape", "dtype", "ndim", "size", "itemsize", "nbytes", "strides"}
_ANSWERS = {"allclose", "array_equal", "array_equiv"}
_SHAPE_BY_VALUE = {
    *("nonzero", "flatnonzero", "argwhere", "where", "unique", "unique_values", "extract", "compress"),
    *("repeat", "bincount", "union1d", "intersect1d", "setdiff1d", "trim_zeros"),
}
_NEW_ARRAYS = {"arange", "eye", "ones", "zeros", "tri", "full", "empty", "array"}
_NOT_IN_A_GRAPH = _SHAPE_BY_VALUE | {
    *("tobytes", "dump", "dumps", "tofile", "resize", "sort", "partition", "setfield", "byteswap"),
}


class Tape:
    """The graph that is being written, and what the next node is part of.

    Attributes
    ----------
    graph : Graph
    operation, phase, module : str
        Of the nodes that are added next; see :class:`Node`.
    constants : dict
        By the identity of an array that array, lest it be another one's, and the node of its values.
    remarks : dict
        What :meth:`Step.explain` is to say of this graph: by the line of the program, a sentence.
    """

    def __init__(self) -> None:
        self.graph = Graph()
        self.operation, self.phase, self.module = "", "forward", ""
        self.remarks: dict[Any, str] = {}
        self.constants: dict[int, tuple[Any, Node]] = {}
        self._numbers: dict[Any, Node] = {}

    def add(self, kind: str, name: str, *parts: Any, **more: Any) -> Node:
        """Append a node, which is part of the operation, the phase and the line at hand."""
        number = self.graph.nodes[-1].id + 1 if self.graph.nodes else 0
        node = self.graph.add(Node(number, kind, name, *parts, line=program_line(), **more))
        node.operation, node.phase, node.module = self.operation, self.phase, self.module
        return node

    def given(self, kind: str, array: Any, label: str) -> Traced:
        """An input or a state of the graph, with the example's value ``array``."""
        node = self.add(kind, kind, value=on_host(array), label=label)
        (self.graph.inputs if kind == "input" else self.graph.states).append(node)
        return Traced(self, node)

    def call(self, name: str, function: Any, args: Any, settings: Any = None, kind: str = "call") -> Any:
        """Note a call and compute it on the example; several results are parts of one node."""
        settings = settings or {}
        weak = [isinstance(each, Traced) and each.is_weak for each in args]
        if any(weak):
            kinds = [
                each.dtype for each, is_weak in zip(args, weak) if not is_weak and hasattr(each, "dtype")
            ]
            common = np.result_type(*kinds, 0.0)
            args = tuple([each.cast(common) if is_weak else each for each, is_weak in zip(args, weak)])
        operands, named = self.lifted((args, settings))
        value = evaluated(function, operands, named)
        if isinstance(value, tuple | list):
            arrays = [isinstance(each, np.ndarray | np.generic) for each in value]
            return self.parts(name, function, operands, named, value, kind) if any(arrays) else value
        value = np.asarray(value)
        given = found_in((operands, named), Node)
        is_known = kind == "call" and given and all([node.kind == "const" for node in given])
        if is_known and not any([np.may_share_memory(value, node.value) for node in given]):
            return Traced(self, self.add("const", "const", value=value))
        first = args[0] if args and isinstance(args[0], Traced) else None
        if first is None or kind != "call" or not np.may_share_memory(value, first.node.value):
            return Traced(self, self.add(kind, name, function, operands, named, value))
        if found_in((args[1:], settings), Traced):
            raise refused(f"{name} gives a view of its operand that depends on another tensor's numbers")
        node = self.add("view", name, function, operands, named, value)
        step = (name, function, tuple(args[1:]), settings)
        return Traced(self, node, first if first.base is None else first.base, (*first.chain, step))

    def parts(self, name: str, function: Any, args: Any, settings: Any, several: Any, kind: str) -> Any:
        """The results of a call that has several, each a node of its own."""
        whole = self.add(kind, name, function, args, settings, several)
        places = count()

        def part(each: Any) -> Any:
            operands = whole, next(places)
            return each if each is None else Traced(self, self.add("call", "part", _part, operands, {}, each))

        return mapped(several, part)

    def lifted(self, args: Any) -> Any:
        """``args`` with nodes in place of traced arrays and of NumPy's arrays, which are constants."""

        def lift(one: Any) -> Any:
            if isinstance(one, Traced):
                return one.node
            if isinstance(one, np.ndarray):
                return self.constant(one) if one.ndim else one[()]
            return one

        return mapped(args, lift)

    def constant(self, array: Any) -> Node:
        """The node of an array that is known before the first run: a copy, as the program may change it."""
        known = self.constants.get(id(array))
        if known is not None and np.array_equal(array, known[1].value, equal_nan=array.dtype.kind == "f"):
            return known[1]
        node = self.add("const", "const", value=array if 0 in array.strides else array.copy())
        self.constants[id(array)] = array, node
        return node

    def number(self, read: Callable[[], float], text: str, value: np.ndarray) -> Node:
        """The node of a number that Python knows before each run, with the dtype of the example ``value``."""
        key = text, value.dtype
        if key not in self._numbers:
            self._numbers[key] = self.add("number", text, read, value=value, label=text)
        return self._numbers[key]


class Unexpected(StaticError):
    """A run for which the graph does not hold, as what was expected of a number is false."""


class Module:
    """NumPy, with functions whose new arrays are nodes of a graph."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape

    def __getattr__(self, name: str) -> Any:
        function = getattr(np, name)
        return partial(noted, self.tape, name, function) if name in _NEW_ARRAYS else function

    def asarray(self, array: Any, dtype: Any = None) -> Any:
        """``array``, in ``dtype`` if that is given."""
        if isinstance(array, Traced):
            return array if dtype is None else array.astype(dtype, copy=False)
        return np.asarray(array, dtype)


def noted(tape: Tape, name: str, function: Callable[..., Any], *args: Any, **settings: Any) -> Any:
    """Note a call and compute it on the example."""
    return tape.call(name, function, args, settings)


class Traced(NDArrayOperatorsMixin):
    """An array of a static graph: it has a shape, a dtype and an example's value, and no numbers yet.

    Parameters
    ----------
    tape : Tape
        Where calls are noted.
    node : Node
        The value.
    base, chain
        Of a view: the array that it looks into, and the calls that lead from there to it.
    """

    __slots__ = ("__weakref__", "_node", "base", "chain", "tape", "version")
    __hash__ = object.__hash__
    __array_priority__ = 1000
    is_weak = False

    def __init__(self, tape: Tape, node: Node, base: Traced | None = None, chain: Any = ()) -> None:
        self.tape, self._node, self.base, self.chain = tape, node, base, chain
        self.version: int = 0 if base is None else base.version

    # ------------------------------------------------------------ memory

    @property
    def node(self) -> Node:
        """The node of the newest value."""
        base = self.base
        if base is not None and self.version != base.version:
            node = base.node
            for name, function, args, settings in self.chain:
                value = function(node.value, *args, **settings)
                node = self.tape.add("view", name, function, (node, *args), settings, value)
            self._node, self.version = node, base.version
        return self._node

    def become(self, value: Any) -> Traced:
        """Write ``value`` over all elements, as ``a[...] = value`` does."""
        tape = self.tape
        if isinstance(value, Traced) and self.base is value.base is not None and value.chain == self.chain:
            # This is the second half of `a[i] += 1`, which has written through the view already.
            return self
        if not isinstance(value, Traced):
            value = Traced(tape, tape.constant(np.array(np.broadcast_to(value, self.shape), self.dtype)))
        if value.shape != self.shape:
            value = np.broadcast_to(value, self.shape)
        if value.dtype != self.dtype:
            value = value.astype(self.dtype)
        if self.base is None:
            if value.base is not None:
                # The memory that it looks into may change.
                value = value.copy()
            self._node = value.node
            self.version += 1
        else:
            self.base.become(tape.call("write", write, (self.base, self.chain, value)))
        return self

    fill = become

    # ------------------------------------------------------------ what is known of it

    T = property(lambda self: self.transpose())
    mT = property(lambda self: np.swapaxes(self, -1, -2))
    real = property(lambda self: self)

    @property
    def flags(self) -> SimpleNamespace:
        """Whether it lies in memory row by row, and may be written to."""
        flags = self._node.value.flags
        writeable = all([name != "broadcast_to" for name, *_ in self.chain])
        return SimpleNamespace(c_contiguous=flags.c_contiguous, writeable=writeable)

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Traced]:
        return iter([self[place] for place in range(len(self))])

    def __repr__(self) -> str:
        return f"<traced {self.dtype}{list(self.shape)}, line {(self._node.line or ('', 0))[1]}>"

    def shown(self) -> str:
        """What ``print`` shows of a tensor, once; later runs print nothing."""
        line = program_line()
        self.tape.remarks[line] = f"printed while the graph was built, and never again: {described(line)}"
        return repr(self)

    # ------------------------------------------------------------ what there is not yet

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise no_number_yet("__array__")

    def _known(self, asked: str) -> Any:
        """The value, if it is a constant."""
        if self.node.kind != "const":
            raise no_number_yet(asked)
        return self.node.value

    def __bool__(self) -> bool:
        return bool(self._known("__bool__"))

    def __float__(self) -> float:
        return float(self._known("item"))

    def __int__(self) -> int:
        return int(self._known("item"))

    __index__ = __int__

    # ------------------------------------------------------------ conditions

    def check(self, explain: Callable[..., Exception], values: tuple[Any, ...]) -> None:
        """Stop each run in which this condition is false, with the error ``explain(*values)``."""
        explain, operands = located(explain, self.tape.operation), self.tape.lifted((self, *values))
        if not self.node.value:
            raise explain(*example_of(operands[1:]))
        self.tape.add("check", "check", explain, operands)

    def expected(self) -> bool:
        """Whether this condition is true for the example; if it is, runs in which it is false stop."""
        holds = bool(self.node.value)
        if holds and self.node.kind != "const":
            self.check(partial(Unexpected, "the graph was built for other numbers"), ())
        return holds

    @property
    def module(self) -> Module:
        """The array module that creates arrays beside this one."""
        return Module(self.tape)

    # ------------------------------------------------------------ NumPy's calls

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, out: Any = None, **settings: Any) -> Any:
        if any([isinstance(each, Tensor) for each in args]):
            # It is an operation on tensors, which come back with their arrays.
            return NotImplemented
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        if method == "at":
            return _target(args[0]).become(self.tape.call(name, at, (ufunc, *args)))
        result = self.tape.call(
            name, ufunc if method == "__call__" else getattr(ufunc, method), args, settings
        )
        if isinstance(result, tuple) and out is not None:
            return tuple([_into(one, each) for one, each in zip(out, result)])
        return _into(out, result)

    def __array_function__(self, function: Any, types: Any, args: Any, settings: Any) -> Any:
        name = function.__name__
        if any([issubclass(each, Tensor) for each in types]):
            return NotImplemented
        if function in _ABOUT_SHAPES:
            return function(*_values(args), **_values(settings))
        if function in (np.may_share_memory, np.shares_memory):
            one, other = [_memory(each) for each in args[:2]]
            return one is other and function(*_values(args))
        if name in _ANSWERS:
            raise no_number_yet("__bool__")
        if name == "bincount" and settings.get("minlength"):
            _check_counts(*args, **settings)
        elif name in _SHAPE_BY_VALUE and not (name == "where" and len(args) == 3):
            raise no_number_yet("shape")
        if function is np.copyto:
            return _copy_to(*args, **settings)
        out = settings.pop("out", None)
        result = self.tape.call(name, function, args, settings)
        if isinstance(result, Traced) and result.dtype == object:
            raise no_number_yet("__array__")
        return _into(out, result)

    def __getitem__(self, index: Any) -> Traced:
        for each in index if isinstance(index, tuple) else (index,):
            if isinstance(each, Traced) and each.dtype.kind == "b":
                raise no_number_yet("shape")
        return self.tape.call("slice" if is_basic(index) else "getitem", getitem, (self, index))

    def __setitem__(self, index: Any, value: Any) -> None:
        if index is Ellipsis or isinstance(index, slice) and index == slice(None):
            self.become(value)
        elif is_basic(index):
            self[index].become(value)
        else:
            self.become(self.tape.call("put", put, (self, index, value)))

    def put(self, places: Any, values: Any) -> None:
        """Write ``values`` at ``places`` of the flattened array."""
        self[np.unravel_index(places, self.shape)] = values

    # ------------------------------------------------------------ methods of arrays

    def reshape(self, *shape: Any, **settings: Any) -> Traced:
        """As NumPy's."""
        return self.tape.call("reshape", np.reshape, (self, shape[0] if len(shape) == 1 else shape), settings)

    def transpose(self, *axes: Any) -> Traced:
        """As NumPy's."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return self.tape.call("transpose", np.transpose, (self, order or None))

    def astype(self, dtype: Any, copy: bool = True, **settings: Any) -> Traced:
        """As NumPy's."""
        if np.dtype(dtype) == self.dtype:
            return self.copy() if copy else self
        return self.tape.call("astype", astype, (self, np.dtype(dtype)))

    def copy(self, order: str = "C") -> Traced:
        """As NumPy's."""
        return self.tape.call("copy", np.copy, (self,))

    def __getattr__(self, name: str) -> Any:
        if name in _FACTS:
            return getattr(self._node.value, name)
        method = None if name.startswith("_") else getattr(np.ndarray, name, None)
        if not callable(method) or name in _NOT_IN_A_GRAPH:
            raise AttributeError(f"a traced array has no {name}")
        if name in ("item", "tolist"):
            return getattr(self._known(name), name)
        if name in _REDUCTIONS:
            return partial(_reduce, _REDUCTIONS[name], self)
        return partial(noted, self.tape, name, np.dot if name == "dot" else method, self)


def _reduce(ufunc: Any, array: Traced, axis: Any = None, dtype: Any = None, **settings: Any) -> Any:
    """A sum, product, maximum or minimum, by the method of the array, as the ufunc's own reduction."""
    if dtype is not None:
        settings["dtype"] = dtype
    return ufunc.reduce(array, **{"axis": axis, "keepdims": False, **settings})


# ---------------------------------------------------------------- functions of nodes


def _part(whole: Any, place: int) -> Any:
    return np.asarray(whole[place])


def getitem(array: Any, index: Any) -> Any:
    """``array[index]``."""
    return array[index]


def astype(array: Any, dtype: Any) -> Any:
    """``array`` in ``dtype``."""
    return array.astype(dtype)


def write(array: Any, chain: tuple[Any, ...], value: Any) -> Any:
    """``array`` with ``value`` written into the view that ``chain`` leads to."""
    array = array.copy()
    part = array
    for _, function, args, settings in chain:
        part = function(part, *args, **settings)
    if not part.flags.writeable:
        raise refused("a diagonal is written to, which NumPy gives to be read: write by torch.where and eye")
    part[...] = value
    return array


def put(array: Any, index: Any, value: Any) -> Any:
    """``array`` with ``value`` at ``index``."""
    array = array.copy()
    array[index] = value
    return array


def at(ufunc: Any, array: Any, index: Any, *values: Any) -> Any:
    """``array`` after ``ufunc.at``, which counts each place as often as ``index`` names it."""
    array = array.copy()
    ufunc.at(array, index, *values)
    return array


# ---------------------------------------------------------------- helpers


def is_basic(index: Any) -> bool:
    """Whether ``index`` selects a view: by integers, slices, None and an ellipsis."""
    parts = index if isinstance(index, tuple) else (index,)
    basic = slice | int | np.integer | None
    return all([each is ... or isinstance(each, basic) and not isinstance(each, bool) for each in parts])


def _values(args: Any) -> Any:
    """``args`` with the example's value in place of each traced array."""
    return mapped(args, lambda one: one._node.value if isinstance(one, Traced) else one)


def _memory(array: Any) -> Any:
    """What owns the memory of an array."""
    owner = array.base if isinstance(array, Traced) else getattr(array, "base", None)
    return array if owner is None else owner


def _target(array: Any) -> Traced:
    """``array``, which is to be written to; it must be traced itself."""
    if not isinstance(array, Traced):
        raise no_number_yet("__array__")
    return array


def _into(out: Any, result: Any) -> Any:
    """``result``, written into ``out`` if that is given."""
    if isinstance(out, tuple):
        (out,) = out
    return result if out is None else _target(out).become(result)


def _check_counts(places: Any, weights: Any = None, minlength: int = 0) -> None:
    """Let a run stop that counts to further than ``np.bincount`` did while the graph was built."""
    require((places < minlength).all(), lambda: StaticError(f"bincount counts beyond minlength={minlength}"))


def _copy_to(target: Any, source: Any, casting: str = "same_kind", where: Any = True) -> None:
    """As ``np.copyto``."""
    _target(target).become(source if where is True else np.where(where, source, target))
