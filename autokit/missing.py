"""What PyTorch has and autokit has not: a missing name says so, and what to use in its place.

``pytorch_names.txt`` holds PyTorch's public names, so that a program that asks
for one of them hears more than "no attribute"; a misspelt name hears its
neighbour.  A module does so by ``__getattr__ = missing.names_of("torch.nn")``.

Tensors must not have a ``__getattr__``, with which Python 3.11 finds no
attribute in its fast way any more: every operation would take a tenth longer.
In its place, each missing name is an attribute that raises.
"""

from __future__ import annotations

import dis
import os
import re
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

_NEVER = (
    (
        r".*(sparse|_coo|_csr|_csc|_bsr|_bsc|crow|ccol).*|hspmm|[ds]smm|smm|sspaddmm|saddmm|(row|col)_indices.*",
        "of sparse tensors it has those of torch.sparse_coo_tensor",
        "torch.sparse_coo_tensor, or a dense tensor",
    ),
    (r"(indices|values)_copy", "it copies where it has to", "the name without _copy"),
    (
        r".*quanti[sz].*|q_.*|q(u)?u?int\w+|int_repr|qscheme|QU?Int.*|fbgemm.*|per_(tensor|channel)_.*",
        "it has no quantized tensors",
        "a floating point dtype",
    ),
    (r"chalf|complex32", "it has not this dtype", "torch.complex64"),
    (r"view_as_(real|complex)_copy", "its name without _copy does it", "torch.view_as_real(x).clone()"),
    (
        r"u?int[1-7]|bits\d+.*|bit|float[48]_.*|uint(16|32|64)",
        "it has not this dtype",
        "torch.int64",
    ),
    (
        r"(is_)?(mps|xpu|ipu|mtia|maia|xla|vulkan|hpu|privateuse1).*|.*(mkldnn|cudnn_|miopen|mtia).*|numa|"
        r".*_(ipu|xla)_\w+",
        "it computes on the CPU and on CUDA GPUs",
        'device="cpu" or device="cuda"',
    ),
    (
        r"Distributed.*|SyncBatchNorm|multiprocessing|is_distributed|(is_)?shared?_?memory_?"
        r"|is_shared|futures|contrib|fork|wait|prepare_multiprocessing.*",
        "it computes in one process",
        "",
    ),
    (
        r"onnx|export|fx|package|library|compiler|import_ir.*|parse_.*|merge_type.*|unify_type.*|sym_.*|Sym.*|cpp"
        r"|while_loop|overrides|ao|quantization|intrinsic|qat",
        "its functions are plain Python, which nothing compiles or exports",
        "the function as it is",
    ),
    (
        r"batch_norm_(backward|elemt|gather|stats|update).*|autocast_(in|de)crement_nesting|choose_qparams.*|"
        r"classproperty|fused_moving.*|hsmm|init_num_threads|nativert|profiler_allow.*|(has|handle)_torch_.*|"
        r"is_tensor_like|Broadcasting.*|boolean_dispatch|assert_int_or_pair|ScalingType|SwizzleType|bind|"
        r"copy_method_params|PackedSequence_|NamedMemberAccessor|OpaqueBase|is_opaque.*|is_traceable.*|"
        r"get_swap_module.*|SparseSemi.*|Profiler(Activity|Config|Event|State)|SavedTensor|kineto_available|"
        r"(is|set)_(multithreading|view_replay)_enabled|enforce_grad_layout_policy|DeviceType|cuBLAS.*|cuFFT.*|"
        r"kleidiai|nnpack|python_native|xeon|xnnpack|SDPAParams|(can_use|is)_(ck|efficient|flash)\w*|"
        r"cublas\w+|cufft\w+|blas_workspace_size|preferred_rocm\w+|DFIterDataPipe|DataChunk|datapipes|"
        r"(non_)?determin\w+|runtime_valid\w+|guaranteed_\w+|argument_validation|functional_datapipe",
        "it belongs to PyTorch's insides",
        "",
    ),
    (r"nested|jagged|is_nested|to_padded_tensor|narrow_nested.*", "it has no nested tensors", "padding"),
    (
        r".*Storage|storage_type|is_shared_storage|record_stream|resize_as_sparse_|(is_)?pin(ned|_memory)?",
        "a tensor's elements are a NumPy array",
        "x.array, or x.numpy()",
    ),
)
"""What autokit means to do without: names, the reason, and what does in its place."""

