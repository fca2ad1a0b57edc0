"""The base class of the distributions checks parameters and values, and computes shapes."""

from __future__ import annotations

from typing import Any, ClassVar

from autokit.base.dtypes import get_default_dtype
from autokit.base.size import Size
from autokit.distributions.constraints import Constraint, real
from autokit.engine.modes import no_grad
from autokit.engine.tensor import Tensor
from autokit.ops.create import tensor
from autokit.ops.shape import broadcast_tensors


class Distribution:
    """A probability distribution, or a batch of independent ones.

    A subclass defines ``mean`` and ``variance``, ``entropy()``, which is the uncertainty of a draw
    in nats, ``_log_prob``, and ``_cdf`` where that is simple.

    Parameters
    ----------
    batch_shape : tuple of int
        The shape of the batch: that of the parameters, broadcast.
    event_shape : tuple of int
        The shape of one draw: ``()`` for a number, ``(n,)`` for a vector.
    validate_args : bool, optional
        Whether parameters and values are checked; they are unless it is False.

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
    """For each parameter, by its name, the set in which it must lie."""
    support: Any = real
    """The set in which the values lie."""
    has_rsample: Any = False
    """Whether gradients flow through :meth:`rsample` to the parameters."""
    _validate_args = True

    def __init__(
        self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None
    ) -> None:
        self.batch_shape, self.event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        for name, constraint in self.arg_constraints.items():
            if name in vars(self):
                self._require(name, vars(self)[name], constraint)

    def _require(self, name: str, value: Tensor, constraint: Constraint) -> None:
        """Raise if ``value`` lies outside of a set, and arguments are checked."""
        good = constraint.check(value.array) if self._validate_args else True
        if not (good if isinstance(good, bool) else good.all()):
            wrong = value.array[~good].reshape(-1, *value.shape[value.dim() - constraint.event_dim :])[0]
            raise ValueError(
                f"{type(self).__name__}: {name} of shape {list(value.shape)} must be {constraint.words}, but "
                f"holds {wrong.tolist()}"
            )

    # ------------------------------------------------------------ draws and probabilities

    def __getattr__(self, name: str) -> Any:
        if name in ("mean", "variance", "_log_prob", "_cdf", "entropy"):
            raise NotImplementedError(f"{type(self).__name__} does not say its {name.removeprefix('_')}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Values drawn at random, ``sample_shape`` of them; no gradient flows through them."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Values drawn at random, as a function of the parameters, so that gradients flow to these."""
        raise NotImplementedError(
            f"{type(self).__name__} has no rsample(), as its draws do not move with its parameters: use "
            "sample(), and log_prob() for the gradient"
        )

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability, or of its density, at ``value``."""
        self._validate_sample(value)
        return self._log_prob(value)

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of a draw up to ``value``."""
        self._validate_sample(value)
        return self._cdf(value)

    # ------------------------------------------------------------ shapes

    def expand(self, batch_shape: Any) -> Distribution:
        """The same distribution for each place of a larger batch."""
        new, count = object.__new__(type(self)), len(self.batch_shape)
        for name, value in vars(self).items():
            if isinstance(value, Distribution):
                value = value.expand((*batch_shape, *value.batch_shape[count:]))
            elif isinstance(value, Tensor):
                value = value.expand((*batch_shape, *value.shape[count:]))
            vars(new)[name] = value
        new.batch_shape = Size(batch_shape)
        return new

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        if isinstance(sample_shape, int):
            raise TypeError(f"sample_shape is a tuple of sizes: write ({sample_shape},)")
        return Size((*sample_shape, *self.batch_shape, *self.event_shape))

    def _validate_sample(self, value: Any) -> None:
        """Raise if ``value`` does not have the shape of a draw, or lies outside of the support."""
        if not self._validate_args:
            return
        if not isinstance(value, Tensor):
            raise ValueError(f"the value must be a Tensor, not {type(value).__name__}")
        expected, event = self._extended_shape(), len(self.event_shape)
        pairs = zip(reversed(expected), reversed(value.shape))
        fits = all(ours == given or 1 in (ours, given) for ours, given in pairs)
        if not fits or value.shape[value.dim() - event :] != self.event_shape:
            raise ValueError(
                f"{type(self).__name__}: a value of shape {list(value.shape)} does not broadcast with the "
                f"batch shape and the event shape, {list(expected)}"
            )
        self._require("the value", value, self.support)

    def __repr__(self) -> str:
        given = {name: vars(self)[name] for name in self.arg_constraints if name in vars(self)}
        parts = [f"{name}: {v if v.numel() == 1 else v.shape}" for name, v in given.items()]
        return f"{type(self).__name__}({', '.join(parts)})"


class Independent(Distribution):
    """``base_distribution`` with its last batch dimensions as parts of each draw: log-probabilities add up.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import Independent, Normal
    >>> Independent(Normal(torch.zeros(3), torch.ones(3)), 1).log_prob(torch.zeros(3))
    tensor(-2.7568)
    """

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        batch = base_distribution.batch_shape
        if not 0 <= reinterpreted_batch_ndims <= len(batch):
            raise ValueError(
                f"reinterpreted_batch_ndims counts dimensions of the batch shape {list(batch)}: it cannot be "
                f"{reinterpreted_batch_ndims}"
            )
        self.base_dist, self.has_rsample = base_distribution, base_distribution.has_rsample
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        shape = batch + base_distribution.event_shape
        rest = len(batch) - reinterpreted_batch_ndims
        super().__init__(shape[:rest], shape[rest:], validate_args)

    def __getattr__(self, name: str) -> Any:
        if name in ("mean", "variance"):
            return getattr(self.base_dist, name)
        return super().__getattr__(name)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Values drawn from the base."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Values drawn from the base, through which gradients flow."""
        return self.base_dist.rsample(sample_shape)

    def _log_prob(self, value: Tensor) -> Tensor:
        return sum_last(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        """The sum of the entropies of the parts."""
        return sum_last(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Numbers and tensors as tensors of one shape; numbers take the dtype of the first tensor."""
    if not all(isinstance(value, int | float | Tensor) for value in values):
        kinds = ", ".join(type(value).__name__ for value in values)
        raise ValueError(f"Input arguments must all be instances of Number or torch.Tensor, not {kinds}")
    like = next((value for value in values if isinstance(value, Tensor)), None)
    options = {"dtype": get_default_dtype()} if like is None else {"dtype": like.dtype, "device": like.device}
    return tuple(
        broadcast_tensors(*[each if isinstance(each, Tensor) else tensor(each, **options) for each in values])
    )


def sum_last(value: Tensor, count: int) -> Tensor:
    """The sum over the last ``count`` dimensions."""
    return value.sum(tuple(range(-count, 0))) if count else value
