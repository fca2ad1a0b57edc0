"""A model's state: what ``state_dict`` lists, and how it is loaded again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from autokit.autograd.modes import no_grad
from autokit.nn.parameter import Parameter
from autokit.ops.warn import warn
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


EXTRA = "_extra_state"
"""The name under which stands what ``get_extra_state`` gives."""


def state_entries(module: Module) -> Iterator[tuple[str, Module, str, str]]:
    """Everything in the state of ``module``: its path, the module that owns it, the register, the name there.

    What is shared comes under each of its paths.  The register of an extra state is empty.
    """
    for path, owner in module.named_modules(remove_duplicate=False):
        for register, name in _own_entries(owner):
            yield f"{path}.{name}" if path else name, owner, register, name


def _own_entries(module: Module) -> Iterator[tuple[str, str]]:
    for register in ("_parameters", "_buffers"):
        for name, value in module.__dict__[register].items():
            if value is not None and name not in module._unsaved_buffers:
                yield register, name
    if type(module).get_extra_state is not _plain().get_extra_state:
        yield "", EXTRA


def _plain() -> type[Module]:
    from autokit.nn.module import Module

    return Module


def save_state(
    module: Module, destination: dict[str, Any] | None, prefix: str, keep_vars: bool
) -> dict[str, Any]:
    """See ``Module.state_dict``."""
    if destination is None:
        destination = OrderedDict()
        destination._metadata = OrderedDict()  # type: ignore[attr-defined]
    # The version of each module's class stands in the file, as PyTorch writes it.
    metadata = {"version": module._version}
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix.removesuffix(".")] = metadata
    hooks = module._hooks
    for hook in tuple(hooks.saving.values()) if hooks is not None else ():
        hook(module, prefix, keep_vars)
    for register, name in _own_entries(module):
        if not register:
            destination[prefix + name] = module.get_extra_state()
        else:
            tensor = module.__dict__[register][name]
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    for hook in tuple(hooks.saved.values()) if hooks is not None else ():
        changed = hook(module, destination, prefix, metadata)
        if changed is not None:
            raise RuntimeError("state_dict post-hook must return None")
    return destination


def load_state(module: Module, state: Mapping[str, Any], strict: bool, assign: bool) -> IncompatibleKeys:
    """See ``Module.load_state_dict``."""
    if not isinstance(state, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state)}.")
    versions = getattr(state, "_metadata", {})

    def came_later(path: str, owner: Module, register: str, name: str) -> bool:
        """Whether the state is of a version of the class that had no such entry; one that says none is."""
        version = versions.get(path.removesuffix(name).removesuffix("."), {}).get("version") or 0
        return version < owner._saved_since.get(name, 0)

    errors: list[str] = []
    state, by_hooks = _after_hooks(module, state, strict, errors)
    _give_shapes(module, state)
    entries = {path: (owner, register, name) for path, owner, register, name in state_entries(module)}
    missing = [path for path, entry in entries.items() if path not in state and not came_later(path, *entry)]
    missing += by_hooks.missing_keys
    unexpected = [path for path in state if path not in entries] + by_hooks.unexpected_keys
    fitting = [path for path in entries if path in state]
    errors += _misfits(entries, state, fitting, assign)
    if strict and unexpected:
        errors.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
    if strict and missing:
        errors.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
        errors += _advice(state, unexpected, missing)
    if errors:
        raise _refusal(module, errors)
    with no_grad():
        for path in fitting:
            owner, register, name = entries[path]
            if not register:
                owner.set_extra_state(state[path])
                continue
            own = owner.__dict__[register][name]
            if not assign:
                if own.is_meta and not state[path].is_meta:
                    warn(f"for {path}: {_INTO_NOTHING}")
                own.copy_(state[path])
            elif register == "_parameters":
                owner._parameters[name] = Parameter(state[path], requires_grad=own.requires_grad)
            else:
                owner._buffers[name] = state[path]
    return _told(module, IncompatibleKeys(missing, unexpected), strict)


_INTO_NOTHING = (
    "copying from a non-meta parameter in the checkpoint to a meta parameter in the current model, which is "
    "a no-op. (Did you mean to pass `assign=True` to assign items in the state dictionary to their "
    "corresponding key in the module instead of copying them in place?)"
)


def _refusal(module: Module, errors: list[str]) -> RuntimeError:
    listed = "\n\t".join(errors)
    return RuntimeError(f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{listed}")


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


def _after_hooks(
    module: Module, state: Mapping[str, Any], strict: bool, errors: list[str]
) -> tuple[Mapping[str, Any], IncompatibleKeys]:
    """``state`` as the hooks leave it that run before something is loaded, and the keys that they name."""
    found = IncompatibleKeys([], [])
    hooked = [(path, owner) for path, owner in module.named_modules(remove_duplicate=False) if owner._hooks]
    if not any(owner._hooks.loading for _, owner in hooked if owner._hooks):
        return state, found
    metadata = getattr(state, "_metadata", {})
    state = OrderedDict(state)
    for path, owner in hooked:
        assert owner._hooks is not None
        for key, hook in tuple(owner._hooks.loading.items()):
            arguments = (state, f"{path}." if path else "", metadata.get(path, {}), strict, *found, errors)
            hook(owner, *arguments) if key in owner._hooks.with_kwargs else hook(*arguments)
    return state, found


def _told(module: Module, keys: IncompatibleKeys, strict: bool) -> IncompatibleKeys:
    """``keys``, as the hooks leave them that run after something was loaded: the innermost modules' first."""
    listed = keys.missing_keys + keys.unexpected_keys
    for owner in reversed([*module.modules()]):
        for hook in tuple(owner._hooks.loaded.values()) if owner._hooks is not None else ():
            if hook(owner, keys) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return "
                    "new values, if incompatible_keys need to be modified, it should be done inplace."
                )
    if strict and keys.missing_keys + keys.unexpected_keys != listed:
        raise _refusal(
            module, [f"Key(s) named by a hook: {_quoted([*keys.missing_keys, *keys.unexpected_keys])}."]
        )
    return keys


def _give_shapes(module: Module, state: Mapping[str, Any]) -> None:
    """Let lazy layers take their shapes from what is loaded into them."""
    for path, owner in module.named_modules():
        fit = getattr(type(owner), "_fit", None)
        if fit is not None:
            names = (*owner._parameters, *owner._buffers)
            paths = {name: f"{path}.{name}" if path else name for name in names}
            fit(owner, {name: state[each].shape for name, each in paths.items() if each in state})


def _misfits(entries: dict[str, Any], state: Mapping[str, Any], paths: list[str], assign: bool) -> list[str]:
    errors = []
    for path in paths:
        owner, register, name = entries[path]
        if not register:
            continue
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
        elif given.is_meta and not own.is_meta and not assign:
            errors.append(
                f'While copying the parameter named "{path}": it is on the meta device, and has no data to '
                "copy. Save the state of a model that has memory."
            )
    return errors


def _quoted(paths: list[str]) -> str:
    return ", ".join(f'"{path}"' for path in paths)
