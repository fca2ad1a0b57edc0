"""Gradients checked by differences: :func:`gradcheck`, and :func:`gradgradcheck` for second derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit import autograd
from autokit.devices import beside
from autokit.func.checks import Check, GradcheckError, in_a_tuple
from autokit.tensor import Tensor, new_tensor


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Whether the gradient of ``func`` at ``inputs`` is what central differences give.

    For every output and every input that requires grad the whole Jacobian is
    computed in both ways; they agree where
    |analytical − numerical| ≤ ``atol`` + ``rtol`` · |numerical|.  Also, the
    backward pass must give the same twice, and zeros where zeros arrive.

    Parameters
    ----------
    func : callable
        Takes ``inputs`` and returns a tensor or a tuple of them.
    inputs : tensor or tuple
        In float64; differences of less precise numbers tell little.
    eps : float
        How far each element is moved to either side.
    atol, rtol : float
        The absolute and relative tolerance.
    raise_exception : bool
        Raise, in place of returning False.
    nondet_tol : float
        By how much two runs of the backward pass may differ.
    check_undefined_grad : bool
        Also leave out each of several outputs, and give nothing to custom functions that ask for that.
    check_grad_dtypes : bool
        Also refuse a custom function whose gradient is of another dtype than its input.
    check_forward_ad, check_backward_ad : bool
        Whether the Jacobians are checked in forward mode, and in reverse mode.
    check_batched_grad, check_batched_forward_grad, fast_mode, masked
        Accepted for PyTorch's sake, and without effect: the way is always the slow and sure one.

    Returns
    -------
    bool

    Raises
    ------
    GradcheckError
        If they disagree; it names the input, the element and both numbers.
    ValueError
        If no input requires grad.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradcheck(lambda x: x.exp() * x, x)
    True
    """
    given = inputs if isinstance(inputs, tuple) else tuple(inputs) if isinstance(inputs, list) else (inputs,)
    check = Check(func, given, eps, atol, rtol)
    try:
        if check_forward_ad:
            check.forward_mode()
        if check_backward_ad:
            check.jacobians(nondet_tol)
        if check.slots and check_backward_ad:
            check.zeros_give_zeros()
            if check_undefined_grad:
                check.outputs_left_out()
            if check_grad_dtypes:
                check.dtypes()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _drawn(draw: np.random.RandomState, like: Any) -> Any:
    """Random numbers from −1 to 1, of the shape, dtype and device of ``like``; complex ones have two each."""
    numbers: Any = draw.uniform(-1, 1, like.shape)
    if like.dtype.kind == "c":
        numbers = numbers + 1j * draw.uniform(-1, 1, like.shape)
    return beside(like, np.asarray(numbers).astype(like.dtype))


def drawn_like(tensor: Tensor) -> Tensor:
    """Numbers from −1 to 1 in its shape, drawn from the program's own generator where PyTorch does so."""
    if tensor.array.dtype.kind == "c":
        return new_tensor(_drawn(np.random.RandomState(0), tensor.array))
    return tensor.detach().clone().uniform_(-1, 1)


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    gen_non_contig_grad_outputs: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    **settings: Any,
) -> bool:
    """Whether the second derivatives of ``func`` at ``inputs`` are what differences of the first give.

    Parameters
    ----------
    func, inputs
        As in :func:`gradcheck`.
    grad_outputs : tensor or tuple of tensors, optional
        The gradients that are sent back; random numbers from −1 to 1 if left out.
    gen_non_contig_grad_outputs, check_fwd_over_rev, check_rev_over_rev
        Accepted for PyTorch's sake, and without effect.
    **settings
        The settings of :func:`gradcheck`, which see also for what it raises.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradgradcheck(lambda x: x.exp() * x, x)
    True
    """
    given = inputs if isinstance(inputs, tuple) else tuple(inputs) if isinstance(inputs, list) else (inputs,)
    learning = [place for place, one in enumerate(given) if isinstance(one, Tensor) and one._requires_grad]

    def outputs_of(*args: Any) -> list[Tensor]:
        return [one for one in in_a_tuple(func(*args)) if one._requires_grad]

    if grad_outputs is None:
        sent = tuple([drawn_like(one).requires_grad_() for one in outputs_of(*given)])
    else:
        sent = tuple(grad_outputs) if isinstance(grad_outputs, tuple | list) else (grad_outputs,)

    def first(*args: Any) -> tuple[Tensor, ...]:
        args, seeds = args[: len(given)], args[len(given) :]
        found = autograd.grad(
            outputs_of(*args),
            [args[place] for place in learning],
            seeds,
            create_graph=True,
            allow_unused=True,
        )
        return tuple([one for one in found if one is not None])

    return gradcheck(first, (*given, *sent), **settings)
