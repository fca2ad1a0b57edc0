"""All operations: each file holds a family, such as trigonometry, with a rule for each operation.

A family ends with its :class:`~autokit.ops.names.Names`, which say how a program calls each function:
``torch.exp(x)``, ``x.exp()``, ``x.exp_()``, ``torch.nn.functional.relu`` or ``np.exp(x)``. Its
``OPERATORS``, where it has some, are Python's special methods, such as ``x + y``. This file collects these
names, and binds the methods to the class of tensors.
"""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any

from autokit.engine.inplace import in_place
from autokit.engine.tensor import Tensor
from autokit.ops import (
    activation,
    arithmetic,
    choose,
    compare,
    convert,
    create,
    decomposition,
    draw,
    einsum,
    exponential,
    extremes,
    gather,
    index,
    join,
    norm,
    product,
    reduce,
    repeat,
    rounding,
    scan,
    scatter,
    shape,
    softmax,
    solve,
    sort,
    special,
    statistics,
    triangle,
    trigonometry,
    variance,
)
from autokit.ops.names import Names, public

# An overflow or a division by zero gives inf or nan without a warning: training programs test for these.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"autokit\.")
# NumPy's sum, product and mean are functions in Python, and warn under the name of their own module.
warnings.filterwarnings(
    "ignore", "(invalid value|overflow) encountered in reduce", RuntimeWarning, r"numpy\._core\._methods"
)

FAMILIES = (
    *(activation, arithmetic, choose, compare, convert, create, decomposition, draw, einsum, exponential),
    *(extremes, gather, index, join, norm, product, reduce, repeat, rounding, scan, scatter, shape),
    *(softmax, solve, sort, special, statistics, triangle, trigonometry, variance),
)
"""The families that ``import autokit`` loads; ``autokit.nn.functional`` loads those of neural networks."""

FUNCTIONS: dict[str, Any] = {}
"""The functions of ``autokit``, as ``torch.exp``."""

FUNCTIONAL: dict[str, Any] = {}
"""The functions of ``autokit.nn.functional`` that are operations."""

METHODS: dict[str, Any] = {}
"""The methods and properties of tensors, as ``x.exp`` and ``x.T``."""

NUMPY: dict[Any, Any] = {}
"""For some of NumPy's functions, such as ``np.exp``, the function of tensors that it calls."""


def collect(family: ModuleType, names: Names) -> None:
    """Put the family's functions under their names into the tables."""
    given = {name: public(getattr(family, name)) for name in f"{names.both} {names.functions}".split()}
    methods: dict[str, Any] = {name: public(getattr(family, name)) for name in names.methods.split()}
    methods.update({name: given[name] for name in names.both.split()}, **names.other_methods)
    for name in names.properties.split():
        methods[name] = property(getattr(family, name), getattr(family, f"set_{name}", None))
    for name in names.in_place.split():
        methods[f"{name}_"] = in_place(getattr(family, name))
    for name in names.in_place_functions.split():
        given[f"{name}_"] = methods.get(f"{name}_") or in_place(getattr(family, name))
    for alias, name in names.aliases.items():
        for table in (given, methods):
            for form in ("", "_"):
                if name + form in table:
                    table[alias + form] = table[name + form]
    FUNCTIONS.update(given)
    METHODS.update(methods)
    METHODS.update(getattr(family, "OPERATORS", {}))
    FUNCTIONAL.update({name: public(getattr(family, name)) for name in names.functional.split()})
    FUNCTIONAL.update({name: public(each) for name, each in names.other_functional.items()})
    NUMPY.update(names.numpy)


for _family in FAMILIES:
    collect(_family, _family.NAMES)

for _name, _bound in METHODS.items():
    setattr(Tensor, _name, _bound)

from autokit.ops import numpy_protocol  # noqa: E402, F401 - it needs the tables above