_AS_COO = "x.to_sparse(), whose products and sums are the same numbers"
_ROWS_OF_CSR = (
    "torch.sparse_coo_tensor(torch.stack([rows, columns]), values, size), where rows = "
    "torch.arange(len(crow) - 1).repeat_interleave(crow.diff())"
)

_NATIVE = ("batch_norm", "channel_shuffle", "dropout", "group_norm", "layer_norm")

_INSTEAD = {
    "torch.Tensor": {
        **dict.fromkeys(["to_sparse_csr", "to_sparse_csc", "to_sparse_bsr", "to_sparse_bsc"], _AS_COO),
        "crow_indices": "x.coalesce().indices()[0].bincount(minlength=len(x)).cumsum(0), with a 0 before it",
        "col_indices": "x.coalesce().indices()[1]",
        "index": "x[...]",
        "map2_": "operations on whole tensors",
        **dict.fromkeys(("grad_dtype", "module_load"), "x.grad, which has the dtype of x, and copy_"),
        "hash_tensor": "hash(x.numpy().tobytes())",
        "slice_inverse": "torch.slice_scatter",
        "as_subclass": "the tensor as it is",
        "ormqr": "torch.linalg.qr, and a product",
        "reinforce": "the logarithm of the probability times the reward, and backward()",
        "resize_as": "x.view_as(y)",
        "const_data_ptr": "x.data_ptr()",
    },
    "torch": {
        "sparse_csr_tensor": _ROWS_OF_CSR,
        "sparse_csr": "torch.sparse_coo",
        "hub": "the model's own code and weights",
        "lobpcg": "torch.linalg.eigh",
        "multiprocessing": "the standard library's multiprocessing",
        **dict.fromkeys(("rnn_tanh", "rnn_relu"), "torch.nn.RNN"),
        **dict.fromkeys(("rnn_tanh_cell", "rnn_relu_cell"), "torch.nn.RNNCell"),
        **{name.lower(): f"torch.nn.{name}" for name in ("LSTM", "GRU")},
        **{f"{name.lower()}_cell": f"torch.nn.{name}Cell" for name in ("LSTM", "GRU")},
        "conv_tbc": "torch.conv1d",
        "convolution": "torch.conv2d",
        **dict.fromkeys(("grid_sampler_2d", "grid_sampler_3d"), "torch.nn.functional.grid_sample"),
        "affine_grid_generator": "torch.nn.functional.affine_grid",
        "embedding_bag": "torch.nn.functional.embedding_bag",
        "embedding_renorm_": "torch.nn.functional.embedding with max_norm",
        "feature_dropout": "torch.nn.functional.dropout2d",
        "feature_dropout_": "torch.nn.functional.dropout2d",
        **{f"native_{name}": f"torch.nn.functional.{name}" for name in _NATIVE},
        "native_norm": "torch.linalg.vector_norm",
        "norm_except_dim": "torch.linalg.vector_norm over the other dimensions",
        "hash_tensor": "hash(x.numpy().tobytes())",
        "index_put_": "x.index_put_(indices, values)",
        "slice_inverse": "torch.slice_scatter",
        **dict.fromkeys(("Event", "Stream"), "torch.cuda.Event and torch.cuda.Stream"),
        "get_device_module": "torch.cpu, or torch.cuda",
        "thread_safe_generator": "torch.Generator, one for each thread",
        "from_file": "torch.from_numpy(numpy.memmap(filename, dtype, mode))",
        "ormqr": "torch.linalg.qr, and a product",
        "profiler": "%%prun, or the standard library's cProfile",
        "get_file_path": "pathlib",
        "dsmm": "torch.mm",
    },
    "torch.nn.functional": {
        "conv_tbc": "torch.nn.functional.conv1d, and permute",
        "native_channel_shuffle": "torch.nn.functional.channel_shuffle",
        **dict.fromkeys(("grouped_mm", "scaled_grouped_mm"), "torch.bmm, or a product for each group"),
        "scaled_mm": "torch.mm of scaled matrices",
    },
    "torch.backends.cuda": {"SDPBackend": "torch.nn.attention.SDPBackend"},
    "torch.nn.utils.parametrize": {
        "transfer_parametrizations_and_params": "register_parametrization on the other module"
    },
    "torch.optim": {"swap_in_optimizer_params_and_state": "load_state_dict of the model and the optimizer"},
    "torch.random": {"thread_safe_generator": "torch.Generator, one for each thread"},
    "torch.utils.data": {
        "IterDataPipe": "torch.utils.data.IterableDataset",
        "MapDataPipe": "torch.utils.data.Dataset",
    },
    "torch.utils": {
        "swap_tensors": "x.data, y.data = y.data, x.data",
        "tensorboard": "ak.monitor, which draws the losses live, or the package tensorboardX with x.item()",
        "benchmark": "%timeit, or the standard library's timeit",
        "bottleneck": "%%prun, or the standard library's cProfile",
    },
    "torch.sparse": {
        "spsolve": "torch.linalg.solve(x.to_dense(), y)",
        "sampled_addmm": "the product of dense matrices, and its values at the places",
    },
    "torch.autograd": {
        "NestedIOFunction": "torch.autograd.Function, which takes and returns several tensors"
    },
    "torch.autograd.function": {
        "InplaceFunction": "torch.autograd.Function, and ctx.mark_dirty in its forward",
        "NestedIOFunction": "torch.autograd.Function, which takes and returns several tensors",
        **dict.fromkeys(("BackwardCFunction", "FunctionMeta"), "torch.autograd.Function"),
    },
    "torch.autograd.gradcheck": dict.fromkeys(
        ("get_analytical_jacobian", "get_numerical_jacobian", "get_numerical_jacobian_wrt_specific_input"),
        "torch.autograd.gradcheck, or torch.func.jacrev",
    ),
    "torch.autograd.graph": {"region_activation_memory_budget": "torch.utils.checkpoint.checkpoint"},
    "torch.func": {"rearrange": "einops.rearrange, which takes tensors"},
    "torch.utils.checkpoint": dict.fromkeys(
        ("CheckpointPolicy", "SelectiveCheckpointContext", "create_selective_checkpoint_contexts"),
        "checkpoint(function, x, use_reentrant=False) around what is to be computed again, and none around "
        "what is to be kept",
    ),
    "torch.jit": {"ScriptModule": "torch.nn.Module"},
    "torch.masked": dict.fromkeys(
        ("MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor", "maskedtensor"),
        "torch.masked.sum(x, dim, mask=mask) and its kin, or torch.where(mask, x, 0)",
    ),
    "torch.nn": {
        "Container": "torch.nn.Module",
        "CrossMapLRN2d": "torch.nn.LocalResponseNorm",
        "LinearCrossEntropyOptions": "torch.nn.LinearCrossEntropyLoss without options",
        "backends": "torch.backends",
        "factory_kwargs": "dict(device=device, dtype=dtype)",
    },
}
"""What to use in place of what PyTorch has and autokit has not."""

