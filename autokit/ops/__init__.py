"""All operations, one rule each, and the forms that are made from a rule.

The families are files of this package.  Here each operation gets its other
forms: the method ``x.exp()``, the operator ``x + y`` with its reflection
``2 + x``, and the in-place form ``x.exp_()``.
"""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any

import numpy as np

from autokit.ops import compare, convert, create, elementwise, index, inplace, linalg, reduce, shape
from autokit.tensor import Tensor

# An overflow or a division by zero gives inf or nan in silence, as in PyTorch.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"autokit\.")


def _from(family: ModuleType, names: str) -> dict[str, Any]:
    """The functions of ``family`` with these ``names``."""
    return {name: getattr(family, name) for name in names.split()}


CREATION = _from(
    create,
    "arange as_tensor empty empty_like eye from_numpy full full_like linspace ones ones_like rand rand_like "
    "randint randn randn_like randperm tensor zeros zeros_like",
)
"""Functions that make a tensor of something else."""

QUERIES = _from(compare, "allclose equal is_tensor numel")
"""Functions whose answer is no tensor."""

JOINS = _from(shape, "cat stack")
JOINS.update(concat=JOINS["cat"], concatenate=JOINS["cat"])
"""Functions of several tensors, which are no methods."""

FUNCTIONS = {
    **_from(
        elementwise,
        "abs add clamp clone cos div exp floor floor_divide log maximum minimum mul neg pow relu remainder "
        "sigmoid sign sin sqrt sub tanh where",
    ),
    **_from(
        compare,
        "bitwise_and bitwise_not bitwise_or bitwise_xor eq ge gt isfinite isnan le logical_and "
        "logical_not logical_or lt ne",
    ),
    **_from(linalg, "bmm dot matmul mm mv"),
    **_from(reduce, "all amax amin any argmax argmin log_softmax logsumexp max mean min softmax std sum var"),
    **_from(shape, "flatten gather permute ravel reshape squeeze t transpose unsqueeze"),
    **_from(index, "nonzero"),
}
"""Operations that are functions and methods under one name."""

ALIASES = {
    "absolute": "abs",
    "clip": "clamp",
    "divide": "div",
    "multiply": "mul",
    "negative": "neg",
    "subtract": "sub",
    "swapaxes": "transpose",
    "true_divide": "div",
}
"""Second names, and the names that they stand for."""

FUNCTIONS.update({alias: FUNCTIONS[name] for alias, name in ALIASES.items()})

METHODS = {
    **_from(shape, "contiguous expand expand_as view view_as"),
    **_from(convert, "cpu cuda to type_as"),
    **convert.CONVERSIONS,
    **_from(compare, "allclose equal"),
    "where": elementwise.where_self,
    **_from(inplace, "copy_ fill_ normal_ uniform_ zero_"),
}
"""What is a method alone."""

IN_PLACE = (
    "abs absolute add clamp clip cos div divide exp floor floor_divide log mul multiply neg negative pow "
    "relu remainder sigmoid sign sin sqrt sub subtract tanh true_divide"
)
"""Operations that also have a form with a trailing underscore, which overwrites the tensor."""

OPERATORS = {
    "add": elementwise.plain_add,
    "sub": elementwise.plain_sub,
    "mul": elementwise.mul,
    "truediv": elementwise.plain_div,
    "floordiv": elementwise.floor_divide,
    "mod": elementwise.remainder,
    "pow": elementwise.plain_pow,
    "matmul": linalg.matmul,
    "and": compare.bitwise_and,
    "or": compare.bitwise_or,
    "xor": compare.bitwise_xor,
}
"""Python's operators between two values, each with a reflected and an in-place form."""


def _comparison(function: Any) -> Any:
    def apply(self: Tensor, other: Any) -> Any:
        # `x == None` and `x == "a"` are Python's own False, and `x < None` its TypeError.
        return function(self, other) if isinstance(other, _COMPARABLE) else NotImplemented

    return apply


_COMPARABLE = (Tensor, bool, int, float, complex, np.generic, np.ndarray)

SPECIAL = {
    **{name: _comparison(FUNCTIONS[name]) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    "abs": elementwise.abs,
    "neg": elementwise.neg,
    "pos": lambda self: self,
    "invert": compare.bitwise_not,
    "getitem": index.getitem,
    "setitem": inplace.setitem,
}
"""Python's other special methods."""


def _reflected(function: Any) -> Any:
    def apply(self: Tensor, other: Any) -> Tensor:
        return function(other, self)

    return apply


def _bind() -> None:
    """Give :class:`Tensor` its methods and operators."""
    for name, function in {**FUNCTIONS, **METHODS}.items():
        setattr(Tensor, name, function)
    for name in IN_PLACE.split():
        setattr(Tensor, f"{name}_", inplace.in_place(FUNCTIONS[name]))
    for name, function in OPERATORS.items():
        setattr(Tensor, f"__{name}__", function)
        setattr(Tensor, f"__r{name}__", _reflected(function))
        if name != "matmul":
            setattr(Tensor, f"__i{name}__", inplace.in_place(function))
    for name, function in SPECIAL.items():
        setattr(Tensor, f"__{name}__", function)


_bind()

from autokit.ops import numpy_protocol  # noqa: E402, F401 - needs the methods above
