"""What is done otherwise where something unusual is at work: half precision, autocast, several GPUs.

``UNUSUAL`` says whether this program uses any of them; as long as it does not,
to ask for that is all that operations and functions pay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from autokit.current_gpu import SEVERAL, OnGPU, current_gpu, gpu_of, on_its_gpu
from autokit.dtypes import COMPLEX, RARE
from autokit.meta_array import META, computing_shapes, is_meta
from autokit.ops import complex_numbers
from autokit.ops.errors import describe
from autokit.tensor import Tensor, new_tensor
from autokit.thread_state import UNUSUAL, thread

if TYPE_CHECKING:
    from autokit.ops.rules import Operation


def autocasted(name: str, function: Any, arguments: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    """See :func:`autokit.ops.autocast.autocasted`, which is loaded where it is at work."""
    from autokit.ops.autocast import autocasted as cast_and_called

    return cast_and_called(name, function, arguments, settings)


def carried(apply: Any, operation: Any, operands: Any, settings: Any, made: Any = None) -> Any:
    """See :func:`autokit.func.tangents.carried`, which is loaded where forward mode is at work."""
    from autokit.func.tangents import carried as carried_forward

    if made is not None:
        from autokit.ops.direct import direct

        def apply(*operands: Any, **settings: Any) -> Any:
            return direct(operation.function, operands, settings or None, made)

    return carried_forward(apply, operation, operands, settings)


def computing(operation: Operation, arrays: Sequence[Any]) -> Callable[..., Any]:
    """The rule of ``operation`` as it computes with ``arrays``: in float32, or on another GPU."""
    if META in UNUSUAL and any(map(is_meta, arrays)):
        if operation.name in _TAKE_ALL_ALIKE and not all(map(is_meta, arrays)):
            refuse_beside_meta(operation.name, map(new_tensor, arrays))
        moves = operation.name == "move"
        return operation.plain if moves else computing_shapes(operation.plain, operation.name)
    forward = operation.forward
    for array in arrays:
        if array.dtype in RARE:
            forward = _for_rare_dtypes(operation, arrays)
            break
    return on_its_gpu(forward, arrays) if SEVERAL in UNUSUAL else forward


def _for_rare_dtypes(operation: Operation, arrays: Sequence[Any]) -> Callable[..., Any]:
    """The rule as it computes with complex numbers, which it may refuse, or with half precision."""
    if any([array.dtype in COMPLEX for array in arrays]):
        complex_numbers.refuse(operation.name, arrays)
        return operation.plain
    return operation.on_halves


def as_floats(array: Any, dtype: Any) -> Any:
    """``array``, of integers or bools, in a floating point ``dtype``."""
    return on_its_gpu(lambda own: own.astype(dtype), (array,))(array)


def asks_for_care(*values: Any) -> bool:
    """Whether a function that was given ``values`` must go :func:`with_care`."""
    return thread.state.autocast is not None or other_gpu_of(values) is not None


_TAKE_SHAPES = {
    *("copy_", "embedding", "expand_as", "fractional_max_pool2d", "gather", "index_select", "is_same_size"),
    *("lu_unpack", "reshape_as", "resize_as_", "result_type", "scatter", "take", "tensor_split", "to"),
    *("type_as", "view_as", "bernoulli_", "ctc_loss", "equal", "is_set_to"),
    "<lambda>",  # of NumPy's vocabulary: masks that rules make themselves have elements
}
"""Functions that take a tensor without elements beside one that has some, as in PyTorch, or say why not."""


_TAKE_ALL_ALIKE = {
    *("copysign", "floor_divide", "index_add", "index_fill", "masked_fill", "nanquantile", "out", "quantile"),
}
"""Functions that take no tensor without dimensions from elsewhere either, as in PyTorch."""


def refuse_beside_meta(name: str, values: Iterable[Any], argument: str = "") -> None:
    """Raise where some tensors among ``values`` have no elements and others, with dimensions, have some.

    Where ``argument`` is ``"out"``, or for some functions, those others need no dimensions.
    """
    if name in _TAKE_SHAPES and not argument:
        return
    all_alike = not _TAKE_ALL_ALIKE.isdisjoint((name, argument))
    tensors = [each for each in values if isinstance(each, Tensor)]
    shapes = [each for each in tensors if is_meta(each.array)]
    arrays = [each for each in tensors if (all_alike or each.array.ndim) and not is_meta(each.array)]
    if shapes and arrays:
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, meta and "
            f"{arrays[0].device}! {name}() got {describe(shapes[0])} on meta, which has no elements, and "
            f'{describe(arrays[0])}: .to("meta") takes its elements away'
        )


def with_care(
    name: str, function: Callable[..., Any], arguments: tuple[Any, ...], settings: dict[str, Any]
) -> Any:
    """What ``function``, which is ``name``, gives under autocast, or for tensors that are on another GPU."""
    if thread.state.autocast is not None:
        return autocasted(name, function, arguments, settings)
    gpu = other_gpu_of((*arguments, *settings.values()))
    assert gpu is not None
    with OnGPU(gpu):
        return function(*arguments, **settings)


Function = TypeVar("Function", bound=Callable[..., Any])


def carefully(function: Function) -> Function:
    """``function``, which is cast as a whole under autocast, and computes on the GPU of its first tensor.

    What is made of operations needs it where it is on autocasting's lists, or computes outside of rules.
    """

    @in_place_of(function)
    def apply(*arguments: Any, **settings: Any) -> Any:
        if UNUSUAL:
            if META in UNUSUAL:
                refuse_beside_meta(function.__name__, (*arguments, *settings.values()))
            if asks_for_care(*arguments, *settings.values()):
                return with_care(function.__name__, function, arguments, settings)
        return function(*arguments, **settings)

    return apply  # type: ignore[return-value]


def in_place_of(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """What ``functools.wraps`` does, in a third of the time: importing autokit does it two thousand times."""

    def dress(apply: Any) -> Callable[..., Any]:
        apply.__name__, apply.__qualname__ = function.__name__, function.__qualname__
        apply.__doc__, apply.__module__ = function.__doc__, function.__module__
        apply.__dict__.update(function.__dict__)
        apply.__wrapped__ = function
        return apply

    return dress


def on_its_tensors_gpu(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, which computes outside of rules, on the GPU of the first tensor that it is given."""

    @in_place_of(function)
    def apply(*arguments: Any, **settings: Any) -> Any:
        gpu = other_gpu_of((*arguments, *settings.values()))
        if gpu is None:
            return function(*arguments, **settings)
        with OnGPU(gpu):
            return function(*arguments, **settings)

    return apply


def other_gpu_of(values: Iterable[Any]) -> int | None:
    """The GPU of the first tensor among ``values``; None where it is the current one, or there is but one."""
    if SEVERAL not in UNUSUAL:
        return None
    gpu = next(_gpus_in(values), None)
    return None if gpu is None or gpu == current_gpu() else gpu


def _gpus_in(values: Iterable[Any]) -> Iterator[int]:
    """The GPUs of the tensors among ``values``, and in the lists among them."""
    for each in values:
        if isinstance(each, Tensor):
            gpu = gpu_of(each)
            if gpu is not None:
                yield gpu
        elif each.__class__ in (list, tuple):
            yield from _gpus_in(each)
