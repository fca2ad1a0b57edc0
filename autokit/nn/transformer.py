"""The transformer: an encoder and a decoder, which are stacks of layers with attention.

References
----------
A. Vaswani et al., "Attention Is All You Need", NeurIPS 2017.
R. Xiong et al., "On Layer Normalization in the Transformer Architecture", ICML 2020.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from autokit.engine.tensor import Tensor
from autokit.nn import functional as F
from autokit.nn import init
from autokit.nn.attention import MultiheadAttention
from autokit.nn.container import ModuleList
from autokit.nn.dropout import Dropout
from autokit.nn.linear import Linear
from autokit.nn.module import Module
from autokit.nn.normalization import LayerNorm
from autokit.ops.create import full
from autokit.ops.triangle import triu

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]

Activation = str | Callable[[Tensor], Tensor]


def _activation(activation: Activation) -> Callable[[Tensor], Tensor]:
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return F.relu if activation == "relu" else F.gelu


class _TransformerLayer(Module):
    """Attention blocks, then two linear layers; the result of each is added to its input and normalized."""

    attentions: tuple[str, ...]
    activation: Callable[[Tensor], Tensor]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
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
        """``x`` plus the result of the block; the norm is applied before the block, or after the sum."""
        norm = self._modules[f"norm{place}"]
        dropout = self._modules[f"dropout{place}"]
        if self.norm_first:
            return x + dropout(block(norm(x)))  # type: ignore[misc]
        return norm(x + dropout(block(x)))  # type: ignore[misc]

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_TransformerLayer):
    """Self-attention and two linear layers; the result of each is added to its input and normalized.

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
    """Self-attention, attention to the result of an encoder, and two linear layers.

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
        """Decode ``tgt``, attending to ``memory``; masks as for :meth:`MultiheadAttention.forward`."""

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


class TransformerEncoder(Module):
    """A stack of encoder layers, copies of one, and optionally a norm at the end.

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
        for layer in self.layers:
            src = layer(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """A stack of decoder layers, copies of one, and optionally a norm at the end."""

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
        """Send ``tgt`` through all layers, each of which attends to ``memory``."""
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
            )
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder of one sequence, and a decoder of another that attends to the encoder's result.

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
        activation: Activation = F.relu,
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
        samples = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(samples) != tgt.size(samples):
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
        """The causal mask: -∞ above the diagonal, where a key is later than the query, else 0."""
        return triu(full((sz, sz), float("-inf"), device=device, dtype=dtype), 1)
