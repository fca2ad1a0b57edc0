"""A function of one example as a function of many: :func:`vmap`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from autokit import random
from autokit.autograd.modes import no_grad
from autokit.func.trees import flatten, spread, unflatten
from autokit.ops.join import stack
from autokit.tensor import Tensor, new_tensor


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """The function that runs ``func`` on each example of a batch, and puts the results in a batch.

    This runs ``func`` once for each example and stacks what it returns: right
    for every function, branches on values included, and as slow as a loop.
    PyTorch runs each operation once for the whole batch.

    Parameters
    ----------
    func : callable
        Takes and returns tensors, or nested containers of them.
    in_dims : int, None or nested containers
        For each positional argument, or part of it, the dimension of the
        examples; None for what all examples share, as they do keyword arguments.
    out_dims : int or nested containers
        Where the dimension of the examples goes in the results.
    randomness : {"error", "different", "same"}
        What draws of random numbers do: raise, draw for each example, or give
        every example the same.
    chunk_size : int, optional
        Accepted for PyTorch's sake.

    Raises
    ------
    ValueError
        If ``in_dims`` or ``out_dims`` do not fit, batches differ in size, or ``func`` returns no tensor.
    RuntimeError
        If ``func`` draws random numbers under ``randomness="error"``.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.func import grad, vmap
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> vmap(torch.dot)(x, x)
    tensor([ 5., 25.])
    >>> weight = torch.tensor([1.0, -1.0])
    >>> vmap(grad(lambda w, x: (w @ x) ** 2), in_dims=(None, 0))(weight, x)
    tensor([[-2., -4.],
            [-6., -8.]])
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )

    @wraps(func)
    def batched(*args: Any, **kwargs: Any) -> Any:
        leaves, structure, dims = _mapped(args, kwargs, in_dims)
        count = _batch_size(leaves, dims)
        before = random.get_rng_state()

        def example(place: int) -> tuple[list[Any], Any]:
            if randomness == "same":
                random.set_rng_state(before)
            parts = [
                leaf if dim is None else leaf[(*(slice(None),) * dim, place)]
                for leaf, dim in zip(leaves, dims)
            ]
            args, kwargs = unflatten(parts, structure)
            return flatten(func(*args, **kwargs))

        if count:
            results = [example(place) for place in range(count)]
        else:
            results = [_of_nothing(func, leaves, dims, structure)]
        if randomness == "error" and (before.array != random.get_rng_state().array).any():
            raise RuntimeError(
                "vmap: called random operation while in randomness error mode. Please either use the 'same' "
                "or 'different' randomness flags on vmap or perform the randomness operation out of vmap"
            )
        outputs, form = results[0]
        places = _out_dims(out_dims, unflatten(outputs, form))
        joined = []
        for slot, (output, dim) in enumerate(zip(outputs, places)):
            if not isinstance(output, Tensor):
                raise ValueError(
                    f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got type "
                    f"{type(output)} as a return."
                )
            whole = stack([parts[slot] for parts, _ in results], dim)
            nothing = (*(slice(None),) * (dim % whole.array.ndim), slice(0, 0))
            joined.append(whole if count else whole[nothing])
        return unflatten(joined, form)

    return batched


def _name(func: Callable[..., Any]) -> str:
    return getattr(func, "__name__", repr(func))


def _mapped(args: tuple[Any, ...], kwargs: dict[str, Any], in_dims: Any) -> tuple[list[Any], Any, list[Any]]:
    """The leaves of all arguments, their structure, and the dimension of the examples in each."""
    if not isinstance(in_dims, int | tuple | list | None) or isinstance(in_dims, bool):
        raise ValueError(
            "vmap(f, in_dims=..., ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) "
            f"tuple matching the structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            "vmap(f)(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap "
            "over a function with no inputs. The latter is unsupported."
        )
    found = spread(tuple(in_dims) if isinstance(in_dims, list) else in_dims, args)
    where = f"vmap(f, in_dims={in_dims}, ...)(<inputs>)"
    if found is None:
        raise ValueError(
            f"{where}: in_dims is not compatible with the structure of inputs: there are {len(args)} of them"
        )
    leaves, structure = flatten((args, kwargs))
    dims: list[Any] = found + [None] * (len(leaves) - len(found))
    for place, (leaf, dim) in enumerate(zip(leaves, dims)):
        if dim is None:
            continue
        if not isinstance(dim, int):
            raise ValueError(
                f"{where}: Got in_dim={dim} for an input but in_dim must be "
                "either an integer dimension or None."
            )
        if not isinstance(leaf, Tensor):
            raise ValueError(
                f"{where}: Got in_dim={dim} for an input but the input is of "
                f"type {type(leaf)}. We cannot vmap over non-Tensor arguments, please use None as the "
                "respective in_dim"
            )
        if not -leaf.array.ndim <= dim < leaf.array.ndim:
            raise ValueError(
                f"{where}: Got in_dim={dim} for some input, but that input is "
                f"a Tensor of dimensionality {leaf.array.ndim} so expected in_dim to satisfy -"
                f"{leaf.array.ndim} <= in_dim < {leaf.array.ndim}."
            )
        dims[place] = dim % leaf.array.ndim
    return leaves, structure, dims


def _batch_size(leaves: list[Any], dims: list[Any]) -> int:
    sizes = [leaf.array.shape[dim] for leaf, dim in zip(leaves, dims) if dim is not None]
    if not sizes:
        raise ValueError("vmap: at least one input must have a dimension to map over; all in_dims are None")
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return sizes[0]


def _of_nothing(
    func: Callable[..., Any], leaves: list[Any], dims: list[Any], structure: Any
) -> tuple[list[Any], Any]:
    """What ``func`` returns for an example of zeros: the shapes that a batch of no examples has."""
    parts = []
    for leaf, dim in zip(leaves, dims):
        if dim is not None:
            shape = (*leaf.array.shape[:dim], *leaf.array.shape[dim + 1 :])
            leaf = new_tensor(np.zeros_like(leaf.array, shape=shape))
        parts.append(leaf)
    args, kwargs = unflatten(parts, structure)
    with no_grad(), random.fork_rng():
        return flatten(func(*args, **kwargs))


def _out_dims(out_dims: Any, result: Any) -> list[int]:
    found = spread(tuple(out_dims) if isinstance(out_dims, list) else out_dims, result)
    if found is None and isinstance(out_dims, tuple) and len(out_dims) == 1:
        found = spread(out_dims[0], result)
    if found is None or not all(isinstance(dim, int) for dim in found):
        raise ValueError(
            f"vmap(f, ..., out_dims={out_dims}): out_dims is not compatible with the structure of what f "
            "returned"
        )
    return found
