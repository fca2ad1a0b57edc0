"""Dual numbers, as in ``torch.autograd.forward_ad``: a value, and the direction in which it moves.

A dual is an ordinary tensor, of which the level notes the tangent; what is
computed from it moves as well, and each operation finds how.  See
:mod:`autokit.func.tangents`.

References
----------
R. E. Wengert, "A simple automatic derivative evaluation program", CACM 7(8), 1964.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from autokit.func.tangents import ForwardLevel, in_the_layout_of, outside_of, require_numbers_that_move
from autokit.shown import by_type
from autokit.tensor import Tensor
from autokit.thread_state import thread

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]


class UnpackedDualTensor(NamedTuple):
    """What :func:`unpack_dual` returns: a value, and how it moves, or None."""

    primal: Tensor
    tangent: Tensor | None


class dual_level(ForwardLevel):
    """The block in which duals live: when it ends, their tangents are given up.

    Whether a graph is recorded makes no difference; in ``inference_mode`` nothing moves.

    Examples
    --------
    >>> import autokit as torch
    >>> import autokit.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     x = fwAD.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.0]))
    ...     fwAD.unpack_dual(x**3)
    UnpackedDualTensor(primal=tensor([1., 8.]), tangent=tensor([3., 0.]))
    """

    __repr__ = by_type

    def __init__(self) -> None:
        super().__init__()

    def facts_of(self, tensor: Tensor) -> dict[str, Any]:
        """What the printed form of ``tensor`` shows of it in this level."""
        (tangent,) = self.of(tensor) or (None,)
        return {} if tangent is None else {"tangent": format(tangent)}

    def __enter__(self) -> int:  # type: ignore[override]
        return enter_dual_level(self)

    def __exit__(self, *error: object) -> None:
        exit_dual_level()


def _now() -> dual_level | None:
    """The level that the program is inside of."""
    return next((each for each in thread.state.forward if isinstance(each, dual_level)), None)


def enter_dual_level(level: dual_level | None = None) -> int:
    """Begin a level, as ``with dual_level():`` does.

    Raises
    ------
    RuntimeError
        If there is one: levels do not nest; ``torch.func.jvp`` does.
    """
    if _now() is not None:
        raise RuntimeError(
            "Nested forward mode AD is not supported at the moment: use torch.func.jvp, which nests"
        )
    (level or dual_level()).open()
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """End the level, as the end of the block does.

    Raises
    ------
    RuntimeError
        If there is none, or not one of that number.
    """
    now = _now()
    if now is None and level is None:
        raise RuntimeError("Dual level must be a positive number: there is none, enter one first")
    if now is None or level not in (None, 0):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not "
            "supported."
        )
    now.close()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of ``tensor`` that moves along ``tangent``.

    Parameters
    ----------
    tensor, tangent : Tensor
        Of floating point numbers, and of one shape.  A change of the dual in place changes both.
    level : int, optional
        0, as there is one level at a time.

    Raises
    ------
    RuntimeError
        If there is no level, the shapes differ, or ``tensor`` is a dual itself.
    ValueError
        If one has no floating point numbers.

    Examples
    --------
    See :class:`dual_level`.
    """
    now = _now()
    if level is not None and level > 0:
        raise RuntimeError("Invalid level given to _make_dual: there is one, which is level 0")
    if now is None or (level is not None and level < 0):
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    for name, each in (("primal", tensor), ("tangent", tangent)):
        if not isinstance(each, Tensor):
            raise TypeError(f"make_dual(): the {name} must be a Tensor, not {type(each).__name__}")
        require_numbers_that_move(name, each)
    if tensor.array.shape != tangent.array.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, "
            f"this is not supported. Tensor is of size {list(tensor.shape)} while the given forward gradient "
            f"is of size {list(tangent.shape)}."
        )
    if now.of(tensor) is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 "
            "is not supported."
        )
    with outside_of(()):
        dual = tensor.view_as(tensor)
        if tangent.array.strides != tensor.array.strides:
            tangent = in_the_layout_of(tensor, tangent)
    if not thread.state.inference:
        now.note(dual, [tangent])
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The value of ``tensor``, and its tangent; None where nothing moves, or the level has ended.

    Raises
    ------
    TypeError
        If it is no tensor.
    RuntimeError
        If it moves, and not at that level.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"unpack_dual(): the dual must be a Tensor, not {type(tensor).__name__}")
    now = _now()
    (tangent,) = (None if now is None else now.of(tensor)) or (None,)
    if tangent is not None and level is not None and level > 0:
        raise RuntimeError("Invalid level given to _fw_primal: there is one, which is level 0")
    if now is None:
        return UnpackedDualTensor(tensor, None)
    with outside_of(()):
        primal = tensor.view_as(tensor) if tensor.requires_grad else tensor.detach()
    return UnpackedDualTensor(primal, tangent)
