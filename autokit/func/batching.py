"""A function of one example as a function of many: :func:`vmap`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from autokit.batches import Level, NotBatched, active, levels_of
from autokit.func.trees import flatten, spread, unflatten
from autokit.ops.dims import place_of
from autokit.ops.join import cat
from autokit.ops.samples import enter, leave
from autokit.tensor import Tensor


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """The function that runs ``func`` on each example of a batch, and puts the results in a batch.

    ``func`` runs once.  Inside, a tensor shows the shape of one example and
    holds all of them (see ``autokit.batches``), and each operation computes
    them together.  A few have no rule for that, and run on one example after
    the other: ``apply_``, ``as_strided``, ``bernoulli``, ``bincount``,
    ``binomial``, ``bucketize``, ``cov``, ``ctc_loss``, ``embedding_bag``,
    ``geqrf``, ``histc``, ``histogram``, ``histogramdd``, ``igamma``, ``igammac``, an ``index``
    of bools, ``index_fill``, ``ldl_factor``, ``map_``, ``masked_scatter``,
    ``masked_select``, ``matrix_exp``, ``max_unpool``, ``multilabel_margin_loss``,
    ``multinomial``, ``nanmedian``, ``nll_loss`` where classes are ignored,
    ``nonzero``, ``poisson``, ``polygamma``, ``repeat_interleave``,
    ``scatter_reduce``, ``searchsorted``, ``segment_reduce``, ``solve_triangular``, ``unique`` and
    ``zeta``.  Where their results differ in shape, they raise.

    Parameters
    ----------
    func : callable
        Takes and returns tensors, or nested containers of them.
    in_dims : int, None or nested containers
        For each positional argument, or part of it, the dimension of the
        examples; None for what all examples share, as they do keyword arguments.
    out_dims : int, None or nested containers
        Where the dimension of the examples goes in the results; None for what is the same for all.
    randomness : {"error", "different", "same"}
        What draws of random numbers do: raise, draw for each example, or give
        every example the same.
    chunk_size : int, optional
        Run on so many examples at a time, which takes less memory; all together where it is left out.

    Raises
    ------
    ValueError
        If ``in_dims`` or ``out_dims`` do not fit, batches differ in size, or ``func`` returns no tensor.
    RuntimeError
        If ``func`` draws random numbers under ``randomness="error"``, or asks
        for a value: by ``.item()``, or in an ``if``.

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

    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @wraps(func)
    def batched(*args: Any, **kwargs: Any) -> Any:
        leaves, structure, dims = _mapped(args, kwargs, in_dims)
        count = _batch_size(leaves, dims)
        if chunk_size is None or count <= chunk_size:
            return _run(func, leaves, structure, dims, count, out_dims, randomness)
        chunks = []
        for start in range(0, count, chunk_size):
            part = [
                leaf if dim is None else leaf.narrow(dim, start, min(chunk_size, count - start))
                for leaf, dim in zip(leaves, dims)
            ]
            chunks.append(
                _run(func, part, structure, dims, min(chunk_size, count - start), out_dims, randomness)
            )
        rows, form = zip(*[flatten(chunk) for chunk in chunks])
        places = _out_dims(out_dims, chunks[0])
        return unflatten(
            [parts[0] if dim is None else cat(parts, dim) for parts, dim in zip(zip(*rows), places)], form[0]
        )

    return batched


def _run(
    func: Callable[..., Any],
    leaves: list[Any],
    structure: Any,
    dims: list[Any],
    count: int,
    out_dims: Any,
    randomness: str,
) -> Any:
    """One call of ``func`` for ``count`` samples at once."""
    with Level(count, randomness) as level:
        parts = [leaf if dim is None else enter(leaf, level, dim) for leaf, dim in zip(leaves, dims)]
        args, kwargs = unflatten(parts, structure)
        try:
            result = func(*args, **kwargs)
        except NotBatched as error:
            if len(active()) > 1:  # an outer vmap may go through its samples
                raise
            raise RuntimeError(str(error)).with_traceback(error.__traceback__) from None
    outputs, form = flatten(result)
    places = _out_dims(out_dims, result)
    joined = []
    for output, dim in zip(outputs, places):
        if not isinstance(output, Tensor):
            raise ValueError(
                f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got type "
                f"{type(output)} as a return."
            )
        if dim is None:
            if level in levels_of(output.array):
                raise ValueError(
                    f"vmap({_name(func)}, ...): `{_name(func)}` can not return a BatchedTensor when "
                    "out_dim is None: each sample has another value"
                )
            joined.append(output)
            continue
        joined.append(leave(output, level, place_of(dim, output.array.ndim + 1)))
    return unflatten(joined, form)


def _name(func: Callable[..., Any]) -> str:
    return getattr(func, "__name__", repr(func))


def _mapped(args: tuple[Any, ...], kwargs: dict[str, Any], in_dims: Any) -> tuple[list[Any], Any, list[Any]]:
    """The leaves of all arguments, their structure, and the dimension of the examples in each."""
    if not isinstance(in_dims, int | tuple | list) or isinstance(in_dims, bool):
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


def _out_dims(out_dims: Any, result: Any) -> list[Any]:
    found = spread(tuple(out_dims) if isinstance(out_dims, list) else out_dims, result)
    if found is None and isinstance(out_dims, tuple) and len(out_dims) == 1:
        found = spread(out_dims[0], result)
    if found is None or not all(isinstance(dim, int | None) for dim in found):
        raise ValueError(
            f"vmap(f, ..., out_dims={out_dims}): out_dims is not compatible with the structure of what f "
            "returned"
        )
    return found
