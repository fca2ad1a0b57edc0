"""The linear layer's operation: a matrix product and a bias in one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.autograd.node import Node
from autokit.ops.blocks import ones
from autokit.ops.gpu.products import product
from autokit.ops.operation import derivative, operation

_ndarray = np.ndarray  # a module's own name is found sooner than NumPy's


def _rows(a: Any) -> Any:
    return a if a.ndim == 2 else a.reshape((math.prod(a.shape[:-1]), a.shape[-1]))


def _product(a: Any, weight: Any) -> Any:
    """``a @ weight`` for a matrix: in one product of matrices, which NumPy's ``dot`` begins soonest."""
    if a.__class__ is weight.__class__ is _ndarray:
        ndim = a.ndim
        if ndim == 2:
            return a.dot(weight)
        if ndim > 2:
            return _rows(a).dot(weight).reshape((*a.shape[:-1], weight.shape[1]))
    return product(a, weight)


def _weight_gradient(g: Any, input: Any) -> Any:
    if g.ndim != 2:
        return _product(_rows(g).T, _rows(input))
    return g.T.dot(input) if g.__class__ is input.__class__ is _ndarray else product(g.T, input)


_MANY = 4096


def bias_gradient(g: Any) -> Any:
    """The sum over the rows, as a product where it can be: that is three times as fast as NumPy's sum."""
    rows = g if g.ndim == 2 else _rows(g)
    count = len(rows)
    if count <= _MANY and rows.__class__ is _ndarray:
        return ones(count, rows.dtype).dot(rows)
    return rows.sum(axis=0)


def _name(node: Node) -> str:
    if len(node.shape) == 2:
        return "AddmmBackward0"
    input = node.operand(0)
    in_order = input is None or input.array.flags.c_contiguous
    return "ViewBackward0" if in_order else "AddBackward0"  # PyTorch adds the bias apart there


@operation(
    "linear",
    "{input} · {weight}ᵀ + {bias}",
    input=derivative("· {weight}", lambda g, weight: g @ weight, _product),
    weight=derivative(
        "gᵀ · {input}",
        lambda g, input: _rows(g).T @ _rows(input),
        _weight_gradient,
    ),
    bias=derivative("1", lambda g: _rows(g).sum(axis=0), bias_gradient),
    reduces=True,
    fitting=True,
    backward=_name,
)
def affine(input, weight, bias, /):
    """Each row of ``input`` times the transpose of ``weight``, plus ``bias``."""
    turned = weight.T
    plain = input.__class__ is turned.__class__ is _ndarray and input.ndim == 2
    out = input.dot(turned) if plain else _product(input, turned)  # most often, and so without its call
    out += bias
    return out
