"""A model's state: what ``state_dict`` lists, and how it is loaded again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from autokit.autograd.modes import no_grad
from autokit.nn.parameter import Parameter
from autokit.tensor import Tensor

if TYPE_CHECKING:
    from autokit.nn.module import Module


class IncompatibleKeys(NamedTuple):
    """What did not match while loading: paths of the model that were missing, and paths unknown to it."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if self.missing_keys or self.unexpected_keys:
            return (
                f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"
            )
        return "<All keys matched successfully>"


def state_entries(module: Module) -> Iterator[tuple[str, Module, str, str]]:
    """Everything in the state of ``module``: its path, the module that owns it, the register, the name there.

    What is shared comes under each of its paths.
    """
    for path, owner in module.named_modules(remove_duplicate=False):
        for register in ("_parameters", "_buffers"):
            for name, value in owner.__dict__[register].items():
                if value is not None and name not in owner._unsaved_buffers:
                    yield f"{path}.{name}" if path else name, owner, register, name


def note_versions(module: Module, state: Mapping[str, Any], prefix: str, new: bool) -> None:
    """Note in ``state._metadata`` the version of each module in ``module``, as PyTorch does."""
    if new:
        state._metadata = OrderedDict()  # type: ignore[attr-defined]
    metadata = getattr(state, "_metadata", None)
    if metadata is not None:
        for path, owner in module.named_modules(remove_duplicate=False):
            metadata[f"{prefix}{path}".removesuffix(".")] = {"version": owner._version}


def load_state(module: Module, state: Mapping[str, Any], strict: bool, assign: bool) -> IncompatibleKeys:
    """See ``Module.load_state_dict``."""
    if not isinstance(state, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state)}.")
    _give_shapes(module, state)
    entries = {path: (owner, register, name) for path, owner, register, name in state_entries(module)}
    missing = [path for path in entries if path not in state]
    unexpected = [path for path in state if path not in entries]
    fitting = [path for path in entries if path in state]
    errors = _misfits(entries, state, fitting)
    if strict and unexpected:
        errors.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
    if strict and missing:
        errors.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
    if errors:
        listed = "\n\t".join(errors)
        raise RuntimeError(f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{listed}")
    with no_grad():
        for path in fitting:
            owner, register, name = entries[path]
            own = owner.__dict__[register][name]
            if not assign:
                own.copy_(state[path])
            elif register == "_parameters":
                owner._parameters[name] = Parameter(state[path], requires_grad=own.requires_grad)
            else:
                owner._buffers[name] = state[path]
    return IncompatibleKeys(missing, unexpected)


def _give_shapes(module: Module, state: Mapping[str, Any]) -> None:
    """Let lazy layers take their shapes from what is loaded into them."""
    for path, owner in module.named_modules():
        fit = getattr(type(owner), "_fit", None)
        if fit is not None:
            names = (*owner._parameters, *owner._buffers)
            paths = {name: f"{path}.{name}" if path else name for name in names}
            fit(owner, {name: state[each].shape for name, each in paths.items() if each in state})


def _misfits(entries: dict[str, Any], state: Mapping[str, Any], paths: list[str]) -> list[str]:
    errors = []
    for path in paths:
        owner, register, name = entries[path]
        own, given = owner.__dict__[register][name], state[path]
        if not isinstance(given, Tensor):
            errors.append(
                f'While copying the parameter named "{path}", expected torch.Tensor or Tensor-like object '
                "from "
                f"checkpoint but received {type(given)}"
            )
        elif given.shape != own.shape:
            errors.append(
                f"size mismatch for {path}: copying a param with shape {given.shape} from checkpoint, "
                f"the shape in current model is {own.shape}."
            )
    return errors


def _quoted(paths: list[str]) -> str:
    return ", ".join(f'"{path}"' for path in paths)
