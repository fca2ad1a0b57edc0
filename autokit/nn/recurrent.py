"""Recurrent layers, for sequences: each step sees the one before it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from autokit.devices import made_beside
from autokit.nn import functional
from autokit.nn.layer import unset
from autokit.nn.parameter import Parameter
from autokit.nn.recurrent_cells import Drawn, GRUCell, LSTMCell, RNNCell, RNNCellBase, run_layer
from autokit.nn.utils.rnn import PackedSequence
from autokit.ops.join import cat, stack
from autokit.ops.recurrent import GATES, plain_sequences
from autokit.tensor import Tensor, new_tensor

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]


class RNNBase(Drawn):
    """What :class:`RNN`, :class:`LSTM` and :class:`GRU` share."""

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_settings(
            input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size
        )
        if mode not in GATES:
            raise ValueError(f"Unrecognized RNN mode: {mode}")
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._names: list[list[str]] = []
        directions = 2 if bidirectional else 1
        rows, width = GATES[mode] * hidden_size, proj_size or hidden_size
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[:directions]:
                shapes: dict[str, tuple[int, ...]] = {
                    "weight_ih": (rows, width * directions if layer else input_size),
                    "weight_hh": (rows, width),
                }
                if bias:
                    shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                for name, shape in shapes.items():
                    setattr(self, f"{name}_l{layer}{suffix}", unset(shape, device, dtype))
                self._names.append([f"{name}_l{layer}{suffix}" for name in shapes])
        self.reset_parameters()

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        return [[self._parameters[name] for name in names] for names in self._names]  # type: ignore[misc]

    @property
    def _flat_weights_names(self) -> list[str]:
        """The parameters' names in a row: programs that initialize each by its kind go through them."""
        return [name for names in self._names for name in names]

    @property
    def _flat_weights(self) -> list[Parameter]:
        """The parameters in a row."""
        return [weight for weights in self.all_weights for weight in weights]

    def flatten_parameters(self) -> None:
        """Do nothing: kept for programs that prepare parameters for a GPU's library."""

    def _of(self, layer: int, suffix: str) -> list[Any]:
        """The parameters of a layer and direction, computed ones too, and None for those that it lacks."""
        kinds = ["weight_ih", "weight_hh", *["bias_ih", "bias_hh"] * self.bias]
        found = [self._parameters[f"{kind}_l{layer}{suffix}"] for kind in kinds]
        found += [None] * (4 - len(found))
        return [*found, self._parameters[f"weight_hr_l{layer}{suffix}"] if self.proj_size else None]

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """Go through a batch of sequences.

        Parameters
        ----------
        input : Tensor or PackedSequence
            Of shape (T, B, input_size), or (B, T, input_size) if ``batch_first``; without B for one sequence.
        hx : Tensor, or for LSTM a pair of them, optional
            The first states, of shape (layers · directions, B, width); zeros by default.

        Returns
        -------
        output : Tensor or PackedSequence
            The last layer's states at all times, of both directions side by side.
        last : Tensor, or for LSTM a pair of them
            Every layer's last states (and cells), in the shape of ``hx``.
        """
        packed = input if isinstance(input, PackedSequence) else None
        batched = packed is not None or input.dim() == 3
        if packed is not None:
            rows, sizes = packed.data, tuple(packed.batch_sizes.tolist())
            self._check_input(rows, 2)
            if self.mode == "LSTM" and hx is not None:
                _require_pair(hx)
            hx = self._each(hx, lambda state: _in_order(state, packed.sorted_indices))
        else:
            if input.dim() not in (2, 3):
                raise ValueError(
                    f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D instead"
                )
            if not batched:
                input = input.unsqueeze(0 if self.batch_first else 1)
            self._check_states_dimensions(hx, batched)
            self._check_input(input, 3)
            if self.batch_first:
                input = input.transpose(0, 1)
            times, batch = input.shape[:2]
            if not times:
                raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
            rows, sizes = input.reshape(times * batch, input.shape[2]), (batch,) * times
            if not batched:
                hx = self._each(hx, lambda state: state.unsqueeze(1))
        h, c = self._first_states(rows, sizes[0], hx)
        rows, last_h, last_c = self._layers(rows, sizes, h, c)
        last = last_h if last_c is None else (last_h, last_c)
        if packed is not None:
            last = self._each(last, lambda state: _in_order(state, packed.unsorted_indices))
            return PackedSequence(rows, *packed[1:]), last
        size = (times, batch, rows.shape[1])
        out = plain_sequences(rows, size=size, batch_first=self.batch_first, made_by=self._made_by(rows))
        if not batched:
            out = out.squeeze(0 if self.batch_first else 1)
            last = self._each(last, lambda state: state.squeeze(1))
        return out, last

    def _made_by(self, rows: Tensor) -> str:
        """What PyTorch calls the node of the output."""
        if self.batch_first:
            return "TransposeBackward0" if self.mode == "LSTM" else "TransposeBackward1"
        if self.bidirectional:
            return "CatBackward0"
        plain = self.mode != "LSTM" or self.proj_size or rows.array.dtype == np.float64
        return "StackBackward0" if plain else "MkldnnRnnLayerBackward0"

    def _layers(
        self, rows: Tensor, sizes: tuple[int, ...], h: Tensor, c: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        suffixes = ("", "_reverse") if self.bidirectional else ("",)
        last_h: list[Tensor] = []
        last_c: list[Any] = []
        for layer in range(self.num_layers):
            if layer and self.dropout and self.training:
                rows = functional.dropout(rows, self.dropout)
            sides = []
            for suffix in suffixes:
                place = len(last_h)
                cells = None if c is None else c[place]
                states, end, cell_end = run_layer(
                    self.mode, rows, h[place], cells, self._of(layer, suffix), sizes, suffix != ""
                )
                sides.append(states)
                last_h.append(end)
                last_c.append(cell_end)
            rows = sides[0] if len(sides) == 1 else cat(sides, 1)
        return rows, stack(last_h), None if c is None else stack(last_c)

    def _each(self, states: Any, change: Any) -> Any:
        """``change`` of the state, or for LSTM of the state and of the cells."""
        if states is None:
            return None
        return tuple(change(each) for each in states) if self.mode == "LSTM" else change(states)

    def _first_states(self, rows: Tensor, batch: int, hx: Any) -> tuple[Tensor, Tensor | None]:
        count = self.num_layers * (2 if self.bidirectional else 1)
        shape = (count, batch, self.proj_size or self.hidden_size)
        cells_shape = (count, batch, self.hidden_size)
        lstm = self.mode == "LSTM"
        if hx is None:
            h = new_tensor(made_beside(np.zeros_like, rows.array, shape=shape))
            return h, new_tensor(made_beside(np.zeros_like, rows.array, shape=cells_shape)) if lstm else None
        named = (
            [("hidden[0]", hx[0], shape), ("hidden[1]", hx[1], cells_shape)]
            if lstm
            else [("hidden", hx, shape)]
        )
        for name, state, wanted in named:
            if state.shape != wanted:
                raise RuntimeError(f"Expected {name} size {wanted}, got {list(state.shape)}")
            if state.dtype != rows.dtype:
                raise RuntimeError(
                    f"Input and hidden tensors are not the same dtype, found input tensor with {rows.dtype} "
                    f"and hidden tensor with {state.dtype}"
                )
        return hx if lstm else (hx, None)

    def _check_input(self, input: Tensor, ndim: int) -> None:
        kind = self._parameters["weight_ih_l0"].dtype  # type: ignore[union-attr]
        if input.dtype != kind:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({kind}). Convert input: "
                f"input.to({kind}), or convert model: model.to({input.dtype})"
            )
        if input.dim() != ndim:
            raise RuntimeError(f"input must have {ndim} dimensions, got {input.dim()}")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got "
                f"{input.shape[-1]}"
            )

    def _check_states_dimensions(self, hx: Any, batched: bool) -> None:
        if hx is None:
            return
        states = _first_two(hx) if self.mode == "LSTM" else (hx,)
        wanted = 3 if batched else 2
        if all(state.dim() == wanted for state in states):
            if self.mode == "LSTM":
                _require_pair(hx)
            return
        kind = "batched 3-D" if batched else "unbatched 2-D"
        if len(states) == 2:
            found = ", ".join(f"{state.dim()}-D" for state in states)
            raise RuntimeError(
                f"For {kind} input, hx and cx should also be {wanted}-D but got ({found}) tensors"
            )
        raise RuntimeError(
            f"For {kind} input, hx should also be {wanted}-D but got {states[0].dim()}-D tensor"
        )

    def extra_repr(self) -> str:
        """The settings that differ from the usual ones, for the printed module."""
        usual = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0}
        usual["bidirectional"] = False
        changed = [
            f"{name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value
        ]
        return ", ".join([f"{self.input_size}, {self.hidden_size}", *changed])


