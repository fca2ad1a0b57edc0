"""The text of a tensor: PyTorch's printed form, made from a NumPy array.

All numbers of a tensor are printed in one form, chosen by looking at all that
will be shown: whole numbers as ``3.``, others with a fixed number of decimals,
or in scientific notation where they are very large, very small or far apart.
Tensors of many elements show only the first and last few along each dimension.
After the numbers come the facts that are not the default: ``dtype=``,
``device=``, ``grad_fn=`` or ``requires_grad=``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from autokit.batches import Batch, levels_of
from autokit.current_gpu import computing_beside
from autokit.devices import to_numpy
from autokit.meta_array import MetaArray
from autokit.sparse_array import Sparse

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

__all__ = ["Options", "format_array", "format_scalar", "get_printoptions", "printoptions", "set_printoptions"]


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

    What is not named stays as it is, except ``sci_mode``, which goes back to None, as in PyTorch.
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
    """Print in another way inside this block; takes what :func:`set_printoptions` takes."""
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        set_printoptions(**before)


def format_array(
    array: Array | Batch | Sparse | MetaArray,
    *,
    grad_fn_name: str | None = None,
    requires_grad: bool = False,
    device: str = "cpu",
    name: str | None = None,
    default_dtype: str = "float32",
    options: Options | None = None,
    prefix: str = "tensor",
    tangent: str = "",
) -> str:
    """The printed form of a tensor that holds ``array``.

    Parameters
    ----------
    array : numpy.ndarray
        The elements, of any shape; booleans, integers or floating point numbers.
    grad_fn_name : str or None
        The name of the operation that made it, as ``"MulBackward0"``.
    requires_grad : bool
        Shown where there is no ``grad_fn_name``.
    device : str
        Shown unless ``"cpu"``.
    name : str or None
        The tensor's own name, shown last.
    default_dtype : str
        The floating point dtype that need not be shown.
    options : Options or None
        In place of those that :func:`set_printoptions` chose.
    prefix : str
        The word before the bracket.
    tangent : str
        How it moves, where it is a dual.

    Examples
    --------
    >>> print(format_array(np.array([[1.0, 2.5], [-3.0, np.inf]], "float32"), requires_grad=True))
    tensor([[ 1.0000,  2.5000],
            [-3.0000,     inf]], requires_grad=True)
    >>> format_array(np.zeros((0, 3)))
    'tensor([], size=(0, 3), dtype=torch.float64)'
    """
    if isinstance(array, Batch):
        value = format_array(
            array.full_alone(),
            grad_fn_name=grad_fn_name,
            requires_grad=requires_grad,
            device=device,
            name=name,
            default_dtype=default_dtype,
            options=options,
            prefix=prefix,
            tangent=tangent,
        )
        value = value.replace("\n", "\n    ")
        return f"BatchedTensor(lvl={len(levels_of(array))}, bdim=0, value=\n    {value}\n)"
    options = options or _options
    if isinstance(array, Sparse):
        return _sparse(array, grad_fn_name, requires_grad, device, default_dtype, options, prefix)
    facts: list[str] = []
    if device != "cpu":
        facts.append(f"device='{device}'")
    if isinstance(array, MetaArray) or (array.ndim != 1 if array.size == 0 else not options.edgeitems):
        facts.append(f"size={array.shape}")
    seen = array.size and not isinstance(array, MetaArray)
    evident = _evident(default_dtype) if seen else (default_dtype,)
    if array.dtype.name not in evident:
        facts.append(f"dtype=torch.{array.dtype.name}")
    if grad_fn_name is not None:
        facts.append(f"grad_fn=<{grad_fn_name}>")
    elif requires_grad:
        facts.append("requires_grad=True")
    if name:
        facts.append(f"name={name!r}")
    if tangent:
        facts.append(f"tangent={tangent}")
    indent = len(prefix) + 1
    body = "..." if isinstance(array, MetaArray) else _body(array, indent, options)
    return _append(f"{prefix}({body}", facts, indent, options.linewidth)


def _evident(default_dtype: str) -> tuple[str, ...]:
    """The dtypes that the elements tell."""
    return default_dtype, "complex128" if default_dtype == "float64" else "complex64", "int64", "bool"


def _sparse(
    array: Sparse,
    grad_fn_name: Any,
    requires_grad: bool,
    device: str,
    default_dtype: str,
    options: Options,
    prefix: str,
) -> str:
    """The printed form of a sparse tensor: its places, its values, and the facts of the whole."""

    def part(start: str, values: Array) -> str:
        size = "" if values.size else f", size={values.shape}"
        return f"{start}({_body(values, len(start) + 1, options)}{size}),\n"

    facts = [f"nnz={len(array.values)}"]
    if array.dtype.name not in _evident(default_dtype):
        facts.append(f"dtype=torch.{array.dtype.name}")
    facts.append("layout=torch.sparse_coo")
    if grad_fn_name is not None:
        facts.append(f"grad_fn=<{grad_fn_name}>")
    elif requires_grad:
        facts.append("requires_grad=True")
    gap = " " * (len(prefix) + 1)
    text = part(f"{prefix}(indices=tensor", array.indices) + part(f"{gap}values=tensor", array.values)
    where = "" if device == "cpu" else f"device='{device}', "
    return _append(f"{text}{gap}{where}size={array.shape}", facts, len(prefix) + 1, options.linewidth)


def format_scalar(array: Array, spec: str) -> str:
    """What ``f"{tensor:spec}"`` gives for a tensor without dimensions: its number, formatted by ``spec``.

    >>> format_scalar(np.array(300.0, "float32"), ""), format_scalar(np.array(0.5), ".2f")
    ('300.0', '0.50')
    """
    return format(array.item(), spec)


def _append(text: str, facts: list[str], indent: int, linewidth: int) -> str:
    """``text`` followed by the facts, each on a new line where it would not fit."""
    # The line's length counts one too many here, as it does in PyTorch.
    column = len(text) - text.rfind("\n") + 1
    for fact in facts:
        if column + len(fact) + 2 > linewidth:
            text += ",\n" + " " * indent + fact
            column = indent + len(fact)
        else:
            text += ", " + fact
            column += len(fact) + 2
    return text + ")"


def _body(array: Array, indent: int, options: Options) -> str:
    """The brackets and the numbers; all lines but the first are indented so as to stand under it."""
    if array.size == 0:
        return "[]"
    edge = options.edgeitems
    summarized = array.size > options.threshold
    if summarized and array.ndim and edge == 0:
        return "[...]"
    cut = [summarized and length > 2 * edge for length in array.shape]
    shown = array
    with computing_beside(array):
        for axis, is_cut in enumerate(cut):
            if is_cut:
                shown = np.take(shown, [*range(edge), *range(-edge, 0)], axis=axis)
    texts, width = _numbers(to_numpy(shown), options)  # of a GPU's tensor only what is shown
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


def _numbers(array: Array, options: Options) -> tuple[list[str], int]:
    """The text of each element in row-major order, and the width that it was made for."""
    if array.dtype.kind == "c":
        reals, real_width = _numbers(array.real, options)
        imaginaries, imaginary_width = _numbers(array.imag, options)
        pairs = zip(reals, (f"{text}j".lstrip() for text in imaginaries), strict=True)
        return [f"{a}{b}" if b[0] in "+-" else f"{a}+{b}" for a, b in pairs], real_width + imaginary_width + 1
    values = array.reshape(-1).tolist()
    width, write = _number_form(values, array.dtype, options)
    return [write(value).rjust(width) for value in values], width


def _number_form(
    values: list[Any], dtype: np.dtype[Any], options: Options
) -> tuple[int, Callable[[Any], str]]:
    """How wide a number is printed, and the function that writes one."""
    if dtype.kind in "biu":
        return max(len(str(value)) for value in values), str

    decimals = f".{options.precision}f"
    scientific = f".{options.precision}e"

    def write_whole(value: float) -> str:
        return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"

    # Zero, NaN and infinity have no say in the form or in the width.
    deciding = [value for value in values if value and math.isfinite(value)]
    if not deciding:
        return 1, write_whole
    sizes = [abs(value) for value in deciding]
    smallest, largest = min(sizes), max(sizes)
    far_apart = largest / smallest > 1000 or largest > 1e8 or smallest < 1e-4
    if far_apart if options.sci_mode is None else options.sci_mode:
        form = scientific
    elif all(value == math.ceil(value) for value in deciding):
        return max(len(write_whole(value)) for value in deciding), write_whole
    else:
        form = decimals
    return max(len(format(value, form)) for value in deciding), lambda value: format(value, form)
