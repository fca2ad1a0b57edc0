"""Where autokit and PyTorch part on purpose: each difference with its reason, and a call that still shows it.

Four groups: what PyTorch cannot do and autokit can; what PyTorch itself answers
in several ways, or wrongly; what is free; and what autokit refuses that PyTorch
lets pass unseen.  A difference that was mended leaves this table: a test runs
each call.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tests.fuzz.calls import Call, read_call


class Difference(NamedTuple):
    """Whose it is (a pattern of names), its kind, how its words and its call look, why, and a call."""

    names: str
    kind: str
    words: str
    within: str
    reason: str
    shown_by: str

    def covers(self, name: str, kind: str, words: str, call: str) -> bool:
        return bool(
            re.fullmatch(self.names, name)
            and re.fullmatch(self.kind, kind)
            and re.search(self.words, words)
            and re.search(self.within, call)
        )

    def call(self) -> tuple[str, Call]:
        """The name of the function, and the call of it that shows the difference."""
        call = read_call(self.shown_by)
        named = [each for each in re.findall(r"(\w+)\(", call.expression) if re.fullmatch(self.names, each)]
        return named[-1], call


EMPTY = r"zeros\(\(?[\d, ]*\b0\b|\[\]|T\.zeros\(\(\)"
"""A call of which a tensor has no elements."""

_ROWS = r"""
(acosh|asinh|atanh|arccosh|arcsinh|arctanh)_ / backward / inplace version /
    PyTorch has no derivative of these in place.
    a = T.tensor([0.5], requires_grad=True); T.asinh_((a * 1))

.* / backward / where PyTorch: RuntimeError: (Subtraction|Negation) /
    PyTorch's way back subtracts or negates an operand of bools, and refuses that.
    a = T.tensor([1.5], requires_grad=True); b = T.tensor([True]); T.logaddexp(a, b)

.* / backward / derivative for aten::(remainder|bernoulli|binomial) /
    PyTorch has no derivative there; autokit's is that of the rule, or 0 of what is drawn.
    a = T.tensor([2.0], requires_grad=True); T.remainder(-7, a)

addcdiv_?|addcmul_? / backward / can't be cast|cannot be converted /
    PyTorch's way back computes in the dtype of an operand of integers.
    a = T.tensor([1.0], requires_grad=True); b = T.tensor([2.0]); c = T.tensor([1, 2]); T.addcdiv(b, a, c, value=1.5)

dist / backward / proper Tensor / p=0|, 0(\.0)?\)
    PyTorch has no gradient of the distance that counts differences: it is 0.
    a = T.tensor(1.0, requires_grad=True); b = T.tensor(2.0, requires_grad=True); T.dist(a, b, p=0.0)

scatter(_add|_reduce)?_? / backward / invalid gradient|The size of tensor /
    PyTorch's gradient by src has the shape of the index where that is smaller.
    a = T.zeros((3, 3, 0), requires_grad=True); b = T.zeros((2, 3, 0), dtype=T.int64); c = T.zeros((3, 3, 0), requires_grad=True); T.scatter_add(a, -2, b, c)

i1e? / backward / _backward" not implemented for 'Half' / float16
    PyTorch has no derivative in half precision.
    a = T.tensor([0.5], dtype=T.float16, requires_grad=True); T.special.i1(a)

group_norm / backward / does not have a device /
    PyTorch's way back fails where the input learns and the weights do not.
    a = T.tensor([[[2.25], [-2.5]]], requires_grad=True); b = T.tensor([1.5, 1.0], requires_grad=True); T.nn.functional.group_norm(a, 1, bias=b)

leaky_relu_ / backward / In-place leakyReLu /
    PyTorch reads the slope off the result, which a slope below 0 does not tell; autokit keeps the input.
    a = T.tensor([-2.0, 3.0], requires_grad=True); T.nn.functional.leaky_relu_((a * 1), -1.0)

huber_loss / backward / Found dtype /
    PyTorch's way back does not meet a target of integers.
    a = T.tensor([2.0], requires_grad=True); b = T.tensor([2]); T.nn.functional.huber_loss(a, b)

vander|cond / backward / modified by an inplace operation /
    PyTorch changes what it saved for the way back.
    a = T.tensor([0.5], requires_grad=True); T.vander(a, 3)

.* / type / ^TypeError: .* where PyTorch: AttributeError /
    PyTorch trips over an argument of a wrong type where autokit names it.
    T.nn.functional.tanh(99)

.* / type / ^TypeError: \w+\(\)(: argument '\w+'( \(position \d+\))? must be| received an invalid| got an unexpected| missing| takes) / nn\.functional
    Functions of nn.functional ask for shapes and settings first and trip over a wrong type later; autokit looks at types first.
    a = T.ones(2, 3); T.nn.functional.dropout(a, T.tensor([1, 2]))

.* / type / (not implemented for|valid value for|is not valid:|requires_grad|infer output dtype|Boolean value of).* where PyTorch|where PyTorch.*(not implemented for|valid value for|requires_grad|infer output dtype|Boolean value of) / nn\.functional
    Of two mistakes in one call, a wrong dtype or word and another, the one that is told is free.
    a = T.tensor([[1, 2]]); b = T.tensor([0]); T.nn.functional.cross_entropy(a, b, reduction='bad')

embedding(_bag)? / refused / 'norm_type' must be /
    What is looked at is looked at always, and not only where it is used.
    a = T.tensor([0]); b = T.ones(2, 2); T.nn.functional.embedding(a, b, norm_type=[1, 2])

max_unpool\dd / backward / is out of bounds for dimension /
    PyTorch's way back reads from a result without elements.
    a = T.ones((1, 1, 1), requires_grad=True); b = T.tensor([[[0]]]); T.nn.functional.max_unpool1d(a, b, 2, padding=1)

adaptive_avg_pool\dd / backward / to have non-zero size for non-batch / EMPTY
    PyTorch's way back refuses channels without elements.
    a = T.zeros((1, 0, 6), requires_grad=True); T.nn.functional.adaptive_avg_pool1d(a, 3)

(log_)?softmax|softmin / accepted / converted to an index / _stacklevel
    A warning points at the learner's own line; autokit looks at no _stacklevel.
    a = T.ones(3); T.nn.functional.softmax(a, _stacklevel=T.ones(2))

conv.*|embedding_bag / type / select\(\): index 0|step must be nonzero / EMPTY
    PyTorch looks at the first of no elements.
    a = T.zeros((0, 1, 5)); b = T.zeros((2, 1, 0)); T.nn.functional.conv1d(a, b)

.*fold|max_unpool\dd|lp_pool\dd|adaptive_\w+_pool\dd / refused|accepted|type / must be tuple of ints, not|one number for each|0-d tensor /
    Sizes are numbers; where it is written in Python, PyTorch takes a tensor apart, True for 1 and more than there are sides.
    a = T.ones(1, 1, 2, 2); T.nn.functional.unfold(a, T.tensor([1, 2]))

fractional_max_pool\dd / refused / give positive sizes / -
    PyTorch takes windows of a negative size for empty ones.
    a = T.ones(1, 2, 6, 6); T.nn.functional.fractional_max_pool2d(a, -1, 3)

embedding(_bag)? / refused / gradients are dense here / True
    There are no sparse tensors.
    a = T.tensor([0]); b = T.ones(2, 2); T.nn.functional.embedding(a, b, sparse=True)

linear_cross_entropy / refused|type / takes no options /
    All logits are computed at once.
    a = T.ones(1, 2); b = T.ones(2, 2); c = T.tensor([0]); T.nn.functional.linear_cross_entropy(a, b, c, options='a')

(linear_)?cross_entropy|scaled_dot_product_attention / refused / has to be between 0 and 1|between 0.0 and 1.0 / -\d
    PyTorch takes a negative probability for 0.
    a = T.ones(1, 2); b = T.tensor([0]); T.nn.functional.cross_entropy(a, b, label_smoothing=-1)

normalize|multilabel_soft_margin_loss / refused / must be Tensor, not /
    A number is no tensor, though PyTorch's arithmetic takes it for one.
    a = T.ones(2, 2); T.nn.functional.multilabel_soft_margin_loss(a, 1)

multi_head_attention_forward / type / not enough values to unpack /
    PyTorch trips over weights and queries of too few dimensions.
    a = T.ones(2, 1, 4); b = T.ones(2, 1, 4); c = T.tensor([1, 2]); d = T.ones(4, 4); T.nn.functional.multi_head_attention_forward(a, b, a, 4, 2, c, None, None, None, False, 0.0, d, None)

embedding_bag / result|gradient /  / include_last_offset=True
    Where the last bag ends before the input does, PyTorch's sums, means and maxima do not agree on whether it does.
    a = T.tensor([0, 1, 2]); b = T.tensor([[1.0], [2.0], [3.0]]); c = T.tensor([0, 2]); T.nn.functional.embedding_bag(a, b, c, mode='max', include_last_offset=True)

multilabel_soft_margin_loss / result /  / uint8
    PyTorch subtracts bytes from 1, which wraps around.
    a = T.tensor([[1.0, 2.0]]); b = T.tensor([[3, 0]], dtype=T.uint8); T.nn.functional.multilabel_soft_margin_loss(a, b)

interpolate|upsample / refused / becomes real with / uint8
    PyTorch resizes bytes in a fixed-point arithmetic of its own.
    a = T.ones((1, 1, 2, 2), dtype=T.uint8); T.nn.functional.interpolate(a, 3, mode='bilinear')

(batch|instance)_norm / accepted / expected scalar type /
    PyTorch converts a running mean of another dtype, and not the variance.
    a = T.ones(1, 2, 3); b = T.ones(2); c = T.tensor([1, 2]); T.nn.functional.instance_norm(a, b, c)

(batch|instance)_norm / accepted|type|refused / select\(\): index 0|proper Tensor|neither be None / EMPTY
    PyTorch looks for the first channel where there is none.
    a = T.zeros((1, 0, 4)); b = T.zeros((0,)); T.nn.functional.instance_norm(a, weight=b)

batch_norm / refused / must be defined in evaluation mode / EMPTY
    Missing statistics are missed for an empty batch, too.
    a = T.zeros((0, 3, 4)); T.nn.functional.batch_norm(a, None, None)

celu_|elu_|selu_ / backward / In-place elu /
    PyTorch reads the slope off the result, which a slope below 0 does not tell; autokit keeps the input.
    a = T.tensor([-2.0, 3.0], requires_grad=True); T.nn.functional.celu_((a * 1), -7)

elu_ / gradient /  / nan
    PyTorch reads the slope off the result, and takes that of a NaN for 1.
    a = T.tensor([-0.5], requires_grad=True); T.nn.functional.elu_((a * 1), scale=1.0, input_scale=nan)

(pixel|channel)_shuffle / backward / invalid gradient|Value of groups:0 / EMPTY
    PyTorch's way back fails without images or channels.
    a = T.zeros((2, 0, 4), requires_grad=True); T.nn.functional.channel_shuffle(a, 3)

.* / accepted / not implemented for 'Half' / float16
    Half precision is computed everywhere.
    a = T.ones((1, 2, 2, 2, 2), dtype=T.float16); T.nn.functional.avg_pool3d(a, 2)

.* / type / Low precision dtypes not supported.* where PyTorch: NotImplementedError: .*'Half' / float16
    PyTorch refuses half precision with one of two errors, autokit always with the first.
    a = T.tensor([[1.5]], dtype=T.float16); T.svd(a)

.* / refused / not implemented for|Low precision|floating point|data type|dtype|expected scalar type|should be the same|requires_grad / EMPTY
    A wrong dtype is refused where there are no elements, too.
    a = T.zeros((0, 3), dtype=T.bool); T.softmax(a, 0)

.* / refused / more than one element of the written-to tensor / expand
    Nothing is written into elements that share their memory, not even one number for all.
    a = T.tensor([1.0]); a.expand(3).zero_()

ldexp_? / gradient / for .*0\.0 /
    PyTorch's gradient takes 2 to the power of integers as an integer: 0 below 1.
    a = T.tensor([3.0], requires_grad=True); b = T.tensor([-2]); T.ldexp(a, b)

(float_)?pow_? / result|gradient / nan|inf / 0\.5
    PyTorch takes a number 0.5 as a root, of which that of −∞ is NaN, and a tensor that holds it as a power.
    a = T.tensor([-inf]); b = T.tensor(0.5); T.pow(a, b)

(var|std)(_mean)? / gradient /  / dim=\(\)|\(\)|\[\]
    PyTorch's way back counts one element where dim is empty, which stands for all.
    a = T.tensor([1.5, 2.0], requires_grad=True); T.var(a, [])

poisson / result / e\+18 / 1e30|inf
    PyTorch's counts overflow.
    a = T.tensor([1e30]); T.poisson(a)

scatter_reduce_? / gradient /  / prod
    PyTorch's gradient by src is multiplied by elements outside the index, and divides by zeros.
    a = T.tensor([1.0, 2.0], requires_grad=True); b = T.tensor([0]); c = T.tensor([3.0, 4.0], requires_grad=True); T.scatter_reduce(a, 0, b, c, 'prod')

conv.* / refused / weight that has elements|output padding must be / EMPTY
    Nor is a weight looked at where there are no samples, or what is put around them.
    a = T.zeros((0, 0, 6)); b = T.zeros((1, 0, 3)); T.nn.functional.conv1d(a, b)

scaled_dot_product_attention / refused / must match|cannot be multiplied|should not be set / EMPTY
    Nor shapes and masks where there are no queries or keys.
    a = T.zeros((1, 2, 2, 0)); b = T.zeros((1, 3, 0)); c = T.zeros((0, 3, 2)); T.nn.functional.scaled_dot_product_attention(a, b, c)

scaled_dot_product_attention / result / shape / EMPTY
    PyTorch does not broadcast batches where there are no keys.
    a = T.tensor([[1.0]]); b = T.zeros((0, 1)); c = T.zeros((2, 0, 1)); T.nn.functional.scaled_dot_product_attention(a, b, c)

log_ndtr / gradient / nan|inf / inf|1e30
    PyTorch's gradient overflows far to the left.
    a = T.tensor([-1e30], requires_grad=True); T.special.log_ndtr(a)

i1e? / gradient / nan / nan
    PyTorch's gradient at a NaN is a number.
    a = T.tensor([nan], requires_grad=True); T.special.i1(a)

pinverse / result|gradient / \d / expand|rcond
    Of a matrix without full rank the rounding errors of its least singular values are inverted.
    a = T.tensor([[-2.5, -2.8203125]]); T.pinverse(a.expand(2, 2))

max_pool\dd(_with_indices)? / refused / nothing but padding /
    PyTorch gives −∞, and a place that is outside of the input.
    a = T.ones(1, 2); T.nn.functional.max_pool1d(a, 2, stride=3, padding=1, dilation=3)

narrow_copy / gradient /  / -\d
    PyTorch's way back counts a negative start from the wrong end.
    a = T.tensor([[1.0, 2.0]], requires_grad=True); T.narrow_copy(a, 1, -1, 1)

.* / gradient /  / uint8
    PyTorch negates a byte in its way back, which wraps around.
    a = T.tensor([2], dtype=T.uint8); b = T.tensor([1.75], requires_grad=True); T.atan2(a, b)

kthvalue|topk|mode|sort|argsort|msort|median|nanmedian / result|gradient / \d /
    Which of equal elements comes first is free where the sort is not stable.
    a = T.tensor([1, 1, -5, 4]); T.kthvalue(a, 2)

bincount|cummax|cummin|trapezoid|trapz|vander|lu_unpack|lstsq|cond|cholesky_ex|combinations|geqrf|histogram|qr|householder_product / result|gradient / requires_grad /
    What has no gradient, or no elements, is not marked as having one.
    a = T.tensor([3]); b = T.tensor([0.5], requires_grad=True); T.bincount(a, b)

(linalg_)?cholesky_(inverse|solve) / gradient /  /
    PyTorch's gradient depends on the triangle that is not read.
    a = T.tensor([[2.0, 0.75], [-2.5, 2.0]], requires_grad=True); T.cholesky_inverse(a)

cholesky_ex|inv_ex|solve_ex / result|gradient / nan /
    A matrix that failed is all NaN; PyTorch leaves it half done.
    a = T.tensor([[-0.5]]); T.linalg.cholesky_ex(a)

eig|eigvals / result / complex /
    autokit has no complex numbers: real eigenvalues are real, complex ones an error.
    a = T.tensor([[2.0]]); T.linalg.eigvals(a)

eigh|svd|qr|lu / result|gradient / \d /
    The signs of the vectors are free.
    a = T.tensor([[0.9375, -1.25], [-1.25, -2.5], [2.875, 1.75]], dtype=T.float64); T.svd(a.transpose(-1, -2))

unique_consecutive / result /  / T\.unique_consecutive\(\w[^;=]*, (True|False)|\.unique_consecutive\((True|False)
    PyTorch takes the second argument by place for return_counts.
    a = T.tensor([-2.75, 1.0]); T.unique_consecutive(a, True)

adaptive_max_pool\dd|max_pool\dd / result|gradient /  / nan|inf
    Which of several NaN is free.
    a = T.tensor([[[nan, nan]]]); T.nn.functional.adaptive_max_pool1d(a, 1, True)

pixel_unshuffle|pixel_shuffle / result / shape /
    PyTorch leaves images without channels as they are.
    a = T.zeros((1, 0, 4, 4)); T.nn.functional.pixel_unshuffle(a, 2)

bucketize|searchsorted / result /  /
    Boundaries that are not sorted have no answer.
    a = T.tensor([5, 1, 0], dtype=T.uint8); T.bucketize(-1, a, right=True)

multilabel_margin_loss|multi_margin_loss / result /  / EMPTY
    PyTorch gives what was in memory for an empty batch.
    a = T.zeros((0, 1), dtype=T.float64); b = T.zeros((0,), dtype=T.int64); T.nn.functional.multi_margin_loss(a, b, margin=0.5)

batch_norm|instance_norm / operand / nan / EMPTY
    PyTorch leaves running statistics alone where a batch is empty; autokit makes them NaN, as their mean is.
    a = T.zeros((0, 3, 4)); b = T.ones(3); T.nn.functional.batch_norm(a, b, None, training=True)

hardshrink|softshrink|hardswish|hardtanh_? / gradient / \d / nan|inf
    PyTorch's long vectors and its last elements answer a NaN differently.
    a = T.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5], requires_grad=True); T.nn.functional.hardshrink(a, nan)

(lt|le|gt|ge|eq|ne|less|less_equal|greater|greater_equal|not_equal)_ / backward / isDifferentiableType /
    PyTorch's way back fails where a tensor of integers is compared in place with one that learns.
    a = T.tensor([True]); b = T.tensor([2.0], requires_grad=True); a.less_equal_(b)

.* / accepted|type|refused / argument 'out'|out=Tensor|out=... arguments|Expected out|Found dtype|desired output type|output values|output indices|non-boolean outputs|scalar_type / out=
    Every function takes out=, by one rule for all: results are cast to its dtype if they keep their kind.
    a = T.tensor([1.0]); b = T.zeros((1,), dtype=T.bool); T.isnan(a, out=b)

hardsigmoid / gradient /  / float64
    PyTorch's sixth is that of float32.
    a = T.tensor([0.5, 0.5], dtype=T.float64, requires_grad=True); T.nn.functional.hardsigmoid(a)

addr_? / backward / addmv input tensors must have the same dtype /
    PyTorch's way back does not convert operands as its way there does.
    a = T.tensor([[1.5]], requires_grad=True); b = T.tensor([2.5], requires_grad=True); c = T.tensor([2]); T.addr(a, b, c)

pow / backward / INTERNAL ASSERT FAILED / True|False
    PyTorch's way back fails where a bool is raised to a power.
    a = T.tensor([1.5], requires_grad=True); T.pow(True, a)

.* / accepted|type / where PyTorch: TypeError: \w+\(\) received an invalid combination of arguments - got \(.*\binput=(int|float|bool) / \binput=
    A number may be given by its keyword too, where PyTorch takes it by its place alone.
    a = T.tensor([3, 1]); T.remainder(input=2, other=a)

(add|sub|subtract)_? / refused|accepted|type / alpha|takes 2 positional arguments but 3|Subtraction / ^(?!.*alpha=).*(-?[\w.]+), (-?[\w.]+)\)|out=
    Of two numbers in the deprecated add(input, alpha, other) the second is alpha, as in add(input, other, alpha=...).
    a = T.tensor([True]); T.add(a, 2, 0.5)

.* / accepted|type / not implemented for 'Half' / float16
    autokit computes in half precision where PyTorch has not got to it.
    a = T.tensor([0.5], dtype=T.float16); T.special.erfcx(a)

isin|kron|take_along_dim|matrix_exp|linalg_matrix_exp / accepted / view size is not compatible / transpose|expand|\[::2\]
    PyTorch's own view fails where an operand is a view itself.
    a = T.tensor([[-4, 3, -1], [-4, 1, -1]]); T.isin(1, a.transpose(-1, -2))

isin / result /  / assume_unique=True
    What was promised to be unique and is not has no answer in PyTorch.
    a = T.tensor([[[4, 4, -5], [-3, 4, -1]], [[6, -5, -5], [-4, -4, -4]], [[6, -2, 6], [3, -2, -5]]], dtype=T.int32); b = T.tensor([[[5, -3, 6], [5, -3, 1]], [[5, 1, -4], [2, -4, -4]], [[-1, 3, 1], [-2, -3, -5]]], dtype=T.int32); T.isin(a, b, assume_unique=True)

logsumexp / accepted / doesn't match the broadcast shape / \[\]|\(\)
    PyTorch reduces over all dimensions where dim is empty, and is then surprised at the shape.
    a = T.tensor([4, -3, -3]); T.logsumexp(a, [])

lu / accepted|type|refused / _lu_(no|with)_infos?\(\)|linalg_lu\(\) missing|'get_infos' .*must be bool /
    PyTorch's functions of this name are wrapped in others, which take the matrix by place alone, and any flag.
    a = T.tensor([[0.5]]); T.lu(input=a)

(linalg_)?matrix_exp / refused / Low precision / float16
    PyTorch's answers in half precision are wrong but for single numbers: inf and -inf for a matrix of ones.
    a = T.tensor([[0.8125]], dtype=T.float16); T.linalg.matrix_exp(a)

binomial / refused|type / the count of trials must be|a probability lies between /
    PyTorch counts on with what is no count and no probability.
    a = T.tensor([3.0]); b = T.tensor([1.5]); T.binomial(a, b)

eig|eigvals / refused|type / has complex eigenvalues /
    autokit has no complex numbers, and says so where the answer would be of them.
    a = T.tensor([[-0.53125, -2.34375], [2.828125, 1.0625]]); T.linalg.eigvals(a)

mm|bmm|addmm|baddbmm / type / where PyTorch: NotImplementedError: Could not run 'aten::\w+.dtype' / T\.float32
    PyTorch has out_dtype on a GPU alone, autokit nowhere: two errors say so.
    a = T.tensor([[5.0]]); T.mm(a, a, out_dtype=T.float32)

slogdet|logdet|det|matrix_rank / result|gradient / \d / expand
    Of a matrix without full rank the rounding errors decide whether a factor is 0.
    a = T.tensor([[1.671875, -1.0625]], dtype=T.float64); T.linalg.slogdet(a.expand(2, 2))

inner / refused / not implemented for 'Bool' / \[::2\]|expand
    PyTorch multiplies bools where they are no neighbours in memory, and refuses them else.
    a = T.tensor([True, True, False, False]); b = T.tensor([False, True, False, True]); T.inner(a[::2], b[::2])

logit / gradient / inf / -0\.0
    PyTorch's long vectors and its last elements give the slope at -0 another sign.
    a = T.tensor([-0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0], dtype=T.float64, requires_grad=True); T.logit(a)
"""  # noqa: E501 - a call is one line


def _rows(text: str) -> list[Difference]:
    """One difference in four lines: names / kind / words / within, the reason, and the call."""
    found = []
    for block in filter(None, text.strip("\n").split("\n\n")):
        head, reason, shown_by = block.split("\n")
        names, kind, words, within = (part.strip() for part in re.split(r" /(?: |$)", head))
        found.append(
            Difference(names, kind, words, within.replace("EMPTY", EMPTY), reason.strip(), shown_by.strip())
        )
    return found


DIFFERENCES = _rows(_ROWS)
"""What stays different, and why."""