_ELSEWHERE = {
    "torch.Tensor": {
        "astype": "x.to(torch.float64), or x.double()",
        "copy": "x.clone()",
        "strides": "x.stride()",
        "fill": "x.fill_(value)",
        "flat": "x.flatten()",
        "ptp": "x.amax() - x.amin()",
        "tobytes": "x.numpy().tobytes()",
        "compress": "x[mask]",
        "append": "torch.cat([x, y])",
        "concatenate": "torch.cat([x, y])",
        "asnumpy": "x.numpy()",
        "to_numpy": "x.numpy()",
        "to_list": "x.tolist()",
        "get_shape": "x.shape",
        "dims": "x.dim()",
        "length": "len(x)",
        "assign": "x.copy_(y)",
        "assign_add": "x.add_(y)",
        "assign_sub": "x.sub_(y)",
        "gradient": "x.grad",
        "backwards": "x.backward()",
        "require_grad": "x.requires_grad",
        "require_grad_": "x.requires_grad_()",
        "zero_grad": "x.grad = None, or x.grad.zero_()",
        "no_grad": "with torch.no_grad():",
        "detatch": "x.detach()",
    },
    "torch": {
        "array": "torch.tensor",
        "ndarray": "torch.Tensor",
        "expand_dims": "torch.unsqueeze",
        "power": "torch.pow",
        "copy": "x.clone()",
        "astype": "x.to(dtype)",
        "invert": "torch.bitwise_not",
        "product": "torch.prod",
        "in1d": "torch.isin",
        "sigmod": "torch.sigmoid",
        "concatination": "torch.cat",
        "reduce_mean": "torch.mean",
        "reduce_sum": "torch.sum",
        "GradientTape": "x.requires_grad_() and backward()",
        "placeholder": "a tensor",
        "require_grad": "requires_grad=True",
    },
    "torch.autograd": {
        "anomaly_mode": "torch.autograd.detect_anomaly, and torch.autograd.set_detect_anomaly",
        "profiler": "%%prun, or the standard library's cProfile",
    },
    "torch.ops": {"aten": "the function itself, as torch.mm, which has no name for a compiler"},
    "torch.utils": {
        "model_zoo": "the model's own code, and torch.load of its weights",
        "collect_env": "`autokit doctor`",
        "flop_counter": "ak.summary(model, input), which counts multiply-adds",
        "cpp_extension": "torch.autograd.Function",
    },
    "torch.nn": {"Dense": "torch.nn.Linear", "functions": "torch.nn.functional", "Conv": "torch.nn.Conv2d"},
    "torch.datasets": {
        **dict.fromkeys(
            ("CIFAR10", "CIFAR100", "SVHN", "STL10", "CelebA"),
            "datasets.FashionMNIST, or a Dataset of your own that opens the pictures with PIL",
        ),
        **dict.fromkeys(("EMNIST", "QMNIST", "USPS"), "datasets.MNIST, datasets.KMNIST or datasets.Digits"),
        **dict.fromkeys(
            ("ImageFolder", "DatasetFolder", "ImageNet"),
            "a Dataset of your own whose __getitem__ opens one picture with PIL",
        ),
    },
    "torch.transforms": dict.fromkeys(
        (
            *("ColorJitter", "GaussianBlur", "RandomAffine", "RandomErasing", "RandomGrayscale"),
            *("RandomPerspective", "RandomResizedCrop", "AutoAugment", "RandAugment", "FiveCrop", "v2"),
        ),
        "transforms.Lambda(function) with a function of your own",
    ),
    "torch.serialization": dict.fromkeys(
        ("add_safe_globals", "safe_globals", "get_safe_globals", "clear_safe_globals", "register_package"),
        "torch.save of numbers, tensors and containers of them: no class that a file names is ever run",
    ),
}
"""Names of other packages, and slips of the pen, that learners are known to write."""

