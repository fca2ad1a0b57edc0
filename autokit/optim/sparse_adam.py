"""Adam for gradients that hold only some rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.ops.recording import storage_of
from autokit.ops.sparse_array import SparseArray
from autokit.optim.optimizer import Line, Optimizer, Params, check_betas, check_one_element, number_of
from autokit.tensor import Tensor, new_tensor


class SparseAdam(Optimizer):
    r"""Adam in which only those rows change that the gradient holds, with their averages.

    For tables of which each step reads a few rows, as ``nn.Embedding(..., sparse=True)`` does.  A row that is
    not read stays as it is, while :class:`Adam` would move it on by its average.

    Parameters
    ----------
    params : iterable
        What to train; see :class:`Optimizer`.
    lr : float or Tensor
        The learning rate.
    betas : (float, float)
        How much of the averages of the gradient, and of its square, is kept from step to step.
    eps : float
        Added to the divisor.
    maximize : bool
        Climb in place of descending.

    Raises
    ------
    ValueError
        If a setting is out of its range, or there is nothing to train.
    RuntimeError
        In a step, if a gradient is dense.

    Examples
    --------
    >>> import autokit as torch
    >>> table = torch.nn.Embedding.from_pretrained(torch.zeros(3, 2), freeze=False, sparse=True)
    >>> optimizer = SparseAdam(table.parameters(), lr=0.5)
    >>> table(torch.tensor([1])).sum().backward()
    >>> optimizer.step()
    >>> table.weight.detach()
    tensor([[ 0.0000,  0.0000],
            [-0.5000, -0.5000],
            [ 0.0000,  0.0000]])
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        check_one_element(lr=lr)
        if not number_of(lr) > 0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})

    def _update(self, group: dict[str, Any], line: Line) -> None:
        (beta1, beta2), lr = group["betas"], number_of(group["lr"])
        for param in group["params"]:
            if param._grad is None:
                continue
            gradient = param._grad.array
            if gradient.__class__ is not SparseArray:
                raise RuntimeError(
                    "SparseAdam does not support dense gradients, please consider Adam instead"
                )
            state = self.state[param]
            if not state:
                state["step"] = 0
                state["exp_avg"] = new_tensor(np.zeros_like(param.array))
                state["exp_avg_sq"] = new_tensor(np.zeros_like(param.array))
            state["step"] += 1
            gradient = (-gradient if group["maximize"] else gradient).coalesce()
            rows, values = tuple(gradient.indices), gradient.values
            mean, mean_square = state["exp_avg"].array, state["exp_avg_sq"].array
            mean[rows] += (1 - beta1) * (values - mean[rows])
            mean_square[rows] += (1 - beta2) * (values * values - mean_square[rows])
            rate = lr * math.sqrt(1 - beta2 ** state["step"]) / (1 - beta1 ** state["step"])
            param.array[rows] -= rate * mean[rows] / (np.sqrt(mean_square[rows]) + group["eps"])
            storage_of(param).change(*line)
