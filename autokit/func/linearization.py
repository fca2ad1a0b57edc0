"""The best linear approximation of a function at a point: :func:`linearize`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autokit.func.calls import zeros
from autokit.func.forward import Tape
from autokit.func.levels import Entered, Level, tensors_of
from autokit.func.tangents import ForwardLevel, require_numbers_that_move
from autokit.func.trees import flatten, unflatten
from autokit.tensor import Tensor


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """``func(*primals)``, and the function that multiplies its Jacobian there with a vector.

    That function computes what :func:`jvp` does, without computing ``func`` anew.

    Parameters
    ----------
    func : callable
        Returns a tensor, or nested containers of tensors.
    *primals
        Where it is linearized: tensors, or nested containers of them.

    Returns
    -------
    output, jvp_fn
        ``jvp_fn`` takes a tangent for each of ``primals``.

    Raises
    ------
    RuntimeError
        If ``func`` returns something else, or a tangent is of another shape or dtype than its primal.

    Examples
    --------
    >>> import autokit as torch
    >>> value, slope = torch.func.linearize(torch.sin, torch.tensor(0.0))
    >>> value, slope(torch.tensor(2.0)), slope(torch.tensor(-1.0))
    (tensor(0.), tensor(2.), tensor(-1.))
    """
    if not primals:
        func()  # says that there is nothing to linearize by
    with Level(forward=True) as level, ForwardLevel(recording=True) as forward:
        entered = Entered(level, primals, tuple(range(len(primals))), "linearize")
        for each in entered.leaves:
            require_numbers_that_move("primal", each)
        starts = [level.leaf(zeros(each)) for each in entered.leaves]
        for primal, start in zip(entered.leaves, starts):
            forward.note(primal, [start * 1])  # which may be changed in place, as no leaf may
        outputs, structure = tensors_of("linearize(f, *primals)", func(*entered.args))
        slopes = [moving[0] for moving in forward.found(outputs)]
    # A tangent is linear in those it comes from: the way from there to here is what is asked for.
    tape = Tape(slopes, starts)

    def along(*tangents: Any) -> Any:
        given, form = flatten(tangents)
        if form != entered.structure:
            raise RuntimeError(
                "Expected the tangents to have the same structure as the primals: there are "
                f"{len(entered.leaves)} primals and {len(given)} tangents"
            )
        for place, (tangent, primal) in enumerate(zip(given, entered.leaves)):
            if not isinstance(tangent, Tensor) or tangent.shape != primal.shape:
                raise RuntimeError(
                    f"tangent:{place} with shape {getattr(tangent, 'shape', ())} in flattened pytree doesn't "
                    f"match the shape {primal.shape} of the corresponding primal."
                )
            if tangent.dtype != primal.dtype:
                raise RuntimeError(
                    f"tangent:{place} with dtype {tangent.dtype!r} in flattened pytree doesn't match the "
                    f"dtype {primal.dtype!r} of the corresponding primal; convert with .to({primal.dtype!r})"
                )
        with Level() as calling:
            found = tape.along(given, calling.is_watched([*outputs, *slopes, *given]))
            moved = [zeros(output) if one is None else one for one, output in zip(found, outputs)]
            return calling.leave(unflatten(moved, structure))

    return level.leave(unflatten(outputs, structure)), along
