"""The keywords for how a new tensor lies in memory: ``layout``, ``pin_memory`` and ``memory_format``.

Functions that make tensors do not know them: they are answered here, before
the call, so that a call without them pays nothing.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from autokit import formats
from autokit.devices import module_for
from autokit.ops.convert import in_format
from autokit.tensor import Tensor

_KINDS = {"layout": formats.layout, "memory_format": formats.memory_format, "pin_memory": bool}
MEMORY_WORDS = frozenset(_KINDS)

_LIKE = set("empty_like full_like ones_like rand_like randint_like randn_like zeros_like".split())  # noqa: SIM905
_MADE = _LIKE | set(
    """
    arange bartlett_window blackman_window empty empty_strided eye full hamming_window hann_window
    kaiser_window linspace logspace ones rand randint randn randperm range scalar_tensor tril_indices
    triu_indices zeros .new_empty .new_full .new_ones .new_zeros
    """.split()  # noqa: SIM905
)


def without_memory_words(
    name: str, arguments: tuple[Any, ...], settings: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The same call of the function ``name`` in words that it knows; the call itself if it takes none.

    Raises
    ------
    TypeError
        If a value is of another type.
    RuntimeError
        If page-locked memory is asked for where no GPU could use it.
    NotImplementedError
        If the layout is not ``torch.strided``.
    """
    words = {each: settings[each] for each in _known(name) if each in settings}
    if not words:
        return arguments, settings
    called = name.lstrip(".")
    for word, value in words.items():
        kind = _KINDS[word]
        if value is not None and not isinstance(value, kind):
            wanted = "bool" if kind is bool else f"torch.{word}"
            raise TypeError(f"{called}(): argument '{word}' must be {wanted}, not {type(value).__name__}")
    if words.get("pin_memory"):
        _refuse_pinning(called)
    if words.get("layout", formats.strided) not in (None, formats.strided):
        raise NotImplementedError(
            f"{called}() makes strided tensors alone, not {words['layout']}: make a sparse one by "
            "x.to_sparse() or torch.sparse_coo_tensor(...)"
        )
    settings = {each: value for each, value in settings.items() if each not in words}
    order = words.get("memory_format")
    if order is not None and order != formats.preserve_format:
        if "input" in settings:
            arguments = (settings.pop("input"), *arguments)
        if arguments and isinstance(arguments[0], Tensor):  # the result lies as what it is made like
            arguments = (in_format(arguments[0].detach(), order, copy=False), *arguments[1:])
    return arguments, settings


def _known(name: str) -> Set[str]:
    if name in _LIKE:
        return MEMORY_WORDS
    if name in _MADE:
        return {"layout", "pin_memory"}
    return {"pin_memory"} if name == "tensor" else set()


def _refuse_pinning(called: str) -> None:
    try:
        module_for("cuda")
    except RuntimeError:
        raise RuntimeError(
            f"{called}(): pin_memory=True requires a CUDA or other accelerator backend; a tensor of the CPU "
            "needs no page-locked memory: leave it out"
        ) from None
