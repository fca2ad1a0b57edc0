"""Views and their base: how they stay in step, and which of them cannot.

A recorded change in place gives a tensor a new history, or its base where it
is a view; and every other view of that base becomes a part of the new base,
see ``regions``.  Three kinds of views cannot follow: one that was made without
recording, one of several that one function made, as ``unbind`` does, and what
a custom function returned, since it would lose that function's ``backward``.
Each keeps its place in the graph until the memory is changed.  Who records
with it afterwards, or wants to change it in place, is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autokit.autograd.node import NODES, Node
from autokit.memory import Storage, clock
from autokit.ops.errors import describe
from autokit.ops.operation import operation
from autokit.ops.recording import CUSTOM, INFERRED, UNRECORDED, storage_of
from autokit.ops.regions import seen, written
from autokit.tensor import Tensor, new_tensor
from autokit.thread_state import thread


@operation("⊘", "a view that was not recorded", name="unrecorded_view")
def unrecorded_view(*, made):
    """Where gradients end: the place of a view whose base requires grad, but which was not recorded."""


_end = unrecorded_view.operation


class Apart(Node):
    """The place in the graph of a view that cannot follow its base, good until the memory is changed."""

    __slots__ = ()

    def __bool__(self) -> bool:
        # What records asks for it by `tensor._node or tensor`.
        if thread.state.grad_enabled:
            self.check()
        return True

    def check(self) -> None:
        """Raise where the memory was changed since the view was made."""
        if self._is_stale:
            raise RuntimeError(_refusal(self, self.settings["made"], _CHANGED))  # type: ignore[index]

    @property
    def _is_stale(self) -> bool:
        return self.storage is not None and self.storage.modified > self.sequence

    @property
    def is_end(self) -> bool:
        """Whether gradients end here, at what looks like a leaf."""
        return self.operation is _end

    @property
    def kind(self) -> str:
        """PyTorch's class of this node, as a tensor shows it; empty where PyTorch has no node."""
        return "Invalid" if self._is_stale else "" if self.is_end else super().kind

    def shown(self) -> Any:
        """The node itself; None where PyTorch has none."""
        return None if self.is_end else self


NODES.add(Apart)


class _StorageWithListeners(Storage):
    """The storage of views that must hear of every change, recorded or not."""

    __slots__ = ()

    def note(self, change: tuple[int, Any, int]) -> None:
        super().note(change)
        for view in self.living_views():
            _hear_of_change(view)


def listen(view: Tensor) -> None:
    """Let ``view`` hear of every change of its memory, recorded or not."""
    storage = storage_of(view)
    if storage.__class__ is Storage:
        storage.__class__ = _StorageWithListeners


def _hear_of_change(view: Tensor) -> None:
    base, node = view._base, view._node
    if base is None or node is None:
        return
    if "_made" not in view.__dict__:
        if not base._requires_grad:  # since detach_(): what it is a part of has no history any more
            base = new_tensor(base.array)
            base._requires_grad, base._node = True, _end_at(base)
        give_history(view, seen(base, view))
    elif node.__class__ is not Apart:
        apart = view._node = Apart()
        for name in Node.__annotations__:
            setattr(apart, name, getattr(node, name))
        apart.settings = {**(node.settings or {}), "made": view.__dict__["_made"]}


def _end_at(view: Tensor, sequence: int | None = None) -> Apart:
    """A place in the graph for ``view`` at which gradients end."""
    node, array = Apart(), view.array
    node.operation, node.way, node.sources = _end, _end.way(()), ()
    node.settings = {"made": view.__dict__.get("_made")}
    node.output, node.shape, node.dtype = array, array.shape, array.dtype
    node.storage = view._storage
    node.sequence = next(clock) if sequence is None else sequence
    node.saved = node.hooks = node.scope = node.code = None
    node.instruction, node.freed = 0, False
    return node


# ---------------------------------------------------------------- how views are made


