"""Modules as functions of their parameters: :func:`functional_call`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autokit.engine.tensor import Tensor


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call ``module`` with given parameters and buffers in place of its own, which are restored afterwards.

    Parameters
    ----------
    module : Module
    parameter_and_buffer_dicts : dict or sequence of dict
        Tensors by the names of ``named_parameters()`` and ``named_buffers()``; others stay the module's own.
    args : optional
        A tuple of arguments, or one argument.
    kwargs : dict, optional
        Keyword arguments.
    tie_weights : bool
        Where one parameter has several names, a tensor for one of them stands for all.
    strict : bool
        Refuse names that are missing.

    Raises
    ------
    RuntimeError
        If a name is unknown; if ``strict``, also where one is missing.
    ValueError
        If a name stands in several dicts, or tied names are given different tensors.

    Examples
    --------
    >>> import autokit as torch
    >>> line = torch.nn.Linear(1, 1)
    >>> new = {"weight": torch.tensor([[2.0]]), "bias": torch.tensor([1.0])}
    >>> torch.func.functional_call(line, new, torch.tensor([3.0]))
    tensor([7.])
    """
    given = _merged(parameter_and_buffer_dicts)
    places = _places(module)
    wrong = given.keys() ^ places.keys() if strict else given.keys() - places.keys()
    if wrong:
        raise RuntimeError(
            f"functional_call: {sorted(wrong)} are missing or unknown; {type(module).__name__} has "
            f"{sorted(places)}"
        )
    if tie_weights:
        given = _tied(places, given)
    before = {name: places[name][0][places[name][1]] for name in given}
    try:
        for name, tensor in given.items():
            if not isinstance(tensor, Tensor):
                raise TypeError(f"functional_call: {name!r} must be a tensor, not {type(tensor).__name__}")
            register, key = places[name]
            register[key] = tensor
        arguments = () if args is None else args if isinstance(args, tuple) else (args,)
        return module(*arguments, **(kwargs or {}))
    finally:
        for name, tensor in before.items():
            register, key = places[name]
            register[key] = tensor


def _merged(dicts: Any) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for one in (dicts,) if isinstance(dicts, dict) else dicts:
        if not isinstance(one, dict):
            raise ValueError(f"functional_call takes dicts of tensors by name, not {type(one).__name__}")
        repeated = sorted(given.keys() & one.keys())
        if repeated:
            raise ValueError(f"functional_call: {repeated} appeared in several dicts")
        given.update(one)
    return given


def _places(module: Any) -> dict[str, tuple[dict[str, Any], str]]:
    """For each parameter and buffer, by its name, the dict of a module that holds it, and its key there."""
    return {
        f"{path}.{key}" if path else key: (register, key)
        for path, part in module.named_modules(remove_duplicate=False)
        for register, key in _entries(part)
    }


def _entries(part: Any) -> list[tuple[dict[str, Any], str]]:
    registers = (part._parameters, part._buffers)
    return [(register, key) for register in registers for key in register if register[key] is not None]


def _tied(places: dict[str, tuple[dict[str, Any], str]], given: dict[str, Any]) -> dict[str, Any]:
    """``given``, with a tensor under every name of a parameter that has several."""
    names: dict[int, list[str]] = {}
    for name, (register, key) in places.items():
        names.setdefault(id(register[key]), []).append(name)
    full = dict(given)
    for tied in names.values():
        tensors = {id(given[name]): given[name] for name in tied if name in given}
        if len(tensors) > 1:
            raise ValueError(
                f"functional_call: {sorted(tied)} are one parameter, and were given different tensors; "
                "tie_weights=False allows that"
            )
        for tensor in tensors.values():
            full.update(dict.fromkeys(tied, tensor))
    return full
