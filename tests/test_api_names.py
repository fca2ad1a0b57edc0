"""The names that teaching code uses most are here.

The three hundred most used names in 323 teaching files from 30 courses; what
starts with a point is a method or attribute.
"""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import autokit
import autokit.utils.data  # as programs import it

OF_TENSORS = """
    .backward .shape .item .data .numpy .view .size .to .mean .sum .float .squeeze .unsqueeze .grad
    .detach .max .cpu .transpose .reshape .zero_ .device .std .type .T .requires_grad .pow .scatter
    .dtype .permute .ravel .cuda .long .add_ .flatten .numel .requires_grad_ .t .min .contiguous
    .norm .clone .abs .ndim .exp .normal_ .clamp .eq .scatter_ .topk .grad_fn .expand .mul_ .dot
    .masked_fill_ .relu .argmax .log .sigmoid .var .split .sort .mm .matmul .bmm .nelement .bool
    .tolist .fill_ .repeat .add .softmax .log10 .sqrt .dim .view_as .masked_fill .new_zeros .type_as
    .random_ .unsqueeze_ .new .argmin .retain_grad .stride .tanh .resize .uniform_ .double .int
    .expand_as .div_ .resize_ .mul .narrow .H .is_leaf .copy_ .unique .all .indices .clamp_
""".split()  # noqa: SIM905

OF_TORCH = """
    torch.save torch.load
    torch.tensor torch.zeros torch.manual_seed torch.no_grad torch.randn torch.ones torch.from_numpy
    torch.cuda.is_available torch.LongTensor torch.cat torch.rand torch.sum torch.device
    torch.arange torch.float32 torch.nn.functional.relu torch.FloatTensor torch.__version__
    torch.nn.functional.softmax torch.sigmoid torch.linspace torch.autograd.Variable
    torch.max torch.float torch.mean torch.mm torch.Tensor torch.long torch.log
    torch.stack torch.exp torch.matmul torch.tanh torch.argmax torch.sin torch.set_printoptions
    torch.nn.functional.cross_entropy torch.dot torch.where torch.empty torch.ones_like
    torch.softmax torch.add torch.zeros_like torch.unsqueeze torch.normal torch.sqrt
    torch.nn.functional.log_softmax torch.abs torch.randint torch.multinomial
    torch.nn.functional.binary_cross_entropy torch.inference_mode torch.randperm
    torch.cuda.manual_seed_all torch.relu torch.Generator torch.autograd.grad torch.bmm
    torch.backends.cudnn.deterministic torch.cos torch.backends.cudnn.benchmark torch.min torch.triu
    torch.mul torch.randn_like torch.einsum torch.float16
    torch.nn.functional.scaled_dot_product_attention torch.round torch.tril torch.as_tensor
    torch.inf torch.eye torch.cuda.device_count torch.topk torch.nn.functional.mse_loss
    torch.allclose torch.int64 torch.nn.functional.conv2d torch.cuda.manual_seed
    torch.nn.functional.one_hot torch.gather torch.autograd.Function torch.reshape torch.rand_like
    torch.int torch.nn.functional.nll_loss torch.flatten torch.backends.mps.is_available torch.full
    torch.int32 torch.double torch.float64 torch.split torch.std torch.nn.functional.softplus
    torch.use_deterministic_algorithms torch.nn.functional.tanh torch.concat
    torch.random.manual_seed torch.div torch.multiply torch.set_default_device torch.int8 torch.erf
    torch.inverse torch.range torch.true_divide torch.clamp torch.pow torch.nn.functional.max_pool2d
    torch.set_grad_enabled torch.nn.functional.leaky_relu
    torch.nn.functional.binary_cross_entropy_with_logits torch.uint8 torch.nn.functional.avg_pool2d
    torch.all torch.unique
""".split()  # noqa: SIM905

OF_NETWORKS = """
    torch.nn.Linear torch.nn.Module .parameters .zero_grad .step torch.optim.SGD torch.nn.Sequential
    .train .eval torch.nn.ReLU torch.utils.data.DataLoader torch.nn.MSELoss
    torch.nn.CrossEntropyLoss torch.nn.Parameter torch.utils.data.Dataset torch.nn.Dropout
    .state_dict .forward .load_state_dict torch.nn.Sigmoid torch.nn.BCELoss torch.nn.ModuleList
    torch.utils.data.TensorDataset .register_buffer torch.nn.NLLLoss .apply .named_parameters
    torch.nn.init.normal_ torch.nn.Tanh torch.utils.data.random_split torch.nn.init.constant_
    torch.nn.Softmax torch.nn.init.zeros_ torch.nn.L1Loss torch.nn.Flatten .add_module
    .register_forward_hook .named_modules .param_groups .children .modules torch.nn.LogSoftmax
    torch.nn.init.xavier_uniform_ torch.optim.Optimizer torch.nn.init.ones_ torch.nn.init.uniform_
    torch.nn.BCEWithLogitsLoss torch.nn.init.kaiming_normal_ torch.nn.init.kaiming_uniform_
    .named_children torch.nn.Identity torch.utils.data.RandomSampler torch.nn.Embedding
    torch.nn.Conv2d torch.nn.BatchNorm1d torch.nn.MaxPool2d torch.nn.LeakyReLU torch.nn.LayerNorm
    torch.nn.GELU torch.nn.BatchNorm2d torch.nn.Softplus torch.nn.ConvTranspose2d torch.optim.Adam
    torch.optim.RMSprop torch.optim.AdamW torch.nn.LSTM torch.nn.RNN torch.nn.GRU
    torch.nn.utils.rnn.pack_padded_sequence torch.nn.utils.rnn.pad_packed_sequence
    torch.nn.utils.rnn.pad_sequence torch.nn.LSTMCell torch.nn.Transformer
    torch.nn.MultiheadAttention
    torch.optim.lr_scheduler.ReduceLROnPlateau
    torch.nn.utils.clip_grad_norm_
    torch.nn.LazyLinear torch.nn.ModuleDict
""".split()  # noqa: SIM905


def holders(name: str) -> list[Any]:
    """What a program has in hand when it asks for ``name``."""
    if not name.startswith("."):
        return [autokit]
    if name == ".indices":
        return [autokit.ones(2).max(dim=0)]
    layer = autokit.nn.Linear(1, 1)
    optimizer = autokit.optim.SGD(layer.parameters(), lr=0.1)
    return [autokit.ones(2, 2)] if name in OF_TENSORS else [layer, optimizer, autokit.nn.Sequential()]


def is_here(name: str) -> bool:
    found = holders(name)
    for part in name.split(".")[1:]:
        found = [getattr(each, part) for each in found if hasattr(each, part)]
    return bool(found)


@pytest.mark.parametrize("name", OF_TENSORS + OF_TORCH + OF_NETWORKS)
def test_it_is_here(name: str):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert is_here(name)


def test_all_three_hundred_are_listed_once():
    names = [*OF_TENSORS, *OF_TORCH, *OF_NETWORKS]
    assert len(names) == len(set(names)) == 300
