"""Each argument of each function of ``nn.functional`` in turn with each wrong value: PyTorch's error, or its answer.

One mistake at a time tells which of PyTorch's errors belongs to it; ``tests.fuzz`` makes several at once.
"""

# ruff: noqa: E501 - one row of the table is one line
from __future__ import annotations

import re

import pytest

from tests.support import require

require("torch")
from tests.fuzz.calls import Call  # noqa: E402
from tests.fuzz.differences import finding  # noqa: E402

_X, _XY, _XYZ = "ones(1, 2, 6)", "ones(1, 2, 6, 6)", "ones(1, 2, 6, 6, 6)"
_OLD = "size_average=None reduce=None reduction='mean'"

_ROWS = f"""
adaptive_avg_pool1d: input=T.{_X} output_size=2
adaptive_avg_pool2d: input=T.{_XY} output_size=2
adaptive_avg_pool3d: input=T.{_XYZ} output_size=2
adaptive_max_pool1d: input=T.{_X} output_size=2 return_indices=True
adaptive_max_pool2d: input=T.{_XY} output_size=2 return_indices=True
adaptive_max_pool3d: input=T.{_XYZ} output_size=2 return_indices=True
affine_grid: theta=T.ones(1, 2, 3) size=[1, 2, 3, 3] align_corners=False
alpha_dropout: input=T.ones(2, 3) p=0.5 training=False inplace=False
batch_norm: input=T.{_X} running_mean=T.ones(2) running_var=T.ones(2) weight=T.ones(2) bias=T.ones(2) training=True momentum=0.1 eps=1e-5
binary_cross_entropy: input=T.zeros(2) target=T.ones(2) weight=T.ones(2) {_OLD}
binary_cross_entropy_with_logits: input=T.zeros(2) target=T.ones(2) weight=T.ones(2) {_OLD} pos_weight=T.ones(2)
celu: input=T.ones(2) alpha=1.0 inplace=False
cosine_embedding_loss: input1=T.ones(2, 3) input2=T.ones(2, 3) target=T.ones(2) margin=0.5 {_OLD}
cross_entropy: input=T.ones(2, 2) target=T.tensor([0, 1]) weight=T.ones(2) size_average=None ignore_index=-100 reduce=None reduction='mean' label_smoothing=0.0
ctc_loss: log_probs=T.zeros(4, 1, 3) targets=T.tensor([[1, 2]]) input_lengths=T.tensor([4]) target_lengths=T.tensor([2]) blank=0 reduction='mean' zero_infinity=False
dropout: input=T.ones(2, 3) p=0.5 training=False inplace=False
dropout1d: input=T.ones(1, 2, 3) p=0.5 training=False inplace=False
dropout2d: input=T.ones(1, 2, 3, 3) p=0.5 training=False inplace=False
dropout3d: input=T.ones(1, 2, 3, 3, 3) p=0.5 training=False inplace=False
elu: input=T.ones(2) alpha=1.0 inplace=False
embedding: input=T.tensor([0, 1]) weight=T.ones(3, 2) padding_idx=0 max_norm=10.0 norm_type=2.0 scale_grad_by_freq=False sparse=False
embedding_bag: input=T.tensor([0, 1, 2]) weight=T.ones(3, 2) offsets=T.tensor([0, 2]) max_norm=10.0 norm_type=2.0 scale_grad_by_freq=False mode='sum' sparse=False per_sample_weights=T.ones(3) include_last_offset=False padding_idx=0
feature_alpha_dropout: input=T.ones(1, 2, 3) p=0.5 training=False inplace=False
fold: input=T.ones(1, 4, 4) output_size=(3, 3) kernel_size=2 dilation=1 padding=0 stride=1
fractional_max_pool2d: input=T.{_XY} kernel_size=2 output_size=3 output_ratio=None return_indices=True _random_samples=T.zeros(1, 2, 2)
fractional_max_pool3d: input=T.{_XYZ} kernel_size=2 output_size=3 output_ratio=None return_indices=True _random_samples=T.zeros(1, 2, 3)
gaussian_nll_loss: input=T.zeros(2) target=T.ones(2) var=T.ones(2) full=False eps=1e-6 reduction='mean'
glu: input=T.ones(2, 4) dim=-1
grid_sample: input=T.{_XY} grid=T.zeros(1, 3, 3, 2) mode='bilinear' padding_mode='zeros' align_corners=False
group_norm: input=T.{_X} num_groups=2 weight=T.ones(2) bias=T.ones(2) eps=1e-5
gumbel_softmax: logits=T.zeros(2, 3) tau=1.0 hard=False eps=1e-10 dim=-1
hardsigmoid: input=T.ones(2) inplace=False
hardswish: input=T.ones(2) inplace=False
hardtanh: input=T.ones(2) min_val=-1.0 max_val=2.0 inplace=False
hinge_embedding_loss: input=T.zeros(2) target=T.ones(2) margin=1.0 {_OLD}
huber_loss: input=T.zeros(2) target=T.ones(2) reduction='mean' delta=1.0 weight=T.ones(2)
instance_norm: input=T.{_X} running_mean=T.ones(2) running_var=T.ones(2) weight=T.ones(2) bias=T.ones(2) use_input_stats=True momentum=0.1 eps=1e-5
interpolate: input=T.{_XY} size=None scale_factor=2.0 mode='bilinear' align_corners=False recompute_scale_factor=False antialias=False
kl_div: input=T.zeros(2) target=T.ones(2) size_average=None reduce=None reduction='sum' log_target=False
l1_loss: input=T.zeros(2) target=T.ones(2) {_OLD} weight=T.ones(2)
layer_norm: input=T.ones(2, 3) normalized_shape=(3,) weight=T.ones(3) bias=T.ones(3) eps=1e-5
leaky_relu: input=T.ones(2) negative_slope=0.01 inplace=False
linear_cross_entropy: input=T.ones(2, 3) linear_weight=T.ones(4, 3) target=T.tensor([0, 1]) linear_bias=T.ones(4) weight=T.ones(4) reduction='mean' ignore_index=-100 label_smoothing=0.0 options=None
local_response_norm: input=T.{_X} size=2 alpha=1e-4 beta=0.75 k=1.0
log_softmax: input=T.ones(2, 3) dim=1 _stacklevel=3 dtype=None
lp_pool1d: input=T.{_X} norm_type=2 kernel_size=2 stride=None ceil_mode=False
lp_pool2d: input=T.{_XY} norm_type=2 kernel_size=2 stride=None ceil_mode=False
lp_pool3d: input=T.{_XYZ} norm_type=2 kernel_size=2 stride=None ceil_mode=False
margin_ranking_loss: input1=T.zeros(2) input2=T.zeros(2) target=T.ones(2) margin=0.5 {_OLD}
max_pool1d: input=T.{_X} kernel_size=2 stride=1 padding=0 dilation=1 ceil_mode=False return_indices=True
max_pool2d: input=T.{_XY} kernel_size=2 stride=1 padding=0 dilation=1 ceil_mode=False return_indices=True
max_pool3d: input=T.{_XYZ} kernel_size=2 stride=1 padding=0 dilation=1 ceil_mode=False return_indices=True
max_unpool1d: input=T.ones(1, 1, 2) indices=T.tensor([[[0, 2]]]) kernel_size=2 stride=2 padding=0 output_size=None
max_unpool2d: input=T.ones(1, 1, 1, 2) indices=T.tensor([[[[0, 2]]]]) kernel_size=2 stride=2 padding=0 output_size=None
max_unpool3d: input=T.ones(1, 1, 1, 1, 2) indices=T.tensor([[[[[0, 2]]]]]) kernel_size=2 stride=2 padding=0 output_size=None
mish: input=T.ones(2) inplace=False
mse_loss: input=T.zeros(2) target=T.ones(2) {_OLD} weight=T.ones(2)
multi_margin_loss: input=T.ones(2, 3) target=T.tensor([0, 1]) p=1 margin=1.0 weight=T.ones(3) {_OLD}
multilabel_margin_loss: input=T.ones(1, 3) target=T.tensor([[0, -1, -1]]) {_OLD}
multilabel_soft_margin_loss: input=T.zeros(2, 2) target=T.ones(2, 2) weight=T.ones(2) {_OLD}
nll_loss: input=T.zeros(2, 2) target=T.tensor([0, 1]) weight=T.ones(2) size_average=None ignore_index=-100 reduce=None reduction='mean'
normalize: input=T.ones(2, 3) p=2.0 dim=1 eps=1e-12 out=None
pad: input=T.ones(1, 2, 3) pad=(1, 1) mode='constant' value=None
poisson_nll_loss: input=T.zeros(2) target=T.ones(2) log_input=True full=False size_average=None eps=1e-8 reduce=None reduction='mean'
relu: input=T.ones(2) inplace=False
relu6: input=T.ones(2) inplace=False
rms_norm: input=T.ones(2, 3) normalized_shape=(3,) weight=T.ones(3) eps=None
rrelu: input=T.ones(2) lower=0.1 upper=0.3 training=False inplace=False
selu: input=T.ones(2) inplace=False
silu: input=T.ones(2) inplace=False
smooth_l1_loss: input=T.zeros(2) target=T.ones(2) {_OLD} beta=1.0
soft_margin_loss: input=T.zeros(2) target=T.ones(2) {_OLD}
softmax: input=T.ones(2, 3) dim=1 _stacklevel=3 dtype=None
softmin: input=T.ones(2, 3) dim=1 _stacklevel=3 dtype=None
softsign: input=T.ones(2)
tanhshrink: input=T.ones(2)
threshold: input=T.ones(2) threshold=0.5 value=1.0 inplace=False
triplet_margin_loss: anchor=T.zeros(2, 3) positive=T.ones(2, 3) negative=T.ones(2, 3) margin=1.0 p=2.0 eps=1e-6 swap=False {_OLD}
triplet_margin_with_distance_loss: anchor=T.zeros(2, 3) positive=T.ones(2, 3) negative=T.ones(2, 3) distance_function=None margin=1.0 swap=False reduction='mean'
unfold: input=T.ones(1, 2, 4, 4) kernel_size=2 dilation=1 padding=0 stride=1
upsample: input=T.{_XY} size=None scale_factor=2.0 mode='nearest' align_corners=None
linear: input=T.ones(2, 3) weight=T.ones(4, 3) bias=T.ones(4)
bilinear: input1=T.ones(2, 3) input2=T.ones(2, 2) weight=T.ones(4, 3, 2) bias=T.ones(4)
one_hot: input=T.tensor([0, 1]) num_classes=3
scaled_dot_product_attention: query=T.ones(2, 3) key=T.ones(2, 3) value=T.ones(2, 3) attn_mask=None dropout_p=0.0 is_causal=False scale=None enable_gqa=False
multi_head_attention_forward: query=T.ones(2, 1, 4) key=T.ones(2, 1, 4) value=T.ones(2, 1, 4) embed_dim_to_check=4 num_heads=2 in_proj_weight=T.ones(12, 4) in_proj_bias=T.ones(12) bias_k=None bias_v=None add_zero_attn=False dropout_p=0.0 out_proj_weight=T.ones(4, 4) out_proj_bias=T.ones(4) training=True key_padding_mask=None need_weights=True attn_mask=None use_separate_proj_weight=False q_proj_weight=None k_proj_weight=None v_proj_weight=None static_k=None static_v=None average_attn_weights=True is_causal=False
logsigmoid: input=T.ones(2)
avg_pool1d: input=T.{_X} kernel_size=2 stride=1 padding=0 ceil_mode=False count_include_pad=True
avg_pool2d: input=T.{_XY} kernel_size=2 stride=1 padding=0 ceil_mode=False count_include_pad=True divisor_override=None
avg_pool3d: input=T.{_XYZ} kernel_size=2 stride=1 padding=0 ceil_mode=False count_include_pad=True divisor_override=None
conv1d: input=T.{_X} weight=T.ones(3, 2, 2) bias=T.ones(3) stride=1 padding=0 dilation=1 groups=1
conv2d: input=T.{_XY} weight=T.ones(3, 2, 2, 2) bias=T.ones(3) stride=1 padding=0 dilation=1 groups=1
conv3d: input=T.{_XYZ} weight=T.ones(3, 2, 2, 2, 2) bias=T.ones(3) stride=1 padding=0 dilation=1 groups=1
conv_transpose1d: input=T.{_X} weight=T.ones(2, 3, 2) bias=T.ones(3) stride=1 padding=0 output_padding=0 groups=1 dilation=1
conv_transpose2d: input=T.{_XY} weight=T.ones(2, 3, 2, 2) bias=T.ones(3) stride=1 padding=0 output_padding=0 groups=1 dilation=1
conv_transpose3d: input=T.{_XYZ} weight=T.ones(2, 3, 2, 2, 2) bias=T.ones(3) stride=1 padding=0 output_padding=0 groups=1 dilation=1
cosine_similarity: x1=T.ones(2, 3) x2=T.ones(2, 3) dim=1 eps=1e-8
pairwise_distance: x1=T.ones(2, 3) x2=T.ones(2, 3) p=2.0 eps=1e-6 keepdim=False
channel_shuffle: input=T.ones(1, 4, 2) groups=2
pixel_shuffle: input=T.ones(1, 4, 2, 2) upscale_factor=2
pixel_unshuffle: input=T.ones(1, 1, 4, 4) downscale_factor=2
prelu: input=T.ones(1, 2) weight=T.ones(2)
gelu: input=T.ones(2) approximate='none'
hardshrink: input=T.ones(2) lambd=0.5
softplus: input=T.ones(2) beta=1.0 threshold=20.0
softshrink: input=T.ones(2) lambd=0.5
celu_: input=T.ones(2) alpha=1.0
elu_: input=T.ones(2) alpha=1.0 scale=1.0 input_scale=1.0
hardtanh_: input=T.ones(2) min_val=-1.0 max_val=2.0
leaky_relu_: input=T.ones(2) negative_slope=0.01
relu_: input=T.ones(2)
rrelu_: input=T.ones(2) lower=0.1 upper=0.3 training=False
selu_: input=T.ones(2)
threshold_: input=T.ones(2) threshold=0.5 value=1.0
"""

