""":func:`vmap` turns a function of one example into a function of a batch of examples."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from autokit.base.errors import one_dim
from autokit.base.generator import get_rng_state, set_rng_state
from autokit.engine.tensor import Tensor
from autokit.func.trees import flatten, spread, unflatten
from autokit.ops.join import stack


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """The function that runs ``func`` on each example of a batch, and stacks the results.

    It is a loop over the examples, and not faster than one; so ``func`` may do whatever a loop may do.

    Parameters
    ----------
    func : callable
        Takes and returns tensors, or nested containers of them.
    in_dims : int, None or nested containers
        For each positional argument, or part of it, the dimension of the examples; None for an argument that
        all examples share, as they share keyword arguments.
    out_dims : int, None or nested containers
        Where the dimension of the examples goes in the results; None for a result that is the same for all.
    randomness : {"error", "different", "same"}
        What draws of random numbers do: raise, draw for each example, or give every example the same.
    chunk_size : int, optional
        Without effect: the examples are computed one after the other.

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
        raise RuntimeError(f"vmap: randomness is 'error', 'different' or 'same', not {randomness!r}")

    @wraps(func)
    def batched(*args: Any, **kwargs: Any) -> Any:
        leaves, structure, dims = _mapped(args, in_dims)
        count = _batch_size(leaves, dims)
        columns = [(leaf,) * count if dim is None else leaf.unbind(dim) for leaf, dim in zip(leaves, dims)]
        start = get_rng_state()
        rows, result = [], None
        for parts in zip(*columns):
            if randomness == "same":
                set_rng_state(start)
            result = func(*unflatten(list(parts), structure), **kwargs)
            rows.append(flatten(result)[0])
        if randomness == "error" and bool((start != get_rng_state()).any()):
            set_rng_state(start)
            raise RuntimeError(
                "vmap: the function draws random numbers. Say randomness='different' for other numbers for "
                "each example, or randomness='same' for the same"
            )
        joined = [_joined(parts, dim) for parts, dim in zip(zip(*rows), _out_dims(out_dims, result))]
        return unflatten(joined, flatten(result)[1])

    return batched


def _mapped(args: tuple[Any, ...], in_dims: Any) -> tuple[list[Any], Any, list[Any]]:
    """The leaves of all arguments, their structure, and the dimension of the examples in each."""
    if not isinstance(in_dims, int | tuple | list):
        raise ValueError(f"vmap: in_dims must be an int or a tuple, got {type(in_dims).__name__}")
    dims = spread(tuple(in_dims) if isinstance(in_dims, list) else in_dims, args)
    if dims is None:
        raise ValueError(
            f"vmap: in_dims={in_dims} is not compatible with the structure of the {len(args)} arguments"
        )
    leaves, structure = flatten(args)
    for leaf, dim in zip(leaves, dims):
        if dim is None:
            continue
        if not isinstance(leaf, Tensor):
            raise ValueError(
                f"vmap: in_dims={in_dims} names a dimension of an argument of type {type(leaf).__name__}: "
                "write None for what is no tensor"
            )
        if not isinstance(dim, int) or not -leaf.array.ndim <= dim < leaf.array.ndim:
            raise ValueError(
                f"vmap: in_dims={in_dims} names dimension {dim} of a tensor of shape {list(leaf.shape)}"
            )
    return leaves, structure, dims


def _batch_size(leaves: list[Any], dims: list[Any]) -> int:
    sizes = [leaf.array.shape[dim] for leaf, dim in zip(leaves, dims) if dim is not None]
    if not sizes:
        raise ValueError("vmap: at least one argument must have a dimension to map over")
    if len(set(sizes)) > 1:
        raise ValueError(f"vmap: all arguments must have the same size in the mapped dimension, got {sizes}")
    if not sizes[0]:
        raise ValueError("vmap: there are no examples: the mapped dimension has size 0")
    return sizes[0]


def _out_dims(out_dims: Any, result: Any) -> list[Any]:
    found = spread(tuple(out_dims) if isinstance(out_dims, list) else out_dims, result)
    if found is None and isinstance(out_dims, tuple) and len(out_dims) == 1:
        found = spread(out_dims[0], result)
    if found is None or not all([isinstance(dim, int | None) for dim in found]):
        raise ValueError(f"vmap: out_dims={out_dims} is not compatible with what the function returned")
    return found


def _joined(parts: tuple[Any, ...], dim: int | None) -> Tensor:
    for part in parts:
        if not isinstance(part, Tensor):
            raise ValueError(f"vmap: the function must return tensors, and it returned {type(part).__name__}")
    return parts[0] if dim is None else stack(parts, one_dim(dim, parts[0].array.ndim + 1))
