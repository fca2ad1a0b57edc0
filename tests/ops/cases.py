"""The table of cases: what each operation is tried with, one line for each.

A case is the name of the public function it tries, a call on the library ``T``,
which has PyTorch's names, and the call's tensors as arrays.  Floating point arrays are differentiated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit import ops
from tests.ops.case import B, Case, I, P, R, otherwise
from tests.ops.case import case as c

ARITHMETIC = [
    c("add", lambda T, a, b: a + b, R(2, 3), R(2, 3)),
    c("add", lambda T, a, b: T.add(a, b), R(2, 3), R(3)),
    c("add", lambda T, a, b: a.add(b), R(2, 1), R(1, 3)),
    c("add", lambda T, a, b: T.add(a, b, alpha=3), R(2), R(2)),
    c("add", lambda T, a, b: T.add(input=a, other=b), R(2), R(2)),
    c("add", lambda T, a: a + 1, R(2)),
    c("add", lambda T, a: 1.5 + a, R()),
    c("add", lambda T, a: a + a, R(2)),
    c("add", lambda T, a, b: a + b, R(3, 0), R(1)),
    c("add", lambda T, a, b: a + b, R(), R(2, 2)),
    c("add", lambda T, a, b: a + b, I(3), R(3)),
    c("sub", lambda T, a, b: a - b, R(2, 3), R(3)),
    c("sub", lambda T, a, b: T.sub(a, b), R(3), R(2, 3)),
    c("sub", lambda T, a, b: a.sub(b, alpha=2), R(3), R(3)),
    c("sub", lambda T, a: 1 - a, R(2)),
    c("sub", lambda T, a: a - 1, R(2)),
    c("subtract", lambda T, a, b: T.subtract(a, b), R(2), R(2)),
    c("mul", lambda T, a, b: a * b, R(2, 3), R(2, 1)),
    c("mul", lambda T, a, b: T.mul(a, b), R(3), R(2, 3)),
    c("mul", lambda T, a: a * a, R(3)),
    c("mul", lambda T, a: 2 * a, R(3)),
    c("mul", lambda T, a: a * 2.5, I(3)),
    c("mul", lambda T, a, b: a * b, B(3), R(3)),
    c("multiply", lambda T, a, b: a.multiply(b), R(3), R(3)),
    c("div", lambda T, a, b: a / b, R(2, 3), P(3)),
    c("div", lambda T, a, b: T.div(a, b), R(3), P(2, 3)),
    c("div", lambda T, a: a / 2, R(3)),
    c("div", lambda T, a: 2 / a, P(3)),
    c("div", lambda T, a, b: a / b, I(3), np.array([1, 2, 3])),
    c("div", lambda T, a, b: T.div(a, b, rounding_mode="floor"), R(3), P(3)),
    c("div", lambda T, a, b: T.div(a, b, rounding_mode="trunc"), R(3), P(3)),
    c("div", lambda T, a, b: T.div(a, b, rounding_mode="trunc"), I(3), np.array([2, 2, 3])),
    c("divide", lambda T, a, b: T.divide(a, b), R(3), P(3)),
    c("true_divide", lambda T, a, b: a.true_divide(b), R(3), P(3)),
    c("floor_divide", lambda T, a, b: a.detach() // b.detach(), R(3), P(3)),
    c("floor_divide", lambda T, a, b: T.floor_divide(a, b), I(3), np.array([2, -2, 3])),
    c("floor_divide", lambda T, a: a // 2, I(4)),
    c("floor_divide", lambda T, a: 7 // a, np.array([2, -2, 3])),
    c("remainder", lambda T, a, b: a % b, R(3), P(3)),
    c("remainder", lambda T, a, b: T.remainder(a, b), R(3), P(2, 3)),
    c("remainder", lambda T, a: a % 2, R(4)),
    c("remainder", lambda T, a: 3 % a, I(4) * 2 + 1),
    c("remainder", lambda T, a: a % 3, I(4)),
    c("pow", lambda T, a, b: a**b, P(2, 3), R(3)),
    c("pow", lambda T, a, b: T.pow(a, b), P(3), R(2, 3)),
    c("pow", lambda T, a: a**2, R(3)),
    c("pow", lambda T, a: a**3, R(3)),
    c("pow", lambda T, a: a**0.5, P(3)),
    c("pow", lambda T, a: a**-1, R(3)),
    c("pow", lambda T, a: 2**a, R(3)),
    c("pow", lambda T, a: T.pow(2.0, a), R(3)),
    c("pow", lambda T, a: a**2, I(3)),
    c("pow", lambda T, a: a.pow(exponent=2), R(3)),
    c("neg", lambda T, a: -a, R(2, 3)),
    c("neg", lambda T, a: T.neg(a), I(3)),
    c("negative", lambda T, a: a.negative(), R(3)),
]

FUNCTIONS = [
    c("exp", lambda T, a: T.exp(a), R(2, 3)),
    c("exp", lambda T, a: a.exp(), I(3)),
    c("exp", lambda T, a: a.exp(), R()),
    c("exp", lambda T, a: T.exp(a), R(0, 2)),
    c("log", lambda T, a: T.log(a), P(2, 3)),
    c("sqrt", lambda T, a: a.sqrt(), P(3)),
    c("tanh", lambda T, a: T.tanh(input=a), R(2, 3)),
    c("tanh", lambda T, a: T.tanh(a), B(3)),
    c("sigmoid", lambda T, a: T.sigmoid(a), R(2, 3)),
    c("sigmoid", lambda T, a: a.sigmoid(), np.array([-100.0, 100.0, -1000.0, 0.0])),
    c("relu", lambda T, a: T.relu(a), R(2, 3)),
    c("relu", lambda T, a: a.relu(), I(3)),
    c("abs", lambda T, a: T.abs(a), R(2, 3)),
    c("abs", lambda T, a: abs(a), I(3)),
    c("absolute", lambda T, a: a.absolute(), R(3)),
    c("sin", lambda T, a: T.sin(a), R(2, 3)),
    c("cos", lambda T, a: a.cos(), R(2, 3)),
    c("sign", lambda T, a: T.sign(a), R(3)),
    c("sign", lambda T, a: a.sign(), I(3)),
    c("floor", lambda T, a: T.floor(a), R(3)),
    c("floor", lambda T, a: T.floor(a), I(3)),
    c("clone", lambda T, a: a.clone(), R(3)),
    c("clone", lambda T, a: T.clone(a), I(3)),
    c("maximum", lambda T, a, b: T.maximum(a, b), R(2, 3), R(3)),
    c("minimum", lambda T, a, b: a.minimum(b), R(3), R(2, 3)),
    c("maximum", lambda T, a, b: a.maximum(b), I(3), R(3)),
    c("clamp", lambda T, a: a.clamp(-1, 1), R(3, 3)),
    c("clamp", lambda T, a: T.clamp(a, min=0), R(3)),
    c("clamp", lambda T, a: T.clamp(a, max=0.5), R(3)),
    c("clamp", lambda T, a: a.clamp(-1, 1), I(5)),
    c("clamp", lambda T, a: a.clamp(-0.5, 1.5), I(5)),
    otherwise("clamp", lambda T, a, b, d: T.clamp(a, b, d), R(4), -P(4), P(4)),
    otherwise("clamp", lambda T, a, b: T.clamp(a, min=b), R(2, 3), R(3)),
    c("clip", lambda T, a: T.clip(a, -1, 1), R(3)),
    c("where", lambda T, m, a, b: T.where(m, a, b), B(2, 3), R(2, 3), R(3)),
    c("where", lambda T, m, a: T.where(m, a, 0.0), B(2, 3), R(3)),
    c("where", lambda T, m, a: T.where(m, 1, a), B(3), R(3)),
    c("where", lambda T, a: T.where(a > 0, a * a, -a), R(2, 3)),
    c("where", lambda T, m, a, b: a.where(m, b), B(3), R(3), R(3)),
    c("where", lambda T, m, a, b: T.where(m, a, b), B(3), I(3), R(3)),
    c("where", lambda T, m: T.where(m, 1.0, 0.0), B(3)),
    c("where", lambda T, m: T.where(m), B(2, 3)),
    c("nonzero", lambda T, a: a.nonzero(), I(3, 3)),
    c("nonzero", lambda T, a: T.nonzero(a, as_tuple=True), B(2, 3)),
    c("nonzero", lambda T, a: T.nonzero(a), np.array(3)),
]

COMPARISONS = [
    c("eq", lambda T, a, b: a == b, I(2, 3), I(3)),
    c("ne", lambda T, a: a != 1, I(5)),
    c("lt", lambda T, a, b: T.lt(a, b), R(3), R(3)),
    c("le", lambda T, a: a <= 0, R(3)),
    c("gt", lambda T, a: T.gt(a, 0), R(3)),
    c("ge", lambda T, a, b: a.ge(b), I(3), R(3)),
    c("logical_and", lambda T, a, b: T.logical_and(a, b), I(5), B(5)),
    c("logical_or", lambda T, a, b: a.logical_or(b), R(3), B(3)),
    c("logical_not", lambda T, a: T.logical_not(a), I(5)),
    c("bitwise_and", lambda T, a, b: a & b, I(5), I(5)),
    c("bitwise_and", lambda T, a, b: T.bitwise_and(a, b), B(5), B(5)),
    c("bitwise_and", lambda T, a: 3 & a, I(5)),
    c("bitwise_or", lambda T, a, b: a | b, B(5), B(5)),
    c("bitwise_or", lambda T, a: a.bitwise_or(4), I(5)),
    c("bitwise_xor", lambda T, a, b: a ^ b, I(5), B(5)),
    c("bitwise_not", lambda T, a: ~a, B(5)),
    c("bitwise_not", lambda T, a: T.bitwise_not(a), I(5)),
    c("isnan", lambda T, a: T.isnan(a), np.array([1.0, np.nan, np.inf])),
    c("isfinite", lambda T, a: a.isfinite(), np.array([1.0, np.nan, -np.inf])),
    c("isfinite", lambda T, a: a.isfinite(), I(3)),
    c("all", lambda T, a: a.all(), B(3)),
    c("all", lambda T, a: T.all(a, 1), B(2, 3)),
    c("all", lambda T, a: T.all(a, dim=0, keepdim=True), I(2, 3)),
    c("any", lambda T, a: a.any(), R(3)),
    c("any", lambda T, a: a.any(-1), B(2, 0)),
    c("allclose", lambda T, a: T.allclose(a, a + 1e-9), R(3)),
    c("allclose", lambda T, a: a.allclose(a + 1), R(3)),
    c("equal", lambda T, a: T.equal(a, a), R(3)),
    c("equal", lambda T, a, b: a.equal(b), R(3), R(2)),
    c("is_tensor", lambda T, a: T.is_tensor(a), R(1)),
    c("is_tensor", lambda T: T.is_tensor(3)),
    c("numel", lambda T, a: T.numel(a), R(2, 3)),
]

REDUCTIONS = [
    *(
        c(name, lambda T, a, name=name, keywords=keywords: getattr(T, name)(a, **keywords), P(*shape))
        for name in ("sum", "mean", "amax", "amin", "var", "std", "logsumexp")
        for shape, keywords in (
            ((2, 3), {"dim": 0}),
            ((2, 3), {"dim": -1, "keepdim": True}),
            ((2, 3), {"axis": 1, "keepdims": True}),
            ((2, 3, 2), {"dim": (0, 2)}),
            ((2, 3, 2), {"dim": [-1, 1], "keepdim": True}),
            ((4,), {"dim": 0}),
            ((3, 1, 2), {"dim": (1, 2)}),
        )
    ),
    *(
        c(name, lambda T, a, name=name: getattr(a, name)(), R(*shape))
        for name in ("sum", "mean", "var", "std", "max", "min", "amax", "amin", "argmax", "argmin")
        for shape in ((2, 3), (5,))
    ),
    *(
        c(name, lambda T, a, name=name: getattr(T, name)(a), R())
        for name in ("sum", "mean", "max", "min", "amax")
    ),
    *(c(name, lambda T, a, name=name: getattr(T, name)(a), R(0)) for name in ("sum", "mean")),
    *(
        c(name, lambda T, a, name=name: getattr(T, name)(a, 0), R(0, 2))
        for name in ("sum", "mean", "logsumexp")
    ),
    *(
        c(name, lambda T, a, name=name: getattr(T, name)(a, 1), R(0, 2))
        for name in ("sum", "mean", "amax", "var")
    ),
    c("sum", lambda T, a: a.sum(), I(3)),
    c("sum", lambda T, a: a.sum(0), B(2, 3)),
    c("sum", lambda T, a: a.sum(dtype=T.float64), I(3)),
    c("sum", lambda T, a: T.sum(a, (), True), R(2, 3)),
    c("mean", lambda T, a: a.mean(dtype=T.float64), I(3)),
    c("var", lambda T, a: a.var(correction=0), R(5)),
    c("var", lambda T, a: a.var(unbiased=False), R(5)),
    c("var", lambda T, a: T.var(a, 0, False), R(5, 2)),
    c("var", lambda T, a: a.var(False), R(5)),
    c("var", lambda T, a: a.var(0, correction=2), R(5, 2)),
    c("std", lambda T, a: a.std(1, unbiased=False, keepdim=True), R(2, 5)),
    c("std", lambda T, a: T.std(a, dim=1, correction=0), R(2, 5)),
    c("max", lambda T, a: a.max(0), R(2, 3)),
    c("max", lambda T, a: T.max(a, dim=-1, keepdim=True), R(2, 3)),
    c("max", lambda T, a: a.max(dim=1).values, R(2, 3)),
    c("max", lambda T, a: a.max(dim=1)[1], I(2, 3)),
    c("max", lambda T, a: a.max(0), R()),
    c("max", lambda T, a, b: T.max(a, b), R(2, 3), R(3)),
    c("max", lambda T, a, b: T.max(a, other=b), R(3), R(3)),
    c("min", lambda T, a: a.min(1, True), R(2, 3)),
    c("min", lambda T, a: T.min(a, 0), I(4, 3)),
    c("min", lambda T, a, b: a.min(b), R(3), R(3)),
    c("argmax", lambda T, a: T.argmax(a, dim=1), R(2, 3)),
    c("argmax", lambda T, a: a.argmax(0, keepdim=True), I(3, 3)),
    c("argmin", lambda T, a: a.argmin(dim=-1), R(2, 3)),
    c("logsumexp", lambda T, a: T.logsumexp(a, 0), I(3)),
    c("softmax", lambda T, a: T.softmax(a, 1), R(2, 3)),
    c("softmax", lambda T, a: a.softmax(dim=0), R(3)),
    c("softmax", lambda T, a: a.softmax(-1), R()),
    c("softmax", lambda T, a: T.softmax(a, dim=1), R(2, 0)),
    c("softmax", lambda T, a: a.softmax(0, dtype=T.float64), I(3)),
    c("log_softmax", lambda T, a: T.log_softmax(a, 0), R(2, 3)),
    c("log_softmax", lambda T, a: a.log_softmax(dim=-1), R(2, 3, 2)),
    c("log_softmax", lambda T, a: a.log_softmax(0), R()),
]

PRODUCTS = [
    *(
        c("matmul", lambda T, a, b: a @ b, R(*left), R(*right))
        for left, right in (
            ((2, 3), (3, 4)),
            ((3,), (3,)),
            ((2, 3), (3,)),
            ((2, 0), (0, 3)),
            ((0, 3), (3, 2)),
            ((1, 1), (1, 1)),
        )
    ),
    *(
        otherwise("matmul", lambda T, a, b: a @ b, R(*left), R(*right))
        for left, right in (
            ((3,), (3, 2)),
            ((2, 2, 3), (2, 3, 2)),
            ((2, 2, 3), (3, 2)),
            ((2, 3), (4, 3, 2)),
            ((2, 1, 2, 3), (3, 3, 2)),
            ((3,), (2, 3, 2)),
            ((2, 2, 3), (3,)),
        )
    ),
    c("matmul", lambda T, a, b: T.matmul(a, b), I(2, 3), I(3, 2)),
    c("matmul", lambda T, a, b: T.matmul(a, b.t()), R(2, 3), R(2, 3)),
    c("matmul", lambda T, a: a @ a, R(3, 3)),
    c("mm", lambda T, a, b: T.mm(a, b), R(2, 3), R(3, 2)),
    c("mm", lambda T, a, b: a.mm(b), R(2, 1), R(1, 2)),
    c("mv", lambda T, a, b: T.mv(a, b), R(2, 3), R(3)),
    c("dot", lambda T, a, b: T.dot(a, b), R(3), R(3)),
    c("dot", lambda T, a, b: a.dot(b), R(0), R(0)),
    c("bmm", lambda T, a, b: T.bmm(a, b), R(2, 2, 3), R(2, 3, 1)),
]

SHAPES = [
    c("reshape", lambda T, a: a.reshape(3, 2), R(2, 3)),
    c("reshape", lambda T, a: T.reshape(a, (-1,)), R(2, 3)),
    otherwise("reshape", lambda T, a: a.t().reshape(-1), R(2, 3)),
    c("reshape", lambda T, a: a.reshape([1, 1]), R()),
    c("reshape", lambda T, a: a.reshape(()), R(1)),
    c("reshape", lambda T, a: a.reshape(0, 3), R(0)),
    c("view", lambda T, a: a.view(-1, 2), R(2, 3)),
    c("view", lambda T, a: a.view((6,)), R(2, 3)),
    c("view_as", lambda T, a, b: a.view_as(b), R(6), R(2, 3)),
    c("flatten", lambda T, a: T.flatten(a, 1), R(2, 3, 2)),
    c("flatten", lambda T, a: a.flatten(), R(2, 3, 2)),
    c("flatten", lambda T, a: a.flatten(start_dim=0, end_dim=-2), R(2, 3, 2)),
    c("flatten", lambda T, a: a.flatten(), R()),
    c("ravel", lambda T, a: a.ravel(), R(2, 3)),
    c("squeeze", lambda T, a: a.squeeze(), R(1, 3, 1)),
    c("squeeze", lambda T, a: T.squeeze(a, 0), R(1, 3, 1)),
    c("squeeze", lambda T, a: a.squeeze(dim=1), R(1, 3, 1)),
    c("squeeze", lambda T, a: a.squeeze((0, -1)), R(1, 3, 1)),
    c("squeeze", lambda T, a: a.squeeze(0), R()),
    c("unsqueeze", lambda T, a: a.unsqueeze(0), R(2, 3)),
    c("unsqueeze", lambda T, a: T.unsqueeze(a, -1), R(2, 3)),
    c("unsqueeze", lambda T, a: T.unsqueeze(a, dim=0), R()),
    c("transpose", lambda T, a: a.transpose(0, 1), R(2, 3)),
    c("transpose", lambda T, a: T.transpose(a, -1, 0), R(2, 3, 4)),
    c("transpose", lambda T, a: T.transpose(a, dim0=1, dim1=2), R(2, 3, 4)),
    c("transpose", lambda T, a: a.transpose(0, 0), R()),
    c("transpose", lambda T, a: a.mT, R(2, 3, 4)),
    c("swapaxes", lambda T, a: T.swapaxes(a, 0, 1), R(2, 3)),
    c("t", lambda T, a: a.t(), R(2, 3)),
    c("t", lambda T, a: T.t(a), R(3)),
    c("permute", lambda T, a: a.permute(2, 0, 1), R(2, 3, 4)),
    c("permute", lambda T, a: T.permute(a, (1, 0)), R(2, 3)),
    c("permute", lambda T, a: a.permute(-1, 0), R(2, 3)),
    c("permute", lambda T, a: a.permute(dims=(1, 0)), R(2, 3)),
    c("permute", lambda T, a: a.T, R(2, 3)),
    c("expand", lambda T, a: a.expand(2, 3), R(3)),
    c("expand", lambda T, a: a.expand(-1, 4), R(3, 1)),
    c("expand", lambda T, a: a.expand((2, 1, 3)), R(1, 3)),
    c("expand", lambda T, a: a.expand(3), R()),
    c("expand", lambda T, a: a.expand(2, 0), R(1, 1)),
    c("expand_as", lambda T, a, b: a.expand_as(b), R(1, 3), R(2, 3)),
    c("contiguous", lambda T, a: a.t().contiguous(), R(2, 3)),
    c("cat", lambda T, a, b: T.cat([a, b]), R(2, 3), R(1, 3)),
    c("cat", lambda T, a, b: T.cat((a, b), dim=1), R(2, 3), R(2, 1)),
    c("cat", lambda T, a, b: T.cat((a, b), -1), R(2, 3), R(2, 0)),
    c("cat", lambda T, a: T.cat((a, a), 0), R(2)),
    c("cat", lambda T, a, b: T.cat((a, b)), I(2), R(2)),
    c("cat", lambda T, a, b: T.cat((a, b)), I(0), R(2, 3)),
    c("concat", lambda T, a, b: T.concat((a, b)), R(2), R(2)),
    c("concatenate", lambda T, a, b: T.concatenate((a, b), axis=0), R(2), R(2)),
    c("stack", lambda T, a, b: T.stack([a, b]), R(2, 3), R(2, 3)),
    c("stack", lambda T, a, b: T.stack((a, b), dim=-1), R(2, 3), R(2, 3)),
    c("stack", lambda T, a, b: T.stack((a, b)), R(), R()),
    c("stack", lambda T, a, b: T.stack((a, b)), I(2), R(2)),
    c("gather", lambda T, a, i: a.gather(1, i), R(2, 3), np.array([[0, 0], [2, 1]])),
    c("gather", lambda T, a, i: T.gather(a, 0, i), R(2, 3), np.array([[0, 1, 1]])),
    c("gather", lambda T, a, i: T.gather(a, dim=-1, index=i), R(3), np.array([2, 2, 0, 1])),
]

CONVERSIONS = [
    *(c(name, lambda T, a, name=name: getattr(a, name)(), P(3) * 3) for name in ops.convert.CONVERSIONS),
    c("to", lambda T, a: a.to(T.float32), R(3)),
    c("to", lambda T, a: a.to(dtype=T.int64), R(3)),
    c("to", lambda T, a: a.to("cpu"), R(3)),
    c("to", lambda T, a: a.to("cpu", T.float32), R(3)),
    c("to", lambda T, a, b: a.to(b), R(3), I(3)),
    c("cpu", lambda T, a: a.cpu(), R(3)),
    c("type_as", lambda T, a, b: a.type_as(b), I(3), R(3)),
]

INDEXING = [
    c("getitem", lambda T, a: a[0], R(2, 3)),
    c("getitem", lambda T, a: a[-1], R(3)),
    c("getitem", lambda T, a: a[:, 1], R(2, 3)),
    c("getitem", lambda T, a: a[1:, ::2], R(2, 3)),
    c("getitem", lambda T, a: a[..., 0], R(2, 3, 2)),
    c("getitem", lambda T, a: a[None], R(2)),
    c("getitem", lambda T, a: a[:, None], R(2)),
    c("getitem", lambda T, a: a[...], R(2)),
    c("getitem", lambda T, a: a[[0, 0, 1]], R(2, 3)),
    c("getitem", lambda T, a: a[[0, 1], [2, 2]], R(2, 3)),
    c("getitem", lambda T, a, i: a[i], R(2, 3), np.array([[0, 1], [1, 1]])),
    c("getitem", lambda T, a, m: a[m], R(2, 3), B(2, 3)),
    c("getitem", lambda T, a, m: a[m], R(2, 3), B(2)),
    c("getitem", lambda T, a: a[a > 0], R(2, 3)),
    c("getitem", lambda T, a, i: a[:, i], R(2, 3), np.array([2, 0])),
    c("getitem", lambda T, a, i: a[i, 1:], R(2, 3), np.array([1, 1])),
    c("getitem", lambda T, a, i: a[i, :, i], R(2, 3, 2), np.array([1, 1])),
    c("getitem", lambda T, a, i: a[i], R(3), np.array(1)),
    c("getitem", lambda T, a: a[True], R(3)),
    c("getitem", lambda T, a: a[[]], R(3)),
    c("getitem", lambda T, a: a[5:], R(3)),
    c("getitem", lambda T, a: a[()], R()),
    c("getitem", lambda T, a: a[None], R()),
]


def _set(index: Any) -> Callable[..., Any]:
    def call(T: Any, a: Any, b: Any) -> Any:
        y = a * 1
        y[index] = b
        return y

    return call


WRITING = [
    c("setitem", _set(0), R(2, 3), R(3)),
    c("setitem", _set(0), R(2, 3), R()),
    c("setitem", _set((slice(None), 1)), R(2, 3), R(2)),
    c("setitem", _set([1, 0]), R(2, 3), R(2, 3)),
    c("setitem", _set(...), R(2, 3), R(3)),
    c("copy_", lambda T, a, b: (a * 1).copy_(b), R(2, 3), R(3)),
    c("copy_", lambda T, a, b: (a * 1).copy_(b), R(3), I(3)),
    otherwise("fill_", lambda T, a: (a * 1).fill_(2), R(3)),
    otherwise("zero_", lambda T, a: (a * 1).zero_(), R(3)),
]

_BINARY = "add sub subtract mul multiply div divide true_divide remainder pow"
_BOUNDED = "clamp clip"


def _in_place(name: str) -> Case:
    if name in _BINARY.split():
        return c(f"{name}_", lambda T, a, b: getattr(a * 1, f"{name}_")(b), P(2, 3), P(3))
    if name == "floor_divide":  # has no derivative
        return c(f"{name}_", lambda T, a, b: a.floor_divide_(b), I(2, 3), I(3) * 2 + 1)
    if name in _BOUNDED.split():
        return c(f"{name}_", lambda T, a: getattr(a * 1, f"{name}_")(-0.5, 0.5), R(2, 3))
    return c(f"{name}_", lambda T, a: getattr(a * 1, f"{name}_")(), P(2, 3))


WRITING += [_in_place(name) for name in ops.IN_PLACE.split()]


def _augmented(symbol: str) -> Callable[..., Any]:
    code = compile(f"y = a * 1\ny {symbol}= b", "<case>", "exec")

    def call(T: Any, a: Any, b: Any) -> Any:
        names = {"a": a, "b": b}
        exec(code, names)
        return names["y"]

    return call


WRITING += [c("augmented", _augmented(symbol), P(2, 3), P(3)) for symbol in ("+", "-", "*", "/", "%", "**")]
WRITING += [
    c("augmented", _augmented(symbol), I(2, 3), I(3) * 2 + 1)
    for symbol in ("+", "-", "*", "//", "&", "|", "^")
]

CREATION = [
    c("tensor", lambda T: T.tensor([[1, 2], [3, 4]])),
    c("tensor", lambda T: T.tensor([1.0, 2])),
    c("tensor", lambda T: T.tensor([True, False])),
    c("tensor", lambda T: T.tensor([1, True, 2.5])),
    c("tensor", lambda T: T.tensor([])),
    c("tensor", lambda T: T.tensor([[], []])),
    c("tensor", lambda T: T.tensor(3)),
    c("tensor", lambda T: T.tensor(1.5, dtype=T.float64)),
    c("tensor", lambda T: T.tensor([1.7, -1.7], dtype=T.int32)),
    c("tensor", lambda T: T.tensor(np.arange(3))),
    c("tensor", lambda T: T.tensor(np.float64(1.5))),
    c("tensor", lambda T: T.tensor([np.float64(1.5), 2])),
    c("tensor", lambda T: T.tensor(range(3))),
    c("tensor", lambda T: T.tensor([T.tensor(1.0), T.tensor(2.0)])),
    c("tensor", lambda T: T.tensor([1.0, np.inf, np.nan])),
    c("Tensor", lambda T: T.Tensor([1, 2])),
    c("Tensor", lambda T: T.Tensor([[1, 2], [3, 4]])),
    c("Tensor", lambda T: T.Tensor(0, 2)),
    c("as_tensor", lambda T: T.as_tensor([1, 2])),
    c("as_tensor", lambda T: T.as_tensor(np.ones(2), dtype=T.float32)),
    c("from_numpy", lambda T: T.from_numpy(np.ones((2, 2)))),
    c("zeros", lambda T: T.zeros(2, 3)),
    c("zeros", lambda T: T.zeros((2, 3), dtype=T.int64)),
    c("zeros", lambda T: T.zeros([])),
    c("zeros", lambda T: T.zeros(size=(2,))),
    c("ones", lambda T: T.ones([2, 3])),
    c("ones", lambda T: T.ones(T.tensor([1, 2]).shape)),
    c("empty", lambda T: T.empty(2, 0)),
    c("full", lambda T: T.full((2, 3), 7)),
    c("full", lambda T: T.full((2,), 7.5)),
    c("full", lambda T: T.full((), True)),
    c("full", lambda T: T.full((2,), 1, dtype=T.float32)),
    c("eye", lambda T: T.eye(3)),
    c("eye", lambda T: T.eye(2, 3, dtype=T.int64)),
    c("zeros_like", lambda T, a: T.zeros_like(a), R(2, 3)),
    c("ones_like", lambda T, a: T.ones_like(a, dtype=T.int32), R(2)),
    c("empty_like", lambda T, a: T.empty_like(a), R(2, 0)),
    c("full_like", lambda T, a: T.full_like(a, 3), R(2)),
    c("arange", lambda T: T.arange(5)),
    c("arange", lambda T: T.arange(1, 5)),
    c("arange", lambda T: T.arange(5, 1, -2)),
    c("arange", lambda T: T.arange(0, 1, 0.1)),
    c("arange", lambda T: T.arange(3.0)),
    c("arange", lambda T: T.arange(0)),
    c("arange", lambda T: T.arange(start=1, end=4, step=2)),
    c("arange", lambda T: T.arange(end=4)),
    c("arange", lambda T: T.arange(1, 2, 0.3, dtype=T.float64)),
    c("linspace", lambda T: T.linspace(0, 1, 5)),
    c("linspace", lambda T: T.linspace(-1, 1, 7)),
    c("linspace", lambda T: T.linspace(0, 1, steps=1)),
    c("linspace", lambda T: T.linspace(0, 1, 0)),
    c("linspace", lambda T: T.linspace(0, 10, 5, dtype=T.int64)),
    *(
        c(name, lambda T, name=name, size=size: (T.manual_seed(3), getattr(T, name)(*size))[1])
        for name in ("rand", "randn")
        for size in ((2, 3), (5,), ((4, 5),), ((),))
    ),
    c("rand_like", lambda T, a: (T.manual_seed(3), T.rand_like(a))[1], R(2, 3)),
    c("randn_like", lambda T, a: (T.manual_seed(3), T.randn_like(a))[1], R(2, 3)),
    c("randint", lambda T: (T.manual_seed(3), T.randint(10, (3, 3)))[1]),
    c("randint", lambda T: (T.manual_seed(3), T.randint(-3, 3, (5,)))[1]),
    c("randint", lambda T: (T.manual_seed(3), T.randint(low=0, high=5, size=(5,)))[1]),
    c("randint", lambda T: (T.manual_seed(3), T.randint(high=5, size=(5,)))[1]),
    c("randperm", lambda T: (T.manual_seed(3), T.randperm(10))[1]),
    c("uniform_", lambda T: (T.manual_seed(3), T.zeros(5).uniform_(-1, 1))[1]),
    c("normal_", lambda T: (T.manual_seed(3), T.zeros(20).normal_(1, 2))[1]),
]

CASES = [
    *ARITHMETIC,
    *FUNCTIONS,
    *COMPARISONS,
    *REDUCTIONS,
    *PRODUCTS,
    *SHAPES,
    *CONVERSIONS,
    *INDEXING,
    *WRITING,
    *CREATION,
]

NEED_A_GPU = {"cuda", "move"}
"""What no case can try on a CPU."""
