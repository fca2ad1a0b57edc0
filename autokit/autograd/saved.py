"""What a node saved, for the rules that ask for it; refused where it was freed, or changed since.

A saved value is found at the operand's own source, or with the node; and each
storage knows when it was last changed in place.
"""

from __future__ import annotations

from typing import Any

from autokit import dtypes
from autokit.autograd.node import FREED, NODES, Node
from autokit.ops.errors import ChangedSince
from autokit.ops.recording import INFERENCE_SAVED, OUTPUT, source_line
from autokit.tensor import Tensor


def fetch_array(node: Node, key: int | str) -> Any:
    """The value of the operand at a place, or of the result, as an array."""
    source: Any = node if key is OUTPUT else node.sources[key]  # type: ignore[index]
    if node.saved and key in node.saved:
        source = node.saved[key]
    if type(source) is Node or type(source) in NODES:
        storage, value = source.storage, source.output
    else:
        storage, value = source._storage, source.array
    if storage is not None and storage.modified > node.sequence:
        refuse_changed(node, storage, None if key is OUTPUT else node.operand(key))  # type: ignore[arg-type]
    return value


def fetch_arrays(node: Node, fetch: tuple[int | str, ...], target: Any) -> list[Any]:
    """The values that a rule asked for, as arrays."""
    values: list[Any] = []
    settings: Any = node.settings or ()
    for key in fetch:
        if key.__class__ is int or key is OUTPUT:
            values.append(fetch_array(node, key))
        elif key == "shape":  # of the operand, whatever setting is called so
            values.append(target.shape if isinstance(target, Node) else target.array.shape)
        elif key in settings:
            values.append(settings[key])
        elif hasattr(key, "check"):  # a guard, see `autokit.ops.guards`
            key.check(node)
        else:  # any number of operands
            values.append([fetch_array(node, place) for place in range(len(node.sources))])
    return values


def fetch_tensors(node: Node, fetch: tuple[int | str, ...], target: Any) -> list[Any]:
    """The same as tensors with their history, for a derivative that is to be differentiated."""
    values = fetch_arrays(node, fetch, target)
    for place, key in enumerate(fetch):
        if key.__class__ is int:
            values[place] = node.operand(key)  # type: ignore[arg-type]
        elif key == "out":
            values[place] = node.result()
        elif node.operation.variadic and key in node.operation.operands:
            values[place] = list(node.operands)
    return values


def refuse_freed(node: Node) -> None:
    if node.way.saves:
        raise RuntimeError(
            f"{FREED} The graph was freed at {node}{_where(node)}; computing the loss again makes a new "
            "graph."
        )


def refuse_changed(node: Node, storage: Any, operand: Tensor | None) -> None:
    if storage.of_inference:
        raise RuntimeError(INFERENCE_SAVED)
    shape = list(operand.array.shape if operand is not None else node.shape)
    dtype = operand.array.dtype if operand is not None else node.dtype
    maker = operand._node if operand is not None else node
    after = storage.changed_since(node.sequence)
    line = _line(*after[0][1:]) if after else ""
    changed = f" It was changed{line}." if line else ""
    name = f" named '{operand.name}'" if operand is not None and operand.name else ""
    raise ChangedSince(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[torch.{dtypes.BY_NUMPY[dtype].name} {shape}]{name}"
        + (f", which is output 0 of {maker.kind}," if maker is not None else "")
        + f" is at version {storage.version}; expected version {storage.version - len(after)} instead."
        + changed
        + f" {node.kind}{_where(node)} saved it for its derivative: use an operation that makes a new "
        "tensor."
    )


def _where(node: Node) -> str:
    return _line(node.code, node.instruction)


def _line(code: Any, instruction: int) -> str:
    """The line of the program, in brackets; empty where it is not known."""
    line = source_line(code, instruction)
    return f" (line {line[1]}: `{line[2]}`)" if line is not None and line[2] else ""
