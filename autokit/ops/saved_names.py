"""What PyTorch calls the values that a node saved: ``node._saved_self``, and ``node._raw_saved_self``."""

from __future__ import annotations

from typing import Any

from autokit.autograd.node import FREED, Node

_OFFERED: set[str] = set()


def offer_saved(name: str) -> None:
    """Let ``node._saved_<name>`` be read, as PyTorch calls the values that a derivative needs.

    A ``__getattr__`` would serve all names, and slow down every other attribute.
    """
    if name not in _OFFERED:
        _OFFERED.add(name)
        setattr(Node, f"_saved_{name}", property(lambda node: _saved(node, name)))
        setattr(Node, f"_raw_saved_{name}", property(lambda node: _raw_saved(node, name)))


def _key(node: Node, name: str) -> Any:
    """Under what ``node`` saves what PyTorch calls ``name``: a place, or "out"; None where it need not."""
    operands = node.operation.operands
    ours = {"self": operands[0], "other": operands[-1], "result": "out"}.get(name, name)
    if ours not in node.operation.way((True,) * len(node.sources)).saves:
        raise AttributeError(
            f"'{node.kind}' object has no attribute '_saved_{name}': its derivative needs "
            f"{', '.join(node.way.saves) or 'no values'}"
        )
    if ours not in node.way.saves:
        return None
    return "out" if ours == "out" else operands.index(ours)


def _saved(node: Node, name: str) -> Any:
    if node.settings is not None and name in node.settings:
        return node.settings[name]
    key = _key(node, name)
    if node.freed:
        raise RuntimeError(FREED)
    return None if key is None else node.result() if key == "out" else node.operand(key)


def _raw_saved(node: Node, name: str) -> Any:
    from autokit.ops.packing import saved_by

    return saved_by(node, _key(node, name))


def is_there(node: Node, attribute: str) -> bool:
    """Whether ``node`` has ``attribute``: of those here it has its own."""
    if not attribute.startswith(("_saved_", "_raw_saved_")):
        return True
    raw, _, name = attribute.partition("_saved_")
    try:
        return len(name) > 1 and ((not raw and name in (node.settings or ())) or _key(node, name) != "")
    except AttributeError:
        return False


for _name in ("self", "other", "result"):
    offer_saved(_name)
