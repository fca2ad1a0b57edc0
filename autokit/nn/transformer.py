"""Attention in several heads, and the transformer that is built of it.

References
----------
A. Vaswani et al., "Attention Is All You Need", NeurIPS 2017.
R. Xiong et al., "On Layer Normalization in the Transformer Architecture", ICML 2020.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from autokit import dtypes
from autokit.nn import functional, init
from autokit.nn.container import ModuleList
from autokit.nn.dropout import Dropout
from autokit.nn.layer import unset
from autokit.nn.linear import Linear
from autokit.nn.module import Module
from autokit.nn.normalization import LayerNorm
from autokit.nn.parameter import Parameter
from autokit.tensor import Tensor, new_tensor

Activation = str | Callable[[Tensor], Tensor]


class NonDynamicallyQuantizableLinear(Linear):
    """A :class:`Linear` layer under the name that PyTorch prints for it inside attention."""


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

        def weight(*shape: int, wanted: bool = True) -> Parameter | None:
            return unset(shape, device, dtype) if wanted else None

        same = self._qkv_same_embed_dim
        if same:
            self.register_parameter("in_proj_weight", weight(3 * embed_dim, embed_dim))
        for name, width in (("q", embed_dim), ("k", self.kdim), ("v", self.vdim)):
            self.register_parameter(f"{name}_proj_weight", weight(embed_dim, width, wanted=not same))
        if not same:
            self.register_parameter("in_proj_weight", None)
        self.register_parameter("in_proj_bias", weight(3 * embed_dim, wanted=bias))
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, device, dtype)
        self.register_parameter("bias_k", weight(1, 1, embed_dim, wanted=add_bias_kv))
        self.register_parameter("bias_v", weight(1, 1, embed_dim, wanted=add_bias_kv))
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
            Give back the weights too.
        attn_mask : Tensor, optional
            Of shape (L, S) or (N · heads, L, S): True where a query may not look, or numbers to add.
        average_attn_weights : bool
            Give the mean of the weights over the heads.
        is_causal : bool
            Says that ``attn_mask`` lets nobody look ahead.

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
        parameters = self._parameters
        output, weights = functional.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            parameters["in_proj_weight"],
            parameters["in_proj_bias"],
            parameters["bias_k"],
            parameters["bias_v"],
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=parameters["q_proj_weight"],
            k_proj_weight=parameters["k_proj_weight"],
            v_proj_weight=parameters["v_proj_weight"],
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return output.transpose(0, 1) if swapped else output, weights


# ---------------------------------------------------------------- layers


def _activation(activation: Activation) -> Callable[[Tensor], Tensor]:
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return functional.relu if activation == "relu" else functional.gelu


class _TransformerLayer(Module):
    """Attention blocks, then two linear layers, each added to what went in, and each with a norm."""

    attentions: tuple[str, ...]
    activation: Callable[[Tensor], Tensor]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = functional.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        kind = {"device": device, "dtype": dtype}
        for name in self.attentions:
            block = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **kind)
            self.add_module(name, block)
        self.linear1 = Linear(d_model, dim_feedforward, bias, **kind)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **kind)
        self.norm_first = norm_first
        blocks = len(self.attentions) + 1
        for place in range(1, blocks + 1):
            self.add_module(f"norm{place}", LayerNorm(d_model, layer_norm_eps, bias=bias, **kind))
        for place in range(1, blocks + 1):
            self.add_module(f"dropout{place}", Dropout(dropout))
        self.activation = _activation(activation)

    def _through(self, x: Tensor, place: int, block: Callable[[Tensor], Tensor]) -> Tensor:
        """``x`` plus what the block makes of it; the norm stands before the block, or after the sum."""
        norm, dropout = self._modules[f"norm{place}"], self._modules[f"dropout{place}"]
        if self.norm_first:
            return x + dropout(block(norm(x)))  # type: ignore[misc]
        return norm(x + dropout(block(x)))  # type: ignore[misc]

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_TransformerLayer):
    """Attention to itself and two linear layers, each added to what went in and normalized.

    Parameters
    ----------
    d_model, nhead : int
        The width, and how many heads share it.
    dim_feedforward : int
        The width between the two linear layers.
    dropout : float
        Of weights, of activations, and of what each block gives.
    activation : str or callable
        ``"relu"``, ``"gelu"``, or any function.
    layer_norm_eps : float
        Of the norms.
    batch_first : bool
        Whether inputs are (N, L, E) in place of (L, N, E).
    norm_first : bool
        Normalize before each block, in place of after it.
    bias : bool
        Whether linear layers and norms add biases.
    device, dtype : optional
        Of the parameters.

    Examples
    --------
    >>> import autokit as torch
    >>> layer = TransformerEncoderLayer(8, nhead=2, dim_feedforward=16, batch_first=True)
    >>> layer(torch.rand(3, 5, 8)).shape
    torch.Size([3, 5, 8])
    """

    attentions = ("self_attn",)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Encode ``src``; the masks are those of :meth:`MultiheadAttention.forward`."""

        def attend(x: Tensor) -> Tensor:
            return self.self_attn(x, x, x, src_key_padding_mask, False, src_mask, is_causal=is_causal)[0]

        return self._through(self._through(src, 1, attend), 2, self._feed_forward)


