"""An embedding as a module: a table has a vector for each whole number, which may stand for a word."""

from __future__ import annotations

from typing import Any

from autokit.engine.modes import no_grad
from autokit.engine.tensor import Tensor
from autokit.nn import functional as F
from autokit.nn import init
from autokit.nn.layer import empty_parameter
from autokit.nn.module import Module
from autokit.nn.parameter import Parameter

__all__ = ["Embedding"]


class Embedding(Module):
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

    weight: Parameter

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
        if sparse:
            raise NotImplementedError("sparse=True: autokit's gradients are dense; leave sparse out")
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                wrong = f"{padding_idx} of {num_embeddings}"
                raise AssertionError(f"Padding_idx must be within num_embeddings: {wrong}")
            padding_idx %= num_embeddings
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        if _weight is None:
            self.weight = empty_parameter(num_embeddings, embedding_dim, device=device, dtype=dtype)
            self.reset_parameters()
        else:
            self.weight = Parameter(_weight)

    def forward(self, input: Tensor) -> Tensor:
        """The rows that ``input`` names, in a new last dimension."""
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq
        )

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
        layer = cls(*embeddings.shape, _weight=embeddings, **settings)
        layer.weight.requires_grad = not freeze
        return layer

    def extra_repr(self) -> str:
        """The settings that differ from the usual ones, for the printed module."""
        usual = {"padding_idx": None, "max_norm": None, "norm_type": 2, "scale_grad_by_freq": False}
        changed = [f"{name}={getattr(self, name)!r}" for name in usual if getattr(self, name) != usual[name]]
        return ", ".join([f"{self.num_embeddings}, {self.embedding_dim}", *changed])
