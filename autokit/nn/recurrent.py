"""Recurrent layers compute a state for each element of a sequence from the state before it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from autokit.base.errors import describe
from autokit.engine.node import USUAL_NAMES
from autokit.engine.tensor import Tensor
from autokit.nn import functional as F
from autokit.nn import init
from autokit.nn.layer import empty_parameter
from autokit.nn.module import Module
from autokit.nn.utils.rnn import PackedSequence
from autokit.ops.create import zeros
from autokit.ops.join import cat, stack
from autokit.ops.recurrent import GATES, recurrence

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell"]


class _Recurrent(Module):
    """The base of layers and cells: their parameters are uniform between ±1/√hidden_size at first."""

    hidden_size: int

    def reset_parameters(self) -> None:
        """Draw new first values."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def _add(self, mode: str, width: int, suffix: str, bias: bool, device: Any, dtype: Any) -> None:
        """The parameters of one step, from an input of this ``width``."""
        rows = GATES[mode] * self.hidden_size
        shapes: dict[str, tuple[int, ...]] = {
            "weight_ih": (rows, width),
            "weight_hh": (rows, self.hidden_size),
        }
        shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)} if bias else {}
        for name, shape in shapes.items():
            self.register_parameter(name + suffix, empty_parameter(*shape, device=device, dtype=dtype))


