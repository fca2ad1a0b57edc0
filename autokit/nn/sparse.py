"""Embeddings: a vector for each word or other thing that is counted."""

from __future__ import annotations

from typing import Any

from autokit.autograd.modes import no_grad
from autokit.nn import functional, init
from autokit.nn.layer import unset
from autokit.nn.module import Module
from autokit.nn.parameter import Parameter
from autokit.tensor import Tensor


class _Table(Module):
    """A table of vectors, one of which may be for padding."""

    weight: Parameter

    def _fill(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None,
        weight: Tensor | None,
        freeze: bool,
        device: Any,
        dtype: Any,
    ) -> None:
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError(
                    f"Padding_idx must be within num_embeddings: {padding_idx} of {num_embeddings}"
                )
            if padding_idx < 0:
                padding_idx += num_embeddings
        self.padding_idx = padding_idx
        if weight is None:
            self.weight = unset((num_embeddings, embedding_dim), device, dtype)
            self.reset_parameters()
            self.weight.requires_grad = not freeze
        elif weight.shape != (num_embeddings, embedding_dim):
            raise AssertionError(
                "Shape of weight does not match num_embeddings and embedding_dim: "
                f"{list(weight.shape)}, not {[num_embeddings, embedding_dim]}"
            )
        else:
            self.weight = Parameter(weight, requires_grad=not freeze)

    def reset_parameters(self) -> None:
        """Draw new first vectors from a normal distribution; that of the padding is 0."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    def _shown(self, *settings: tuple[str, Any]) -> str:
        changed = [
            f"{name}={getattr(self, name)!r}" for name, usual in settings if getattr(self, name) != usual
        ]
        return ", ".join([f"{self.num_embeddings}, {self.embedding_dim}", *changed])


def _rows(embeddings: Tensor) -> tuple[int, ...]:
    if embeddings.dim() != 2:
        raise AssertionError(
            f"Embeddings parameter is expected to be 2-dimensional, not {embeddings.dim()}-dimensional"
        )
    return embeddings.shape


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
        Let the table's gradient hold the rows alone that were read: for SGD, and
        :class:`autokit.optim.SparseAdam`.
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

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        self._fill(num_embeddings, embedding_dim, padding_idx, _weight, _freeze, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """The rows that ``input`` names, in a new last dimension."""
        own = self.__dict__
        return functional.embedding(
            input,
            self._parameters["weight"],  # type: ignore[arg-type]
            own["padding_idx"],
            own["max_norm"],
            own["norm_type"],
            own["scale_grad_by_freq"],
            own["sparse"],
        )

    def extra_repr(self) -> str:
        """The settings that differ from the usual ones, for the printed module."""
        return self._shown(
            ("padding_idx", None), ("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False),
            ("sparse", False),
        )  # fmt: skip

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """A layer whose table is ``embeddings``; ``freeze`` keeps it as it is."""
        rows, width = _rows(embeddings)
        return cls(
            rows, width, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, embeddings, freeze
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

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset
        self._fill(num_embeddings, embedding_dim, padding_idx, _weight, False, device, dtype)

    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        """One vector for each row of ``input``, or for each stretch of it that begins at an offset."""
        return functional.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        """The settings that differ from the usual ones, for the printed module."""
        return self._shown(
            ("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False), ("mode", ""),
            ("padding_idx", None),
        )  # fmt: skip

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """A layer whose table is ``embeddings``; ``freeze`` keeps it as it is."""
        rows, width = _rows(embeddings)
        layer = cls(
            rows, width, max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings,
            include_last_offset, padding_idx,
        )  # fmt: skip
        layer.weight.requires_grad = not freeze
        return layer
