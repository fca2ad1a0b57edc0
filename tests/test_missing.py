"""A name that PyTorch has and autokit has not says so, and what to use; a slip hears its neighbour."""

from __future__ import annotations

import copy
import importlib
import pickle
import subprocess
import sys
import traceback

import pytest

import autokit
from autokit import missing, nn
from tests.renew_pytorch_names import FILE
from tests.support import printed_by, require


def test_the_file_holds_the_names_of_the_pytorch_that_we_compare_with():
    require("torch")
    # In a process of its own: what other tests import adds to the names of PyTorch's modules.
    program = "from tests.renew_pytorch_names import text; print(text(), end='')"
    assert FILE.read_text("utf-8") == printed_by(program), "run: python -m tests.renew_pytorch_names"


@pytest.mark.parametrize(
    ("call", "meant"),
    [("nn.linear", "Linear"), ("nn.dropout", "Dropout"), ("optim.adam", "Adam"), ("optim.sgd", "SGD")],
)
def test_a_layer_or_an_optimizer_in_small_letters_hears_its_name(call: str, meant: str):
    with pytest.raises(AttributeError, match=f"has no function .*; did you mean '{meant}'\\?"):
        eval(f"autokit.{call}(2, 2)")


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("torch.sofmax", "module 'autokit' has no attribute 'sofmax'; did you mean 'softmax'?"),
        ("torch.nn.Relu", "module 'autokit.nn' has no attribute 'Relu'; did you mean 'ReLU'?"),
        ("torch.nn.functional.sofmax", "did you mean 'softmax'?"),
        ("torch.linalg.norms", "did you mean 'norm'?"),
        ("torch.optim.Sgd", "did you mean 'SGD'?"),
        ("torch.autograd.gard", "did you mean 'grad'?"),
        (
            "torch.nn.CrossMapLRN2d",
            "PyTorch has torch.nn.CrossMapLRN2d, autokit has not yet; use torch.nn.LocalResponseNorm",
        ),
        ("torch.utils.tensorboard", "autokit has not yet; use ak.monitor"),
        ("torch.utils.model_zoo", "use the model's own code, and torch.load of its weights"),
        ("torch.multiprocessing", "use the standard library's multiprocessing"),
        ("torch.jit.ScriptModule", "autokit has not yet; use torch.nn.Module"),
        ("torch.datasets.CIFAR10", "has no 'CIFAR10': use datasets.FashionMNIST"),
        ("torch.datasets.Mnist", "module 'autokit.datasets' has no attribute 'Mnist'; did you mean 'MNIST'?"),
        ("torch.transforms.ColorJitter", "has no 'ColorJitter': use transforms.Lambda(function)"),
        ("torch.transforms.ToTensr", "did you mean 'ToTensor'?"),
        ("torch.serialization.add_safe_globals", "no class that a file names is ever run"),
        ("torch.sparse.sampled_addmm", "autokit has not yet; use the product of dense matrices"),
        ("torch.masked.masked_tensor", "autokit has not yet; use torch.masked.sum(x, dim, mask=mask)"),
        ("torch.lstm_cell", "autokit has not yet; use torch.nn.LSTMCell"),
        ("torch.xyzzy", "module 'autokit' has no attribute 'xyzzy'"),
        ("torch.conv_tbc", "PyTorch has torch.conv_tbc, autokit has not yet; use torch.conv1d"),
        (
            "torch.sparse_csr_tensor",
            "of sparse tensors it has those of torch.sparse_coo_tensor; use",
        ),
        ("torch.quantize_per_tensor", "autokit has not: it has no quantized tensors"),
        ("torch.ops.aten", "use the function itself, as torch.mm"),
        ("torch.onnx", "autokit has not: its functions are plain Python"),
        ("torch.linalg.eig_xyz", "module 'autokit.linalg' has no attribute 'eig_xyz'"),
        ("torch.nn.SyncBatchNorm", "autokit has not: it computes in one process"),
        ("torch.squeeze_copy", "autokit has not: its views are enough; use squeeze(...).clone()"),
        ("torch.Linear", "torch has no 'Linear': it is torch.nn.Linear"),
        ("torch.nn.softmax", "torch.nn has no 'softmax': it is torch.softmax"),
        ("torch.nn.SGD", "torch.nn has no 'SGD': it is torch.optim.SGD"),
        ("torch.array", "torch has no 'array': use torch.tensor"),
        ("x.astype", "'Tensor' object has no attribute 'astype': use x.to(torch.float64), or x.double()"),
        ("x.storage_type", "PyTorch has it, autokit has not: a tensor's elements are a NumPy array"),
        ("x.hash_tensor", "PyTorch has it, autokit has not yet"),
        ("x.backwards", "use x.backward()"),
    ],
)
def test_a_missing_name_explains_itself(expression: str, message: str):
    with pytest.raises(AttributeError) as caught:
        eval(expression, {"torch": autokit, "x": autokit.ones(2)})
    assert message in str(caught.value)


def test_a_traceback_calls_the_error_by_its_common_name():
    with pytest.raises(AttributeError) as caught:
        _ = autokit.conv_tbc
    (shown,) = traceback.format_exception_only(caught.value)
    assert shown.startswith("AttributeError: PyTorch has torch.conv_tbc, autokit has not")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("from autokit import onnx", "PyTorch has torch.onnx, autokit has not"),
        ("from autokit.nn import SyncBatchNorm", "it computes in one process"),
        ("from autokit.nn import Liner", "did you mean 'Linear'?"),
    ],
)
def test_an_import_of_a_missing_name_explains_itself_too(line: str, message: str):
    with pytest.raises(ImportError) as caught:
        exec(line, {})
    assert message in str(caught.value)