class TransformerDecoderLayer(_TransformerLayer):
    """Attention to itself, attention to what an encoder gave, and two linear layers.

    The parameters are those of :class:`TransformerEncoderLayer`.
    """

    attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Decode ``tgt``, looking at ``memory``; masks as for :meth:`MultiheadAttention.forward`."""

        def attend(x: Tensor) -> Tensor:
            return self.self_attn(x, x, x, tgt_key_padding_mask, False, tgt_mask, is_causal=tgt_is_causal)[0]

        def look(x: Tensor) -> Tensor:
            return self.multihead_attn(
                x, memory, memory, memory_key_padding_mask, False, memory_mask, is_causal=memory_is_causal
            )[0]

        return self._through(self._through(self._through(tgt, 1, attend), 2, look), 3, self._feed_forward)


# ---------------------------------------------------------------- stacks of layers


def _copies(layer: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(layer) for _ in range(count)])


def _causal(hint: bool | None, mask: Tensor | None) -> bool:
    return bool(hint) and mask is not None


class TransformerEncoder(Module):
    """A row of encoder layers, copies of one, and perhaps a norm at the end.

    ``enable_nested_tensor`` and ``mask_check`` are accepted for PyTorch's sake and
    change nothing.
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """Send ``src`` through all layers."""
        hint = _causal(is_causal, mask)
        for layer in self.layers:
            src = layer(src, src_mask=mask, is_causal=hint, src_key_padding_mask=src_key_padding_mask)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """A row of decoder layers, copies of one, and perhaps a norm at the end."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Send ``tgt`` through all layers, each of which looks at ``memory``."""
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=_causal(tgt_is_causal, tgt_mask),
                memory_is_causal=_causal(memory_is_causal, memory_mask),
            )
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder of one sequence and a decoder of another that looks at it.

    Parameters
    ----------
    d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias
        Of the layers; see :class:`TransformerEncoderLayer`.
    num_encoder_layers, num_decoder_layers : int
        How many of each.
    custom_encoder, custom_decoder : Module, optional
        Used in place of those.
    device, dtype : optional
        Of the parameters.

    Examples
    --------
    >>> import autokit as torch
    >>> model = Transformer(8, 2, 1, 1, 16, batch_first=True)
    >>> model(torch.rand(3, 5, 8), torch.rand(3, 4, 8)).shape
    torch.Size([3, 4, 8])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = functional.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        settings = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first,
            bias, device, dtype,
        )  # fmt: skip

        def norm() -> LayerNorm:
            return LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)

        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*settings), num_encoder_layers, norm()
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*settings), num_decoder_layers, norm()
        )
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def _reset_parameters(self) -> None:
        """Draw all weights anew."""
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Encode ``src``, (S, N, E), and decode ``tgt``, (T, N, E); N comes first if ``batch_first``."""
        if src.dim() == 3 and src.size(not self.batch_first) != tgt.size(not self.batch_first):
            raise RuntimeError(
                f"the batch number of src and tgt must be equal: {list(src.shape)} and {list(tgt.shape)}"
            )
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError(
                f"the feature number of src and tgt must be equal to d_model: {src.size(-1)} and "
                f"{tgt.size(-1)}, not {self.d_model}"
            )
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """A mask that lets nobody look ahead: -∞ above the diagonal, else 0."""
        kind = dtypes.as_dtype(dtype) if dtype is not None else dtypes.get_default_dtype()
        mask = new_tensor(np.triu(np.full((sz, sz), -np.inf, kind.numpy), 1))
        return mask if device is None else mask.to(device)
