"""Which queries look at which keys, as :func:`~autokit.nn.attention.flex_attention.flex_attention` is told.

A *mask_mod* is a function of four indices, of the batch, the head, the query and the key, that says whether
that query looks at that key.  A :class:`BlockMask` holds such a function, and which blocks of queries and
keys it leaves empty, in part or full: what a kernel would skip, and what a picture of it shows.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable
from typing import Any

from autokit.accelerator import current_accelerator
from autokit.func import vmap
from autokit.nn.functional import pad
from autokit.ops import FUNCTIONS
from autokit.ops.warn import warn
from autokit.tensor import Tensor

T = FUNCTIONS
BLOCK_SIZE = 128
"""How many queries, and keys, a block has unless something else is said."""


def over_all(function: Callable[..., Any], *scores: Tensor, sizes: Any, device: Any) -> Tensor:
    """What ``function`` gives for each batch, head, query and key, and score if there are ``scores``."""
    places = (0,) * len(scores)
    for place in (3, 2, 1, 0):
        mapped = tuple([0 if place == each else None for each in range(4)])
        function = vmap(function, in_dims=(*places, *mapped))
    return function(*scores, *[T["arange"](size, device=device) for size in sizes])


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """Every query looks at every key."""
    return batch.new_ones((), dtype=_bool())


def or_masks(*mask_mods: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The mask_mod by which a query looks where one of the ``mask_mods`` lets it."""
    _require_functions(mask_mods)

    def or_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_zeros((), dtype=_bool())
        for mask in mask_mods:
            result = result | mask(b, h, q_idx, kv_idx)
        return result

    return or_mask


def and_masks(*mask_mods: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The mask_mod by which a query looks where all of the ``mask_mods`` let it."""
    _require_functions(mask_mods)

    def and_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_ones((), dtype=_bool())
        for mask in mask_mods:
            result = result & mask(b, h, q_idx, kv_idx)
        return result

    return and_mask


def _require_functions(mask_mods: tuple[Any, ...]) -> None:
    if not all(callable(each) for each in mask_mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")


def _bool() -> Any:
    from autokit.dtypes import BY_NAME

    return BY_NAME["bool"]


def _sliced_mask_mod_error(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """Stands for the mask_mod of a part of a :class:`BlockMask`, whose indices begin elsewhere.

    Raises
    ------
    RuntimeError
        Always.
    """
    raise RuntimeError(
        "Cannot use mask_mod from a sliced BlockMask: its indices begin elsewhere. Give it one: "
        "part = mask[:, :, i]; part.mask_mod = lambda b, h, q, kv: mask.mask_mod(b, h, q + offset, kv)"
    )


def _takes_a_score(function: Callable[..., Any]) -> bool:
    """Whether it is a score_mod, which takes five arguments, and not a mask_mod, which takes four."""
    parameters = inspect.signature(function).parameters.values()
    count = sum(each.default is each.empty for each in parameters)
    if count not in (4, 5):
        raise AssertionError(
            f"Expected 4 or 5 positional args, got {count}: a mask_mod takes (b, h, q_idx, kv_idx), a "
            "score_mod (score, b, h, q_idx, kv_idx)"
        )
    return count == 5


def create_mask(
    mod_fn: Callable[..., Tensor],
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
) -> Tensor:
    """All that a mask_mod says, as one tensor of bools, (B, H, Q_LEN, KV_LEN).

    Parameters
    ----------
    mod_fn : callable
        A mask_mod, or a score_mod: that one masks where it makes a score of 0 to −∞.
    B, H : int or None
        The sizes of batch and heads, 1 for None.
    Q_LEN, KV_LEN : int
        How many queries and keys there are.
    device : optional
        The GPU where there is one, without it.

    Raises
    ------
    AssertionError
        If ``mod_fn`` takes neither four nor five arguments.

    Examples
    --------
    >>> from autokit.nn.attention.flex_attention import create_mask
    >>> create_mask(lambda b, h, q, kv: q >= kv, None, None, 2, 3).int()
    tensor([[[[1, 0, 0],
              [1, 1, 0]]]], dtype=torch.int32)
    """
    device = device if device is not None else current_accelerator() or "cpu"
    sizes = (1 if B is None else B, 1 if H is None else H, Q_LEN, KV_LEN)
    if _takes_a_score(mod_fn):
        zeros = T["zeros"](*sizes, device=device)
        return ~T["isneginf"](over_all(mod_fn, zeros, sizes=sizes, device=device))
    return over_all(mod_fn, sizes=sizes, device=device)


def create_block_mask(
    mask_mod: Callable[..., Tensor],
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = BLOCK_SIZE,
    _compile: bool = False,
    separate_full_blocks: bool = True,
) -> BlockMask:
    """The :class:`BlockMask` of a mask_mod.

    Parameters
    ----------
    mask_mod : callable
        Takes the index of the batch, the head, the query and the key, each a tensor without dimensions, and
        returns whether that query looks at that key.
    B, H : int or None
        The sizes of batch and heads; None where the mask does not depend on them.
    Q_LEN, KV_LEN : int
        How many queries and keys there are.
    device : optional
        The GPU where there is one, without it.
    BLOCK_SIZE : int or pair of int
        How many queries, and keys, a block has.
    separate_full_blocks : bool
        Note apart the blocks that are full, for which a kernel need not ask ``mask_mod``.

    Raises
    ------
    AssertionError
        If ``mask_mod`` does not take four arguments, or does not return bools.

    Examples
    --------
    >>> from autokit.nn.attention.flex_attention import create_block_mask
    >>> causal = create_block_mask(lambda b, h, q, kv: q >= kv, None, None, 6, 6, BLOCK_SIZE=2)
    >>> print(causal.to_string().replace(" ", "."))
    (0,.0)
    ██....
    ████..
    ██████
    <BLANKLINE>
    >>> causal.sparsity() < 34, causal.full_kv_num_blocks
    (True, tensor([[[0, 1, 2]]], dtype=torch.int32))
    """
    if _takes_a_score(mask_mod):
        raise AssertionError(f"create-block_mask requires a mask_mod function! Got {mask_mod}")
    if _compile:
        warn("_compile has no effect: create_block_mask computes what it computes", DeprecationWarning)
    rows, columns = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    if mask.dtype != _bool():
        raise AssertionError(
            f"mask.dtype must be torch.bool, got {mask.dtype}: a mask_mod returns a comparison"
        )
    mask = pad(mask, (0, -KV_LEN % columns, 0, -Q_LEN % rows))
    batch, heads, queries, keys = mask.shape
    parts = mask.view(batch, heads, queries // rows, rows, keys // columns, columns)
    blocks = parts.sum((3, 5))
    full = blocks == rows * columns
    partial = (blocks > 0) & ~full if separate_full_blocks else blocks > 0
    counts, indices = _listed(partial)
    full_counts, full_indices = _listed(full) if separate_full_blocks else (None, None)
    return BlockMask.from_kv_blocks(
        counts,
        indices,
        full_counts,
        full_indices,
        BLOCK_SIZE=(rows, columns),
        mask_mod=mask_mod,
        seq_lengths=(Q_LEN, KV_LEN),
    )


def _listed(blocks: Tensor) -> tuple[Tensor, Tensor]:
    """How many blocks each row has, and which: their columns come first, in order, and then the others."""
    blocks = blocks.int()
    order = T["argsort"](blocks, dim=-1, descending=True, stable=True)
    return blocks.sum(-1).int(), order.int().contiguous()


def _unlisted(counts: Tensor, indices: Tensor) -> Tensor:
    """1 for each block that is listed, 0 for the others."""
    columns = indices.shape[-1]
    is_listed = T["arange"](columns, device=indices.device) < counts[..., None]
    places = T["where"](is_listed, indices, columns).long()
    dense = indices.new_zeros((*indices.shape[:-1], columns + 1))
    return dense.scatter(-1, places, 1)[..., :columns].contiguous()


class BlockMask:
    """Which blocks of queries look at which blocks of keys, and the mask_mod that says more of each pair.

    :func:`create_block_mask` makes it.  :func:`~autokit.nn.attention.flex_attention.flex_attention` asks
    ``mask_mod`` alone, as PyTorch does where nothing is compiled: the blocks are what a kernel would skip.

    Attributes
    ----------
    seq_lengths : pair of int
        How many queries and keys there are.
    kv_num_blocks, kv_indices : Tensor of int32
        How many blocks of keys each block of queries looks at in part, (batch, heads, rows), and which of
        them, first in (batch, heads, rows, columns).
    full_kv_num_blocks, full_kv_indices : Tensor of int32 or None
        The same of those that it looks at in full.
    q_num_blocks, q_indices, full_q_num_blocks, full_q_indices : Tensor of int32 or None
        The same the other way round, which blocks of queries look at each block of keys.
    BLOCK_SIZE : pair of int
        How many queries and keys a block has.
    mask_mod : callable
    """

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None,
        full_kv_indices: Tensor | None,
        q_num_blocks: Tensor | None,
        q_indices: Tensor | None,
        full_q_num_blocks: Tensor | None,
        full_q_indices: Tensor | None,
        BLOCK_SIZE: tuple[int, int] = (BLOCK_SIZE, BLOCK_SIZE),
        mask_mod: Callable[..., Tensor] = noop_mask,
    ) -> None:
        _check_pair("kv", full_kv_num_blocks, full_kv_indices)
        _check_pair("q", full_q_num_blocks, full_q_indices)
        _check_dimensions(kv_indices)
        self.seq_lengths = seq_lengths
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks, self.full_q_indices = full_q_num_blocks, full_q_indices
        self.BLOCK_SIZE = BLOCK_SIZE
        self.mask_mod = mask_mod

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        BLOCK_SIZE: int | tuple[int, int] = BLOCK_SIZE,
        mask_mod: Callable[..., Tensor] | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
    ) -> BlockMask:
        """The mask of these blocks; which queries look at each block of keys is found where that is asked.

        Raises
        ------
        RuntimeError
            If ``kv_indices`` has fewer than two dimensions.
        AssertionError
            If one of ``full_kv_num_blocks`` and ``full_kv_indices`` is given without the other.
        """
        _check_dimensions(kv_indices)
        _check_pair("kv", full_kv_num_blocks, full_kv_indices)
        counts = indices = full_counts = full_indices = None
        if compute_q_blocks:
            counts, indices = _listed(_unlisted(kv_num_blocks, kv_indices).mT)
            if full_kv_num_blocks is not None and full_kv_indices is not None:
                full_counts, full_indices = _listed(_unlisted(full_kv_num_blocks, full_kv_indices).mT)
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
        rows, columns = kv_indices.shape[-2:]
        return cls(
            seq_lengths or (rows * size[0], columns * size[1]),
            kv_num_blocks,
            kv_indices,
            full_kv_num_blocks,
            full_kv_indices,
            counts,
            indices,
            full_counts,
            full_indices,
            BLOCK_SIZE=size,
            mask_mod=mask_mod or noop_mask,
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """(batch, heads, queries, keys)."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """How many pairs of a query and a key there are."""
        return math.prod(self.shape)

    def sparsity(self) -> float:
        """How much of the pairs are in blocks that are empty, in percent."""
        blocks = self.kv_num_blocks.sum().item()
        if self.full_kv_num_blocks is not None:
            blocks += self.full_kv_num_blocks.sum().item()
        return 100 * (1 - blocks * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1] / self.numel())

    def to_dense(self) -> Tensor:
        """1 for each block that is not empty, (batch, heads, rows, columns)."""
        dense: Any = _unlisted(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is not None and self.full_kv_indices is not None:
            dense = dense | _unlisted(self.full_kv_num_blocks, self.full_kv_indices)
        return dense

    def to_string(self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4) -> str:
        """A drawing of the blocks, of at most ``grid_size`` rows and columns, for the first ``limit`` heads.

        █ are blocks, ░ are some of those that stand for one sign; a ``grid_size`` of -1 draws each by itself.
        """
        dense = self.to_dense()
        *batch, rows, columns = dense.shape
        most = (grid_size, grid_size) if isinstance(grid_size, int) else grid_size
        steps = [max(1, -(-size // each)) for size, each in zip((rows, columns), most)]
        drawn = []
        for number, place in enumerate(itertools.product(*map(range, batch))):
            if number == limit:
                drawn += [
                    "...",
                    "To print out more, set BlockMask.to_string(limit=N)",
                    "You can also index (BlockMask[batch, head]) to choose a specific batch or head",
                ]
                break
            lines = [str(place)]
            for row in range(0, rows, steps[0]):
                parts = dense[place][row : row + steps[0]].split(steps[1], dim=1)
                lines.append("".join([2 * _sign(part.float().mean().item()) for part in parts]))
            drawn.append("\n".join([*lines, ""]))
        return "\n".join(drawn)

    def __str__(self) -> str:
        drawn = self.to_string().strip()
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n{drawn}\n)"

    def __repr__(self) -> str:
        sides = ("kv", "full_kv", "q", "full_q")
        names = [f"{side}_{what}" for side in sides for what in ("num_blocks", "indices")]
        lines = [f"{name}={getattr(getattr(self, name), 'shape', None)}" for name in names]
        lines += [f"BLOCK_SIZE={self.BLOCK_SIZE}", f"shape={self.shape}", f"sparsity={self.sparsity():.2f}%"]
        lines.append(f"mask_mod={getattr(self.mask_mod, '__name__', self.mask_mod)}")
        inside = ",\n".join(f"    {line}" for line in lines)
        return f"BlockMask(\n{inside}\n)"

    def __getitem__(self, index: Any) -> BlockMask:
        """The part for some batches, heads and blocks of queries; its mask_mod is to be set anew."""
        given = index if isinstance(index, tuple) else (index,)
        sizes = self.kv_num_blocks.shape[:3]
        padded = (*given, slice(None), slice(None), slice(None))[:3]
        places = tuple([_as_slice(*each) for each in zip(padded, sizes, strict=True)])
        full, indices = self.full_kv_num_blocks, self.full_kv_indices
        return self.from_kv_blocks(
            self.kv_num_blocks[places],
            self.kv_indices[places],
            None if full is None else full[places],
            None if indices is None else indices[places],
            BLOCK_SIZE=self.BLOCK_SIZE,
            mask_mod=_sliced_mask_mod_error,
            seq_lengths=self.seq_lengths,
            compute_q_blocks=self.q_indices is not None,
        )

    def _adjust(self, new_q_len: int, new_kv_len: int) -> BlockMask:
        """The upper left corner, for fewer queries and keys."""
        rows, columns = (-(-n // size) for n, size in zip((new_q_len, new_kv_len), self.BLOCK_SIZE))

        def cut(counts: Tensor | None, indices: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
            if counts is None or indices is None:
                return None, None
            return _listed(_unlisted(counts, indices)[..., :rows, :columns])

        counts, indices = cut(self.kv_num_blocks, self.kv_indices)
        return self.from_kv_blocks(
            counts,  # type: ignore[arg-type]
            indices,  # type: ignore[arg-type]
            *cut(self.full_kv_num_blocks, self.full_kv_indices),
            BLOCK_SIZE=self.BLOCK_SIZE,
            mask_mod=self.mask_mod,
            seq_lengths=(new_q_len, new_kv_len),
            compute_q_blocks=self.q_indices is not None,
        )

    def to(self, device: Any) -> BlockMask:
        """The same mask, its tensors on another device."""
        moved = {
            name: value.to(device) if isinstance(value, Tensor) else value
            for name, value in vars(self).items()
        }
        return type(self)(**moved)


def _check_dimensions(kv_indices: Tensor) -> None:
    if kv_indices.dim() < 2:
        raise RuntimeError("BlockMask must have at least 2 dimensions")


def _check_pair(side: str, counts: Tensor | None, indices: Tensor | None) -> None:
    if (counts is None) != (indices is None):
        raise AssertionError(
            f"full_{side}_num_blocks and full_{side}_indices must be both provided or omitted"
        )


def _as_slice(place: Any, size: int) -> Any:
    """A number as the slice of one place, so that its dimension stays."""
    if not isinstance(place, int):
        return place
    place = place + size if -size <= place < 0 else place
    return slice(place, place + 1)


def _sign(share: float) -> str:
    return "█" if share == 1 else " " if share == 0 else "░"
