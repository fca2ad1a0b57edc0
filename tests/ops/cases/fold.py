"""Cases of blocks as columns, and of rearranged channels and pixels."""

from __future__ import annotations

from tests.ops.case import I, R
from tests.ops.case import case as c

CASES = [
    *(
        c("unfold", lambda T, a, k=keywords: T.nn.functional.unfold(a, **k), R(2, 3, 5, 6))
        for keywords in (
            {"kernel_size": 2},
            {"kernel_size": (2, 3), "dilation": (1, 2), "padding": (0, 1), "stride": (2, 1)},
            {"kernel_size": 3, "padding": 2, "stride": 3},
        )
    ),
    c("unfold", lambda T, a: T.nn.functional.unfold(a, [2, 1]), R(3, 4, 4))._replace(named_alike=False),
    c("unfold", lambda T, a: T.nn.functional.unfold(a, 2), R(0, 1, 3, 3)),
    *(
        c("fold", lambda T, a, k=keywords: T.nn.functional.fold(a, (5, 6), **k), R(2, 3 * area, count))
        for keywords, area, count in (
            ({"kernel_size": 2}, 4, 20),
            ({"kernel_size": (2, 3), "dilation": (1, 2), "padding": (0, 1), "stride": (2, 1)}, 6, 8),
            ({"kernel_size": 3, "padding": 2, "stride": 3}, 9, 9),
        )
    ),
    c("fold", lambda T, a: T.nn.functional.fold(a, 3, 2), R(4, 4))._replace(named_alike=False),
    c("pixel_shuffle", lambda T, a: T.pixel_shuffle(a, 2), R(2, 8, 3, 2)),
    c("pixel_shuffle", lambda T, a: T.nn.functional.pixel_shuffle(a, upscale_factor=3), R(9, 1, 2)),
    c("pixel_shuffle", lambda T, a: T.pixel_shuffle(a, 2), I(2, 1, 4, 1, 2)),
    c("pixel_unshuffle", lambda T, a: T.pixel_unshuffle(a, 2), R(2, 3, 4, 2)),
    c("pixel_unshuffle", lambda T, a: T.nn.functional.pixel_unshuffle(a, 3), R(1, 3, 6)),
    c("channel_shuffle", lambda T, a: T.channel_shuffle(a, 2), R(2, 6, 3, 2)),
    c("channel_shuffle", lambda T, a: T.nn.functional.channel_shuffle(a, groups=3), R(1, 6, 2, 1, 2)),
]