def test_what_pytorch_has_is_here_or_explained():
    for space, names in missing.pytorch_names().items():
        for name in names:
            if not missing._has(space, name):
                assert f"{space}.{name}" in missing.explanation(space, name) or space == "torch.Tensor"


JUDGED = (
    *("torch", "torch.Tensor", "torch.amp", "torch.autograd", "torch.backends", "torch.backends.cuda"),
    *("torch.distributions", "torch.func", "torch.linalg", "torch.masked", "torch.nn", "torch.nn.functional"),
    *("torch.nn.init", "torch.nn.utils", "torch.nn.utils.parametrizations", "torch.nn.utils.parametrize"),
    *(
        "torch.nn.utils.prune",
        "torch.nn.utils.rnn",
        "torch.nn.utils.stateless",
        "torch.optim",
        "torch.random",
    ),
    *("torch.optim.lr_scheduler", "torch.signal.windows", "torch.sparse", "torch.special", "torch.testing"),
    "torch.utils.data",
)
"""Modules of which each name is here, or says why not, or what to use."""


@pytest.mark.parametrize("space", JUDGED)
def test_a_name_that_is_missing_has_a_reason_or_another_in_its_place(space: str):
    home = autokit.Tensor if space == "torch.Tensor" else importlib.import_module("autokit" + space[5:])
    for name in missing.pytorch_names()[space]:
        if not hasattr(home, name):
            assert not missing.explanation(space, name).endswith("yet"), f"{space}.{name}"


def test_nothing_is_advised_against_that_is_here():
    for space, names in missing._INSTEAD.items():
        for name in names:
            here = hasattr(autokit.Tensor, name) if space == "torch.Tensor" else missing._has(space, name)
            assert not here, f"autokit has {space}.{name}"


def test_a_missing_name_of_a_tensor_is_there_for_nobody():
    x = autokit.ones(2)
    assert "hash_tensor" in missing.pytorch_names()["torch.Tensor"]
    assert not hasattr(x, "hash_tensor") and not hasattr(autokit.Tensor, "hash_tensor")
    assert getattr(x, "hash_tensor", None) is None
    assert "hash_tensor" not in dir(x) and "exp" in dir(x) and "name" in dir(x)
    assert copy.deepcopy(x).tolist() == pickle.loads(pickle.dumps(x)).tolist() == [1, 1]
    x.hash_tensor = 3  # as any other attribute that a program gives to its tensors
    assert x.hash_tensor == 3 and vars(x) == {"hash_tensor": 3}


def test_tensors_and_nodes_keep_the_fast_way_to_their_attributes():
    from autokit.autograd.node import Node

    for kind in (autokit.Tensor, Node):
        assert not any(
            "__getattr__" in vars(each) or "__getattribute__" in vars(each) for each in kind.mro()[:-1]
        )


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 2)


class Unready(nn.Module):
    def __init__(self) -> None:
        pass


@pytest.mark.parametrize(
    ("make", "name", "message"),
    [
        (Net, "frist", "'Net' object has no attribute 'frist'; did you mean 'first'?"),
        (Net, "paramaters", "did you mean 'parameters'?"),
        (Net, "_private", "'Net' object has no attribute '_private'"),
        (Unready, "first", "'Unready' object has no attribute 'first': call super().__init__() first"),
    ],
)
def test_a_module_explains_what_it_has_not(make: type, name: str, message: str):
    with pytest.raises(AttributeError) as caught:
        getattr(make(), name)
    assert message in str(caught.value)


AUTOGRAD = [
    *("torch.autograd", "torch.autograd.forward_ad", "torch.autograd.function", "torch.autograd.functional"),
    *("torch.autograd.grad_mode", "torch.autograd.gradcheck", "torch.autograd.graph", "torch.func"),
    *("torch.autograd.variable", "torch.utils.checkpoint"),
]


@pytest.mark.parametrize("space", AUTOGRAD)
def test_each_public_name_of_autograd_is_there_or_says_what_to_use(space: str):
    require("torch")
    theirs = importlib.import_module(space)
    ours = importlib.import_module(space.replace("torch", "autokit", 1))
    for name in [name for name in getattr(theirs, "__all__", dir(theirs)) if not name.startswith("_")]:
        if not hasattr(ours, name):
            assert name in missing.pytorch_names()[space], name
            with pytest.raises(AttributeError, match=rf"PyTorch has {space}.{name}, autokit has not"):
                getattr(ours, name)


def test_names_are_read_without_pytorch():
    program = (
        "import sys, autokit\ntry: autokit.conv_tbc\nexcept AttributeError: print('torch' in sys.modules)"
    )
    assert printed_by(program) == "False\n"


WITHOUT = """
import importlib.util, sys
from importlib.machinery import PathFinder
sys.meta_path.remove(PathFinder)
class Without:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if not name.startswith("torch"):
            return PathFinder.find_spec(name, path, target)
sys.meta_path.append(Without)
import autokit as ak
assert importlib.util.find_spec("torch") is None
try:
    import torchvision
except ImportError as error:
    print(error)
import {}
"""


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("torch.nn as nn", "No module named 'torch': write `import autokit as torch`"),
        ("torchaudio", "No module named 'torchaudio': autokit has nothing in its place"),
    ],
)
def test_a_program_hears_what_to_import_in_place_of_what_is_not_installed(line: str, words: str):
    program = WITHOUT.replace("{}", line)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout.startswith("No module named 'torchvision': `from autokit import datasets, transforms`")
    assert f"ModuleNotFoundError: {words}" in run.stderr
