"""Connectionist temporal classification: how likely a network's outputs over time spell a target.

A path names a class at each time; it spells what is left when repeated classes
are merged, and then the blanks taken out.  The likelihood of a target is the
sum over all paths that spell it.  With the target's labels put between blanks,
a path is a walk along them that stays, goes on by one, or skips a blank
between different labels: so the sum is found by going through time once, for
all targets of a batch together.

References
----------
A. Graves, S. Fernández, F. Gomez and J. Schmidhuber, "Connectionist Temporal Classification: Labelling
Unsegmented Sequence Data with Recurrent Neural Networks", ICML 2006.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autokit.devices import module_of
from autokit.ops.gpu.kernels import fused
from autokit.ops.operation import derivative, on, operation


class Spelling(NamedTuple):
    """The targets of a batch, and how long they and the outputs are.

    ``labels`` holds in each row a target between blanks, (samples, 2 · longest + 1); ``skips`` is true
    where a path may come from two labels before.
    """

    labels: Any
    skips: Any
    times: Any
    lengths: Any


def spelling_of(targets: Any, times: Any, lengths: Any, blank: int) -> Spelling:
    """The spelling of ``targets``, one in each row, filled up with anything."""
    samples, longest = targets.shape
    labels = np.full_like(targets, blank, shape=(samples, 2 * longest + 1))
    labels[:, 1::2] = targets
    skips = np.zeros_like(labels, dtype=bool)
    skips[:, 2:] = labels[:, 2:] != labels[:, :-2]
    return Spelling(labels, skips, times, lengths)


def _scores(log_probs: Any, spelling: Spelling) -> Any:
    """The log-probability of each label at each time, (times, samples, labels)."""
    return np.take_along_axis(log_probs, spelling.labels[np.newaxis], axis=2)


@fused
def _arrive(into, staying, by_one, by_two, skips, scores, never, /):
    """Note how likely it is to be at each label: from it, from the one before, or over a blank."""
    moving = np.logaddexp(staying, by_one)
    into[...] = np.logaddexp(moving, np.where(skips, by_two, never)) + scores


@fused
def _return(into, staying, by_one, by_two, skips, scores, ends, time, at_end, never, /):
    """:func:`_arrive` backwards; the paths of a sample begin at its end."""
    moving = np.logaddexp(staying, by_one)
    moving = np.logaddexp(moving, np.where(skips, by_two, never))
    begun = np.where(at_end & (ends == time), 0, never)
    into[...] = np.where(ends > time, moving, begun) + scores


def _forward(scores: Any, skips: Any) -> Any:
    """α: the log-likelihood of all beginnings that end at each label, for each time."""
    times, samples, count = scores.shape
    alphas = np.full_like(scores, -np.inf, shape=(times, samples, count + 2))  # two places before the first
    alphas[0, :, 2:4] = scores[0, :, :2]
    for time in range(1, times):
        before = alphas[time - 1]
        steps = before[:, 2:], before[:, 1:-1], before[:, :-2]
        _arrive(alphas[time, :, 2:], *steps, skips, scores[time], -np.inf)
    return alphas[:, :, 2:]


def _backward(scores: Any, spelling: Spelling) -> Any:
    """β: the log-likelihood of all endings that begin at each label, for each time."""
    times, samples, count = scores.shape
    places = module_of(scores).arange(count)
    last = 2 * spelling.lengths.reshape((-1, 1))
    at_end = (places == last) | (places == last - 1)
    ends = spelling.times.reshape((-1, 1)) - 1
    skips = np.zeros_like(spelling.skips)
    skips[:, :-2] = spelling.skips[:, 2:]  # a skip is allowed where it leads to
    betas = np.full_like(scores, -np.inf, shape=(times + 1, samples, count + 2))  # two places after the last
    for time in range(times - 1, -1, -1):
        after = betas[time + 1]
        steps = after[:, :-2], after[:, 1:-1], after[:, 2:]
        _return(betas[time, :, :-2], *steps, skips, scores[time], ends, time, at_end, -np.inf)
    return betas[:-1, :, :-2]


def _losses(alphas: Any, spelling: Spelling) -> Any:
    """The negative log-likelihood of each target."""
    samples = module_of(alphas).arange(alphas.shape[1])
    last, ends = 2 * spelling.lengths, spelling.times - 1
    at_blank = alphas[ends, samples, last]
    at_label = np.where(spelling.lengths > 0, alphas[ends, samples, np.maximum(last - 1, 0)], -np.inf)
    losses = -np.logaddexp(at_blank, at_label)
    # No time at all spells the empty target, and nothing else.
    none = np.where(spelling.lengths > 0, np.inf, 0)
    return np.where(spelling.times > 0, losses, none).astype(alphas.dtype, copy=False)


def _no_second_derivative(g: Any) -> Any:
    raise RuntimeError(
        "derivative for aten::_ctc_loss_backward is not implemented: the loss has a first derivative only; "
        "leave out create_graph=True"
    )


@operation(
    "CTC gradient",
    "exp {log_probs} − posterior of the paths",
    g=derivative("not implemented", _no_second_derivative),
    log_probs=derivative("not implemented", _no_second_derivative),
    mixed=True,
    backward="NotImplemented",
)
def ctc_loss_backward(g, log_probs, /, spelling, zero_infinity):
    """How much more likely each class is at each time than among the paths that spell the target.

    It is the gradient by logits of which ``log_probs`` are the log-softmax.
    """
    scores = _scores(log_probs, spelling)
    alphas = _forward(scores, spelling.skips)
    losses = _losses(alphas, spelling)
    through = alphas + _backward(scores, spelling)
    possible = through > -np.inf
    finite_scores, finite_losses = np.where(possible, scores, 0), np.where(losses < np.inf, losses, 0)
    shares = np.where(possible, np.exp(through - finite_scores + finite_losses[:, np.newaxis]), 0)
    named = spelling.labels[:, :, np.newaxis] == module_of(scores).arange(log_probs.shape[2])
    posteriors = np.matmul(shares.swapaxes(0, 1), named.astype(shares.dtype)).swapaxes(0, 1)
    slope = np.exp(log_probs) - posteriors
    impossible = losses == np.inf
    slope[:, impossible] = 0 if zero_infinity else np.nan
    after_end = module_of(scores).arange(len(scores)).reshape((-1, 1)) >= spelling.times
    slope[after_end] = 0
    # 0 at an impossible target even where an infinite gradient arrives.
    arriving = np.where(impossible, 0, g) if zero_infinity else g
    return (slope * arriving[:, np.newaxis]).astype(log_probs.dtype, copy=False)


@operation(
    "CTC loss",
    "−log Σ of paths in {log_probs} that spell the target",
    log_probs=derivative(
        "exp {log_probs} − posterior of the paths",
        lambda g, log_probs, spelling, zero_infinity: on(
            ctc_loss_backward, g, log_probs, spelling=spelling, zero_infinity=zero_infinity
        ),
    ),
)
def ctc_loss(log_probs, /, spelling, zero_infinity=False):
    """The negative log-likelihood of each target, under ``log_probs`` of shape (times, samples, classes)."""
    if not len(log_probs):
        losses = np.where(spelling.lengths > 0, np.inf, 0).astype(log_probs.dtype)
    else:
        losses = _losses(_forward(_scores(log_probs, spelling), spelling.skips), spelling)
    return np.where(losses == np.inf, 0, losses).astype(losses.dtype) if zero_infinity else losses
