"""The names that teaching code uses most are here, and their twins.

``NAMES`` are the 420 names that stand in most of 323 teaching files from 36 courses, without three of complex
numbers; by what they are looked up in.
"""

from __future__ import annotations

import re
from operator import attrgetter
from typing import Any

import pytest

import autokit
import autokit.utils.data  # as programs import it
from tests.support import require

NAMES = {
    "tensor": """
        backward shape item data numpy view size to mean sum float squeeze unsqueeze grad detach max cpu
        transpose reshape zero_ device std type T requires_grad pow scatter dtype permute ravel cuda long
        add_ flatten numel requires_grad_ t min contiguous norm clone abs ndim exp normal_ clamp eq
        scatter_ topk grad_fn expand mul_ dot masked_fill_ relu argmax log sigmoid var split sort mm
        matmul bmm nelement bool tolist fill_ repeat add softmax log10 sqrt dim view_as masked_fill
        new_zeros type_as random_ unsqueeze_ new argmin retain_grad stride tanh resize uniform_ double int
        expand_as div_ resize_ mul narrow H is_leaf copy_ unique all clamp_ argsort cumsum sub
        register_hook sub_ clamp_min new_tensor round unbind index_select new_ones to_dense floor
        is_sparse inverse isclose masked_select nonzero chunk gather sin clip detach_ flip is_cuda cos
        repeat_interleave median any
    """,
    "torch.nn": """
        Linear Module Sequential ReLU MSELoss CrossEntropyLoss Parameter Embedding Dropout Conv2d LSTM RNN
        Sigmoid BCELoss ModuleList BatchNorm1d NLLLoss MaxPool2d Tanh LeakyReLU LayerNorm GRU Softmax
        L1Loss LazyLinear Flatten GELU BatchNorm2d LogSoftmax ModuleDict Softplus Transformer
        ConvTranspose2d BCEWithLogitsLoss Identity MultiheadAttention LSTMCell InstanceNorm2d
        ReflectionPad2d LazyConv2d Upsample ParameterList Bilinear Hardtanh ParameterDict PixelShuffle
        ReLU6 AvgPool2d AdaptiveAvgPool2d Conv1d DataParallel Dropout2d
    """,
    "module": """
        parameters zero_grad train eval state_dict forward load_state_dict register_buffer apply
        named_parameters add_module register_forward_hook named_modules children modules named_children
        register_backward_hook
    """,
    "optimizer": "step param_groups",
    "torch": """
        tensor zeros manual_seed no_grad randn ones from_numpy LongTensor cat rand sum device arange
        float32 FloatTensor __version__ sigmoid linspace save max float mean mm Tensor load long log stack
        exp matmul tanh argmax sin set_printoptions dot where empty ones_like softmax add zeros_like
        unsqueeze normal sqrt abs randint multinomial inference_mode randperm relu Generator bmm cos min
        triu mul randn_like einsum float16 round tril as_tensor inf eye topk allclose int64 gather reshape
        rand_like int flatten full int32 double float64 split std use_deterministic_algorithms concat div
        multiply set_default_device int8 erf inverse range true_divide clamp pow set_grad_enabled uint8
        all unique sort isnan rsqrt meshgrid norm eq floor diag det t pi empty_like int16 svd argmin outer
        sub mv asin prod set_default_tensor_type vmap BoolTensor bitwise_xor ceil cross get_default_device
        histogram isfinite log2 lt qr sin_ var compile bool Size bfloat16 optim.SGD optim.Adam
        optim.RMSprop optim.AdamW optim.Optimizer optim.LBFGS optim.Adadelta cuda.is_available
        cuda.manual_seed_all cuda.device_count cuda.manual_seed cuda.synchronize cuda.set_device
        utils.data.DataLoader utils.data.Dataset utils.data.TensorDataset utils.data.random_split
        utils.data.RandomSampler utils.data.WeightedRandomSampler utils.data.Subset autograd.Variable
        autograd.grad autograd.Function autograd.backward nn.utils.clip_grad_norm_
        nn.utils.rnn.pack_padded_sequence nn.utils.rnn.pad_packed_sequence nn.utils.rnn.pad_sequence
        nn.utils.rnn.PackedSequence backends.cudnn.deterministic backends.cudnn.benchmark
        backends.mps.is_available random.manual_seed optim.lr_scheduler.ReduceLROnPlateau
        optim.lr_scheduler._LRScheduler optim.lr_scheduler.StepLR optim.lr_scheduler.CosineAnnealingLR
        accelerator.current_accelerator accelerator.is_available autograd.functional.vjp
        distributions.multivariate_normal.MultivariateNormal version.__version__
        distributed.init_process_group jit.trace jit.script utils.data.dataset.random_split
    """,
    "torch.nn.functional": """
        relu softmax cross_entropy log_softmax binary_cross_entropy scaled_dot_product_attention mse_loss
        conv2d one_hot nll_loss softplus tanh max_pool2d leaky_relu binary_cross_entropy_with_logits
        avg_pool2d interpolate silu layer_norm smooth_l1_loss pad dropout sigmoid linear
    """,
    "torch.nn.init": """
        normal_ constant_ zeros_ xavier_uniform_ ones_ uniform_ kaiming_normal_ kaiming_uniform_
        orthogonal_ calculate_gain constant normal trunc_normal_ xavier_normal_
    """,
    "max": "indices",
}

HOLDERS: dict[str, Any] = {
    "tensor": lambda: autokit.ones(2, 2),
    "module": autokit.nn.Sequential,
    "optimizer": lambda: autokit.optim.SGD([autokit.ones(1)], lr=0.1),
    "max": lambda: autokit.ones(2).max(dim=0),
}
"""What is no module; modules are found in ``autokit``."""


def there(root: Any, path: str) -> bool:
    try:
        attrgetter(path)(root)
    except AttributeError:
        return False
    return True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("place", NAMES)
def test_they_are_here(place: str) -> None:
    holder, prefix = (HOLDERS[place](), "") if place in HOLDERS else (autokit, f"{place}.".partition(".")[2])
    assert [name for name in NAMES[place].split() if not there(holder, prefix + name)] == []


def test_all_are_listed_once() -> None:
    names = [(place, name) for place in NAMES for name in NAMES[place].split()]
    assert len(names) == len(set(names)) == 417


def forms(name: str) -> set[str]:
    """Where PyTorch may have the same rule: function, method, in place, of a class, in other dimensions."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.rstrip("_")).lower()
    found = {f"{words}_like", f"special.{words}", f"linalg.{words}", f"Tensor.{words}_"}
    for spelling in (words, words.removesuffix("_loss"), words.replace("_", "")):
        found |= {spelling, f"Tensor.{spelling}", f"nn.functional.{spelling}"}
    for dimensions in ("1d", "2d", "3d"):
        other = re.sub(r"[123]d$", dimensions, name)
        found |= {f"nn.{other}", f"nn.Lazy{other}", f"nn.functional.{other.lower()}"}
    others = "cpu gru lstm detach fill nn.grad nn.modules nn.functional.grad Tensor.indices Tensor.apply_"
    return found.difference(others.split())  # which only share the name, or which no course writes


@pytest.mark.filterwarnings("ignore")
def test_their_twins_are_here() -> None:
    require("torch")
    import torch

    wanted = {form for names in NAMES.values() for name in names.split() for form in forms(name)}
    assert [form for form in sorted(wanted) if there(torch, form) and not there(autokit, form)] == []
