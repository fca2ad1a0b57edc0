"""What all distributions have: shapes, checked parameters, samples, and questions to ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import autokit
from autokit.batches.batch import levels_of
from autokit.distributions.constraints import Constraint, holds
from autokit.ops.create import tensor
from autokit.tensor import Size, Tensor


def _lacking(distribution: Distribution, name: str) -> NotImplementedError:
    return NotImplementedError(f"{type(distribution).__name__} does not say its {name}")


class Distribution:
    """A probability distribution, or a batch of independent ones.

    Parameters
    ----------
    batch_shape : tuple of int
        The shape of the batch: that of the parameters, broadcast.
    event_shape : tuple of int
        The shape of one draw: ``()`` for a number, ``(n,)`` for a vector.
    validate_args : bool, optional
        Whether parameters and values are looked at; they are unless it is False.

    Raises
    ------
    ValueError
        If a parameter, or a value whose probability is asked for, lies outside of its set.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import Normal
    >>> six = Normal(torch.zeros(2, 3), 1.0)
    >>> six.batch_shape, six.event_shape, six.sample((5,)).shape
    (torch.Size([2, 3]), torch.Size([]), torch.Size([5, 2, 3]))
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {}
    has_rsample: ClassVar[bool] = False
    """Whether gradients flow through :meth:`rsample` to the parameters."""
    has_enumerate_support: ClassVar[bool] = False
    _validate_args = True

    def __init__(
        self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None
    ) -> None:
        self._batch_shape = Size(batch_shape)
        self._event_shape = Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    def _check_parameters(self) -> None:
        for name, constraint in self.arg_constraints.items():
            is_derived = isinstance(getattr(type(self), name, None), property)  # from another's parameters
            value = getattr(self, name) if is_derived else vars(self).get(name)
            if value is not None and not holds(constraint.check(value)):
                raise ValueError(
                    f"Expected parameter {name} (Tensor of shape {tuple(value.shape)}) of distribution "
                    f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value!s}"
                )

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Say whether parameters and values are looked at from here on."""
        if value not in (True, False):
            raise ValueError("validate_args must be True or False")
        Distribution._validate_args = value

    @property
    def batch_shape(self) -> Size:
        """The shape of the batch of distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one draw from one of them."""
        return self._event_shape

    @property
    def support(self) -> Constraint:
        """Where the values lie."""
        raise _lacking(self, "support")

    @property
    def mean(self) -> Tensor:
        raise _lacking(self, "mean")

    @property
    def mode(self) -> Tensor:
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        raise _lacking(self, "variance")

    @property
    def stddev(self) -> Tensor:
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Values drawn at random, ``sample_shape`` of them; no gradient flows through them."""
        with autokit.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Values drawn at random, as a function of the parameters, so that gradients flow to these."""
        raise NotImplementedError(
            f"{type(self).__name__} has no rsample(): autokit knows no gradient of its draws by its "
            "parameters; use sample(), and log_prob() for the gradient"
        )

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability, or of its density, at ``value``."""
        raise _lacking(self, "log_prob")

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of a draw up to ``value``."""
        raise _lacking(self, "cdf")

    def icdf(self, value: Tensor) -> Tensor:
        """The number that draws fall under with probability ``value``."""
        raise _lacking(self, "icdf")

    def entropy(self) -> Tensor:
        """How uncertain a draw is, in nats."""
        raise _lacking(self, "entropy")

    def perplexity(self) -> Tensor:
        return autokit.exp(self.entropy())

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values there are, along the first dimension."""
        raise _lacking(self, "enumerate_support")

    def expand(self, batch_shape: Any, _instance: Any = None) -> Distribution:
        """The same distribution for each place of a larger batch."""
        shape = Size(batch_shape)
        new: Distribution = object.__new__(type(self)) if _instance is None else _instance
        own = len(self._batch_shape)
        for name, value in vars(self).items():
            if isinstance(value, Distribution):
                value = value.expand((*shape, *value.batch_shape[own:]))
            elif isinstance(value, Tensor):
                value = value.expand((*shape, *value.shape[own:]))
            setattr(new, name, value)
        new._batch_shape = shape
        return new

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """What ``expand`` of a class of one's own fills in: an empty distribution, or what it was given."""
        if _instance is None and type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method "
                "must also define a custom .expand() method."
            )
        return object.__new__(type(self)) if _instance is None else _instance

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        if isinstance(sample_shape, int):
            raise TypeError(f"sample_shape is a tuple of sizes: write ({sample_shape},)")
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _validate_sample(self, value: Any) -> None:
        if not self._validate_args:
            return
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        event = len(self._event_shape)
        if event and tuple(value.shape[-event:]) != tuple(self._event_shape):
            raise ValueError(
                f"The right-most size of value must match event_shape: {value.shape} vs {self._event_shape}."
            )
        expected = (*self._batch_shape, *self._event_shape)
        for own, given in zip(reversed(expected), reversed(value.shape)):
            if 1 not in (own, given) and own != given:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {value.shape} vs "
                    f"{Size(expected)}."
                )
        try:
            support = self.support
        except NotImplementedError:
            return
        if not holds(support.check(value)):
            raise ValueError(
                f"Expected value argument (Tensor of shape {tuple(value.shape)}) to be within the support "
                f"({support!r}) of the distribution {self!r}, but found invalid values:\n{value!s}"
            )

    def __repr__(self) -> str:
        given = {name: vars(self)[name] for name in self.arg_constraints if name in vars(self)}
        one = {name for name, v in given.items() if v.numel() == 1 and not levels_of(v.array)}
        parts = (f"{name}: {v if name in one else v.size()}" for name, v in given.items())
        return f"{type(self).__name__}({', '.join(parts)})"