_ORDER = (
    "torch",
    "torch.nn",
    "torch.nn.functional",
    "torch.linalg",
    "torch.special",
    "torch.fft",
    "torch.optim",
    "torch.optim.lr_scheduler",
    "torch.utils.data",
    "torch.autograd",
    "torch.nn.utils",
    "torch.nn.utils.rnn",
    "torch.nn.init",
)
"""Where else a name may be found, the likeliest place first."""


@cache
def pytorch_names() -> dict[str, frozenset[str]]:
    """PyTorch's public names, by module and class."""
    with open(os.path.join(os.path.dirname(__file__), "pytorch_names.txt"), encoding="utf-8") as file:
        lines = file.read().splitlines()[1:]
    spaces = (line.partition(":") for line in lines)
    return {space: frozenset(names.split()) for space, _, names in spaces}


@cache
def explanation(space: str, name: str) -> str:
    """Why ``space``, such as ``torch.nn``, has not ``name``, and what to use; empty if nothing is known.

    >>> explanation("torch", "nested")
    'PyTorch has torch.nested, autokit has not: it has no nested tensors; use padding'
    >>> explanation("torch", "CrossEntropyLoss")
    "torch has no 'CrossEntropyLoss': it is torch.nn.CrossEntropyLoss"
    """
    elsewhere = [f"{other}.{name}" for other in _ORDER if other != space and _has(other, name)]
    if name in pytorch_names().get(space, ()):
        reason, use = _reason(name)
        use = _INSTEAD.get(space, {}).get(name) or (elsewhere and elsewhere[0]) or use
        return (
            f"PyTorch has {'it' if space == 'torch.Tensor' else f'{space}.{name}'}, autokit has not"
            + (f": {reason}" if reason else " yet")
            + (f"; use {use}" if use else "")
        )
    known = _ELSEWHERE.get(space, {}).get(name)
    if known:
        return f"use {known}" if space == "torch.Tensor" else f"{space} has no '{name}': use {known}"
    for other in _ORDER:
        if other != space and name in pytorch_names()[other] and space != "torch.Tensor":
            full = f"{other}.{name}"
            return f"{space} has no '{name}': it is {full}" + (
                "" if _has(other, name) else ", which autokit has not" + ("" if _reason(name)[0] else " yet")
            )
    return ""


