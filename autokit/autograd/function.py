"""Operations with a derivative of one's own: :class:`Function`.

``apply`` runs ``forward`` without recording, and puts one node into the graph
for all of it.  When a gradient arrives there, that node's rule calls
``backward``.  Both are plain calls of the learner's functions, so a debugger
stops in them as anywhere else.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any

from autokit.autograd.modes import no_grad
from autokit.autograd.node import Node
from autokit.missing import names_of
from autokit.ops.custom import held
from autokit.ops.custom_call import check_dirty, nothing, positional, record_call
from autokit.ops.packing import SavedTensor, saved_by
from autokit.ops.rules import Operation
from autokit.tensor import Tensor
from autokit.thread_state import thread

__getattr__ = names_of("torch.autograd.function")


class FunctionCtx:
    """What ``forward`` leaves for ``backward``: the ``ctx`` of a :class:`Function`.

    Besides what its methods keep, any attribute may be set on it.

    Attributes
    ----------
    needs_input_grad : tuple of bool
        For each argument of ``apply`` whether its gradient will be used.
    """

    needs_input_grad: tuple[bool, ...] = ()
    materialize_grads = True
    _to_save: tuple[Any, ...] = ()
    _to_see: tuple[Any, ...] = ()
    _kept: list[Any] | None = None
    _dirty: tuple[Tensor, ...] = ()
    _constant: tuple[Tensor, ...] = ()
    _node: Callable[[], Node | None] = staticmethod(nothing)
    _nodes: dict[int, Callable[[], Node | None]] = {}  # noqa: RUF012 - replaced, never changed
    _places: tuple[bool, ...] = ()
    _shapes: tuple[tuple[int, ...], ...] = ()
    _outputs: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for ``backward``, which finds them in :attr:`saved_tensors`; once, in ``forward``."""
        for place, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {place} is of type "
                    f"{type(tensor).__name__}; what is no tensor can be an attribute, as in ctx.n = n"
                )
        self._to_save = tensors

    def save_for_forward(self, *tensors: Tensor) -> None:
        """Keep tensors for ``jvp``, which finds them in :attr:`saved_tensors`, as ``backward`` does."""
        self._to_save = self._to_save or tensors

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """What :meth:`save_for_backward` kept.

        Raises
        ------
        RuntimeError
            If one was changed in place since, or they were freed by a backward pass.
        """
        node = self._node()
        if node is None:  # still in forward, or in jvp
            return self._to_see
        return tuple([None if one is None else one.unpack(self) for one in held(node, self._kept)])

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor, ...]:
        node = self._node()
        kept = held(node, self._kept)
        assert node is not None
        return tuple([saved_by(node, None) if one is None else one.raw(self, node) for one in kept])

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say which arguments ``forward`` changes in place; it must return them."""
        self._dirty = _tensors("mark_dirty can only accept variables, but argument", tensors)

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say which results have no gradient, such as indices."""
        self._constant = _tensors("mark_non_differentiable only accepts variable arguments, but got", tensors)

    def set_materialize_grads(self, value: bool) -> None:
        """Whether ``backward`` gets zeros, in place of None, for results that no gradient came back to."""
        self.materialize_grads = value

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


def _tensors(complaint: str, values: tuple[Any, ...]) -> tuple[Tensor, ...]:
    for place, value in enumerate(values):
        if not isinstance(value, Tensor):
            raise RuntimeError(f"{complaint} {place} of type {type(value).__name__}")
    return values