class lazy_property:
    """A property that is computed once, at the first look: ``probs`` from ``logits``, or the other way."""

    def __init__(self, compute: Callable[[Any], Tensor]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __get__(self, instance: Any, kind: Any = None) -> Any:
        if instance is None:
            return self
        with autokit.enable_grad():
            value = self.compute(instance)
        setattr(instance, self.compute.__name__, value)
        return value


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Numbers and tensors as tensors of one shape; numbers take the dtype of the first tensor."""
    if not all(isinstance(value, int | float | Tensor) for value in values):
        raise ValueError(
            "Input arguments must all be instances of Number or torch.Tensor: they are "
            + ", ".join(type(value).__name__ for value in values)
        )
    like = next((value for value in values if isinstance(value, Tensor)), None)
    dtype = autokit.get_default_dtype() if like is None else like.dtype
    device = None if like is None else like.device
    tensors = [
        value if isinstance(value, Tensor) else tensor(value, dtype=dtype, device=device) for value in values
    ]
    return tuple(autokit.broadcast_tensors(*tensors))


def standard_normal(shape: Any, like: Tensor) -> Tensor:
    """Numbers from the standard normal distribution, of the dtype of ``like`` and where it is."""
    zeros = autokit.zeros(shape, dtype=like.dtype, device=like.device)
    return autokit.normal(zeros, autokit.ones_like(zeros))


def new_like(like: Tensor, shape: Any) -> Tensor:
    """A tensor to be filled, of the dtype of ``like`` and where it is."""
    return autokit.empty(shape, dtype=like.dtype, device=like.device)


def random_like(like: Tensor, shape: Any) -> Tensor:
    """Numbers from 0 to 1, of the dtype of ``like`` and where it is."""
    return autokit.rand(shape, dtype=like.dtype, device=like.device)


def beside_batches(values: Tensor, batch_shape: Any, expand: bool) -> Tensor:
    """``values``, one in each row, with dimensions for the batches after the first: for every batch all.

    With ``expand`` these have the size of ``batch_shape``, else 1.
    """
    event = values.shape[1:]
    values = values.view((-1, *(1,) * len(batch_shape), *event))
    return values.expand((-1, *batch_shape, *event)) if expand else values


def sum_rightmost(value: Tensor, count: int) -> Tensor:
    """The sum over the last ``count`` dimensions."""
    return value if not count else value.sum(tuple(range(-count, 0)))


def clamp_probs(probs: Tensor) -> Tensor:
    """Chances a little away from 0 and 1, so that they have logarithms."""
    eps = autokit.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Log-odds of chances of yes, or logarithms of chances that sum to 1."""
    clamped = clamp_probs(probs)
    if is_binary:
        return autokit.log(clamped) - autokit.log1p(-clamped)
    return autokit.log(clamped)


def one_of(**given: Any) -> str:
    """The name of the one of two parameters that is given."""
    names = [name for name, value in given.items() if value is not None]
    if len(names) != 1:
        raise ValueError(f"Either `{'` or `'.join(given)}` must be specified, but not both.")
    return names[0]
