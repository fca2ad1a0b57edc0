"""Cases of convolutions and padding."""

from __future__ import annotations

from tests.ops.case import I, R
from tests.ops.case import case as c
from tests.ops.case import otherwise as o

CASES = [
    *(
        c("conv1d", lambda T, x, w, k=keywords: T.conv1d(x, w, **k), R(2, 4, 7), R(4, 4 // groups, 3))
        for keywords, groups in (
            ({}, 1),
            ({"stride": 2, "padding": 1}, 1),
            ({"dilation": (2,), "groups": 2}, 2),
            ({"padding": "same"}, 1),
            ({"padding": "valid", "groups": 4}, 4),
        )
    ),
    *(
        c(
            "conv2d",
            lambda T, x, w, b, k=keywords: T.conv2d(x, w, b, **k),
            R(2, 4, 5, 6),
            R(6, 4 // groups, *kernel),
            R(6),
        )
        for keywords, groups, kernel in (
            ({}, 1, (3, 3)),
            ({"padding": 1}, 1, (3, 3)),
            ({"stride": (2, 1), "padding": (0, 2)}, 1, (2, 3)),
            ({"dilation": (1, 2), "padding": "same"}, 1, (3, 3)),
            ({"padding": "same"}, 1, (2, 4)),
            ({"groups": 2, "stride": 3}, 2, (2, 2)),
            ({"stride": 2}, 1, (1, 1)),
        )
    ),
    c("conv2d", lambda T, x, w: T.nn.functional.conv2d(x, w), R(1, 2, 3, 3), R(3, 2, 1, 1)),
    c("conv2d", lambda T, x, w: T.conv2d(x, w), R(2, 4, 4), R(3, 2, 2, 2)),
    c("conv2d", lambda T, x, w, b: T.conv2d(input=x, weight=w, bias=b), R(2, 4, 4), R(3, 2, 2, 2), R(3)),
    c("conv2d", lambda T, x, w: T.conv2d(x, w, None, 1, 1, 1, 3), R(1, 3, 4, 4), R(3, 1, 3, 3)),
    c("conv2d", lambda T, x, w: T.conv2d(x, w), R(0, 2, 4, 4), R(3, 2, 2, 2)),
    c("conv2d", lambda T, x, w: T.conv2d(x, w), I(1, 2, 4, 4), I(3, 2, 2, 2)),
    c("conv2d", lambda T, x, w: T.conv2d(x.transpose(2, 3), w), R(1, 2, 3, 4), R(3, 2, 2, 2)),
    c("conv2d", lambda T, x: T.conv2d(x, x[:, :, :2, :2]), R(1, 1, 3, 3)),
    c("conv3d", lambda T, x, w: T.conv3d(x, w), R(2, 2, 3, 4, 3), R(3, 2, 2, 2, 2)),
    c(
        "conv3d",
        lambda T, x, w, b: T.conv3d(x, w, b, stride=(1, 2, 1), padding=1, groups=2),
        R(1, 2, 3, 4, 3),
        R(2, 1, 2, 2, 3),
        R(2),
    ),
    c("conv_transpose1d", lambda T, x, w: T.conv_transpose1d(x, w), R(2, 3, 4), R(3, 2, 3)),
    c(
        "conv_transpose1d",
        lambda T, x, w: T.conv_transpose1d(x, w, stride=2, padding=1, output_padding=1),
        R(3, 4),
        R(3, 2, 3),
    ),
    *(
        c(
            "conv_transpose2d",
            lambda T, x, w, b, k=keywords: T.conv_transpose2d(x, w, b, **k),
            R(2, 4, 3, 2),
            R(4, 2, 3, 2),
            R(2 * keywords.get("groups", 1)),
        )
        for keywords in (
            {},
            {"stride": 2},
            {"stride": (2, 3), "padding": (1, 0), "output_padding": (1, 2)},
            {"dilation": 2, "groups": 2, "padding": 1},
            {"groups": 4, "stride": 2, "output_padding": 1},
        )
    ),
    c(
        "conv_transpose2d",
        lambda T, x, w: T.conv_transpose2d(x, w, None, 1, 1, 0, 1, 2),
        R(1, 2, 3, 3),
        R(2, 1, 2, 2),
    ),
    c(
        "conv_transpose3d",
        lambda T, x, w: T.conv_transpose3d(x, w, stride=2),
        R(1, 2, 2, 3, 2),
        R(2, 1, 2, 2, 2),
    ),
    *(
        c("pad", lambda T, a, w=widths: T.nn.functional.pad(a, w), R(2, 3, 4))
        for widths in ((1, 2), (1, 0, 0, 2), (0, 0), (), (-1, 1), (-1, -1, 2, -2), [1, 1, 1, 1, 1, 1])
    ),
    c("pad", lambda T, a: T.nn.functional.pad(a, (1, 1), value=7), R(2)),
    c("pad", lambda T, a: T.nn.functional.pad(a, (1, 1), "constant", 1.5), I(2, 2)),
    c("pad", lambda T, a: T.nn.functional.pad(a, (2, 1)), R(0)),
    *(
        c("pad", lambda T, a, m=mode, w=widths: T.nn.functional.pad(a, w, mode=m), R(*shape))
        for mode in ("reflect", "replicate")
        for shape, widths in (
            ((2, 3), (2, 1)),
            ((2, 3, 4), (3, 0)),
            ((2, 3, 4), (1, 3, 2, 0)),
            ((1, 2, 3, 4), (1, 2, 1, 1)),
            ((1, 2, 3, 2), (1, 1, 0, 2, 1, 1)),
            ((2, 4), (-1, 2)),
        )
    ),
    c("pad", lambda T, a: T.nn.functional.pad(a, (4, 3), mode="replicate"), R(1, 2, 3)),
    *(
        o("pad", lambda T, a, w=widths: T.nn.functional.pad(a, w, mode="circular"), R(*shape))
        for shape, widths in (((2, 3), (2, 3)), ((2, 3, 4), (1, 3, 2, 0)), ((2, 4), (-1, 1)))
    ),
    c("pad", lambda T, a: T.nn.functional.pad(a, (1, 1), mode="reflect"), I(2, 3)),
]
