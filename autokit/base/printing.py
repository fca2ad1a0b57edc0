"""Printing: the text of a tensor, in PyTorch's form.

All numbers of a tensor are printed in one form, which depends on all numbers shown: whole numbers as ``3.``,
others with a fixed number of decimals, or in scientific notation where some are very large or very small, or
the largest is much larger than the smallest. Of a tensor with many elements only the first and last few along
each dimension are shown. After the numbers come the properties that are not the default: ``device=``,
``dtype=``, ``grad_fn=`` or ``requires_grad=``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from autokit.base.devices import device_of, to_numpy
from autokit.base.dtypes import get_default_dtype


class Options(NamedTuple):
    """How tensors are printed.

    Attributes
    ----------
    precision : int
        Decimals of floating point numbers.
    threshold : float
        Tensors of more elements than this are summarized.
    edgeitems : int
        How many items a summary keeps at each end of each dimension.
    linewidth : int
        Where lines break.
    sci_mode : bool or None
        Scientific notation always, never, or (None) where the numbers ask for it.
    """

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": Options(),
    "short": Options(precision=2, edgeitems=2),
    "full": Options(threshold=math.inf),
}

_options = Options()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Choose how tensors are printed from now on; see :class:`Options` for what there is to choose.

    What is not named stays as it is, except ``sci_mode``, which becomes None.
    ``profile`` is ``"default"``, ``"short"`` or ``"full"``: a set of options, on which the others improve.

    >>> set_printoptions(precision=2)
    >>> format_array(np.array([1.2345], "float32"))
    'tensor([1.23])'
    >>> set_printoptions(profile="default")
    """
    global _options
    if profile is not None and profile not in _PROFILES:
        raise ValueError(f"there is no profile {profile!r}; there are {', '.join(_PROFILES)}")
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    _options = (_PROFILES[profile] if profile else _options)._replace(**chosen, sci_mode=sci_mode)


def get_printoptions() -> dict[str, Any]:
    """The options in force, as keyword arguments of :func:`set_printoptions`."""
    return _options._asdict()


@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Print in another way inside this block; the options are those of :func:`set_printoptions`."""
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        set_printoptions(**before)


def format_array(
    array: Any,
    *,
    grad_fn_name: str | None = None,
    requires_grad: bool = False,
    options: Options | None = None,
    prefix: str = "tensor",
) -> str:
    """The printed form of a tensor that holds ``array``.

    Parameters
    ----------
    array : numpy.ndarray or cupy.ndarray
        The elements, of any shape; booleans, integers or floating point numbers.
    grad_fn_name : str or None
        The name of the operation that computed it, as ``"MulBackward0"``.
    requires_grad : bool
        Shown where there is no ``grad_fn_name``.
    options : Options or None
        In place of those that :func:`set_printoptions` chose.
    prefix : str
        The word before the bracket.

    Examples
    --------
    >>> print(format_array(np.array([[1.0, 2.5], [-3.0, np.inf]], "float32"), requires_grad=True))
    tensor([[ 1.0000,  2.5000],
            [-3.0000,     inf]], requires_grad=True)
    >>> format_array(np.zeros((0, 3)))
    'tensor([], size=(0, 3), dtype=torch.float64)'
    """
    shown = getattr(array, "shown", None)  # an array that records NumPy's calls has no numbers yet
    if shown is not None:
        return shown()
    options = options or _options
    facts: list[str] = []
    device = str(device_of(array))
    if device != "cpu":
        facts.append(f"device='{device}'")
    if array.ndim != 1 if array.size == 0 else not options.edgeitems:
        facts.append(f"size={array.shape}")
    default = get_default_dtype().name
    if array.dtype.name not in ((default, "int64", "bool") if array.size else (default,)):
        facts.append(f"dtype=torch.{array.dtype.name}")
    if grad_fn_name is not None:
        facts.append(f"grad_fn=<{grad_fn_name}>")
    elif requires_grad:
        facts.append("requires_grad=True")
    indent = len(prefix) + 1
    return _append(f"{prefix}({_body(array, indent, options)}", facts, indent, options.linewidth)


def _append(text: str, facts: list[str], indent: int, linewidth: int) -> str:
    """``text`` followed by the facts, each on a new line where it would not fit."""
    # One more than the length of the line: PyTorch's lines break by this count.
    column = len(text) - text.rfind("\n") + 1
    for fact in facts:
        if column + len(fact) + 2 > linewidth:
            text += ",\n" + " " * indent + fact
            column = indent + len(fact)
        else:
            text += ", " + fact
            column += len(fact) + 2
    return text + ")"


def _body(array: Any, indent: int, options: Options) -> str:
    """The brackets and the numbers; all lines but the first are indented so as to stand under it."""
    if array.size == 0:
        return "[]"
    edge = options.edgeitems
    summarized = array.size > options.threshold
    if summarized and array.ndim and edge == 0:
        return "[...]"
    cut = [summarized and length > 2 * edge for length in array.shape]
    shown = array
    for axis, is_cut in enumerate(cut):
        if is_cut:
            shown = np.take(shown, [*range(edge), *range(-edge, 0)], axis=axis)
    shown = to_numpy(shown)  # only these elements are copied from a GPU
    write, width = _form_of_numbers(shown, options)
    texts = [write(value).rjust(width) for value in shown.reshape(-1).tolist()]
    if not cut:
        return texts[0]
    last = array.ndim - 1
    per_line = max(1, (options.linewidth - indent - last) // (width + 2))

    def brackets(axis: int, texts: list[str]) -> str:
        if axis == last:
            items = [*texts[:edge], " ...", *texts[edge:]] if cut[axis] else texts
            lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
            return "[" + f",\n{' ' * (indent + axis + 1)}".join(lines) + "]"
        step = len(texts) // shown.shape[axis]
        parts = [brackets(axis + 1, texts[i : i + step]) for i in range(0, len(texts), step)]
        if cut[axis]:
            parts.insert(edge, "...")
        return "[" + ("," + "\n" * (last - axis) + " " * (indent + axis + 1)).join(parts) + "]"

    return brackets(0, texts)


def _form_of_numbers(array: Any, options: Options) -> tuple[Callable[[Any], str], int]:
    """The function that writes one of the numbers, and how wide the widest one is."""
    values = array.reshape(-1).tolist()
    if array.dtype.kind in "biu":
        return str, max(len(str(value)) for value in values)

    def write_whole(value: float) -> str:
        return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"

    # Zero, NaN and infinity do not influence the form or the width.
    deciding = [value for value in values if value and math.isfinite(value)]
    if not deciding:
        return write_whole, 1
    sizes = [abs(value) for value in deciding]
    smallest, largest = min(sizes), max(sizes)
    far_apart = largest / smallest > 1000 or largest > 1e8 or smallest < 1e-4
    if far_apart if options.sci_mode is None else options.sci_mode:
        form = f".{options.precision}e"
    elif all(value == math.ceil(value) for value in deciding):
        return write_whole, max(len(write_whole(value)) for value in deciding)
    else:
        form = f".{options.precision}f"
    return lambda value: format(value, form), max(len(format(value, form)) for value in deciding)
