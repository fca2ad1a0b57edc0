"""One kernel for rows on a GPU: a formula's own lines, with sums or largest elements of each row in between.

The softmax of a row needs its largest element, then the sum of all exponentials
beside it; a normalization needs the mean, then the variance.  Each of these as a
kernel of its own reads all elements again, and costs a launch.
:func:`over_rows` writes CUDA's C from the lines of a function, by calling it
with placeholders in place of arrays.  Some threads share a row: each goes
through its part of the elements once for each sum that waits for the sum before,
they add up what they found, and go on.  The function's lines stay as they are,
and are what computes on the CPU too.

What can be written, in :mod:`autokit.ops.gpu.row_code`: the ufuncs of its
``FORMS``, operators, ``np.where``, ``astype``, and the methods ``sum``, ``mean``
and ``max`` with ``axis=axes, keepdims=True``.  No shapes, no indices, no changes
in place, no branch on a value: ``None`` stands for an operand that is absent.
A row is what lies along ``axes``, however many these are and wherever it lies in
memory; where that takes more than two steps each way, or for other dtypes, the
lines compute call by call.

References
----------
"Raw kernels", in CuPy's user guide.
M. Harris, "Optimizing parallel reduction in CUDA", 2007.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from autokit.devices import on_a_gpu

_ndarray = np.ndarray  # a module's own name is found sooner than NumPy's

ROWS: dict[str, Callable[..., Any]] = {}
"""What can be written, under its file's name and its own; for the tests."""


def over_rows(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` of arrays that broadcast, as one kernel where its first argument is on a GPU.

    Parameters
    ----------
    function : callable
        Of what the head of this file lists.  Its positional arguments are
        arrays of as many dimensions, floats that change from call to call, or
        None; ``axes``, a tuple, and the other arguments by keyword are fixed:
        for each of their values a kernel is compiled.  The first array is as
        large as all together.  It returns arrays of that shape, or of that with
        1 along ``axes``, and None: one, or a tuple of them.

    Returns
    -------
    callable
        The same for arrays on the CPU, of samples, for tensors, and on a GPU.
        With ``keepdims=False``, what there is one of for each row is without ``axes``.
    """
    ROWS[f"{function.__module__.rpartition('.')[2]}.{function.__name__}"] = function

    @wraps(function)
    def run(*operands: Any, keepdims: bool = True, **fixed: Any) -> Any:
        kind = operands[0].__class__
        if kind is not _ndarray and on_a_gpu(operands[0]):
            from autokit.ops.gpu.row_kernels import computed  # which few programs need

            return computed(function, operands, fixed, keepdims)
        made = function(*operands, **fixed)
        return made if keepdims else dropped(made, fixed["axes"])

    return run


def dropped(made: Any, axes: int | tuple[int, ...]) -> Any:
    """What a function returned, one array or a tuple, without ``axes``."""
    if isinstance(made, tuple):
        return tuple([each if each is None else each.squeeze(axes) for each in made])
    return made.squeeze(axes)