def near(name: str, names: Iterable[str]) -> str:
    """``; did you mean 'softmax'?`` where one of ``names`` is much like ``name``; else empty.

    >>> near("sofmax", ["softmax", "max"]), near("Relu", ["ReLU", "Linear"]), near("loss", ["cat"])
    ("; did you mean 'softmax'?", "; did you mean 'ReLU'?", '')
    """
    import difflib

    by_lower = {each.lower(): each for each in names if not each.startswith("_")}
    found = difflib.get_close_matches(name.lower(), by_lower, 1, 0.7)
    return f"; did you mean '{by_lower[found[0]]}'?" if found else ""


def names_of(space: str) -> Callable[[str], Any]:
    """A ``__getattr__`` for the module that stands for PyTorch's ``space``."""

    def __getattr__(name: str) -> Any:
        raise error(space, name)

    return __getattr__


class _Room(ModuleType):
    """A file of autokit's own, called where the class that is named almost alike was meant."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        house, _, name = self.__name__.rpartition(".")
        others = [each for each in dir(sys.modules[house]) if each != name]
        raise AttributeError(f"module '{house}' has no function '{name}'" + near(name, others))


def explain_calls(house: str) -> None:
    """Let each file of ``house``, such as ``autokit.nn``, say when it is called that it is no layer."""
    for value in vars(sys.modules[house]).values():
        if type(value) is ModuleType and value.__name__.startswith(house + "."):
            value.__class__ = _Room


def error(space: str, name: str) -> AttributeError | ImportError:
    """The error for a ``name`` that the module for ``space`` has not.

    It is to be raised by the module's ``__getattr__``, or by what that is.  Of an ``AttributeError``
    ``from torch import name`` would keep nothing, so that there it is an ``ImportError``.
    """
    asking = sys._getframe(2)
    opcode = asking.f_code.co_code[asking.f_lasti] if asking.f_lasti >= 0 else 0
    if dis.opname[opcode] == "IMPORT_FROM":
        return ImportError(_said(space, name), name=name)
    return _Unknown(space, name)


class _Unknown(AttributeError):
    """An error that finds its words when it is shown: most are not, since ``hasattr`` asks too."""

    def __init__(self, space: str, name: str) -> None:
        super().__init__(name=name)
        self.space = space

    def __str__(self) -> str:
        return _said(self.space, str(self.name))

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return AttributeError, (str(self),)


# A traceback calls it what it is to the learner.
_Unknown.__name__ = _Unknown.__qualname__ = "AttributeError"
_Unknown.__module__ = "builtins"


_PACKAGES = {
    "torch": "write `import autokit as torch`, `import autokit.nn as nn`, `from autokit.utils.data import …`",
    "torchvision": "`from autokit import datasets, transforms` has MNIST and its relatives, and changes to "
    "pictures; models are written out, as in the course, or their weights loaded by torch.load",
    "torchaudio": "autokit has nothing in its place; the standard library's wave reads sounds",
    "torchtext": "autokit.datasets has names and sonnets; a dict of words, nn.utils.rnn.pad_sequence and a "
    "collate_fn do the rest",
}
"""What to do without PyTorch and the packages around it, where they are not installed."""


class _Finder:
    """Asked last for a module: says of one that PyTorch has why it is not here."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        if name in _PACKAGES:
            # A tool that looks whether the package is there comes another way than an import.
            if sys._getframe(2).f_code.co_name == "_find_and_load_unlocked":
                raise ModuleNotFoundError(f"No module named {name!r}: {_PACKAGES[name]}", name=name)
            return
        room, _, last = name.rpartition(".")
        if room.partition(".")[0] != "autokit" or path is not getattr(
            sys.modules.get(room), "__path__", None
        ):
            return  # nobody imports it: a tool looks whether it is there
        if said := explanation("torch" + room[7:], last):
            raise ModuleNotFoundError(said, name=name)