class RNNBase(_Recurrent):
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
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self._check()
        for layer in range(num_layers):
            for suffix in self._suffixes():
                width = hidden_size * len(self._suffixes()) if layer else input_size
                self._add(mode, width, f"_l{layer}{suffix}", bias, device, dtype)
        self.reset_parameters()

    def _suffixes(self) -> tuple[str, ...]:
        """The ends of the parameters' names: one for each direction."""
        return ("", "_reverse") if self.bidirectional else ("",)

    def _check(self) -> None:
        for name in ("input_size", "hidden_size", "num_layers"):
            value = getattr(self, name)
            if not isinstance(value, int):
                raise TypeError(f"{name} should be of type int, got: {type(value).__name__}")
            if value <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if not 0 <= self.dropout <= 1:
            raise ValueError(f"dropout should be a number in range [0, 1], but is {self.dropout}")
        if self.dropout and self.num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                f"num_layers greater than 1, but got dropout={self.dropout} and num_layers=1",
                stacklevel=4,
            )

    @property
    def _flat_weights_names(self) -> list[str]:
        """The parameters' names: *Dive into Deep Learning* goes through them to fill each by its kind."""
        return list(self._parameters)

    def flatten_parameters(self) -> None:
        """Do nothing; programs call it to prepare parameters for cuDNN."""

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """Compute the states for a batch of sequences.

        Parameters
        ----------
        input : Tensor or PackedSequence
            Of shape (T, B, input_size), or (B, T, input_size) if ``batch_first``; without B for one sequence.
        hx : Tensor, or for LSTM a pair of them, optional
            The first states, of shape (layers · directions, B, hidden_size); zeros by default.

        Returns
        -------
        output : Tensor or PackedSequence
            The last layer's states at all times, of both directions side by side.
        last : Tensor, or for LSTM a pair of them
            Every layer's last states (and cells), in the shape of ``hx``.
        """
        if isinstance(input, PackedSequence):
            sizes = tuple(input.batch_sizes.tolist())
            hx = self._for_states(hx, lambda state: _in_order(state, input.sorted_indices))
            rows, last = self._layers(input.data, sizes, hx)
            last = self._for_states(last, lambda state: _in_order(state, input.unsorted_indices))
            return input._replace(data=rows), last
        if input.dim() not in (2, 3):
            raise ValueError(f"{self.mode}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        single = input.dim() == 2
        if single:
            input = input.unsqueeze(1)
            hx = self._for_states(hx, lambda state: state.unsqueeze(1))
        elif self.batch_first:
            input = input.transpose(0, 1)
        times, batch, width = input.shape
        if not times:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        rows, last = self._layers(input.reshape(times * batch, width), (batch,) * times, hx)
        out = rows.reshape(times, batch, rows.shape[1])
        if single:
            return out.squeeze(1), self._for_states(last, lambda state: state.squeeze(1))
        return out.transpose(0, 1) if self.batch_first else out, last

    def _layers(self, rows: Tensor, sizes: tuple[int, ...], hx: Any) -> tuple[Tensor, Any]:
        """Send the ``rows`` of all times through all layers; the last layer's states, and all last states."""
        h, c = self._first_states(rows, sizes[0], hx)
        ends: list[tuple[Tensor, Any]] = []
        for layer in range(self.num_layers):
            if layer and self.dropout:
                rows = F.dropout(rows, self.dropout, self.training)
            sides = []
            for suffix in self._suffixes():
                place = len(ends)
                cells = None if c is None else c[place]
                states, *end = self._step(layer, suffix, rows, h[place], cells, sizes)
                sides.append(states)
                ends.append(tuple(end))
            rows = sides[0] if len(sides) == 1 else cat(sides, 1)
        last_h, last_c = zip(*ends)
        return rows, stack(last_h) if c is None else (stack(last_h), stack(last_c))

    def _step(
        self,
        layer: int,
        suffix: str,
        rows: Tensor,
        h: Tensor,
        c: Any,
        sizes: tuple[int, ...],
    ) -> tuple[Tensor, Tensor, Any]:
        """All states, the last state and the last cells of one layer in one direction."""
        weights = [getattr(self, f"{name}_l{layer}{suffix}") for name in ("weight_ih", "weight_hh")]
        biases = [getattr(self, f"{name}_l{layer}{suffix}", None) for name in ("bias_ih", "bias_hh")]
        return recurrence(self.mode, rows, h, c, weights, biases, sizes, suffix == "_reverse")

    def _for_states(self, states: Any, change: Callable[[Tensor], Tensor]) -> Any:
        """``change`` of the state, or for LSTM of the state and of the cells."""
        if states is None:
            return None
        return tuple(change(state) for state in states) if self.mode == "LSTM" else change(states)

    def _first_states(self, rows: Tensor, batch: int, hx: Any) -> tuple[Tensor, Tensor | None]:
        weight = self.weight_ih_l0
        if rows.dtype != weight.dtype:
            raise ValueError(
                f"RNN input dtype ({rows.dtype}) does not match weight dtype ({weight.dtype}). Convert "
                f"input: input.to({weight.dtype}), or convert model: model.to({rows.dtype})"
            )
        if rows.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got "
                f"{rows.shape[-1]}"
            )
        shape = (self.num_layers * len(self._suffixes()), batch, self.hidden_size)
        is_lstm = self.mode == "LSTM"
        if hx is None:
            first = zeros(*shape, dtype=rows.dtype, device=rows.device)
            return first, first if is_lstm else None
        states = tuple(hx) if is_lstm else (hx,)
        if len(states) != 1 + is_lstm:
            raise RuntimeError(f"the states of an LSTM are a pair (h, c), and here are {len(states)}")
        for state in states:
            if state.shape != shape:
                raise RuntimeError(f"Expected hidden size {shape}, got {describe(state)}")
        return states[0], states[1] if is_lstm else None

    def extra_repr(self) -> str:
        """The settings that differ from the usual ones, for the printed module."""
        usual = {"num_layers": 1, "bias": True, "batch_first": False, "dropout": 0, "bidirectional": False}
        changed = [
            f"{name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value
        ]
        return ", ".join([f"{self.input_size}, {self.hidden_size}", *changed])


def _in_order(state: Tensor, order: Tensor | None) -> Tensor:
    return state if order is None else state.index_select(1, order.to(state.device))


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
        **settings: Any,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        mode = f"RNN_{nonlinearity.upper()}"
        super().__init__(mode, input_size, hidden_size, num_layers, *args, **settings)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory: gates decide what its cells forget, add and output.

    ``cₜ = σ(f) · cₜ₋₁ + σ(i) · tanh(g)`` and ``hₜ = σ(o) · tanh(cₜ)``, where i, f,
    g, o are the four parts of ``W_ih · xₜ + b_ih + W_hh · hₜ₋₁ + b_hh``.

    Parameters
    ----------
    input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device, dtype
        As for :class:`RNN`.

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

    def __init__(self, input_size: int, hidden_size: int, *args: Any, **settings: Any) -> None:
        super().__init__("LSTM", input_size, hidden_size, *args, **settings)


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

    def __init__(self, input_size: int, hidden_size: int, *args: Any, **settings: Any) -> None:
        super().__init__("GRU", input_size, hidden_size, *args, **settings)


# ---------------------------------------------------------------- cells


