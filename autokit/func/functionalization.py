"""Functions without changes in place, :func:`functionalize`, and a look inside of transforms."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from autokit.batches.batch import of_all_samples
from autokit.tensor import Tensor, new_tensor


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """A function that computes what ``func`` does: nothing need be removed from it, as nothing compiles it.

    PyTorch's makes each in-place operation on what ``func`` made itself one that makes a new tensor;
    results, gradients and changes of the arguments are those of ``func``.

    Parameters
    ----------
    func : callable
    remove : {"mutations", "mutations_and_views"}
        Accepted for PyTorch's sake.

    Raises
    ------
    RuntimeError
        If ``remove`` is something else.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.func.functionalize(lambda x: x.clone().add_(1))(torch.ones(2))
    tensor([2., 2.])
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid "
            "options are: remove='mutations' and remove='mutations_and_views'"
        )

    @wraps(func)
    def functional(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return functional


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """What a tensor inside of a transform holds, to be looked at: of a ``vmap`` the values of all samples.

    Parameters
    ----------
    tensor : Tensor
    recurse : bool
        Accepted for PyTorch's sake: those of all ``vmap`` that it is in.

    Examples
    --------
    >>> import autokit as torch
    >>> seen = []
    >>> _ = torch.vmap(lambda x: seen.append(torch.func.debug_unwrap(x)) or x)(torch.arange(3))
    >>> seen[0]
    tensor([0, 1, 2])
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"debug_unwrap(): expected a tensor, not {type(tensor).__name__}")
    return new_tensor(of_all_samples(tensor.array))
