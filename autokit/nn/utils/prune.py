"""Pruning: weights set to 0 and kept there, by a mask that each forward pass applies.

The parameter ``weight`` becomes ``weight_orig``, which is trained, and the buffer ``weight_mask`` holds the
ones and zeros; ``weight`` itself is their product.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autokit.autograd.modes import no_grad
from autokit.nn.module import Module
from autokit.nn.utils.convert_parameters import parameters_to_vector
from autokit.ops.filled import ones_like, zeros_like
from autokit.ops.norm import norm
from autokit.ops.sampling import rand, rand_like
from autokit.ops.sort import topk
from autokit.tensor import Tensor

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]


class BasePruningMethod:
    """Base of the methods: a subclass says by ``PRUNING_TYPE`` what it prunes, and by ``compute_mask`` how.

    Attributes
    ----------
    PRUNING_TYPE : {"unstructured", "structured", "global"}
        Single weights, or whole slices along a dimension, or weights of several tensors at once.
    """

    PRUNING_TYPE: str
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask for weights of the importance ``t``, inside of ``default_mask``."""
        raise NotImplementedError

    def apply_mask(self, module: Module) -> Tensor:
        """The pruned tensor of ``module``."""
        name = self._tensor_name
        mask: Any = getattr(module, name + "_mask")
        original: Any = getattr(module, name + "_orig")
        return mask.to(original.dtype) * original

    @classmethod
    def apply(
        cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prune ``module.name``; what was pruned before stays so.

        Parameters
        ----------
        importance_scores : Tensor, optional
            How important each weight is, in place of its own size.
        """
        before = _hook_of(module, name)
        method: BasePruningMethod = cls(*args, **kwargs)
        method._tensor_name = name
        if before is not None:
            container = PruningContainer(module._forward_pre_hooks.pop(before))
            container.add_pruning_method(method)
            method = container
        original = getattr(module, name)  # as the methods before left it
        scores = original if importance_scores is None else importance_scores
        if scores.shape != original.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}"
            )
        mask = getattr(module, name + "_mask") if before is not None else ones_like(scores)
        if before is None:
            delattr(module, name)
            module.register_parameter(name + "_orig", original)
        try:
            with no_grad():
                mask = method.compute_mask(scores.detach(), mask.detach())
        except Exception:
            if before is None:  # as it was
                delattr(module, name + "_orig")
                module.register_parameter(name, original)
            raise
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(
        self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None
    ) -> Tensor:
        """``t`` pruned, for itself."""
        mask = ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(t if importance_scores is None else importance_scores, mask)

    def remove(self, module: Module) -> None:
        """Make the pruned weights the module's own; they stay 0 until they are trained again."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        original: Any = getattr(module, name + "_orig")
        original.data = weight.detach()
        for each in (name, name + "_orig", name + "_mask"):
            delattr(module, each)
        module.register_parameter(name, original)


class PruningContainer(BasePruningMethod):
    """Several methods, one after the other."""

    PRUNING_TYPE = "container"

    def __init__(self, *methods: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        for each in methods:
            self._tensor_name = each._tensor_name
            more = each._pruning_methods if isinstance(each, PruningContainer) else (each,)
            self._pruning_methods += more

    def add_pruning_method(self, method: Any) -> None:
        """Prune by ``method`` too, what the others left."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method._tensor_name != self._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, place: int) -> BasePruningMethod:
        return self._pruning_methods[place]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """What the newest method leaves of ``default_mask``, which the others made."""
        method = self._pruning_methods[-1]
        if method.PRUNING_TYPE != "structured":
            inside = default_mask.eq(1)  # only among those that are left
            mask = default_mask.clone()
            mask[inside] = method.compute_mask(t[inside], ones_like(t[inside])).to(mask.dtype)
            return mask
        dim = method.dim % t.dim()  # type: ignore[attr-defined]
        others = tuple([each for each in range(t.dim()) if each != dim])
        left = default_mask.sum(dim=others).ne(0) if others else default_mask.ne(0)
        mask = default_mask.clone()
        index = tuple([left if each == dim else slice(None) for each in range(t.dim())])
        mask[index] = method.compute_mask(t[index], default_mask[index])
        return mask


class Identity(BasePruningMethod):
    """Prune nothing: only a mask of ones, as for a parameter that is to look pruned."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """``default_mask``."""
        return default_mask


class _OfAmount(BasePruningMethod):
    def __init__(self, amount: Any) -> None:
        if isinstance(amount, bool) or not isinstance(amount, int | float):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        if amount < 0 or (isinstance(amount, float) and amount > 1):
            raise ValueError(
                f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer"
            )
        self.amount = amount

    def _count(self, size: int) -> int:
        """How many of ``size`` are pruned."""
        if isinstance(self.amount, float):
            return round(self.amount * size)
        if self.amount > size:
            raise ValueError(
                f"amount={self.amount} should be smaller than the number of parameters to prune={size}"
            )
        return self.amount


class RandomUnstructured(_OfAmount):
    """Prune weights at random."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Zeros at the largest of random numbers."""
        count = self._count(t.numel())
        mask = default_mask.clone()
        if count:
            mask.view(-1)[topk(rand_like(t).view(-1), count).indices] = 0
        return mask


class L1Unstructured(_OfAmount):
    """Prune the weights of the smallest absolute value."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Zeros at the smallest."""
        count = self._count(t.numel())
        mask = default_mask.clone()
        if count:
            mask.view(-1)[topk(t.abs().view(-1), count, largest=False).indices] = 0
        return mask


class _Structured(_OfAmount):
    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _check(self, t: Tensor) -> int:
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                f"{t.shape} with {t.dim()} dims"
            )
        if not -t.dim() <= self.dim < t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        return self._count(t.shape[self.dim])

    def _mask(self, t: Tensor, default_mask: Tensor, slices: Tensor) -> Tensor:
        kept = zeros_like(t)
        kept[tuple([slices if each == self.dim % t.dim() else slice(None) for each in range(t.dim())])] = 1
        return kept * default_mask.to(kept.dtype)


class RandomStructured(_Structured):
    """Prune slices along a dimension at random."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Zeros in some slices."""
        count, size = self._check(t), t.shape[self.dim]
        if not count:
            return default_mask
        order = rand(size)
        return self._mask(t, default_mask, order > topk(order, count, largest=False).values.max())


class LnStructured(_Structured):
    """Prune the slices along a dimension that have the smallest n-norm."""

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Zeros in the slices of the smallest norm."""
        count, size = self._check(t), t.shape[self.dim]
        if not count:
            return default_mask
        others = tuple([each for each in range(t.dim()) if each != self.dim % t.dim()])
        kept = topk(norm(t, self.n, others), size - count).indices
        return self._mask(t, default_mask, kept)


class CustomFromMask(BasePruningMethod):
    """Prune by a mask of one's own."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Both masks together."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"the mask has the shape {self.mask.shape}, the tensor {default_mask.shape}")
        return default_mask * self.mask.to(default_mask.dtype)


# ---------------------------------------------------------------- as functions


def identity(module: Module, name: str) -> Module:
    """Give ``module.name`` a mask of ones."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prune ``amount`` weights, a number or a share, at random."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: Module, name: str, amount: float, importance_scores: Tensor | None = None
) -> Module:
    """Prune ``amount`` weights, a number or a share: the smallest.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.nn.utils import prune
    >>> layer = prune.l1_unstructured(torch.nn.Linear(4, 3), "weight", amount=0.5)
    >>> int((layer.weight == 0).sum()), [name for name, _ in layer.named_parameters()]
    (6, ['bias', 'weight_orig'])

    References
    ----------
    S. Han et al., "Learning both Weights and Connections for Efficient Neural Networks", NeurIPS 2015.
    """
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prune ``amount`` slices along ``dim`` at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module, name: str, amount: float, n: Any, dim: int, importance_scores: Tensor | None = None
) -> Module:
    """Prune the ``amount`` slices along ``dim`` that have the smallest n-norm."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune where ``mask`` is 0."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: dict[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prune weights of several parameters at once, as if they were one.

    Parameters
    ----------
    parameters : iterable of (Module, str)
    pruning_method : type
        One that prunes single weights, as :class:`L1Unstructured`.
    importance_scores : dict, optional
        For some of the parameters how important each weight is.
    **kwargs
        Settings of the method, as ``amount``.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    chosen = list(parameters)
    given = importance_scores or {}
    scores = [given.get((module, name), getattr(module, name)).detach() for module, name in chosen]
    masks = [getattr(module, name + "_mask", ones_like(each)) for (module, name), each in zip(chosen, scores)]
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    container = PruningContainer()
    container._tensor_name = method._tensor_name = "temp"
    container.add_pruning_method(method)
    with no_grad():
        whole = container.compute_mask(parameters_to_vector(scores), parameters_to_vector(masks))
    start = 0
    for (module, name), each in zip(chosen, scores):
        custom_from_mask(module, name, whole[start : start + each.numel()].view_as(each))
        start += each.numel()


def remove(module: Module, name: str) -> Module:
    """Make the pruned weights the module's own, without a mask."""
    key = _hook_of(module, name)
    if key is None:
        raise ValueError(
            f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
        )
    module._forward_pre_hooks.pop(key).remove(module)
    return module


def is_pruned(module: Module) -> bool:
    """Whether anything in ``module`` is pruned."""
    return any(
        isinstance(hook, BasePruningMethod)
        for each in module.modules()
        if each._hooks is not None
        for hook in each._forward_pre_hooks.values()
    )


def _hook_of(module: Module, name: str) -> int | None:
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return key
    return None
