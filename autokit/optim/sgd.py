"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autokit.memory import clock
from autokit.ops.blocks import scalar
from autokit.ops.gpu.many import over_many
from autokit.ops.recording import storage_of
from autokit.ops.sparse_array import SparseArray
from autokit.optim.elementwise import PIECE, pieces
from autokit.optim.optimizer import (
    Line,
    Optimizer,
    Params,
    check_fused,
    check_not_negative,
    check_one_element,
    number_of,
)
from autokit.tensor import Tensor, new_tensor
from autokit.thread_state import SMALL

_ndarray = np.ndarray  # a module's own name is found sooner than NumPy's


class SGD(Optimizer):
    r"""Stochastic gradient descent, with momentum where asked for.

    Every step subtracts from each parameter its gradient times ``lr``.  With
    momentum it subtracts the *velocity* in place of the gradient: a running
    sum in which each earlier gradient counts ``momentum`` times less.

    .. math::
        g_t &\leftarrow g_t + \lambda\, \theta_{t-1}   && \text{with weight decay } \lambda \\
        b_t &= \text{momentum} \cdot b_{t-1} + (1 - \text{dampening})\, g_t, \quad b_1 = g_1 \\
        \theta_t &= \theta_{t-1} - \text{lr} \cdot b_t
            && \text{with Nesterov } g_t + \text{momentum} \cdot b_t \text{ in place of } b_t

    Parameters
    ----------
    params : iterable
        What to train; see :class:`Optimizer`.
    lr : float or Tensor
        The learning rate.
    momentum : float
        How much of the velocity is kept from step to step.
    dampening : float
        How much less the new gradient counts in the velocity.
    weight_decay : float
        Adds this times the parameter to its gradient, which draws it to zero.
    nesterov : bool
        Look ahead by one more step of the velocity.
    maximize : bool
        Climb in place of descending.
    foreach, fused
        Which implementation PyTorch takes; here there is one for all.
    differentiable : bool
        Only False is supported.

    Raises
    ------
    ValueError
        If a setting is negative, or there is nothing to train.

    References
    ----------
    I. Sutskever, J. Martens, G. Dahl and G. Hinton, "On the importance of
    initialization and momentum in deep learning", ICML 2013.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.tensor(4.0, requires_grad=True)
    >>> optimizer = SGD([x], lr=0.25)
    >>> (x * x).backward()
    >>> optimizer.step()
    >>> x
    tensor(2., requires_grad=True)
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_one_element(lr=lr)
        check_not_negative(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        settings = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, settings)
        check_fused(fused, foreach)

    def _update(self, group: dict[str, Any], line: Line) -> None:
        lr, momentum, weight_decay = number_of(group["lr"]), group["momentum"], group["weight_decay"]
        if weight_decay:
            weight_decay = number_of(weight_decay)
        maximize = group["maximize"]
        is_plain = not (weight_decay or momentum or maximize)
        change_made = (next(clock), *line)  # one for all: nothing is recorded while they are changed
        on_gpu: list[Any] = []
        kind = scale = scalars = by = None
        for param in group["params"]:
            gradient = param._grad
            if gradient is None:
                continue
            array, change = param.array, gradient.array
            if array.__class__ is not _ndarray:
                on_gpu.append(param)
                storage_of(param).note(change_made)
                continue
            if array.dtype is not kind:
                kind = array.dtype
                scale = scalar(-lr, kind)  # NumPy multiplies by it twice as fast as by a Python number
                scalars = None
            if not is_plain:
                by = by or _numbers(group, lr, weight_decay)
                if scalars is None:
                    scalars = [None if each is None else scalar(each, kind) for each in by.numbers]
                self._descend(param, by, scalars)
            elif (size := array.size) <= SMALL or change.__class__ is SparseArray:
                array += change * scale
            elif size <= PIECE:  # in halves, without another array as large as the parameter
                half = len(array) // 2
                part = array[:half]
                part += change[:half] * scale
                part = array[half:]
                part += change[half:] * scale
            else:
                for each in pieces(array):
                    array[each] += change[each] * scale
            (param._storage or storage_of(param)).note(change_made)
        if on_gpu:
            self._descend_on_gpu(on_gpu, _numbers(group, lr, weight_decay))

    def _descend(self, param: Any, by: Numbers, numbers: list[Any]) -> None:
        array, gradient = param.array, param._grad.array
        velocity, first = self._velocity(param) if by.has_momentum else (None, False)
        if array.size <= PIECE or gradient.__class__ is SparseArray:
            _descend(array, gradient, velocity, *numbers, first=first, **by.settings)  # type: ignore[misc]
            return
        for part in pieces(array):
            moving = None if velocity is None else velocity[part]
            _descend(array[part], gradient[part], moving, *numbers, first=first, **by.settings)  # type: ignore[misc]

    def _descend_on_gpu(self, params: list[Any], by: Numbers) -> None:
        """One step of all parameters, in one kernel; those without a velocity yet in another one."""
        rows: dict[bool, list[Any]] = {False: [], True: []}
        for param in params:
            velocity, first = self._velocity(param) if by.has_momentum else (None, False)
            array, gradient = param.array, param._grad.array
            if gradient.__class__ is not SparseArray:
                rows[first].append((array, gradient, velocity))
            elif by.numbers[1] is None:
                gradient = gradient.coalesce()
                places = tuple(gradient.indices)
                part = array[places]
                _descend(part, gradient.values, None, *by.numbers, first=False, **by.settings)  # type: ignore
                array[places] = part
            else:  # all rows decay
                rows[first].append((array, gradient.dense(), velocity))
        for first, some in rows.items():
            if some:
                _descend_all(some, by.numbers, first=first, **by.settings)

    def _velocity(self, param: Any) -> tuple[Any, bool]:
        """The array of the velocity, and whether it is new, and so without numbers."""
        if param._grad.array.__class__ is SparseArray:
            raise NotImplementedError(
                "SGD with momentum keeps a velocity for all rows, and so takes no sparse gradients here: "
                "leave out sparse=True, or use SparseAdam"
            )
        state = self.state[param]
        first = state.get("momentum_buffer") is None
        if first:
            state["momentum_buffer"] = new_tensor(np.empty_like(param._grad.array))
        return state["momentum_buffer"].array, first


class Numbers(NamedTuple):
    """What :func:`_descend` takes beside arrays: numbers, None for those that are not used, and settings."""

    numbers: tuple[float | None, ...]
    settings: dict[str, bool]
    has_momentum: bool


def _numbers(group: dict[str, Any], lr: float, weight_decay: float) -> Numbers:
    momentum, dampening = group["momentum"] or None, group["dampening"]
    return Numbers(
        (lr, weight_decay or None, momentum, 1 - dampening if momentum and dampening else None),
        {"nesterov": group["nesterov"], "maximize": group["maximize"]},
        momentum is not None,
    )


def _descend(
    array: Any,
    gradient: Any,
    velocity: Any,
    rate: float,
    decay: float | None,
    momentum: float | None,
    fresh: float | None,
    /,
    first: bool,
    nesterov: bool,
    maximize: bool,
) -> None:
    """The formula of :class:`SGD`."""
    change = -gradient if maximize else gradient
    if decay is not None:
        change = change + array * decay
    if velocity is not None:
        if first:
            velocity[...] = change
        else:
            velocity *= momentum
            velocity += change if fresh is None else change * fresh
        change = change + velocity * momentum if nesterov else velocity
    array -= change * rate


_descend_all = over_many(_descend)
