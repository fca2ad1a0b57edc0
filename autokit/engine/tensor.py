"""The tensor: an array, whether it requires a gradient, and the node that computed it.

This file holds what a tensor is. Its methods and operators are the operations of ``autokit.ops``, which are
bound to the class when the package is imported; so is ``backward``, from ``autokit.autograd``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from autokit.base import dtypes, errors
from autokit.base.devices import address_of, device_of, on_a_gpu, to_numpy
from autokit.base.handles import RemovableHandle
from autokit.base.printing import format_array
from autokit.base.size import Size
from autokit.engine.modes import thread
from autokit.engine.node import HOOKED, NAMES, Node


class Tensor:
    """An array that can remember how it was computed.

    ``Tensor(2, 3)`` has this shape and holds zeros, ``Tensor([1, 2])`` holds these numbers, both in the
    default floating point dtype; prefer :func:`autokit.tensor`, which also takes a dtype and a device.

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
    _storage: Any

    __hash__ = object.__hash__  # by identity: == compares the elements

    def __init__(self, *data: Any) -> None:
        if len(data) == 1 and not isinstance(data[0], int):
            if isinstance(data[0], float):
                raise TypeError(f"new(): data must be a sequence (got float); write tensor({data[0]})")
            values = data[0].array if isinstance(data[0], Tensor) else data[0]
            self.array = np.array(values, dtypes.get_default_dtype().numpy)
        else:
            self.array = np.zeros(errors.sizes_of(data or (0,), "new"), dtypes.get_default_dtype().numpy)
        self._node = self._grad = self._storage = None
        self._requires_grad = False

    if TYPE_CHECKING:  # bound by autokit.ops

        def __getattr__(self, name: str) -> Any: ...
        def _with(self, other: Any) -> Tensor: ...

        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _with
        __pow__ = __matmul__ = _with

        def __neg__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __getitem__(self, index: Any) -> Tensor: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...

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
            NAMES[self._node] = name or ""

    @property
    def grad_fn(self) -> Node | None:
        """The node of the recorded operation that computed it; None for a leaf."""
        return self._node

    @property
    def is_leaf(self) -> bool:
        """Whether it is a leaf: a tensor that no recorded operation computed."""
        return self._node is None

    @property
    def is_cuda(self) -> bool:
        """Whether the elements are on a GPU."""
        return on_a_gpu(self.array)

    is_sparse = is_quantized = is_mps = False

    @property
    def is_cpu(self) -> bool:
        """Whether the elements are in the computer's main memory."""
        return not on_a_gpu(self.array)

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

    @property
    def _version(self) -> int:
        """The version counter: how often its memory was changed in place."""
        return self._storage.version if self._storage is not None else 0

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of dimension ``dim``."""
        return self.shape if dim is None else self.array.shape[errors.one_dim(dim, self.array.ndim)]

    def dim(self) -> int:
        """How many dimensions there are."""
        return self.array.ndim

    ndimension = dim

    def numel(self) -> int:
        """How many elements there are."""
        return self.array.size

    nelement = numel

    def element_size(self) -> int:
        """The bytes of one element."""
        return self.array.dtype.itemsize

    def stride(self, dim: int | None = None) -> Any:
        """How many elements lie between neighbours, along each dimension or along ``dim``."""
        strides = tuple([step // self.array.itemsize for step in self.array.strides])
        return strides if dim is None else strides[errors.one_dim(dim, self.array.ndim)]

    def is_contiguous(self) -> bool:
        """Whether the elements lie in memory in the order of the indices."""
        return self.array.flags.c_contiguous

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
            raise RuntimeError(f"requires_grad must be True or False, not {type(wanted).__name__}")
        if not wanted and self._node is not None:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed "
                "variable in a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
            )
        if wanted and self.array.dtype.kind != "f":
            raise RuntimeError(
                "only Tensors of floating point dtype can require gradients; "
                f"this one is {self.dtype.name}: convert it with .float(), or write 1.0 in place of 1"
            )
        self._requires_grad = wanted

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set ``requires_grad`` and return the tensor."""
        self.requires_grad = requires_grad
        return self

    @property
    def grad(self) -> Tensor | None:
        """The sum of the gradients that ``backward()`` brought here; None before the first one."""
        if self._grad is None and self._node is not None and "_retains" not in self.__dict__:
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
            if not isinstance(gradient, Tensor):
                raise TypeError(
                    f"assigned grad expected to be a Tensor or None but got {type(gradient).__name__}"
                )
            if gradient.array.shape != self.array.shape:
                raise RuntimeError(
                    f"attempting to assign a gradient of size '{list(gradient.shape)}' to a tensor of size "
                    f"'{list(self.shape)}'"
                )
            if gradient.array.dtype != self.array.dtype:
                raise RuntimeError(
                    f"assigned grad has data of a different type: {gradient.dtype.name}, where the tensor "
                    f"has {self.dtype.name}"
                )
        self._grad = gradient

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    def retain_grad(self) -> None:
        """Let ``backward()`` fill ``.grad`` although this tensor is no leaf."""
        if not self._requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self._node is None or "_retains" in self.__dict__:
            return
        me = ref(self)  # the node must not hold its own result

        def retain(gradient: Tensor) -> None:
            tensor = me()
            if tensor is not None:
                tensor._grad = gradient.clone() if tensor._grad is None else tensor._grad + gradient

        self.__dict__["_retains"] = RemovableHandle(self._node.own_hooks.result, retain)

    @property
    def retains_grad(self) -> bool:
        """Whether :meth:`retain_grad` was called."""
        return "_retains" in self.__dict__

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call ``hook`` with this tensor's gradient once it is complete; it may return another one.

        Returns
        -------
        handle
            Its ``remove()`` takes the hook away.
        """
        if not self._requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self._node is None:
            return self._hook_of_leaf("_hooks", hook)
        hooks = self._node.own_hooks.result
        handle = RemovableHandle(hooks, hook)
        if "_retains" in self.__dict__:  # it stays the last, to retain what the other hooks return
            retaining = self.__dict__["_retains"].id
            hooks[retaining] = hooks.pop(retaining)
        return handle

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call ``hook`` with this leaf whenever a gradient was added to its ``.grad``."""
        if not self._requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self._node is not None:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        return self._hook_of_leaf("_post_accumulate_hooks", hook)

    def _hook_of_leaf(self, kind: str, hook: Any) -> RemovableHandle:
        HOOKED[id(self)] = self
        return RemovableHandle(self.__dict__.setdefault(kind, {}), hook)

    # ------------------------------------------------------------ the same values elsewhere

    def detach(self) -> Tensor:
        """A tensor with the same memory that is outside of the graph: no gradient flows through it."""
        from autokit.engine.record import storage_of

        same = new_tensor(self.array)
        same._storage = storage_of(self)
        return same

    def detach_(self) -> Tensor:
        """Detach this tensor itself: it becomes a leaf that requires no gradient."""
        if self._base is not None:
            raise RuntimeError("Can't detach views in-place. Use detach() instead.")
        self._node, self._requires_grad = None, False
        return self

    @property
    def data(self) -> Tensor:
        """A tensor with the same memory, outside of the graph; the version counter misses changes to it."""
        return new_tensor(self.array)

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        self.array = value.array

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """The elements as a NumPy array that shares their memory.

        Raises
        ------
        RuntimeError
            If the tensor requires grad: ``.detach().numpy()`` says that the graph ends here.
        TypeError
            If the tensor is on a GPU: ``.cpu()`` copies it.
        """
        if force:
            return to_numpy(self.array)
        if self._requires_grad and thread.state.recording:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
            )
        if on_a_gpu(self.array):
            raise TypeError(
                f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the "
                "tensor to host memory first."
            )
        return self.array

    def item(self) -> Any:
        """The only element, as a Python number."""
        if self.array.size != 1:
            raise RuntimeError(
                f"a Tensor with {self.array.size} elements cannot be converted to Scalar: its shape is "
                f"{tuple(self.shape)}; reduce it first, for example with .sum() or .mean()"
            )
        return self.array.item()

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return self.array.tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    # ------------------------------------------------------------ as a Python value

    def __bool__(self) -> bool:
        if self.array.size != 1:
            raise RuntimeError(
                "Boolean value of Tensor with "
                f"{'no values' if not self.array.size else 'more than one value'} is ambiguous: its shape is "
                f"{tuple(self.shape)}; say .all() or .any()"
            )
        return bool(self.array.item())

    def _number(self) -> Any:
        if self.array.size != 1:
            raise ValueError(
                "only one element tensors can be converted to Python scalars: this one is of shape "
                f"{tuple(self.shape)}"
            )
        return self.array.item()

    def __float__(self) -> float:
        return float(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def __complex__(self) -> complex:
        return complex(self._number())

    def __index__(self) -> int:
        if self.array.dtype.kind not in "bui" or self.array.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.array.item())

    def __len__(self) -> int:
        if not self.array.ndim:
            raise TypeError("len() of a 0-d tensor")
        return self.array.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self.array.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind())

    def __repr__(self) -> str:
        name = None if self._node is None else self._node.kind
        return format_array(self.array, grad_fn_name=name, requires_grad=self._requires_grad)

    def __format__(self, specification: str) -> str:
        if self.array.ndim:
            return object.__format__(self, specification)
        return format(self.item(), specification)


bare_tensor = partial(object.__new__, Tensor)  # in less time than object.__new__(Tensor)
_ndarray = np.ndarray


def new_tensor(array: Any) -> Tensor:
    """A tensor with the elements ``array``, outside of any graph."""
    if array.__class__ is not _ndarray and isinstance(array, np.generic):
        array = np.asarray(array)  # NumPy gives a scalar where there are no dimensions
    tensor = bare_tensor()
    tensor.array = array
    tensor._requires_grad = False
    tensor._node = None
    tensor._grad = None
    tensor._storage = None
    return tensor