_PAIR = "the states of an LSTM are a pair (h, c)"


def _first_two(states: Any) -> tuple[Any, ...]:
    """The states of an LSTM, of which PyTorch looks at two, also where a tensor stands for them."""
    found = tuple(states)
    if len(found) < 2:
        raise IndexError(f"index 1 is out of bounds for dimension 0 with size {len(found)}: {_PAIR}")
    return found[:2]


def _require_pair(states: Any) -> None:
    if not isinstance(states, tuple | list):
        raise TypeError(
            f"lstm(): argument 'hx' must be tuple of Tensors, not {type(states).__name__}: {_PAIR}"
        )
    for place, state in enumerate(states):
        if not isinstance(state, Tensor):
            raise TypeError(
                f"expected Tensor as element {place} in argument 2, but got {type(state).__name__}"
            )
    if len(states) != 2:
        raise RuntimeError(f"lstm expects two hidden states: {_PAIR}, and here are {len(states)}")


def _in_order(state: Tensor, order: Tensor | None) -> Tensor:
    return state if order is None else state.index_select(1, order.to(state.device))


def _check_settings(
    input_size: Any,
    hidden_size: Any,
    num_layers: int,
    bias: Any,
    batch_first: Any,
    dropout: Any,
    bidirectional: Any,
    proj_size: int,
) -> None:
    if not isinstance(dropout, int | float) or isinstance(dropout, bool) or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being "
            "zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
            f"num_layers greater than 1, but got dropout={dropout} and num_layers={num_layers}",
            stacklevel=4,
        )
    for name, value, kind in (
        ("bias", bias, bool),
        ("batch_first", batch_first, bool),
        ("bidirectional", bidirectional, bool),
        ("input_size", input_size, int),
        ("hidden_size", hidden_size, int),
        ("num_layers", num_layers, int),
    ):
        if not isinstance(value, kind) or kind is int and isinstance(value, bool):
            raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
    for name, value in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
        if value <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


