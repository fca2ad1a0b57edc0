"""Dual numbers, as in ``torch.autograd.forward_ad``: a value, and the direction in which it moves.

A dual is an ordinary tensor at which a tangent is noted.  The tangents of what
is computed from it are carried along the graph when they are asked for; see
:mod:`autokit.func.forward`.

References
----------
R. E. Wengert, "A simple automatic derivative evaluation program", CACM 7(8), 1964.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakSet

from autokit.autograd.modes import inference_mode
from autokit.func.calls import own
from autokit.func.forward import Tape
from autokit.func.levels import reaches_open_leaf
from autokit.ops.convert import clone
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


class dual_level:
    """The block in which duals live: when it ends, their tangents are given up.

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
        self.duals: dict[Any, Tensor] = {}  # by the node that made the dual
        self.own: list[Tensor] = []  # leaves that learn for the tangents' sake alone
        self.tangents: WeakSet[Any] = (
            WeakSet()
        )  # the nodes of those with a graph: they do not move themselves

    def facts_of(self, tensor: Tensor) -> dict[str, Any]:
        """What the printed form of ``tensor`` shows of it in this level."""
        tangent = _tangent(self, tensor)
        if tangent is None:
            return {}
        plain = (
            {} if reaches_open_leaf([tensor], self.own) else {"grad_fn_name": None, "requires_grad": False}
        )
        return {"tangent": format(tangent), **plain}

    def __enter__(self) -> int:
        return enter_dual_level(self)

    def __exit__(self, *error: object) -> None:
        exit_dual_level()


def enter_dual_level(level: dual_level | None = None) -> int:
    """Begin a level, as ``with dual_level():`` does.

    Raises
    ------
    RuntimeError
        If there is one: levels do not nest; ``torch.func.jvp`` does.
    """
    if thread.state.duals is not None:
        raise RuntimeError(
            "Nested forward mode AD is not supported at the moment: use torch.func.jvp, which nests"
        )
    thread.state.duals = level or dual_level()
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """End the level, as the end of the block does.

    Raises
    ------
    RuntimeError
        If there is none, or not one of that number.
    """
    if thread.state.duals is None and level is None:
        raise RuntimeError("Dual level must be a positive number: there is none, enter one first")
    if thread.state.duals is None or level not in (None, 0):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not "
            "supported."
        )
    thread.state.duals.duals.clear()
    for leaf in thread.state.duals.own:
        leaf.__dict__["_closed"] = True
    thread.state.duals = None


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A copy of ``tensor`` that moves along ``tangent``.

    What is computed from it has a graph, as if it required a gradient, since
    tangents travel along the graph; under ``no_grad`` nothing moves.

    Parameters
    ----------
    tensor, tangent : Tensor
        Of floating point numbers, and of one shape.
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
    now = thread.state.duals
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
        if not each.is_floating_point():
            raise ValueError(
                f"Expected {name} to be floating point or complex, but got: torch.{each.dtype.name}"
            )
    if tensor.array.shape != tangent.array.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, "
            f"this is not supported. Tensor is of size {list(tensor.shape)} while the given forward gradient "
            f"is of size {list(tangent.shape)}."
        )
    if _tangent(now, tensor) is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 "
            "is not supported."
        )
    with inference_mode(False):
        if not tensor._requires_grad:
            tensor = own(tensor).requires_grad_()
            now.own.append(tensor)
        dual = clone(tensor)
    now.duals[dual._node] = tangent
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
    now = thread.state.duals
    tangent = None if now is None else _tangent(now, tensor)
    if tangent is not None and level is not None and level > 0:
        raise RuntimeError("Invalid level given to _fw_primal: there is one, which is level 0")
    learns = reaches_open_leaf([tensor], now.own if now is not None else [])
    return UnpackedDualTensor(tensor if learns else tensor.detach(), tangent)


def _tangent(now: dual_level, tensor: Tensor) -> Tensor | None:
    if not tensor._requires_grad or not now.duals or tensor._node in now.tangents:
        return None
    record = reaches_open_leaf([tensor, *now.duals.values()], now.own)
    tangent = Tape([tensor], now.duals).along(list(now.duals.values()), record)[0]
    if tangent is not None and tangent._node is not None:
        now.tangents.add(tangent._node)
    return tangent