sys.meta_path.append(_Finder)


def _said(space: str, name: str) -> str:
    module = "autokit" + space.removeprefix("torch")
    if name.startswith("__"):
        return f"module '{module}' has no attribute '{name}'"
    said = explanation(space, name)
    if said:
        return said
    here = sys.modules[module]
    public = {*getattr(here, "__all__", ()), *pytorch_names().get(space, ())}
    return f"module '{module}' has no attribute '{name}'" + near(name, sorted(public & {*dir(here)}))


def of_module(module: Any, name: str) -> str:
    """What the error says where ``module``, an ``nn.Module``, has no attribute ``name``."""
    said = f"'{type(module).__name__}' object has no attribute '{name}'"
    if name.startswith("_"):
        return said
    if name in pytorch_names()["torch.nn.Module"]:
        return f"{said}: PyTorch's modules have it, autokit's have not yet"
    if "_modules" not in vars(module):
        return f"{said}: call super().__init__() first"
    kind: Any = type(module)
    if name in ("device", "dtype"):
        return f"{said}: its tensors have one each, as next(model.parameters()).{name}"
    if name in pytorch_names()["torch.Tensor"]:
        return (
            f"{said}: tensors have it; {kind.__name__}(...) makes a layer, which gives one when it is called"
        )
    own = [*module._modules, *module._parameters, *module._buffers, *vars(module)]
    return said + (near(name, own) or _near_in_class(kind, name))


def not_a_module(value: Any) -> str:
    """What the error says where ``value`` stands in the place of an ``nn.Module``."""
    name = getattr(value, "__name__", type(value).__name__)
    said = f"{name} is not a Module subclass"
    if isinstance(value, type):
        return f"{said}: it is a class, and {name}() makes a layer of it"
    if isinstance(value, list | tuple):
        return f"{said}: give the modules one by one, as in nn.Sequential(*layers)"
    return f"{said}: a function is no layer; use nn.ReLU() for relu" if callable(value) else said


@cache
def _near_in_class(kind: type, name: str) -> str:
    return near(name, dir(kind))


class Missing:
    """An attribute that is not there, and says so; ``hasattr`` finds nothing."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        raise AttributeError(f"'Tensor' object has no attribute '{self.name}': {self.__doc__}")

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        """What the error says."""
        return explanation("torch.Tensor", self.name)


def explain_on(kind: type) -> None:
    """Let tensors, which are of this ``kind``, explain each name of PyTorch's tensors that they have not."""
    names = pytorch_names()["torch.Tensor"] | _ELSEWHERE["torch.Tensor"].keys()
    # All are found before one is set: looked at after each change, the class would lose its fast ways.
    for name in [name for name in sorted(names) if not hasattr(kind, name)]:
        setattr(kind, name, Missing(name))

    def __dir__(self: Any) -> list[str]:
        """The names of what is there."""
        listed = object.__dir__(self)
        return [name for name in listed if not isinstance(vars(kind).get(name), Missing)]

    kind.__dir__ = __dir__  # type: ignore[assignment, method-assign]


def _has(space: str, name: str) -> bool:
    """Whether autokit's module for ``space`` is there, and has ``name``."""
    try:
        module = import_module("autokit" + space.removeprefix("torch"))
    except ModuleNotFoundError:
        return False
    return name in dir(module)


def _reason(name: str) -> tuple[str, str]:
    """Why autokit means to do without ``name``, and what does in its place."""
    base, _, end = name.rpartition("_")
    if end == "copy" and base:
        return "its views are enough", f"{base}(...).clone()"
    for pattern, reason, use in _NEVER:
        if re.fullmatch(pattern, name):
            return reason, use
    return "", ""
