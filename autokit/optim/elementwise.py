"""What the optimizers share that change each element of a parameter by its own gradient and history.

Adam and its relatives all do the same around their formulas: they skip the
parameters without a gradient, remember some arrays of each parameter's shape
and count the steps.  A method here is only its formulas: what it remembers
(:meth:`ElementwiseOptimizer._begin`), the numbers of one step
(:meth:`ElementwiseOptimizer._numbers_of_step`), and how with these it changes
the elements (:meth:`ElementwiseOptimizer._change`).  On a GPU the last one is
a single kernel for all parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from autokit import dtypes
from autokit.devices import device_of, made_beside
from autokit.ops.gpu.many import over_many
from autokit.ops.half import FLOAT32
from autokit.ops.recording import storage_of
from autokit.ops.sparse_array import SparseArray
from autokit.optim.optimizer import Line, Optimizer
from autokit.tensor import Tensor, new_tensor

PIECE = 1 << 15
"""How many elements are changed at a time.

What a formula computes on the way then stays in the processor's cache, and
takes no memory worth speaking of however large the parameter is.
"""


class ElementwiseOptimizer(Optimizer):
    """Base of the methods in which every element goes its own way."""

    _numbers: ClassVar[tuple[str, ...]] = ("step",)
    """Which entries of a parameter's state are one number each; the others are arrays of its shape."""

    def _begin(self, param: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        """What is remembered of a parameter before its first step, besides the count of the steps."""
        raise NotImplementedError

    def _begun(self, param: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        return {"step": scalar(0.0), **self._begin(param, group)}

    def _numbers_of_step(self, state: dict[str, float], group: dict[str, Any]) -> dict[str, float | None]:
        """What :meth:`_change` needs to know besides arrays: None for what is left out of the formula.

        ``state["step"]`` counts this step already.
        """
        raise NotImplementedError

    @staticmethod
    def _change(array: Any, gradient: Any, state: dict[str, Any], by: dict[str, Any]) -> None:
        """One step: change the elements in ``array``, and the arrays in ``state``, in place.

        The ``gradient`` has the sign of a descent and must stay as it is; ``by`` are the numbers of the
        step.  What may stand here is what :func:`autokit.ops.gpu.many.over_many` takes.
        """
        raise NotImplementedError

    _kernel: ClassVar[Callable[..., None]]

    def __init_subclass__(cls) -> None:
        if "_change" in cls.__dict__:
            cls._kernel = staticmethod(over_many(_in_a_row(cls._change)))

    def _before(self, state: dict[str, Tensor], group: dict[str, Any]) -> None:
        """Change the numbers of ``state`` for the step to come, where there are more than its count."""

    def _after(self, state: dict[str, Tensor], group: dict[str, Any]) -> None:
        """Change the numbers of ``state`` for the step after this one."""

    def _update(self, group: dict[str, Any], line: Line) -> None:
        maximize, change = group["maximize"], self._change
        on_gpu: dict[Any, list[Any]] = {}
        known: dict[Any, dict[str, float | None]] = {}  # most parameters have made as many steps
        with np.errstate(all="ignore"):  # infinities and NaN go their way, as in every operation
            for param in group["params"]:
                if param._grad is None:
                    continue
                if group.get("capturable"):
                    _refuse_capturable_on_cpu(param)
                state = self.state[param]
                if not state:
                    state.update(self._begun(param, group))
                state["step"].array += 1
                self._before(state, group)
                numbers = {name: state[name].array.item() for name in self._numbers}
                arrays = {name: value.array for name, value in state.items() if name not in numbers}
                array, gradient = param.array, param._grad.array
                step = (*numbers.values(),)
                by = known.get(step) or known.setdefault(step, self._numbers_of_step(numbers, group))
                if array.dtype.kind in "cV":
                    self._change_copies(array, gradient, arrays, by, maximize)
                elif gradient.__class__ is SparseArray:
                    raise RuntimeError(
                        f"{type(self).__name__} does not support sparse gradients, please consider "
                        "SparseAdam instead"
                    )
                elif array.__class__ is not np.ndarray:
                    on_gpu.setdefault(((*arrays,), step), []).append((array, gradient, *arrays.values()))
                else:
                    for part in pieces(array):
                        slope = -gradient[part] if maximize else gradient[part]
                        change(array[part], slope, {name: value[part] for name, value in arrays.items()}, by)
                self._after(state, group)
                storage_of(param).change(*line)
            for (names, step), rows in on_gpu.items():
                by = known[step]
                self._kernel(rows, (*by.values(),), arrays=names, numbers=(*by,), maximize=maximize)

    def _change_copies(
        self,
        array: Any,
        gradient: Any,
        arrays: dict[str, Any],
        by: dict[str, float | None],
        maximize: bool,
    ) -> None:
        """Step in float32 where the parameter is bfloat16, and in real pairs where it is complex."""
        works = [_as_real(each) for each in (array, gradient, *arrays.values())]
        changed, slope, *memories = works
        state = dict(zip(arrays, memories, strict=True))
        self._change(changed, -slope if maximize else slope, state, by)
        for target, work in zip((array, *arrays.values()), (changed, *memories), strict=True):
            target[...] = work.view(target.dtype)[..., 0] if target.dtype.kind == "c" else work

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for remembered in self.state.values():
            for name in self._numbers:  # states that old versions of PyTorch saved have Python numbers
                number = remembered.get(name)
                if isinstance(number, Tensor):
                    remembered[name] = number.cpu()  # where each step asks for it
                elif number is not None:
                    remembered[name] = scalar(float(number))


def _in_a_row(change: Any) -> Any:
    """``change`` with all of its arrays and numbers one after the other, and their names after them."""

    def step(
        array: Any, gradient: Any, /, *values: Any, arrays: Any, numbers: Any, maximize: bool = False
    ) -> None:
        slope, count = -gradient if maximize else gradient, len(arrays)
        change(array, slope, dict(zip(arrays, values[:count])), dict(zip(numbers, values[count:])))

    step.__name__ = change.__qualname__.replace("._", "_")
    return step


def zeros_for(param: Tensor, *names: str) -> dict[str, Tensor]:
    """Zeros in the shape of ``param`` under each of ``names``, for a state."""
    return {name: new_tensor(made_beside(np.zeros_like, param.array)) for name in names}


def full_for(param: Tensor, value: float) -> Tensor:
    """A tensor like ``param`` with ``value`` everywhere, in both parts where it is complex."""
    filled = complex(value, value) if param.array.dtype.kind == "c" else value
    return new_tensor(made_beside(np.full_like, param.array, fill_value=filled))


def scalar(value: float) -> Tensor:
    """A number of the state, as in PyTorch: a tensor on the CPU, float64 where that is the default."""
    double = dtypes.get_default_dtype() is dtypes.BY_NAME["float64"]
    return new_tensor(np.array(value, np.float64 if double else np.float32))


def move_towards(average: Any, value: Any, share: float) -> None:
    """Move ``average``, in place, by a ``share`` of its way to ``value``."""
    way = value - average
    way *= share
    average += way


def average_square(average: Any, gradient: Any, kept: float, fresh: float) -> None:
    """Keep the part ``kept`` of ``average``, in place, and take in a ``fresh`` part: ``gradient`` squared."""
    square = gradient * gradient
    square *= fresh
    average *= kept
    average += square


def pieces(array: Any) -> Iterator[Any]:
    """Indices that together cover ``array``, each of about :data:`PIECE` elements or of one row."""
    if not array.ndim:
        yield None  # one element: in one dimension, operations on it give arrays too
    elif array.size <= PIECE:
        yield ...
    else:
        rows = max(1, PIECE * len(array) // array.size)
        for start in range(0, len(array), rows):
            yield slice(start, start + rows)


def _as_real(array: Any) -> Any:
    """A copy of ``array`` to compute with: float32, or the real and imaginary part in a last dimension."""
    if array.dtype.kind == "c":
        copy = array.copy(order="C")[..., None]
        return copy.view(copy.real.dtype)
    return np.atleast_1d(array.astype(FLOAT32))


def _refuse_capturable_on_cpu(param: Tensor) -> None:
    if device_of(param.array).type == "cpu":
        raise AssertionError(
            "If capturable=True, params and state_steps must be on supported devices: ['cuda']. Nothing is "
            "captured on the CPU: leave capturable=False."
        )
