"""Cases of normalization."""

from __future__ import annotations

from tests.ops.case import P, R
from tests.ops.case import case as c

CASES = [
    *(
        c(
            "layer_norm",
            lambda T, x, w, b, s=sizes: T.nn.functional.layer_norm(x, s, w, b),
            R(*shape),
            R(*sizes),
            R(*sizes),
        )
        for shape, sizes in (((4, 3), (3,)), ((2, 3, 4), (3, 4)), ((3,), (3,)), ((0, 3), (3,)))
    ),
    c("layer_norm", lambda T, x: T.nn.functional.layer_norm(x, [3], eps=0.1), R(2, 3)),
    c("layer_norm", lambda T, x, w: T.nn.functional.layer_norm(x.t(), (4,), w), R(4, 3), R(4)),
    *(
        c(
            "batch_norm",
            lambda T, x, w, b, m=mean, v=var, t=training: T.nn.functional.batch_norm(
                x, m and T.zeros(3, dtype=x.dtype) + 0.5, v and T.ones(3, dtype=x.dtype) * 2, w, b, training=t
            ),
            R(*shape),
            R(3),
            R(3),
        )
        for shape in ((4, 3), (2, 3, 4), (2, 3, 2, 2))
        for mean, var, training in ((None, None, True), (True, True, True), (True, True, False))
    ),
    c("batch_norm", lambda T, x: T.nn.functional.batch_norm(x, None, None, training=True, eps=0.1), R(4, 3)),
    *(
        c(
            "group_norm",
            lambda T, x, w, b, g=count: T.nn.functional.group_norm(x, g, w, b),
            R(*shape),
            R(4),
            R(4),
        )
        for shape in ((3, 4), (2, 4, 3), (2, 4, 2, 2))
        for count in (1, 2)
    ),
    c("group_norm", lambda T, x: T.nn.functional.group_norm(x, 2), R(2, 4, 3)),
    c("instance_norm", lambda T, x: T.nn.functional.instance_norm(x), R(2, 4, 3)),
    c(
        "instance_norm",
        lambda T, x, w, b: T.nn.functional.instance_norm(x, weight=w, bias=b),
        R(2, 4, 3, 2),
        R(4),
        R(4),
    ),
    c(
        "instance_norm",
        lambda T, x, w: T.nn.functional.instance_norm(
            x, T.zeros(4, dtype=x.dtype), T.ones(4, dtype=x.dtype) * 2, w, use_input_stats=False
        ),
        R(2, 4, 3),
        R(4),
    ),
    c("rms_norm", lambda T, x: T.nn.functional.rms_norm(x, (3,)), R(2, 3)),
    c("rms_norm", lambda T, x, w: T.nn.functional.rms_norm(x, (3, 4), w, 0.1), R(2, 3, 4), R(3, 4)),
    *(
        c(
            "local_response_norm",
            lambda T, x, n=size: T.nn.functional.local_response_norm(x, n, 0.5, 0.6, 2.0),
            P(*shape),
        )
        for size in (1, 2, 3)
        for shape in ((2, 4, 3), (2, 4, 2, 3))
    ),
]