class Function:
    """An operation with a derivative of one's own.

    Subclasses define two static methods, and are run by :meth:`apply`:

    * ``forward(ctx, *args)`` computes the result; or ``forward(*args)``
      together with ``setup_context(ctx, inputs, output)``, which then does
      what has to be done for the way back.
    * ``backward(ctx, *grad_outputs)`` gets the gradient of each result, and
      returns one gradient for each argument of ``forward``: None for what is
      no tensor or needs none.

    ``backward`` is recorded under ``create_graph=True``; it can be
    differentiated itself if it is written in operations on tensors.
    ``jvp`` may be defined, for derivatives in forward mode; ``vmap`` is not called.

    Raises
    ------
    RuntimeError
        While gradients flow: if ``backward`` returns another number of
        gradients than there were arguments, or one of another shape.

    Examples
    --------
    >>> import autokit as torch
    >>> class Cube(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x**3
    ...
    ...     @staticmethod
    ...     def backward(ctx, grad_output):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x**2 * grad_output
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> y = Cube.apply(x)
    >>> y.backward()
    >>> y, x.grad
    (tensor(8., grad_fn=<CubeBackward>), tensor(12.))
    """

    _context: type[FunctionCtx] = FunctionCtx
    _operations: dict[tuple[int, ...], Operation]

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        cls._context = type(f"{cls.__name__}Backward", (FunctionCtx,), {})
        cls._operations = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you "
            f"should invoke them on the class itself: {type(self).__name__}.apply(...). Instantiating an "
            "autograd function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style "
            "autograd function with static forward method, and call "
            f"{type(self).__name__}.apply(...). "
            "(Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result; to be defined by the subclass."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Prepare ``ctx``, where ``forward`` takes none; may be defined by the subclass."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """From the gradient of each result, make that of each argument; to be defined by the subclass."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use "
            "it with backward mode AD."
        )

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """From the tangent of each argument, make that of each result; may be defined by the subclass."""
        raise NotImplementedError("You must implement the jvp function for custom autograd.Function.")

    vjp = backward

    @classmethod
    def _takes_context(cls) -> bool:
        """Whether ``forward`` takes ``ctx`` itself."""
        return cls.setup_context is Function.setup_context

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run ``forward``, and put it into the graph where a tensor among ``args`` requires grad."""
        ctx = cls._context()
        apart = not cls._takes_context()
        if apart or kwargs:
            args = positional(cls.forward, args if apart else (ctx, *args), kwargs, apart)[not apart :]
        ctx.needs_input_grad = tuple([isinstance(a, Tensor) and a._requires_grad for a in args])
        operands = tuple([a for a in args if isinstance(a, Tensor)])
        # Taken now, since forward may change an argument in place.
        sources = tuple([t._node or t for t in operands])
        recording = thread.state.grad_enabled
        forward, thread.state.forward = thread.state.forward, ()  # tangents are carried by jvp
        try:
            with no_grad():
                result = cls.forward(*args) if apart else cls.forward(ctx, *args)
                if apart:
                    cls.setup_context(ctx, args, result)
                outputs = list(result) if isinstance(result, tuple) else [result]
                check_dirty(ctx, operands, outputs, recording)
        finally:
            thread.state.forward = forward
        ctx._places = tuple([isinstance(a, Tensor) for a in args])
        ctx._shapes = tuple([tensor.array.shape for tensor in operands])
        if forward:
            from autokit.func.tangents import carried_by_function

            carried_by_function(cls, ctx, operands, sources, outputs)
        if recording and any(ctx.needs_input_grad):
            record_call(cls, ctx, operands, sources, outputs)
        return tuple(outputs) if isinstance(result, tuple) else outputs[0]


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """For a ``backward`` that computes outside of the graph: differentiating it again raises.

    Examples
    --------
    >>> import autokit as torch
    >>> class Double(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...
    ...     @staticmethod
    ...     @once_differentiable
    ...     def backward(ctx, grad_output):
    ...         return grad_output * 2
    """

    @wraps(backward)
    def once(ctx: FunctionCtx, *gradients: Any) -> Any:
        with no_grad():
            outputs = backward(ctx, *gradients)
        learns = any(isinstance(one, Tensor) and one._requires_grad for one in gradients)
        if not (thread.state.grad_enabled and learns):
            return outputs
        made = outputs if isinstance(outputs, tuple) else (outputs,)
        made = tuple(
            [_Twice.apply(one.detach().requires_grad_()) if isinstance(one, Tensor) else one for one in made]
        )
        return made if isinstance(outputs, tuple) else made[0]

    return once


class _Twice(Function):
    """A gradient that has no gradient."""

    @staticmethod
    def forward(ctx: Any, gradient: Tensor) -> Tensor:
        return gradient

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )
