"""Multi-head attention as a module: each query gets an average of values, weighted by how well keys fit.

References
----------
A. Vaswani et al., "Attention Is All You Need", NeurIPS 2017.
"""

from __future__ import annotations

from typing import Any

from autokit.engine.tensor import Tensor
from autokit.nn import functional as F
from autokit.nn import init
from autokit.nn.layer import empty_parameter
from autokit.nn.linear import Linear
from autokit.nn.module import Module

__all__ = ["MultiheadAttention"]


class NonDynamicallyQuantizableLinear(Linear):
    """A :class:`Linear` layer under the name that the printed attention module has for it."""


class MultiheadAttention(Module):
    """Averages of values, weighted by how well queries fit keys, in several heads at once.

    Parameters
    ----------
    embed_dim : int
        The width of queries and results, which the heads share evenly.
    num_heads : int
        How many heads.
    dropout : float
        How likely each weight is dropped while training.
    bias : bool
        Whether the projections add biases.
    add_bias_kv, add_zero_attn : bool
        One more key and value, learned, or of zeros.
    kdim, vdim : int, optional
        The widths of keys and values, where they differ from ``embed_dim``.
    batch_first : bool
        Whether inputs are (N, L, E) in place of (L, N, E).
    device, dtype : optional
        Of the parameters.

    Examples
    --------
    >>> import autokit as torch
    >>> layer = MultiheadAttention(8, num_heads=2, batch_first=True)
    >>> x = torch.rand(3, 5, 8)
    >>> output, weights = layer(x, x, x)
    >>> output.shape, weights.shape
    (torch.Size([3, 5, 8]), torch.Size([3, 5, 5]))
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                f"num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if embed_dim % num_heads:
            raise AssertionError(f"embed_dim must be divisible by num_heads: {embed_dim} by {num_heads}")

        def register(name: str, wanted: bool, *shape: int) -> None:
            parameter = empty_parameter(*shape, device=device, dtype=dtype) if wanted else None
            self.register_parameter(name, parameter)

        same = self._qkv_same_embed_dim
        register("in_proj_weight", same, 3 * embed_dim, embed_dim)
        for name, width in (("q", embed_dim), ("k", self.kdim), ("v", self.vdim)):
            register(f"{name}_proj_weight", not same, embed_dim, width)
        register("in_proj_bias", bias, 3 * embed_dim)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, device, dtype)
        register("bias_k", add_bias_kv, 1, 1, embed_dim)
        register("bias_v", add_bias_kv, 1, 1, embed_dim)
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        """Draw new first values; biases are 0."""
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            if (weight := self._parameters[name]) is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)  # type: ignore[arg-type]
        for name in ("bias_k", "bias_v"):
            if (row := self._parameters[name]) is not None:
                init.xavier_normal_(row)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend.

        Parameters
        ----------
        query, key, value : Tensor
            Of shapes (L, N, E), (S, N, kdim) and (S, N, vdim); N comes first if ``batch_first``, and is left
            out for a single sample.
        key_padding_mask : Tensor, optional
            Of shape (N, S): True where a key is padding, or numbers to add.
        need_weights : bool
            Return the weights too.
        attn_mask : Tensor, optional
            Of shape (L, S) or (N · heads, L, S): True where a query may not look, or numbers to add.
        average_attn_weights : bool
            Give the mean of the weights over the heads.
        is_causal : bool
            Says that ``attn_mask`` is the causal one: no query looks at later keys.

        Returns
        -------
        output : Tensor
            In the shape of ``query``.
        weights : Tensor or None
            Of shape (N, L, S), or (N, heads, L, S) if not averaged.
        """
        swapped = self.batch_first and query.dim() == 3
        if swapped:
            same_key, same_value = key is query, value is key
            query = query.transpose(0, 1)
            key = query if same_key else key.transpose(0, 1)
            value = key if same_value else value.transpose(0, 1)
        output, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return output.transpose(0, 1) if swapped else output, weights