def one_of_several(parts: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Views that one function of PyTorch made together, so that none may be changed in place."""
    parts = tuple(parts)
    for number, part in enumerate(parts):
        part.__dict__.setdefault("_made", number)
    if parts and parts[0]._node is not None:
        listen(parts[0])
    return parts


def of_custom_function(output: Tensor, made: int | str) -> None:
    """Note that a custom function returned the view ``output``, so that it may not be changed in place."""
    output.__dict__["_made"] = made
    listen(output)


def no_views(parts: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """The same parts sharing memory alone: none hears of a change of another, and each may be changed."""
    parts = tuple(parts)
    for part in parts:
        for note in ("_base", "_made", "_version"):
            part.__dict__.pop(note, None)
        part._storage = None
        if part._node.__class__ is Apart:
            part._node, part._requires_grad = None, False
        elif part._node is not None:
            part._node.storage = None
    return parts


def require_grad_as_base(view: Tensor) -> None:
    """Let ``view``, which was not recorded, require grad since its base does."""
    notes = view.__dict__
    changed = storage_of(view).version > notes.get("_version", 0)
    view._requires_grad = True
    if "_made" in notes:
        view._node = _end_at(view, 0 if changed else None)
    elif changed:
        give_history(view, seen(notes["_base"], view))
    else:
        view._node = _end_at(view)
        listen(view)


def let_require_grad(tensor: Tensor, wanted: bool) -> None:
    """Let ``tensor`` require grad or not, and the views that have no history of their own as well."""
    if tensor._base is not None:
        own = tensor._node is None  # else it requires grad as its base does
        if wanted and not own and not tensor._node.way.learns:  # type: ignore[union-attr]
            tensor._node, own = None, True
        tensor._requires_grad = wanted or not own
        return
    tensor._requires_grad = wanted
    for view in storage_of(tensor).living_views():
        node = view._node
        if view._base is not tensor:
            continue
        if wanted:
            if node is None and not view._requires_grad:
                require_grad_as_base(view)
        elif node.__class__ is Apart and node.is_end:  # type: ignore[union-attr]
            view._node, view._requires_grad = None, False
        if view._node is not None:
            listen(view)
            if storage_of(view).modified > view._node.sequence:
                _hear_of_change(view)


# ---------------------------------------------------------------- changes in place


def refuse_view(tensor: Tensor, base: Tensor, recorded: bool) -> None:
    """Raise where it is not clear what a recorded change of a view would mean for its base."""
    if not (tensor._requires_grad or recorded):
        return
    made = tensor.__dict__.get("_made")
    if made is not None:
        words = _refusal(tensor._node, made, "is being")
        raise RuntimeError(f"{words} The view is {describe(tensor)} of {describe(base)}.")
    if tensor._requires_grad and base.is_leaf:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation: "
            f"{describe(tensor)} is a view of {describe(base)}. To update a parameter, do it inside "
            "`with torch.no_grad():`"
        )


_CHANGED = "its base or another view of its base has been"


def _refusal(node: Node | None, made: Any, what: str) -> str:
    """Why a view at ``node``, and ``made`` so, is refused, and what to do; ``what`` of it was changed."""
    inferred = made == INFERRED
    mode, other = ("inference", "in normal mode") if inferred else ("no_grad", "with grad mode enabled")
    created = f"was created in {mode} mode and {what} modified inplace {other}."
    if node is None or node.operation is _end:
        words = f"A view {created}"
    else:
        function = node.operation.backward_name(node).removesuffix("0").removesuffix("Backward")
        if made in (UNRECORDED, INFERRED):
            words = f"Output 0 of {function} is a view of a view which {created}"
        else:
            words = (
                f"Output {0 if made == CUSTOM else made} of {function} is a view and {what} modified inplace."
            )
    if made in (UNRECORDED, INFERRED):
        return (
            f"{words} Given that this use case is ambiguous and error-prone, it is forbidden. You can "
            f"clarify your code by moving both the view and the inplace either both inside the {mode} block "
            "(if you don't want the inplace to be tracked) or both outside (if you want the inplace to be "
            "tracked)."
        )
    if made == CUSTOM:
        return (
            f"{words} This view was created inside a custom Function (or because an input was returned as-is)"
            " and the autograd logic to handle view+inplace would override the custom backward associated "
            "with the custom Function, leading to incorrect gradients. This behavior is forbidden. You can "
            "fix this by cloning the output of the custom Function."
        )
    return (
        f"{words} This view is the output of a function that returns multiple views. Such functions do not "
        "allow the output views to be modified inplace. You should replace the inplace operation by an "
        "out-of-place one, or clone() the view first."
    )


# ---------------------------------------------------------------- new histories


def rebase(tensor: Tensor, result: Tensor, base_before: Tensor | None, last: Any = None) -> None:
    """Give ``tensor``, or its base, the history of ``result``, and let all views of that base follow.

    Where one place is several elements, ``last`` tells which of them were written.
    """
    base: Tensor = tensor.__dict__.get("_base", tensor)
    if base_before is None:
        give_history(tensor, result)
    else:
        give_history(base, written(base_before, result, tensor, base.array, last))
    for view in storage_of(base).living_views():
        if view.__dict__.get("_base") is not base:
            continue
        if "_made" not in view.__dict__:
            give_history(view, seen(base, view))
        elif not view._requires_grad:
            require_grad_as_base(view)


def give_history(tensor: Tensor, result: Tensor) -> None:
    """Let ``tensor`` stand where ``result`` stands in the graph."""
    node = result._node
    assert node is not None
    # The node stands for the tensor from here on, and so is newer than the change itself.
    node.sequence = next(clock)
    node.dtype, node.storage = tensor.array.dtype, storage_of(tensor)
    if node.output is not None:
        node.output = tensor.array
    old, tensor._node, tensor._requires_grad = tensor._node, node, True
    if old is not None and tensor.retains_grad:
        _move_retaining(tensor, old)


def _move_retaining(tensor: Tensor, old: Node) -> None:
    assert old.hooks is not None
    retain, old.hooks.retain = old.hooks.retain, None
    tensor._node.own_hooks().retain = retain  # type: ignore[union-attr]


def renew(view: Tensor) -> None:
    """Let ``view`` be a part of its base as it is now, if a change that was not recorded came between."""
    node, base = view._node, view.__dict__["_base"]
    if node.__class__ is Apart:
        node.check()  # type: ignore[union-attr]
    elif node is not None and storage_of(view).modified > node.sequence and base._requires_grad:
        give_history(view, seen(base, view))


def name_of_node(view: Tensor) -> str | None:
    """What a view shows of its ``grad_fn``: PyTorch's class of it."""
    if view._node.__class__ is not Apart:
        renew(view)
    return None if view._node is None else view._node.kind or None
