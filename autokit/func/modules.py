"""Modules as functions of their parameters: :func:`functional_call` and :func:`stack_module_state`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autokit.ops.join import stack
from autokit.tensor import Tensor


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call ``module`` with other parameters and buffers than its own, which it has again afterwards.

    Parameters
    ----------
    module : Module
    parameter_and_buffer_dicts : dict or sequence of dict
        Tensors by the names of ``named_parameters()`` and ``named_buffers()``; others stay the module's own.
        Under another name a tensor is an attribute of the module while it is called.
    args : optional
        A tuple of arguments, or one argument.
    kwargs : dict, optional
        Keyword arguments.
    tie_weights : bool
        Where one parameter has several names, a tensor for one of them stands for all.
    strict : bool
        Refuse names that are missing or unknown.

    Raises
    ------
    RuntimeError
        If ``strict`` and the names are not those of the module.
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
    if isinstance(parameter_and_buffer_dicts, dict):
        given = dict(parameter_and_buffer_dicts)
    elif isinstance(parameter_and_buffer_dicts, Sequence):
        given = {}
        for one in parameter_and_buffer_dicts:
            if not isinstance(one, dict):
                raise ValueError(
                    "Expected all elements of parameter_and_buffer_dicts to be dictionaries, and got "
                    f"{type(one).__name__}"
                )
            repeated = sorted(given.keys() & one.keys())
            if repeated:
                raise ValueError(
                    f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous"
                )
            given.update(one)
    else:
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(parameter_and_buffer_dicts)}"
        )
    places = _places(module)
    if strict:
        _refuse_other_names(module, places, given)
    if tie_weights:
        given = _tied(places, given)
    replaced = []
    try:
        for name, tensor in given.items():
            if not isinstance(tensor, Tensor):
                raise TypeError(f"{tensor} is not an instance of Tensor: it is given for {name!r}")
            register, key = places.get(name) or _attribute(module, name)
            replaced.append((register, key, register.get(key)))
            register[key] = tensor
        arguments = () if args is None else args if isinstance(args, tuple) else (args,)
        return module(*arguments, **(kwargs or {}))
    finally:
        for register, key, own in reversed(replaced):
            if own is None:
                del register[key]
            else:
                register[key] = own


def _places(module: Any) -> dict[str, tuple[dict[str, Any], str]]:
    """Where each parameter and buffer is kept, by its name: a register of a module, and its key there."""
    return {
        f"{path}.{key}" if path else key: (register, key)
        for path, part in module.named_modules(remove_duplicate=False)
        for register in (part._parameters, part._buffers)
        for key, value in register.items()
        if value is not None
    }


def _attribute(module: Any, name: str) -> tuple[dict[str, Any], str]:
    """Where a module keeps what is neither parameter nor buffer: as in PyTorch, a tensor may stand there."""
    path, _, key = name.rpartition(".")
    owner = module.get_submodule(path)
    known = getattr(owner, key, None)
    if known is not None and not isinstance(known, Tensor):
        raise TypeError(f"attribute `{key}`: {known} is not an instance of torch.Tensor")
    return vars(owner), key


def _refuse_other_names(module: Any, places: dict[str, Any], given: dict[str, Tensor]) -> None:
    wrongs = []
    unknown, missing = sorted(given.keys() - places.keys()), sorted(places.keys() - given.keys())
    if unknown:
        wrongs.append(f"Unexpected key(s): {', '.join(unknown)}.")
    if missing:
        wrongs.append(f"Missing key(s): {', '.join(missing)}.")
    if wrongs:
        raise RuntimeError(
            f"Error(s) in reparametrizing for {type(module).__name__}:\n\t" + "\n\t".join(wrongs)
        )


def _tied(places: dict[str, tuple[dict[str, Any], str]], given: dict[str, Tensor]) -> dict[str, Tensor]:
    """``given``, with a tensor under every name of a parameter that has several."""
    names: dict[int, list[str]] = {}
    for name, (register, key) in places.items():
        names.setdefault(id(register[key]), []).append(name)
    full = dict(given)
    for tied in names.values():
        tensors = {id(given[name]): given[name] for name in tied if name in given}
        if len(tensors) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(tied)}, which are tied. Consider "
                "using tie_weights=False"
            )
        for tensor in tensors.values():
            full.update(dict.fromkeys(tied, tensor))
    return full


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Let every batch norm in ``root`` go by the batch alone, without running means: these cannot be batched.

    Examples
    --------
    >>> import autokit as torch
    >>> norm = torch.func.replace_all_batch_norm_modules_(torch.nn.BatchNorm1d(2))
    >>> norm.running_mean is None, norm.track_running_stats
    (True, False)
    """
    for module in root.modules():
        is_norm = any(kind.__name__ == "_BatchNorm" for kind in type(module).__mro__)
        if is_norm and module.track_running_stats:
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and buffers of modules of one class, stacked by name, for ``vmap`` over the modules.

    The stacked parameters are new leaves.

    Raises
    ------
    RuntimeError
        If there are no modules, or they differ in class, mode or ``requires_grad``.
    """
    if not len(models):
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    return (
        _stacked([dict(model.named_parameters()) for model in models]),
        _stacked([dict(model.named_buffers()) for model in models]),
    )


def _stacked(states: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    found = {}
    for name in states[0]:
        tensors = [state[name] for state in states]
        learns = {tensor.requires_grad for tensor in tensors}
        if len(learns) > 1:
            raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
        found[name] = stack([tensor.detach() for tensor in tensors]).requires_grad_(learns.pop())
    return found