class RNN(RNNBase):
    """Elman's network: ``hₜ = tanh(W_ih · xₜ + b_ih + W_hh · hₜ₋₁ + b_hh)``.

    Parameters
    ----------
    input_size, hidden_size : int
        The widths of the input and of the state.
    num_layers : int
        How many layers, each of which gets the states of the one before.
    nonlinearity : str
        ``"tanh"`` or ``"relu"``.
    bias : bool
        Whether to add biases.
    batch_first : bool
        Whether sequences are (B, T, width) in place of (T, B, width).
    dropout : float
        Between layers, while training.
    bidirectional : bool
        Go through each sequence from both ends.
    device, dtype : optional
        Of the parameters.

    Attributes
    ----------
    weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, ... : Parameter
        Of each layer, and with ``_reverse`` of the way back.

    Examples
    --------
    >>> import autokit as torch
    >>> layer = RNN(10, 20, num_layers=2)
    >>> output, last = layer(torch.zeros(5, 3, 10))
    >>> output.shape, last.shape
    (torch.Size([5, 3, 20]), torch.Size([2, 3, 20]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        *args: Any,
        **kwargs: Any,
    ) -> None:
        _refuse_projection(kwargs)
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", input_size, hidden_size, num_layers, *args, **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory: gates decide what its cells forget, take in and show.

    ``cₜ = σ(f) · cₜ₋₁ + σ(i) · tanh(g)`` and ``hₜ = σ(o) · tanh(cₜ)``, where i, f,
    g, o are the four parts of ``W_ih · xₜ + b_ih + W_hh · hₜ₋₁ + b_hh``.

    Parameters
    ----------
    input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device, dtype
        As for :class:`RNN`.
    proj_size : int
        Project the state to this width.

    Examples
    --------
    >>> import autokit as torch
    >>> layer = LSTM(10, 20, batch_first=True)
    >>> output, (h, c) = layer(torch.zeros(3, 5, 10))
    >>> output.shape, h.shape, c.shape
    (torch.Size([3, 5, 20]), torch.Size([1, 3, 20]), torch.Size([1, 3, 20]))

    References
    ----------
    S. Hochreiter and J. Schmidhuber, "Long Short-Term Memory", Neural Computation 9, 1997.
    """

    def __init__(self, input_size: int, hidden_size: int, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", input_size, hidden_size, *args, **kwargs)


class GRU(RNNBase):
    """Gated recurrent units: ``hₜ = (1 - z) · n + z · hₜ₋₁``.

    With ``r`` and ``z`` the sigmoids of the first two parts of
    ``W_ih · xₜ + b_ih`` and ``W_hh · hₜ₋₁ + b_hh`` together, and ``n`` the tanh
    of the third part of the one plus ``r`` times that of the other.

    Parameters
    ----------
    input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device, dtype
        As for :class:`RNN`.

    References
    ----------
    K. Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder", EMNLP 2014.
    """

    def __init__(self, input_size: int, hidden_size: int, *args: Any, **kwargs: Any) -> None:
        _refuse_projection(kwargs)
        super().__init__("GRU", input_size, hidden_size, *args, **kwargs)


def _refuse_projection(settings: dict[str, Any]) -> None:
    if "proj_size" in settings:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