class _Cell(_Recurrent):
    """One step of a recurrent layer, from (B, input_size) or (input_size,)."""

    mode: str

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        self._add(self.mode, input_size, "", bias, device, dtype)
        self.reset_parameters()

    def _advance(self, input: Tensor, *states: Tensor | None) -> tuple[Tensor, ...]:
        """The next state, and for LSTM the next cells."""
        name, single = type(self).__name__, input.dim() == 1
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        rows = input.unsqueeze(0) if single else input
        if rows.shape[1] != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {rows.shape[1]} expected {self.input_size}"
            )
        shape = (len(rows), self.hidden_size)
        given: list[Tensor] = []
        for state in states:
            if state is None:
                state = zeros(*shape, dtype=rows.dtype, device=rows.device)
                state.name = f"first {'hc'[len(given)]}"
            elif single:
                state = state.unsqueeze(0)
            if state.shape != shape:
                raise RuntimeError(
                    f"hidden has inconsistent hidden_size or batch: got {list(state.shape)}, expected "
                    f"{list(shape)}"
                )
            given.append(state)
        x = F.linear(rows, self.weight_ih, getattr(self, "bias_ih", None))
        h = F.linear(given[0], self.weight_hh, getattr(self, "bias_hh", None))
        ends = self._next(x, h, *given)
        return tuple([end.squeeze(0) if single else end for end in ends])

    def _next(self, x: Tensor, h: Tensor, *states: Tensor) -> Any:
        """The next states, from what input and state add to the gates: by operations that a picture shows."""
        raise NotImplementedError

    def _parts(self, rows: Tensor) -> list[Tensor]:
        """``rows`` by gates."""
        width = self.hidden_size
        return [rows[:, start : start + width] for start in range(0, rows.shape[1], width)]

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """The next state, from an input and the state before, which is 0 by default."""
        return self._advance(input, hx)[0]

    def extra_repr(self) -> str:
        """The settings that differ from the usual ones, for the printed module."""
        text = f"{self.input_size}, {self.hidden_size}"
        if not self.bias:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text


def called(name: str, result: Tensor) -> Tensor:
    """``result``, which pictures call by this name where the learner's program gives it none."""
    if result._node is not None:
        USUAL_NAMES[result._node] = name
    return result


class RNNCell(_Cell):
    """One step of an :class:`RNN`.

    >>> import autokit as torch
    >>> RNNCell(10, 20)(torch.zeros(3, 10)).shape
    torch.Size([3, 20])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {nonlinearity}")
        self.mode = f"RNN_{nonlinearity.upper()}"
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    def _next(self, x: Tensor, h: Tensor, *states: Tensor) -> Any:
        bend = F.relu if self.nonlinearity == "relu" else F.tanh
        return (called("h", bend(x + h)),)


class LSTMCell(_Cell):
    """One step of an :class:`LSTM`.

    >>> import autokit as torch
    >>> h, c = LSTMCell(10, 20)(torch.zeros(3, 10))
    >>> h.shape, c.shape
    (torch.Size([3, 20]), torch.Size([3, 20]))
    """

    mode = "LSTM"

    def forward(self, input: Tensor, hx: Any = None) -> tuple[Tensor, Tensor]:
        """The next state and cells, from an input and the pair of those before, which are 0 by default."""
        h, c = (None, None) if hx is None else hx
        return self._advance(input, h, c)  # type: ignore[return-value]

    def _next(self, x: Tensor, h: Tensor, *states: Tensor) -> Any:
        enter, keep, new, leave = self._parts(called("gates", x + h))
        enter = called("input gate", enter.sigmoid())
        keep = called("forget gate", keep.sigmoid())
        new = called("cell gate", new.tanh())
        leave = called("output gate", leave.sigmoid())
        c = called("c", called("kept", keep * states[1]) + called("added", enter * new))
        return called("h", leave * c.tanh()), c


class GRUCell(_Cell):
    """One step of a :class:`GRU`."""

    mode = "GRU"

    def _next(self, x: Tensor, h: Tensor, *states: Tensor) -> Any:
        (reset, keep, new), (to_reset, to_keep, to_new) = map(self._parts, (x, h))
        reset = (reset + to_reset).sigmoid()
        keep = (keep + to_keep).sigmoid()
        reset = called("reset gate", reset)
        keep = called("update gate", keep)
        new = called("new gate", (new + reset * to_new).tanh())
        return (called("h", (1 - keep) * new + keep * states[0]),)
