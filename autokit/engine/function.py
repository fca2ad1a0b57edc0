"""Operations whose derivative the learner writes: :class:`Function`.

``apply`` runs ``forward`` without recording, and puts one node into the graph for the whole call. When a
gradient arrives there, the node's derivative calls ``backward``. Both are ordinary calls, so a debugger stops
in them as in any function.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import unwrap
from typing import Any
from weakref import ref

import numpy as np

from autokit.base import errors
from autokit.engine.backward import refuse_freed
from autokit.engine.inplace import mark_changed, rebase, refuse_change
from autokit.engine.modes import no_grad, thread
from autokit.engine.node import SEVERAL, Gradients, Node
from autokit.engine.operation import Operation, derivative, source_of
from autokit.engine.record import PICK, record, storage_of
from autokit.engine.tensor import Tensor, new_tensor


class FunctionCtx:
    """The ``ctx`` of a :class:`Function`, in which ``forward`` keeps what ``backward`` needs.

    Tensors are kept by :meth:`save_for_backward`, other values as attributes.

    Attributes
    ----------
    needs_input_grad : tuple of bool
        For each argument of ``apply`` whether its gradient will be used.
    """

    needs_input_grad: tuple[bool, ...] = ()
    materialize_grads = True
    _saved: tuple[Any, ...] = ()
    _versions: tuple[int, ...] = ()
    _dirty: tuple[Tensor, ...] = ()
    _constant: tuple[Tensor, ...] = ()
    _results: tuple[Any, ...] = ()
    _shapes: list[Any] = []  # noqa: RUF012 - replaced, never changed
    _node: Any = None

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for ``backward``, which finds them in :attr:`saved_tensors`."""
        for place, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {place} is of type "
                    f"{type(tensor).__name__}; what is no tensor can be an attribute, as in ctx.n = n"
                )
        self._saved = tensors

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """The tensors that :meth:`save_for_backward` saved.

        Raises
        ------
        RuntimeError
            If one of them was changed in place after it was saved, or a backward pass freed them.
        """
        node = self._node() if self._node is not None else None
        if node is not None:
            refuse_freed(node)
        for tensor, version in zip(self._saved, self._versions):
            if tensor is not None and tensor._version != version:
                raise RuntimeError(
                    "one of the variables needed for gradient computation has been modified by an inplace "
                    f"operation: {errors.describe(tensor)} is at version {tensor._version}; "
                    f"save_for_backward kept {version}"
                )
        return tuple([self._with_history(each, node) for each in self._saved])

    def _with_history(self, tensor: Tensor | None, node: Any) -> Tensor | None:
        """A saved tensor; where it is a result of this call, with the node that the call recorded."""
        for place, result in enumerate(self._results):
            if tensor is result and node is not None:
                return self._result(node, place, tensor.array)
        return tensor

    def _result(self, node: Node, place: int, array: Any) -> Tensor:
        """The result at ``place`` of the call for which ``node`` was recorded, as a tensor with that node."""
        if node.shape is SEVERAL:  # nobody may hold the result's own node any more
            settings = {"slot": place, "count": len(self._results)}
            return record(thread.state, array, (), (node,), settings, PICK)
        result = new_tensor(array)
        result._node, result._requires_grad = node, True
        return result

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say that ``forward`` changed these inputs in place; it must return them, too."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say that no gradient goes back through these results."""
        self._constant = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Choose whether ``backward`` gets zeros or None for a result that no gradient reached."""
        self.materialize_grads = value

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class Function:
    """An operation whose forward and backward computations a subclass defines.

    A subclass defines two static methods, and :meth:`apply` runs the operation:

    * ``forward(ctx, *args)`` computes the result; or ``forward(*args)`` does, and
      ``setup_context(ctx, inputs, output)`` saves what ``backward`` needs.
    * ``backward(ctx, *grad_outputs)`` gets the gradient of each result, and returns one gradient for each
      argument of ``forward``: None for an argument that is no tensor or needs none.

    Under ``create_graph=True`` the operations in ``backward`` are recorded, so that it can be differentiated
    again if it is written in operations on tensors.

    It may bring its own words, which pictures and stories speak, as attributes or in the head of the class:
    ``class Cube(Function, symbol="³", formula="{x}³", local="3 · {x}²")``.

    Attributes
    ----------
    symbol : str
        What stands for the operation in its box; the class's name where none is given.
    formula : str
        The result, with the names of ``forward``'s arguments in braces.
    local : str or dict
        The local derivative in the same form; a dict gives one for each argument, by its name.

    Raises
    ------
    RuntimeError
        While gradients flow: if ``backward`` returns another number of gradients than there were arguments,
        or one of another shape.

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

    symbol: str = ""
    formula: str = ""
    local: str | Mapping[str, str] = ""
    _operation: Operation
    _arguments: tuple[str, ...]

    def __init_subclass__(cls, **settings: Any) -> None:
        for word in ("symbol", "formula", "local"):
            if word in settings:
                setattr(cls, word, settings.pop(word))
        super().__init_subclass__(**settings)
        name = cls.__name__
        cls._arguments = cls._names_of_arguments()
        local = cls.local or f"{name}.backward"
        rule = derivative(local, lambda g, ctx: cls._gradients(g, ctx))
        called = ", ".join([f"{{{each}}}" for each in cls._arguments or ["inputs"]])
        cls._operation = Operation(
            _no_forward,
            cls.symbol or name,
            cls.formula or f"{name}({called})",
            {"joint": rule},
            floating=False,
            view=False,
            mixed=True,
            name=name,
            backward=f"{name}Backward",
            fast=None,
        )
        if cls._arguments:
            cls._operation.operands, cls._operation.variadic = cls._arguments, False

    @classmethod
    def _names_of_arguments(cls) -> tuple[str, ...]:
        """What ``forward`` calls its arguments beside ``ctx``; nothing where it takes any number of them."""
        code = getattr(unwrap(cls.forward), "__code__", None)
        if code is None or code.co_flags & inspect.CO_VARARGS:
            return ()
        return code.co_varnames[cls._takes_ctx() : code.co_argcount]  # type: ignore[no-any-return]

    @classmethod
    def _takes_ctx(cls) -> bool:
        return cls.setup_context is Function.setup_context

    @staticmethod
    def forward(*args: Any, **settings: Any) -> Any:
        """Compute the result; to be defined by the subclass."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Save what ``backward`` needs in ``ctx``, where ``forward`` takes none; a subclass may define it."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """From the gradient of each result, compute that of each argument; to be defined by the subclass."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use "
            "it with backward mode AD."
        )

    @classmethod
    def apply(cls, *args: Any, **settings: Any) -> Any:
        """Run ``forward``, and put it into the graph where a tensor among ``args`` requires grad."""
        ctx = FunctionCtx()
        ctx.needs_input_grad = tuple([isinstance(each, Tensor) and each._requires_grad for each in args])
        with no_grad():
            if cls._takes_ctx():
                output = cls.forward(ctx, *args, **settings)
            else:
                output = cls.forward(*args, **settings)
                cls.setup_context(ctx, args, output)
        results = output if isinstance(output, tuple) else (output,)
        for each in ctx._dirty:
            if not any(each is result for result in results):
                raise RuntimeError(f"{cls.__name__}.forward marked a tensor as dirty: it must return it, too")
            refuse_change(each)
            mark_changed(each)
        ctx._versions = tuple([0 if each is None else each._version for each in ctx._saved])
        if thread.state.recording and True in ctx.needs_input_grad:
            results = cls._recorded(ctx, args, results)
        return results if isinstance(output, tuple) else results[0]

    @classmethod
    def _recorded(cls, ctx: FunctionCtx, args: tuple[Any, ...], results: tuple[Any, ...]) -> tuple[Any, ...]:
        """``results`` as tensors with the node of this call, where they are tensors and differentiable."""
        ctx._results = results
        ctx._shapes = [each.array.shape if isinstance(each, Tensor) else None for each in args]
        learns = [
            isinstance(each, Tensor)
            and each.array.dtype.kind == "f"
            and not any(each is c for c in ctx._constant)
            for each in results
        ]
        arrays = tuple([each.array if yes else np.zeros(0, bool) for each, yes in zip(results, learns)])
        sources = tuple([source_of(each) if isinstance(each, Tensor) else None for each in args])
        rules = cls._operation.rules(ctx.needs_input_grad)
        settings = {name: each for name, each in zip(cls._arguments, args) if not isinstance(each, Tensor)}
        settings["ctx"] = ctx
        recorded: Any = record(
            thread.state, arrays if len(arrays) > 1 else arrays[0], args, sources, settings, rules
        )
        recorded = recorded if isinstance(recorded, tuple) else (recorded,)
        ctx._node = next((ref(each._node.owner) for each in recorded if each._node is not None), None)
        given = [
            _with_node(result, tensor, any(result is each for each in ctx._dirty)) if yes else result
            for result, tensor, yes in zip(results, recorded, learns)
        ]
        return tuple(given)

    @classmethod
    def _gradients(cls, g: Any, ctx: Any) -> tuple[Any, ...]:
        """Call ``backward`` with the gradient ``g``, and check the gradients that it returns."""
        arrived = g if isinstance(g, Gradients) else (g,)
        bare = not any(isinstance(each, Tensor) for each in arrived)
        given = [
            new_tensor(np.zeros_like(result.array))
            if each is None and ctx.materialize_grads and isinstance(result, Tensor)
            else each
            if each is None or isinstance(each, Tensor)
            else new_tensor(each)
            for each, result in zip(arrived, ctx._results)
        ]
        returned = cls.backward(ctx, *given)
        gradients = list(returned) if isinstance(returned, tuple | list) else [returned]
        count = len(ctx.needs_input_grad)
        while len(gradients) > count and gradients[-1] is None:
            gradients.pop()
        if len(gradients) != count:
            raise RuntimeError(
                f"function {cls.__name__}Backward returned an incorrect number of gradients (expected "
                f"{count}, got {len(gradients)}): one for each argument of forward, None where there is none"
            )
        for place, (one, shape) in enumerate(zip(gradients, ctx._shapes)):
            if one is not None and (shape is None or ctx.needs_input_grad[place]):
                _check(cls.__name__, place, one, shape)
        return tuple([one.array if bare and isinstance(one, Tensor) else one for one in gradients])


