"""The cells of recurrent layers, one step at a time, and what layers and cells share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.devices import made_beside
from autokit.nn import functional, init
from autokit.nn.layer import unset
from autokit.nn.module import Module
from autokit.nn.parameter import Parameter
from autokit.ops.direct import direct
from autokit.ops.index import zero_like
from autokit.ops.join import cat
from autokit.ops.recurrent import recurrence, walk
from autokit.ops.shape import plain_narrow
from autokit.tensor import Tensor, new_tensor
from autokit.thread_state import thread


class Drawn(Module):
    """Parameters between ±1/√hidden_size at first."""

    hidden_size: int

    def reset_parameters(self) -> None:
        """Draw new first values."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)


def run_layer(
    kind: str,
    rows: Tensor,
    h: Tensor,
    c: Tensor | None,
    parameters: list[Any],
    sizes: tuple[int, ...],
    backwards: bool = False,
    one_step: bool = False,
) -> tuple[Tensor, Tensor, Tensor | None]:
    """All states, the last state and the last cells of one layer in one direction."""
    from_input, from_state, input_bias, state_bias, projection = parameters
    given = functional.linear(rows, from_input, input_bias)
    none = zero_like(given)
    cells = none if c is None else c
    # Autocasting: on the CPU, PyTorch casts only the products in all but the layer LSTM.
    mixed = given.dtype != h.dtype and not given.is_cuda and (one_step or kind != "LSTM")
    if projection is not None or mixed:

        def by_state(before: Tensor) -> Tensor:
            return functional.linear(before, from_state, state_bias)

        states, h, cells = walk(given, h, cells, by_state, sizes, backwards, kind, projection)
        return cat(states), h, None if c is None else cells
    operands = (given, h, cells, from_state, none if state_bias is None else state_bias)
    settings = {"sizes": sizes, "backwards": backwards, "kind": kind, "kept": None}
    if thread.state.grad_enabled and given._requires_grad and given.array.__class__ is np.ndarray:
        settings["kept"] = {}
    result = direct(recurrence, operands, settings)
    count, batch = sum(sizes), h.shape[0]
    of_states, of_cells = _MADE_BY[kind] if one_step else ("CatBackward0", "SliceBackward0")
    states = plain_narrow(result, dim=0, start=0, length=count, made_by="CatBackward0")
    last = plain_narrow(result, dim=0, start=count, length=batch, made_by=of_states)
    if c is None:
        return states, last, None
    return states, last, plain_narrow(result, dim=0, start=count + batch, length=batch, made_by=of_cells)


_MADE_BY = {
    "LSTM": ("MulBackward0", "AddBackward0"),
    "GRU": ("AddBackward0", ""),
    "RNN_TANH": ("TanhBackward0", ""),
    "RNN_RELU": ("ReluBackward0", ""),
}
"""What PyTorch calls the nodes of a cell's state and of LSTM's cells."""


class RNNCellBase(Drawn):
    """What the cells share: one step of a recurrent layer, from (B, input_size) or (input_size,)."""

    weight_ih: Parameter
    weight_hh: Parameter
    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = unset((rows, input_size), device, dtype)
        self.weight_hh = unset((rows, hidden_size), device, dtype)
        self.register_parameter("bias_ih", unset((rows,), device, dtype) if bias else None)
        self.register_parameter("bias_hh", unset((rows,), device, dtype) if bias else None)
        self.reset_parameters()

    def _advance(self, kind: str, input: Tensor, states: tuple[Tensor | None, ...]) -> tuple[Any, ...]:
        """The next state, and for LSTM the next cells."""
        name = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        for place, state in enumerate(states):
            if state is not None and state.dim() not in (1, 2):
                what = f"hx[{place}]" if len(states) > 1 else "hidden"
                raise ValueError(f"{name}: Expected {what} to be 1D or 2D, got {state.dim()}D instead")
        alone = input.dim() == 1
        rows = input.unsqueeze(0) if alone else input
        if rows.shape[1] != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {rows.shape[1]} expected {self.input_size}"
            )
        shape = (rows.shape[0], self.hidden_size)
        each = [
            new_tensor(made_beside(np.zeros_like, rows.array, shape=shape))
            if state is None
            else state.unsqueeze(0)
            if alone
            else state
            for state in states
        ]
        for place, state in enumerate(each):
            if state.shape != shape:
                raise RuntimeError(
                    f"hidden{place} has inconsistent hidden_size or batch: got {list(state.shape)}, expected "
                    f"{list(shape)}"
                )
        parameters = [
            *(self._parameters[name] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")),
            None,
        ]
        c = each[1] if len(each) == 2 else None
        _, h, c = run_layer(kind, rows, each[0], c, parameters, (rows.shape[0],), one_step=True)
        ends = (h,) if c is None else (h, c)
        return tuple(end.squeeze(0) for end in ends) if alone else ends

    def extra_repr(self) -> str:
        """The settings that differ from the usual ones, for the printed module."""
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text


class RNNCell(RNNCellBase):
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
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state, from an input and the state before, which is 0 by default."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._advance(f"RNN_{self.nonlinearity.upper()}", input, (hx,))[0]


class LSTMCell(RNNCellBase):
    """One step of an :class:`LSTM`.

    >>> import autokit as torch
    >>> h, c = LSTMCell(10, 20)(torch.zeros(3, 10))
    >>> h.shape, c.shape
    (torch.Size([3, 20]), torch.Size([3, 20]))
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: Any = None) -> tuple[Tensor, Tensor]:
        """The next state and cells, from an input and the pair of those before, which are 0 by default."""
        if hx is None:
            return self._advance("LSTM", input, (None, None))  # type: ignore[return-value]
        states = tuple(hx)
        known = input.dim() in (1, 2) and all(state.dim() in (1, 2) for state in states)
        if isinstance(hx, Tensor) and known:
            raise TypeError("lstm_cell(): argument 'hx' must be tuple of Tensors, not Tensor: give (h, c)")
        if len(states) != 2 and not isinstance(hx, Tensor):
            raise RuntimeError(f"lstm_cell expects two hidden states, (h, c), and not {len(states)}")
        return self._advance("LSTM", input, states)  # type: ignore[return-value]


class GRUCell(RNNCellBase):
    """One step of a :class:`GRU`."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state, from an input and the state before, which is 0 by default."""
        return self._advance("GRU", input, (hx,))[0]
