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

from autokit.missing import names_of
from autokit.ops import (
    activation,
    adaptive_pool,
    addmm,
    arithmetic,
    bent_activation,
    bins,
    choices,
    compare,
    complex_parts,
    conv,
    convert,
    copies,
    create,
    decompositions,
    differences,
    draws,
    einsum,
    elementwise,
    exchange,
    expansion,
    exponential,
    extremes,
    factors,
    filled,
    fold,
    gather,
    incomplete_gamma,
    index,
    inplace,
    interpolate,
    inverses,
    join,
    least_squares,
    legacy,
    linalg,
    masks,
    matrix_chains,
    matrix_exponential,
    norm,
    operators,
    own_copies,
    own_shape,
    pad,
    places,
    pool,
    product,
    quantile,
    redrawing,
    reduce,
    removed,
    repeat,
    rounding,
    sampling,
    scan,
    scatter,
    segments,
    series,
    shape,
    smooth_activation,
    soft_extremes,
    solving,
    sort,
    sparse,
    special,
    spectra,
    spectrograms,
    storage,
    strides,
    tensor_equations,
    tensordot,
    triangle,
    trigonometry,
    unique,
    variance,
)
from autokit.ops.errors import require_tensor
from autokit.ops.names import Names, in_place_of, public
from autokit.ops.signatures import looked_at
from autokit.tensor import Tensor

# An overflow or a division by zero gives inf or nan in silence, as in PyTorch.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"autokit\.")
# NumPy's sum, product and mean are Python that warns in its own name.
warnings.filterwarnings(
    "ignore", "(invalid value|overflow) encountered in reduce", RuntimeWarning, r"numpy\._core\._methods"
)


FAMILIES = (
    operators,
    elementwise,
    choices,
    arithmetic,
    exponential,
    trigonometry,
    rounding,
    special,
    complex_parts,
    incomplete_gamma,
    activation,
    bent_activation,
    smooth_activation,
    compare,
    reduce,
    extremes,
    variance,
    soft_extremes,
    shape,
    expansion,
    storage,
    strides,
    own_shape,
    join,
    repeat,
    triangle,
    index,
    gather,
    scatter,
    segments,
    places,
    masks,
    linalg,
    matrix_chains,
    norm,
    create,
    filled,
    series,
    sparse,
    convert,
    inplace,
    conv,
    pad,
    sampling,
    draws,
    redrawing,
    addmm,
    einsum,
    tensordot,
    solving,
    inverses,
    least_squares,
    pool,
    adaptive_pool,
    fold,
    exchange,
    interpolate,
    decompositions,
    spectra,
    matrix_exponential,
    tensor_equations,
    factors,
    sort,
    scan,
    product,
    quantile,
    differences,
    unique,
    bins,
    spectrograms,
    legacy,
    removed,
)

FUNCTIONS: dict[str, Any] = {}
"""The functions of ``autokit``, as ``torch.exp``."""

FUNCTIONAL: dict[str, Any] = {}
"""The functions of ``autokit.nn.functional``, as far as they are single operations."""

METHODS: dict[str, Any] = {}
"""The methods of tensors, as ``x.exp``."""

PROPERTIES: dict[str, Any] = {}
"""What is read of tensors without a call, as ``x.T``."""


_OF_TWO_TENSORS = (
    "arctan2 atan2 fmax fmin gcd heaviside hypot lcm logaddexp logaddexp2 logical_and logical_or logical_xor "
    "maximum minimum nextafter"
)
OF_TWO_TENSORS = frozenset(name + underscore for name in _OF_TWO_TENSORS.split() for underscore in ("", "_"))
"""What takes no number as its second operand, as PyTorch does; the rules themselves would."""


def of_tensors(name: str, function: Any) -> Any:
    """``function`` of two operands, which refuses a second one that is no tensor."""

    @in_place_of(function)
    def apply(*operands: Any, **settings: Any) -> Any:
        if len(operands) == 2 and not isinstance(operands[1], Tensor):
            require_tensor(name, operands[1])
        return function(*operands, **settings)

    return apply