"""A good call of each function, all its arguments by name."""

GOOD = {
    name: dict(part.split("=", 1) for part in re.split(r" (?=\w+=)", arguments))
    for name, _, arguments in (row.partition(": ") for row in _ROWS.strip().splitlines())
}

WRONG = """
    None|'a'|'none'|1.5|7|-1|True|T.float32|{}|()|(0, 7)|[1, 2]|[1.5, 2]|[T.ones(2)]|
    T.tensor([1, 2])|T.tensor([0.5])|T.tensor(1.5)|T.tensor(2)
"""
VALUES = [each.strip() for each in WRONG.split("|")]
"""Values of all kinds; where one of them is right, the answer is compared."""


def call(name: str, arguments: dict[str, str]) -> Call:
    written = ", ".join(f"{each}={value}" for each, value in arguments.items())
    return Call({}, f"T.nn.functional.{name}({written})")


@pytest.mark.parametrize("name", GOOD)
def test_one_wrong_argument(name: str):
    good = GOOD[name]
    assert finding(name, "functional", call(name, good)) is None
    for argument in good:
        for value in VALUES:
            found = finding(name, "functional", call(name, {**good, argument: value}))
            assert found is None, f"{found.kind}: {found.words}\n{found.call}"


@pytest.mark.parametrize("dtype", ["float16", "float64", "uint8", "int8", "int16", "int32", "int64", "bool"])
@pytest.mark.parametrize("name", GOOD)
def test_every_dtype(name: str, dtype: str):
    """All tensors of numbers in one dtype: which functions take integers, and bools."""
    numbers = re.compile(r"T\.(ones|zeros)\(([^)]*)\)")
    arguments = {
        each: numbers.sub(rf"T.\1(\2, dtype=T.{dtype})", value) for each, value in GOOD[name].items()
    }
    found = finding(name, "functional", call(name, arguments))
    assert found is None, f"{found.kind}: {found.words}\n{found.call}"


@pytest.mark.parametrize("name", GOOD)
def test_a_mistyped_keyword_and_a_missing_argument(name: str):
    good = GOOD[name]
    first = next(iter(good))
    for arguments in ({**good, "dimm": "1"}, {each: value for each, value in good.items() if each != first}):
        found = finding(name, "functional", call(name, arguments))
        assert found is None, f"{found.kind}: {found.words}\n{found.call}"
