"""What the names of older programs are tried with."""

from __future__ import annotations

import numpy as np

from tests.ops.case import R, case, otherwise

CASES = [
    case("storage", lambda T, x: len(x.detach().storage()), np.arange(4)),
    case("untyped_storage", lambda T, x: x.untyped_storage().nbytes(), np.arange(4)),
    case("is_storage", lambda T, x: (T.is_storage(x.untyped_storage()), T.is_storage(x)), np.arange(4)),
    otherwise("constant_pad_nd", lambda T, a: T.constant_pad_nd(a, (1, -1, 0, 2), 3.0), R(3, 4)),
    case("detach", lambda T, a: T.detach(a), R(3)),
    case("detach_", lambda T, a: T.detach_(a * 2), R(3)),
    case("is_inference", lambda T, a: (T.is_inference(a), a.is_meta, a.output_nr), R(3)),
    case("zero_", lambda T: T.zero_(T.ones(2))),
    case("fill_", lambda T: T.fill_(T.ones(2), 3)),
    otherwise("frexp", lambda T, a: T.frexp(a), np.array([1.0, -2.5, 8.0, 0.3])),
    case("nonzero_static", lambda T, a: T.nonzero_static(a, size=2), np.array([[1, 0], [2, 3]])),
    case(
        "nonzero_static", lambda T, a: T.nonzero_static(a, size=5, fill_value=9), np.array([[1, 0], [2, 3]])
    ),
    *(
        case("fill_diagonal_", lambda T, s=shape, w=wrap: T.zeros(s).fill_diagonal_(2.0, wrap=w))
        for shape in ((3, 3), (2, 4), (5, 2), (8, 2), (2, 2, 2))
        for wrap in (False, True)
    ),
    otherwise("fill", lambda T, a: T.fill(a, 3), np.array([1.0, 2.0])),
    case("unsafe_split", lambda T, a: T.unsafe_split(a, 2), np.arange(5)),
    case("unsafe_split_with_sizes", lambda T, a: T.unsafe_split_with_sizes(a, [2, 3]), np.arange(5)),
    case("unsafe_chunk", lambda T, a: a.unsafe_chunk(2), np.arange(5)),
    case("negative_", lambda T: T.negative_(T.ones(2))),
    case("addmv_", lambda T: T.addmv_(T.ones(2), T.ones(2, 2), T.ones(2))),
    case("ndimension", lambda T, x: x.ndimension(), R(2, 3)),
    case("get_device", lambda T, x: T.get_device(x), R(2)),
    case("get_device", lambda T, x: x.get_device(), R(2)),
    case("is_same_size", lambda T, x, y: x.is_same_size(y), R(2, 3), R(2, 3)),
    case("is_same_size", lambda T, x, y: T.is_same_size(x, y), R(2, 3), R(3)),
    case("typename", lambda T, x: T.typename(x), R(2)),
    case("typename", lambda T: T.typename(3)),
    case("_assert", lambda T, x: (T._assert(x.dim() == 1, "a vector"), x * 2)[1], R(2)),
    otherwise("resize", lambda T, x: x.resize(3, 2), R(6)),
    otherwise("resize", lambda T, x: x.resize(6), R(2, 3)),
    case("as_strided_", lambda T, x: (x * 1).as_strided_((2, 2), (1, 2), 1), np.arange(6.0)),
    case("set_", lambda T, x: T.zeros(1, dtype=x.dtype).set_(x.detach()), np.arange(6.0)),
    case("is_set_to", lambda T, x: T.tensor([x.is_set_to(x[:]), x.is_set_to(x[1:])]), np.arange(6.0)),
    case("resize_as_", lambda T, x: x.clone().resize_as_(T.ones(2, 2)), np.arange(6)),
    otherwise("sum_to_size", lambda T, x: x.sum_to_size(1, 3), R(2, 3)),
    otherwise("sum_to_size", lambda T, x: x.sum_to_size((3, 1)), R(2, 3, 4)),
    otherwise("sum_to_size", lambda T, x: x.sum_to_size(2, 3), R(2, 3)),
    otherwise("narrow_copy", lambda T, x: T.narrow_copy(x, 1, 1, 2), R(2, 4)),
    otherwise("narrow_copy", lambda T, x: x.narrow_copy(-1, 0, 3), R(2, 4)),
    otherwise("split_with_sizes", lambda T, x: T.split_with_sizes(x, [1, 3], 1), R(2, 4)),
    otherwise("split_with_sizes", lambda T, x: x.split_with_sizes([2, 0]), R(2, 4)),
    case("apply_", lambda T, x: x.detach().clone().apply_(lambda value: value * 2 + 1), R(2, 3)),
    case("apply_", lambda T, x: x.clone().apply_(lambda value: -value), np.arange(4)),
    case("map_", lambda T, x, y: x.clone().map_(y, lambda a, b: a - b), np.arange(4), np.arange(4) * 3),
]