def _no_forward(*inputs: Any, ctx: Any) -> Any:
    raise AssertionError("a Function computes its own results")


def _with_node(result: Tensor, recorded: Tensor, dirty: bool) -> Tensor:
    """A result of ``forward`` with the node of the call: the same tensor where it was changed in place."""
    if dirty:
        rebase(result, ..., recorded)
        return result
    recorded._storage = recorded._node.storage = storage_of(result)  # type: ignore[union-attr]
    return recorded


def _check(name: str, place: int, gradient: Any, shape: tuple[int, ...] | None) -> None:
    if shape is None:
        raise RuntimeError(
            f"function {name}Backward returned a gradient different than None at position {place}, but the "
            "argument of forward there is no tensor: return one gradient for each argument, in their order"
        )
    if not isinstance(gradient, Tensor):
        raise RuntimeError(
            f"expected Variable or None (got {type(gradient).__name__}) from {name}.backward, as gradient "
            f"{place}"
        )
    try:
        fits = np.broadcast_shapes(gradient.array.shape, shape) == gradient.array.shape
    except ValueError:
        fits = False
    if not fits:
        raise RuntimeError(
            f"Function {name}Backward returned an invalid gradient at index {place} - got "
            f"{list(gradient.array.shape)} but expected shape compatible with {list(shape)}"
        )


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a ``backward`` that cannot be differentiated itself: a second derivative raises an error.

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
        if not thread.state.recording:
            return outputs
        several = outputs if isinstance(outputs, tuple) else (outputs,)
        refusing = [one if one is None else _NoSecond.apply(one.detach().requires_grad_()) for one in several]
        return tuple(refusing) if isinstance(outputs, tuple) else refusing[0]

    return once


class _NoSecond(Function):
    """The identity, which raises in a backward pass: behind it there is no second derivative."""

    @staticmethod
    def forward(ctx: Any, gradient: Tensor) -> Tensor:
        return new_tensor(gradient.array)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )
