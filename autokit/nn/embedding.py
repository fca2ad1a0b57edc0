"""Embeddings as modules: a table has a vector for each whole number, which may stand for a word."""

from __future__ import annotations

from typing import Any

from autokit.engine.modes import no_grad
from autokit.engine.tensor import Tensor
from autokit.nn import functional as F
from autokit.nn import init
from autokit.nn.layer import empty_parameter
from autokit.nn.module import Module
from autokit.nn.parameter import Parameter

__all__ = ["Embedding", "EmbeddingBag"]


class _Table(Module):
    """A table of vectors, one of which may be for padding."""

    weight: Parameter
    shown: tuple[tuple[str, Any], ...]
    """Settings that are printed where they differ from these."""

    def _fill(
        self,
        rows: int,
        width: int,
        padding_idx: int | None,
        sparse: bool,
        weight: Tensor | None,
        device: Any,
        dtype: Any,
    ) -> None:
        if sparse:
            raise NotImplementedError("sparse=True: autokit's gradients are dense; leave sparse out")
        self.num_embeddings = rows
        self.embedding_dim = width
        if padding_idx is not None:
            if not -rows <= padding_idx < rows:
                raise AssertionError(f"Padding_idx must be within num_embeddings: {padding_idx} of {rows}")
            padding_idx %= rows
        self.padding_idx = padding_idx
        if weight is None:
            self.weight = empty_parameter(rows, width, device=device, dtype=dtype)
            self.reset_parameters()
        else:
            self.weight = Parameter(weight)

    def reset_parameters(self) -> None:
        """Draw new first vectors from a normal distribution; that of the padding is 0."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, **settings: Any) -> Any:
        """A layer whose table is ``embeddings``; ``freeze`` keeps it as it is."""
        if embeddings.dim() != 2:
            raise AssertionError(
                f"Embeddings parameter is expected to be 2-dimensional, not {embeddings.dim()}-dimensional"
            )
        layer = cls(*embeddings.shape, _weight=embeddings, **settings)  # type: ignore[call-arg]
        layer.weight.requires_grad = not freeze
        return layer

    def extra_repr(self) -> str:
        """The settings that differ from the usual ones, for the printed module."""
        changed = [
            f"{name}={getattr(self, name)!r}" for name, usual in self.shown if getattr(self, name) != usual
        ]
        return ", ".join([f"{self.num_embeddings}, {self.embedding_dim}", *changed])


class Embedding(_Table):
    """A table of vectors, from which whole numbers choose rows.

    Parameters
    ----------
    num_embeddings, embedding_dim : int
        The number of rows and their width.
    padding_idx : int, optional
        A row that is 0 at first and is not trained.
    max_norm : float, optional
        Rows that are read and longer than this are first shortened to it.
    norm_type : float
        Which p-norm measures their length.
    scale_grad_by_freq : bool
        Divide each row's gradient by how often it was read.
    sparse : bool
        False: gradients are dense tensors.
    device, dtype : optional
        Of the table.

    Attributes
    ----------
    weight : Parameter
        The table, of shape (num_embeddings, embedding_dim).

    Raises
    ------
    IndexError
        If it is called with a number that has no row; says which layer of the model it is.

    Examples
    --------
    >>> import autokit as torch
    >>> layer = Embedding.from_pretrained(torch.tensor([[0.0, 0.5], [1.0, 1.5]]))
    >>> layer(torch.tensor([1, 1, 0]))
    tensor([[1.0000, 1.5000],
            [1.0000, 1.5000],
            [0.0000, 0.5000]])
    """

    shown = (("padding_idx", None), ("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False))

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        *,
        _weight: Tensor | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self._fill(num_embeddings, embedding_dim, padding_idx, sparse, _weight, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """The rows that ``input`` names, in a new last dimension."""
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq
        )


class EmbeddingBag(_Table):
    """The sum, mean or maximum of the vectors of each bag of numbers.

    Parameters
    ----------
    num_embeddings, embedding_dim, max_norm, norm_type, scale_grad_by_freq, sparse, padding_idx
        As for :class:`Embedding`; the padding does not count.
    mode : str
        ``"sum"``, ``"mean"`` or ``"max"``.
    include_last_offset : bool
        The offsets end with the number of all elements.
    device, dtype : optional
        Of the table.

    Examples
    --------
    >>> import autokit as torch
    >>> layer = EmbeddingBag.from_pretrained(torch.tensor([[0.0], [1.0], [5.0]]), mode="sum")
    >>> layer(torch.tensor([[0, 1], [1, 2]]))
    tensor([[1.],
            [6.]])
    """

    shown = (
        ("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False), ("mode", ""),
        ("padding_idx", None),
    )  # fmt: skip

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        *,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        _weight: Tensor | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.mode = mode
        self.include_last_offset = include_last_offset
        self._fill(num_embeddings, embedding_dim, padding_idx, sparse, _weight, device, dtype)

    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        """One vector for each row of ``input``, or for each stretch of it that begins at an offset."""
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            per_sample_weights=per_sample_weights,
            include_last_offset=self.include_last_offset,
            padding_idx=self.padding_idx,
        )
