"""The state of a model is the dict of its parameters and buffers: it is collected and loaded here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from autokit.engine.modes import no_grad
from autokit.engine.tensor import Tensor
from autokit.nn.parameter import Parameter

if TYPE_CHECKING:
    from autokit.nn.module import Module


class IncompatibleKeys(NamedTuple):
    """The paths that did not match: those that the state lacks, and those that the model lacks."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if self.missing_keys or self.unexpected_keys:
            missing, unexpected = self
            return f"_IncompatibleKeys(missing_keys={missing}, unexpected_keys={unexpected})"
        return "<All keys matched successfully>"


def _entries(module: Module) -> Iterator[tuple[str, dict[str, Any]]]:
    """The names in the state that belong to ``module`` itself, each with its register."""
    for register in (module._parameters, module._buffers):
        for name, value in register.items():
            if value is not None and name not in module._unsaved_buffers:
                yield name, register


def save_state(module: Module, destination: dict[str, Any], prefix: str, keep_vars: bool) -> dict[str, Any]:
    """See ``Module.state_dict``; a child's own ``state_dict`` is called, which a program may override."""
    for name, register in _entries(module):
        tensor = register[name]
        destination[prefix + name] = tensor if keep_vars else tensor.detach()
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    return destination


def load_state(module: Module, state: Mapping[str, Any], strict: bool, assign: bool) -> IncompatibleKeys:
    """See ``Module.load_state_dict``: everything is checked before anything is loaded."""
    if not isinstance(state, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state)}.")
    _give_shapes(module, state)
    entries = {
        f"{path}.{name}" if path else name: (register, name)
        for path, owner in module.named_modules(remove_duplicate=False)
        for name, register in _entries(owner)
    }
    # States from before PyTorch 0.4.1 lack the number of batches, and are complete without it.
    missing = [path for path in entries if path not in state and entries[path][1] != "num_batches_tracked"]
    unexpected = [path for path in state if path not in entries]
    found = [path for path in entries if path in state]
    errors = [text for path in found if (text := _misfit(path, entries[path], state[path]))]
    if strict and unexpected:
        errors.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
    if strict and missing:
        errors.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
        errors += _advice(state, unexpected, missing)
    if errors:
        listed = "\n\t".join(errors)
        raise RuntimeError(f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{listed}")
    with no_grad():
        for path in found:
            register, name = entries[path]
            tensor, value = register[name], state[path]
            if not assign:
                tensor.copy_(value)
            elif isinstance(tensor, Parameter):
                held = value if isinstance(value, Parameter) else Parameter(value)
                register[name] = held.requires_grad_(tensor.requires_grad)
            else:
                register[name] = value
    return IncompatibleKeys(missing, unexpected)


def _misfit(path: str, entry: tuple[dict[str, Any], str], value: Any) -> str:
    """Why ``value`` cannot be loaded, or nothing."""
    register, name = entry
    if not isinstance(value, Tensor):
        return f'"{path}" should be a tensor, but the state_dict has {type(value)}.'
    if value.shape != register[name].shape:
        return (
            f"size mismatch for {path}: copying a param with shape {value.shape} from checkpoint, "
            f"the shape in current model is {register[name].shape}."
        )
    return ""


def _advice(state: Mapping[str, Any], unexpected: list[str], missing: list[str]) -> list[str]:
    """What to load in place of a checkpoint that holds the state, or of a state that names a wrapper."""
    for key in unexpected:
        if isinstance(state[key], Mapping) and set(missing) <= set(state[key]):
            return [f'This is a dict that holds the state: give state_dict["{key}"].']
    firsts = {key.partition(".")[0] for key in unexpected}
    if len(firsts) == 1 and {key.partition(".")[2] for key in unexpected} == set(missing):
        first = firsts.pop()
        return [
            f'Each key begins with "{first}.", as when the model stood in a wrapper: give '
            f'{{key.removeprefix("{first}."): value for key, value in state_dict.items()}}.'
        ]
    return []


def _give_shapes(module: Module, state: Mapping[str, Any]) -> None:
    """Give lazy layers their shapes, from the tensors that are to be loaded into them."""
    for path, owner in module.named_modules():
        if hasattr(owner, "initialize_parameters"):
            names = (*owner._parameters, *owner._buffers)
            paths = {name: f"{path}.{name}" if path else name for name in names}
            shapes = {name: state[each].shape for name, each in paths.items() if each in state}
            if shapes:
                owner.initialize_parameters(owner.width_in(shapes))


def _quoted(paths: list[str]) -> str:
    return ", ".join(f'"{path}"' for path in paths)