def _collect(family: ModuleType, names: Names) -> None:
    """Put the family's functions under their names into the tables."""
    given = {name: public(getattr(family, name)) for name in f"{names.both} {names.functions}".split()}
    methods = {name: public(getattr(family, name)) for name in names.methods.split()}
    methods.update({name: given[name] for name in names.both.split()}, **names.other_methods)
    PROPERTIES.update({name: _property(family, name) for name in names.properties.split()})
    for name in names.in_place.split():
        methods[f"{name}_"] = inplace.in_place(getattr(family, name))
    for name in names.in_place_functions.split():
        given[f"{name}_"] = methods.get(f"{name}_") or inplace.in_place(getattr(family, name))
    for alias, name in names.aliases.items():
        for table in (given, methods):
            for underscore in ("", "_"):
                if name + underscore in table:
                    table[alias + underscore] = table[name + underscore]
    for table in (given, methods):
        table.update({name: of_tensors(name, each) for name, each in table.items() if name in OF_TWO_TENSORS})
    functional = {name: public(getattr(family, name)) for name in names.functional.split()}
    functional.update({name: public(each) for name, each in names.other_functional.items()})
    for table, found, prefix in (
        (FUNCTIONS, given, ""), (METHODS, methods, "."), (FUNCTIONAL, functional, "functional.")
    ):  # fmt: skip
        table.update({name: _looked_at(prefix + name, function) for name, function in found.items()})


def _property(family: ModuleType, name: str) -> property:
    return property(getattr(family, name), getattr(family, f"set_{name}", None))


def _looked_at(name: str, function: Any) -> Any:
    """``function`` with a look at the types of its arguments; tensors alone are looked at by the rules."""
    rule = getattr(function, "operation", None)
    takes_tensors_alone = rule is not None and not rule.defaults and len(rule.operands) < 3
    if takes_tensors_alone and name.rpartition(".")[2] not in OF_TWO_TENSORS:
        return function
    return looked_at(name, function)


for _family in FAMILIES:
    _collect(_family, _family.NAMES)


def _matmul(self: Tensor, other: Any) -> Tensor:
    """``self @ other``; what is no tensor answers itself, as with PyTorch: an array by NumPy's matmul."""
    ours = isinstance(other, Tensor) or not hasattr(type(other), "__rmatmul__")
    return linalg.matmul(self, other) if ours else NotImplemented


def _times(self: Tensor, other: Any) -> Tensor:
    """``other * self``; ``[0] * n`` repeats the list, as often as a whole number says."""
    try:
        return operators.mul(other, self)
    except TypeError:
        if isinstance(other, list | tuple | str) and self.array.size == 1 and self.array.dtype.kind in "ui":
            return NotImplemented
        raise


def _delete(self: Tensor, index: Any) -> None:
    """``del self[index]``, which is refused."""
    raise TypeError("Tensor does not support deleting items: keep the others, as in x[mask] or torch.cat")


def _invert(self: Tensor) -> Tensor:
    """``~self``."""
    if self.array.dtype.kind not in "bui":
        raise TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors: this one is "
            f"{self.dtype.name}; compare first, as in ~(x > 0)"
        )
    return compare.bitwise_not(self)


OPERATORS = {
    "add": operators.plain_add,
    "sub": operators.plain_sub,
    "mul": operators.mul,
    "truediv": operators.plain_div,
    "floordiv": operators.floor_divide,
    "mod": operators.remainder,
    "pow": operators.pow,
    "matmul": _matmul,
    "and": compare.bitwise_and,
    "or": compare.bitwise_or,
    "xor": compare.bitwise_xor,
    "lshift": compare.bitwise_left_shift,
    "rshift": compare.bitwise_right_shift,
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
    "neg": operators.neg,
    "pos": arithmetic.positive,
    "invert": _invert,
    "contains": compare.contains,
    "getitem": index.getitem,
    "setitem": inplace.setitem,
    "delitem": _delete,
    "rmul": _times,
    "dlpack": exchange.dlpack,
    "dlpack_device": exchange.dlpack_device,
    "deepcopy": copies.deepcopy,
    "reduce_ex": copies.reduce_ex,
}
"""Python's other special methods."""


def _reflected(function: Any) -> Any:
    def apply(self: Tensor, other: Any) -> Tensor:
        return function(other, self)

    return apply


def _number_over(self: Tensor, number: Any) -> Tensor:
    """``number / self``; PyTorch keeps the reciprocal, so that the tensor may be changed afterwards."""
    result = operators.div(number, self)
    return result if isinstance(number, Tensor) else own_copies.outlives(result, {1: self})


def _bind() -> None:
    """Give :class:`Tensor` its methods and operators."""
    for name, bound in (METHODS | PROPERTIES).items():
        setattr(Tensor, name, bound)
    for name, function in OPERATORS.items():
        setattr(Tensor, f"__{name}__", function)
        setattr(Tensor, f"__r{name}__", _number_over if name == "truediv" else _reflected(function))
        if name != "matmul":
            setattr(Tensor, f"__i{name}__", inplace.in_place(function))
    for name, function in SPECIAL.items():
        setattr(Tensor, f"__{name}__", function)


_bind()

from autokit.ops import numpy_protocol  # noqa: E402, F401 - needs the methods above

__getattr__ = names_of("torch.ops")
