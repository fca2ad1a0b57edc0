"""The check behind ``gradcheck``: the derivatives of one function at one point, in both ways."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autokit import autograd
from autokit.autograd.engine import run_backward
from autokit.autograd.node import Node
from autokit.devices import made_beside, to_numpy
from autokit.func.calls import basis, zeros
from autokit.func.differences import differences, directions, in_parts, moved, values_of
from autokit.func.transforms import jvp
from autokit.ops.custom import Parts
from autokit.ops.errors import describe
from autokit.tensor import Tensor


class GradcheckError(RuntimeError):
    """A gradient is not what differences say, or not what a gradient has to be."""


def in_a_tuple(made: Any) -> tuple[Tensor, ...]:
    """What a function returned that is to be checked, a tensor or several of them."""
    outputs = tuple(made) if isinstance(made, tuple | list) else (made,)
    for one in outputs:
        if not isinstance(one, Tensor):
            raise AttributeError(
                f"'{type(one).__name__}' object has no attribute 'requires_grad': a function to be checked "
                "returns a tensor, or a tuple of tensors"
            )
    return outputs


def _behind(outputs: list[Tensor]) -> Iterator[Node]:
    """Every node of the graph of ``outputs``."""
    waiting: list[Any] = [output._node for output in outputs]
    met = set(waiting)
    while waiting:
        node = waiting.pop()
        if isinstance(node, Node):
            yield node
            new = [each for each in node.targets if each not in met]
            waiting += new
            met.update(new)


class Check:
    """The check of one function at one point."""

    def __init__(
        self, func: Callable[..., Any], inputs: tuple[Any, ...], eps: float, atol: float, rtol: float
    ) -> None:
        self.func, self.inputs, self.eps, self.atol, self.rtol = func, inputs, eps, atol, rtol
        self.places = [i for i, one in enumerate(inputs) if isinstance(one, Tensor) and one._requires_grad]
        if not self.places:
            raise ValueError(
                "gradcheck expects at least one input tensor to require gradient, but none of them have "
                "requires_grad=True."
            )
        for place in self.places:
            self._check_input(place)
        self.learning = [inputs[place] for place in self.places]
        outputs = self.run()
        self.slots = [
            slot for slot, one in enumerate(outputs) if isinstance(one, Tensor) and one._requires_grad
        ]

    def _check_input(self, place: int) -> None:
        tensor = self.inputs[place]
        if tensor.array.dtype not in (np.float64, np.complex128):
            warnings.warn(
                f"Input #{place} requires gradient and is not a double precision floating point or complex. "
                "This check will likely fail if all the inputs are not of double precision floating point "
                f"or complex. It is {describe(tensor)}: make it with dtype=torch.float64.",
                stacklevel=5,
            )
        if any(step == 0 and size > 1 for step, size in zip(tensor.array.strides, tensor.array.shape)):
            raise RuntimeError(
                f"The {place}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call "
                ".contiguous on the input before passing it to gradcheck."
            )

    def run(self) -> tuple[Any, ...]:
        """What the function returns, in a tuple."""
        return in_a_tuple(self.func(*self.inputs))

    def gradients(self, outputs: list[Tensor], seeds: list[Tensor]) -> list[np.ndarray]:
        """The gradient by each input that requires grad; zeros for what takes no part."""
        found = autograd.grad(outputs, self.learning, seeds, retain_graph=True, allow_unused=True)
        return [
            to_numpy((zeros(own) if one is None else one).array) for one, own in zip(found, self.learning)
        ]

    def analytical(self, output: Tensor) -> list[np.ndarray]:
        """The Jacobian of ``output`` by each input: a row for each element of the input."""
        seeds = [seed * direction for seed in basis(output) for direction in directions(output)]
        columns = [self.gradients([output], [seed]) for seed in seeds]
        return [
            np.stack([in_parts(column[slot]) for column in columns], 1)
            if columns
            else np.zeros((own.array.size * len(directions(own)), 0))
            for slot, own in enumerate(self.learning)
        ]

    def numerical(self) -> list[list[np.ndarray | None]]:
        """The Jacobian of each output by each input, by differences."""
        return [differences(self.run, tensor, self.eps) for tensor in self.learning]

    def forward_mode(self) -> None:
        """Compare the Jacobian of each output by each input, in forward mode and numerical."""

        def outputs_of(*learning: Tensor) -> tuple[Tensor, ...]:
            inputs = list(self.inputs)
            for place, one in zip(self.places, learning):
                inputs[place] = one
            made = self.func(*inputs)
            made = in_a_tuple(made)
            return tuple([made[slot] for slot in self.slots])

        primals = tuple([one.detach() for one in self.learning])
        rest = [zeros(one) for one in primals]
        for which, (place, by_input) in enumerate(zip(self.places, self.numerical())):
            columns = [
                jvp(outputs_of, primals, (*rest[:which], seed, *rest[which + 1 :]))[1]
                for unit in basis(primals[which])
                for seed in [unit * direction for direction in directions(unit)]
            ]
            for nth, slot in enumerate(self.slots if columns else ()):
                one = np.stack([in_parts(to_numpy(column[nth].array)) for column in columns])
                by_differences = by_input[slot]
                assert by_differences is not None
                if not np.allclose(one, by_differences, self.rtol, self.atol):
                    said = self._mismatch(nth, slot, place, one, by_differences)
                    raise GradcheckError(
                        said.replace("Jacobian mismatch", "Jacobian computed with forward mode mismatch")
                        .replace("backward gives", "forward mode gives")
                        .replace("Backward gives", "Forward mode gives")
                    )

    def jacobians(self, nondet_tol: float) -> None:
        """Compare the Jacobian of each output by each input, analytical and numerical."""
        numerical = self.numerical()
        if not self.slots and any(np.any(one) for found in numerical for one in found if one is not None):
            raise GradcheckError(
                "Numerical gradient for function expected to be zero: no output requires grad, but the "
                "outputs change with the inputs. The graph is cut, as by .detach(), .item() or no_grad()"
            )
        outputs = self.run()
        for nth, slot in enumerate(self.slots):
            first, second = (self.analytical(outputs[slot]) for _ in range(2))
            for place, one, other in zip(self.places, first, second):
                if one.size and np.abs(one - other).max() > nondet_tol:
                    raise GradcheckError(
                        "Backward is not reentrant, i.e., running backward with same input and grad_output "
                        f"multiple times gives different values: for output {nth} and input {place} they "
                        f"differ by {np.abs(one - other).max():.3g}. The tolerance for nondeterminism was "
                        f"{nondet_tol}."
                    )
            for which, (place, one) in enumerate(zip(self.places, first)):
                by_differences = numerical[which][slot]
                assert by_differences is not None
                if not np.allclose(one, by_differences, self.rtol, self.atol):
                    raise GradcheckError(self._mismatch(nth, slot, place, one, by_differences))

    def _mismatch(self, nth: int, slot: int, place: int, one: np.ndarray, by_differences: np.ndarray) -> str:
        """What is wrong, where it is worst, and what it looks like."""
        tensor, output = self.inputs[place], values_of(self.run())[slot]
        assert output is not None
        wrong = ~np.isclose(one, by_differences, self.rtol, self.atol)
        size = np.nan_to_num(np.abs(one - by_differences), nan=np.inf, posinf=np.inf)
        worst = np.unravel_index(np.where(wrong, size, -1).argmax(), one.shape)
        parts, parts_out = len(directions(tensor)), in_parts(output).size // max(output.size, 1)
        along = directions(tensor)[worst[0] % parts]
        row = tuple(map(int, np.unravel_index(worst[0] // parts, tensor.array.shape)))
        column = tuple(map(int, np.unravel_index(worst[1] // parts_out, output.shape)))
        return (
            f"Jacobian mismatch for output {nth} with respect to input {place},\n"
            f"numerical:{by_differences}\nanalytical:{one}\n"
            f"{wrong.sum()} of {wrong.size} entries disagree. Worst: the derivative of output {nth} at "
            f"{list(column)} by input {place}, {describe(tensor)}, at {list(row)} is "
            f"{by_differences[worst]:.6g} by differences, and backward gives {one[worst]:.6g}."
            + self._guess(slot, place, row, along, int(worst[1]), one, by_differences)
        )

    def _guess(
        self,
        slot: int,
        place: int,
        row: tuple[int, ...],
        along: complex,
        column: int,
        one: np.ndarray,
        by_differences: np.ndarray,
    ) -> str:
        """What the mistake may be."""
        tensor = self.inputs[place]
        if tensor.array.dtype not in (np.float64, np.complex128):
            return f" The input is {tensor.dtype.name}: differences of {self.eps} are lost in its rounding."
        here, above, below = (
            float(in_parts(moved(self.run, tensor, row, by)[slot])[column])
            for by in (0.0, self.eps * along, -self.eps * along)
        )
        right, left = (above - here) / self.eps, (here - below) / self.eps
        if abs(right - left) > 0.01 * (1 + abs(right)):
            return (
                f" There is a kink or a jump: from the right the slope is {right:.6g}, from the left "
                f"{left:.6g}."
            )
        both = (by_differences != 0) & np.isfinite(one)
        ratio = one[both] / by_differences[both]
        if ratio.size and np.ptp(ratio) < 1e-3 and not np.any(one[~both]):
            return f" Backward gives {ratio.mean():.4g} times the right value everywhere."
        return ""

    def zeros_give_zeros(self) -> None:
        """Send zeros back: zeros must arrive."""
        outputs = self._differentiable()
        for place, found in zip(self.places, self.gradients(outputs, [zeros(one) for one in outputs])):
            if np.any(found):
                raise GradcheckError(
                    f"backward not multiplied by grad_output: where zeros are sent back, input {place} gets "
                    f"{found.ravel()[np.flatnonzero(found)[0]]:.6g}"
                )

    def outputs_left_out(self) -> None:
        """Send nothing back for each of several outputs in turn: that must do what zeros do."""
        self._nothing_at_all()
        for left_out in range(len(self.slots) if len(self.slots) > 1 else 0):
            outputs = self._differentiable()
            del outputs[left_out]
            try:
                found = self.gradients(outputs, [zeros(one) for one in outputs])
            except Exception as error:
                raise GradcheckError(
                    "Expected backward function to handle undefined output grads: it fails where nothing "
                    f"comes back to output {left_out}, with {type(error).__name__}: {error}"
                ) from error
            if any(np.any(one) for one in found):
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are undefined "
                    f"or zero: they are not where nothing comes back to output {left_out}"
                )

    def _nothing_at_all(self) -> None:
        """Send nothing back to each custom function that wants to be told of it."""
        for node in _behind(self._differentiable()):
            ctx = (node.settings or {}).get("ctx")
            if ctx is None or ctx.materialize_grads:
                continue
            try:
                with autograd.no_grad():
                    found = node.operation.derivatives["joint"].vjp(Parts({}), ctx)
            except Exception as error:
                raise GradcheckError(
                    "Expected backward function to handle undefined output grads: it fails where nothing "
                    f"comes back to {node.name()}, which said ctx.set_materialize_grads(False), with "
                    f"{type(error).__name__}: {error}"
                ) from error
            if any(one is not None and np.any(one) for one in found):
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are undefined "
                    f"or zero: they are not where nothing comes back to {node.name()}"
                )

    def dtypes(self) -> None:
        """Refuse a custom function whose gradients the engine has to convert."""

        def listen(event: str, node: Any, *values: Any) -> None:
            if event == "contribution" and node.operation.forward is None:
                place, raw, made = values[:3]
                if raw.dtype != made.dtype:
                    raise GradcheckError(
                        f"Gradient has dtype mismatch: {node.name()} makes {raw.dtype} for its input "
                        f"{place}, which is {made.dtype}"
                    )

        outputs = self._differentiable()
        roots = [output._node or output for output in outputs]
        seeds = [made_beside(np.ones_like, output.array) for output in outputs]
        run_backward(roots, seeds, retain_graph=True, listener=listen, into_leaves=False)

    def _differentiable(self) -> list[Tensor]:
        outputs = self.run()
        return [outputs[slot] for slot in self.slots]
