"""Connectionist temporal classification, with its checks; the rule is in ``ops.ctc``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit.devices import beside, to_numpy
from autokit.meta_array import zeros_for
from autokit.nn.functional.loss_checks import chosen_reduction, reduced
from autokit.ops import ctc as rules
from autokit.ops.errors import describe, dimension_error
from autokit.ops.unusual import carefully
from autokit.tensor import Tensor, new_tensor


@carefully
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """The negative log-likelihood of sequences of classes under outputs that are longer than they.

    Parameters
    ----------
    log_probs : Tensor
        Logarithms of probabilities, as from ``log_softmax``: of shape (T, N, C), or (T, C) for one sample.
        The gradient takes it that they are normalized.
    targets : Tensor
        Classes, of shape (N, S), or all samples' one after the other.
    input_lengths, target_lengths : Tensor or sequence of int
        How much of each sample counts.
    blank : int
        The class that stands for nothing.
    reduction : str
        ``"mean"`` divides each loss by the length of its target first.
    zero_infinity : bool
        Let targets that cannot be spelled, being too long, count as 0 in place of inf.

    Raises
    ------
    RuntimeError
        If shapes or lengths do not fit, or a target is no class.

    References
    ----------
    A. Graves, S. Fernández, F. Gomez and J. Schmidhuber, "Connectionist Temporal Classification", ICML 2006.

    Examples
    --------
    >>> import autokit as torch
    >>> even = torch.zeros(2, 1, 2).log_softmax(2)  # 3 of 4 paths spell the target: 11, 1-, -1
    >>> ctc_loss(even, torch.tensor([[1]]), [2], [1]).exp()
    tensor(1.3333)
    """
    reduction = chosen_reduction(reduction, None, None)
    single = log_probs.array.ndim == 2
    for name, lengths in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
        if isinstance(lengths, Tensor) and lengths.array.dtype.kind not in "iu":
            raise RuntimeError(f"{name} must be integral: {describe(lengths)}")
    if not log_probs.array.ndim:
        raise dimension_error(1, 0, describe(log_probs))
    if log_probs.array.dtype not in (np.float32, np.float64):
        raise NotImplementedError(
            f'"ctc_loss_cpu" not implemented for {log_probs.dtype.name}: {describe(log_probs)}; convert with '
            ".float()"
        )
    if log_probs.array.ndim not in (2, 3):
        raise RuntimeError(f"log_probs has shape (T, N, C), or (T, C) for one sample: {describe(log_probs)}")
    batch = log_probs.unsqueeze(1) if single else log_probs
    if log_probs.is_meta:
        known: list[Any] = [
            new_tensor(zeros_for(each.array)) if isinstance(each, Tensor) else each
            for each in (targets, input_lengths, target_lengths)
        ]
        targets, input_lengths, target_lengths = known
    times, samples, classes = batch.array.shape
    if not batch.array.size:
        raise RuntimeError(f"log_probs tensor must not be empty: {describe(log_probs)}")
    if not 0 <= blank < classes:
        raise RuntimeError(f"blank must be in label range: it is {blank}, of {classes} classes")
    of_inputs = _lengths("input_lengths", input_lengths, samples)
    of_targets = _lengths("target_lengths", target_lengths, samples)
    if of_inputs.size and of_inputs.max() > times:
        raise RuntimeError(
            f"Expected input_lengths to have value at most {times}, but got value {of_inputs.max()} (while "
            "checking arguments for ctc_loss_allocate_outputs)"
        )
    rows = _rows_of(targets, of_targets, single)
    counts = np.arange(rows.shape[1]) < of_targets.reshape((-1, 1))
    wrong = rows[counts & ((rows < 0) | (rows >= classes))]
    if wrong.size:
        raise RuntimeError(f"targets must be classes from 0 to {classes - 1}, but {wrong[0]} is among them")

    def on_device(values: Any) -> Any:
        return beside(batch.array, values)

    spelling = rules.spelling_of(
        on_device(np.where(counts, rows, blank)), on_device(of_inputs), on_device(of_targets), blank
    )
    losses = rules.ctc_loss(batch, spelling=spelling, zero_infinity=zero_infinity)
    if reduction == "mean":
        lengths = on_device(np.maximum(of_targets, 1).astype(batch.array.dtype))
        return (losses / new_tensor(lengths)).mean()
    return losses.squeeze(0) if single and reduction == "none" else reduced(losses, reduction)


def _lengths(name: str, given: Any, samples: int) -> np.ndarray:
    """The lengths as an array, one for each sample."""
    lengths = to_numpy(given.array) if isinstance(given, Tensor) else np.asarray(given)
    if lengths.size and lengths.dtype.kind not in "iu":
        raise TypeError(f"ctc_loss(): argument '{name}' must be tuple of ints or Tensor, but got {given!r}")
    lengths = lengths.reshape(-1).astype(np.int64)
    if len(lengths) != samples:
        raise RuntimeError(
            f"{name} must be of size batch_size: it has {len(lengths)} elements for {samples} samples"
        )
    if lengths.size and lengths.min() < 0:
        raise RuntimeError(
            f"Expected {name} to have value at least 0, but got value {lengths.min()} (while checking "
            "arguments for ctc_loss_allocate_outputs)"
        )
    return lengths


def _rows_of(targets: Tensor, lengths: np.ndarray, single: bool) -> np.ndarray:
    """A row for each target, as long as the longest."""
    given = to_numpy(targets.array)
    longest = int(lengths.max()) if lengths.size else 0
    where = "for argument #2 'targets' (while checking arguments for ctc_loss_allocate_outputs)"
    if given.dtype.kind not in "iuf" or given.ndim not in (1, 2):
        raise RuntimeError(f"Expected 1 to 2 dimensions, but got {given.ndim}-dimensional tensor {where}")
    given = given.astype(np.int64)
    if given.ndim == 2:
        if len(given) != len(lengths):
            raise RuntimeError(
                f"Expected tensor to have size {len(lengths)} at dimension 0, but got size "
                f"{len(given)} {where}"
            )
        if given.shape[1] < longest:
            raise RuntimeError(
                f"Expected tensor to have size at least {longest} at dimension 1, but got size "
                f"{given.shape[1]} {where}"
            )
        return given[:, :longest]
    if len(given) != lengths.sum() and not (single and len(given) >= longest):
        raise RuntimeError(
            f"Expected tensor to have size {lengths.sum()} at dimension 0, but got size {len(given)} {where}"
        )
    rows = np.zeros((len(lengths), longest), np.int64)
    rows[np.arange(longest) < lengths.reshape((-1, 1))] = given[: lengths.sum()]
    return rows
