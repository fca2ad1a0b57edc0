"""The tensor: an array, whether it wants a gradient, and how it was made.

The operations are not here: each is one rule in ``autokit.ops``, which binds
it to this class as method and operator; ``autokit.autograd`` binds
``backward``.  Here is what a tensor *is*.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from autokit import dtypes
from autokit.batches.batch import Batch
from autokit.devices import address_of, device_of, no_numpy, to_numpy
from autokit.handles import RemovableHandle
from autokit.late_errors import LATE, raise_late
from autokit.printing import format_array, format_scalar
from autokit.size import Size
from autokit.thread_state import thread

if TYPE_CHECKING:
    from autokit.autograd.node import Node
    from autokit.memory import Storage


class Tensor:
    """An array that can remember how it was computed.

    ``Tensor(2, 3)`` and ``Tensor([1, 2])`` make float32 tensors, as in
    PyTorch; :func:`autokit.tensor` is the better way to make one.

    Attributes
    ----------
    array : numpy.ndarray or cupy.ndarray
        The elements.
    """

    __slots__ = ("__dict__", "__weakref__", "_grad", "_node", "_requires_grad", "_storage", "array")
    array: Any
    _node: Node | None
    _grad: Tensor | None
    _requires_grad: bool
    _storage: Storage | None

    __hash__ = object.__hash__  # by identity: == compares the elements

    def __init__(self, *data: Any, device: Any = None) -> None:
        from autokit.ops.shape import legacy_tensor

        made = legacy_tensor(data)
        self.array, self._storage = made.array, made._storage
        self._node, self._grad, self._requires_grad = made._node, None, made._requires_grad
        self.__dict__.update(made.__dict__)

    if TYPE_CHECKING:  # methods and operators are bound by autokit.ops

        def __getattr__(self, name: str) -> Any: ...
        def _with(self, other: Any) -> Tensor: ...

        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _with
        __pow__ = __matmul__ = _with

        def __neg__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __getitem__(self, index: Any) -> Tensor: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...
        def __deepcopy__(self, memo: dict[int, Any]) -> Tensor: ...

    # ------------------------------------------------------------ what it is

    @property
    def shape(self) -> Size:
        """The size of each dimension."""
        return Size.of(self.array.shape)

    @property
    def dtype(self) -> dtypes.dtype:
        """The type of the elements."""
        return dtypes.BY_NUMPY[self.array.dtype]

    @property
    def device(self) -> Any:
        """Where the elements are."""
        return device_of(self.array)

    @property
    def ndim(self) -> int:
        """How many dimensions there are."""
        return self.array.ndim

    @property
    def name(self) -> str:
        """The name that pictures and errors use, where the learner gave one: ``x.name = "x"``."""
        return self.__dict__.get("_name", "")

    @name.setter
    def name(self, name: str | None) -> None:
        if not isinstance(name, str | None):
            raise TypeError(f"a name must be str or None, not {type(name).__name__}")
        self.__dict__["_name"] = name or ""
        if self._node is not None:
            from autokit.autograd.node import NAMES

            NAMES[self._node] = name or ""

    @property
    def grad_fn(self) -> Node | None:
        """The operation that made it, where that was recorded; None for a leaf."""
        if "_base" in self.__dict__:
            from autokit.ops.views import renew

            renew(self)
        return None if self._node is None else self._node.owner.shown()

    @property
    def output_nr(self) -> int:
        """Which of the results of its ``grad_fn`` it is."""
        return 0 if self._node is None else self._node.output_nr

    @property
    def is_leaf(self) -> bool:
        """Whether it was made by the learner and not by a recorded operation."""
        return self._node is None or ("_base" in self.__dict__ and self.grad_fn is None)

    @property
    def is_cuda(self) -> bool:
        """Whether the elements are on a GPU."""
        return self.device.type == "cuda"

    @property
    def is_cpu(self) -> bool:
        """Whether the elements are in the computer's main memory."""
        return self.device.type == "cpu"

    is_quantized = is_mps = False

    @property
    def itemsize(self) -> int:
        """The bytes of one element."""
        return self.array.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.array.nbytes

    @property
    def _base(self) -> Tensor | None:
        """The tensor whose memory it shares, where it is a view."""
        return self.__dict__.get("_base")

    def _is_view(self) -> bool:
        return "_base" in self.__dict__

    @property
    def _version(self) -> int:
        if self.is_inference():
            raise RuntimeError("Inference tensors do not track version counter.")
        return self._storage.version if self._storage is not None else 0

    def is_inference(self) -> bool:
        """Whether it was made in :class:`autokit.inference_mode`, so that no graph may need it."""
        return self._storage is not None and self._storage.of_inference

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of dimension ``dim``."""
        if dim is None:
            return self.shape
        if dim.__class__ is not int:
            from autokit.ops.dims import one_dim

            dim = one_dim(dim, "size")
        try:
            return self.array.shape[dim]
        except IndexError:
            from autokit.ops.errors import dimension_error

            raise dimension_error(dim, self.array.ndim) from None

    def dim(self) -> int:
        """How many dimensions there are."""
        return self.array.ndim

    def numel(self) -> int:
        """How many elements there are."""
        return self.array.size

    nelement = numel

    def element_size(self) -> int:
        """The bytes of one element."""
        return self.array.dtype.itemsize

    def stride(self, dim: int | None = None) -> Any:
        """How many elements lie between neighbours, along each dimension or along ``dim``."""
        strides = tuple(step // self.array.itemsize for step in self.array.strides)
        if not self.array.size and not any(strides):  # NumPy's, where there are no elements
            from autokit.ops.strides import row_major

            strides = row_major(self.array.shape)
        if dim is None:
            return strides
        from autokit.ops.dims import one_dim, place_of

        place = place_of(one_dim(dim, "stride"), self.array.ndim, "stride")
        if not strides:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        return strides[place]

    def is_contiguous(self, *, memory_format: Any = None) -> bool:
        """Whether the elements lie in memory in the order of the indices, or of ``memory_format``."""
        if memory_format is None:
            return self.array.flags.c_contiguous
        return self.array.transpose(memory_format.order(self.array.ndim)).flags.c_contiguous

    def data_ptr(self) -> int:
        """The address of the first element."""
        return address_of(self.array)

    # ------------------------------------------------------------ its gradient

    @property
    def requires_grad(self) -> bool:
        """Whether operations on it are recorded; settable on a leaf."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if not isinstance(wanted, bool):
            raise RuntimeError(f"requires_grad must be a bool, not {type(wanted).__name__}: True or False")
        if not wanted and self._node is not None and self._node.way.learns:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed "
                "variable in a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
            )
        if wanted and self.array.dtype.kind not in dtypes.DIFFERENTIABLE:
            raise RuntimeError(
                "only Tensors of floating point and complex dtype can require gradients; "
                f"this one is {self.dtype.name}: convert it with .float(), or write 1.0 in place of 1"
            )
        if wanted and self.is_inference() and not thread.state.inference:
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed: "
                "clone() it, or make it in torch.no_grad()"
            )
        if wanted and not self.array.flags.c_contiguous:
            from autokit.autograd.node import Hooks

            Hooks.turned_leaves = True
        if self._storage is None:
            self._requires_grad = wanted
        else:
            from autokit.ops.views import let_require_grad

            let_require_grad(self, wanted)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set ``requires_grad`` and return the tensor."""
        if not isinstance(requires_grad, bool):
            raise TypeError(
                "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
                f"{type(requires_grad).__name__}"
            )
        self.requires_grad = requires_grad
        return self

    @property
    def grad(self) -> Tensor | None:
        """The gradient that ``backward()`` left here: None before, and None where none was wanted."""
        if self._grad is None and self._node is not None and self._node.kind and not self.retains_grad:
            warnings.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
                "attribute won't be populated during autograd.backward(). If you indeed want the .grad field "
                "to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor.",
                UserWarning,
                stacklevel=2,
            )
        return self._grad

    @grad.setter
    def grad(self, gradient: Tensor | None) -> None:
        if gradient is not None:
            from autokit.ops.leaves import refuse_gradient

            refuse_gradient(self, gradient)
        self._grad = gradient

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    def retain_grad(self) -> None:
        """Let ``.grad`` be filled although this tensor is no leaf."""
        if not self._requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self._node is None or not self._node.way.learns or "_retains" in self.__dict__:
            return
        self.__dict__["_retains"] = True
        me = ref(self)  # the node must not hold its own result

        def retain(gradient: Tensor) -> None:
            tensor = me()
            if tensor is not None:
                tensor._grad = gradient.clone() if tensor._grad is None else tensor._grad + gradient

        self._node.own_hooks().retain = retain  # type: ignore[union-attr]

    @property
    def retains_grad(self) -> bool:
        """Whether :meth:`retain_grad` was called."""
        return "_retains" in self.__dict__

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call ``hook`` with this tensor's gradient once it is known; it may return another one.

        Returns
        -------
        handle
            Its ``remove()`` takes the hook away.
        """
        if not self._requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self._node:
            return RemovableHandle(self._node.own_hooks().result, hook)
        return self._hook_of_leaf("_hooks", hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call ``hook`` with this leaf each time that a gradient was added to its ``.grad``."""
        if not self._requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self._node is not None:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        return self._hook_of_leaf("_post_accumulate_hooks", hook)

    def _hook_of_leaf(self, kind: str, hook: Any) -> RemovableHandle:
        from autokit.autograd.node import Hooks

        Hooks.on_leaves = True
        return RemovableHandle(self.__dict__.setdefault(kind, {}), hook)

    # ------------------------------------------------------------ the same values elsewhere

    def detach(self) -> Tensor:
        """The same memory, outside of the graph."""
        from autokit.ops.recording import storage_of

        same = new_tensor(self.array)
        same._storage = storage_of(self)
        return same

    def detach_(self) -> Tensor:
        """Take this tensor itself out of the graph; for views there is :meth:`detach` alone."""
        if self._is_view():
            raise RuntimeError("Can't detach views in-place. Use detach() instead.")
        for level in thread.state.forward:
            level.forget(self)
        self._node = None
        self.requires_grad = False
        return self

    @property
    def data(self) -> Tensor:
        """The same memory, outside of the graph and unwatched: changes through it are not noticed."""
        self._give_out()
        same = new_tensor(self.array)
        same._storage = self._storage if self.is_inference() else None
        return same

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        from autokit.ops.inplace import set_data

        set_data(self, value.array)

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    def _give_out(self) -> None:
        """Let nodes copy what they need: the memory may be changed from here on, and nothing tells of it."""
        if self._storage is not None and self._storage.keepers:
            from autokit.ops.own_copies import keep_elements

            keep_elements(self._storage)

    def numpy(self, force: bool = False) -> np.ndarray:
        """The elements as a NumPy array that shares their memory.

        Raises
        ------
        RuntimeError
            If the tensor requires grad: ``.detach().numpy()`` says that the graph ends here.
        """
        if self._requires_grad and not force and thread.state.grad_enabled:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
            )
        self._give_out()
        if self.array.__class__ is Batch:
            return self.array.__array__()  # says why there is none
        if not isinstance(self.array, np.ndarray) and not force:
            raise no_numpy(self.array)
        return to_numpy(self.array)

    def item(self) -> Any:
        """The only element, as a Python number."""
        if self.array.size != 1:
            raise RuntimeError(
                f"a Tensor with {self.array.size} elements cannot be converted to Scalar: its shape is "
                f"{tuple(self.shape)}; reduce it first, for example with .sum() or .mean()"
            )
        return self._number()

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return to_numpy(self.array).tolist()

    def _number(self) -> Any:
        """The only element, once it is known that no error came with it."""
        number = self.array.item()
        if LATE:
            raise_late()
        return number

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self.numpy()
        return np.array(array, dtype=dtype, copy=copy)

    # ------------------------------------------------------------ as a Python value

    def __bool__(self) -> bool:
        if self.array.size != 1:
            raise RuntimeError(
                "Boolean value of Tensor with "
                f"{'no values' if not self.array.size else 'more than one value'} is ambiguous: its shape is "
                f"{tuple(self.shape)}; say .all() or .any()"
            )
        return bool(self._number())

    def _as_number(self) -> Any:
        if self._requires_grad and Tensor._warns_of_numbers:
            Tensor._warns_of_numbers = False
            warnings.warn(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
                "Consider using tensor.detach() first.",
                UserWarning,
                stacklevel=3,
            )
        if self.array.size != 1:
            raise ValueError(
                "only one element tensors can be converted to Python scalars: "
                f"this one is of shape {tuple(self.shape)}"
            )
        return self._number()

    _warns_of_numbers = True
    """Whether a number made of a tensor that learns is still to be warned of: as in PyTorch just once."""

    def __float__(self) -> float:
        return float(self._as_real_number())

    def __int__(self) -> int:
        return int(self._as_real_number())

    def _as_real_number(self) -> Any:
        number = self._as_number()
        if number.__class__ is not complex:
            return number
        if number.imag:
            raise RuntimeError(
                f"value cannot be converted to type double without overflow: {number} has an imaginary part; "
                "take .abs(), .real or .imag of it"
            )
        return number.real

    def __complex__(self) -> complex:
        return complex(self._as_number())

    def __index__(self) -> int:
        if self.array.dtype.kind not in "bui" or self.array.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._number())

    def __len__(self) -> int:
        if not self.array.ndim:
            raise TypeError("len() of a 0-d tensor")
        return self.array.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self.array.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind())

    # ------------------------------------------------------------ as text and picture

    def __repr__(self) -> str:
        if "_base" in self.__dict__:
            from autokit.ops.views import name_of_node

            made_by = name_of_node(self)
        else:
            made_by = self._node.kind if self._node is not None else None
        facts: dict[str, Any] = {"grad_fn_name": made_by, "requires_grad": self._requires_grad}
        for level in thread.state.forward:
            facts |= level.facts_of(self)
        return format_array(
            self.array,
            **facts,
            device=str(self.device),
            default_dtype=dtypes.get_default_dtype().name,
        )

    def __format__(self, specification: str) -> str:
        if self.array.ndim:
            return object.__format__(self, specification)
        return format_scalar(to_numpy(self.array), specification)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        from autokit import draw
        from autokit.graphs.capture import graph
        from autokit.graphs.model import NOT_COMPUTED

        pictured = graph(self)
        if self._node is not None:
            picture = draw.html(pictured)
        else:
            (alone,) = pictured.nodes
            assert alone.value is not None
            gradient = alone.gradient.text if alone.gradient else NOT_COMPUTED if self.requires_grad else ""
            picture = draw.tensor_html(alone.value, alone.label, gradient)
        return {"text/plain": repr(self), "text/html": picture}


class Literal(Tensor):
    """A Python number that took part in an operation: the ``2`` of ``2 * x``."""

    __slots__ = ()


bare_tensor = partial(object.__new__, Tensor)  # in less time than object.__new__(Tensor)
_ndarray = np.ndarray


def new_tensor(array: Any) -> Tensor:
    """A tensor around ``array``, outside of any graph."""
    if type(array) is not _ndarray and isinstance(array, np.generic):
        array = np.asarray(array)  # NumPy gives a scalar where there are no dimensions
    tensor = bare_tensor()
    tensor.array = array
    tensor._requires_grad = False
    tensor._node = None
    tensor._grad = None
    tensor._storage = None if _storage_of_new is None else _storage_of_new()
    return tensor


_storage_of_new: Callable[[], Any] | None = None


def storage_of_new_tensors(give: Callable[[], Any] | None) -> None:
    """Let ``give`` choose each new tensor's storage, while some thread is in inference mode."""
    global _storage_of_new
    _storage_of_new = give
