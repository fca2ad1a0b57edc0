"""Cases of the activations."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import P, R, otherwise
from tests.ops.case import case as c

KINKS = np.array([-4.0, -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 6.0, 7.0])
FAR = np.array([-200.0, -30.0, 0.0, 19.0, 21.0, 200.0])


def _functional(name: str, *settings: Any, arrays: tuple = (), **keywords: Any) -> list:
    def call(T: Any, a: Any) -> Any:
        return getattr(T.nn.functional, name)(a, *settings, **keywords)

    return [c(name, call, array) for array in arrays or (R(2, 3), KINKS, FAR, R(0), R())]


PLAIN = [
    "relu6",
    "leaky_relu",
    "elu",
    "selu",
    "celu",
    "gelu",
    "silu",
    "mish",
    "softplus",
    "softsign",
    "hardtanh",
    "hardswish",
    "hardshrink",
    "softshrink",
    "tanhshrink",
    "logsigmoid",
]

FLAGGED = [
    "relu6",
    "leaky_relu",
    "elu",
    "selu",
    "celu",
    "silu",
    "mish",
    "hardtanh",
    "hardswish",
]

CASES = [
    *[each for name in PLAIN for each in _functional(name)],
    c(
        "hardsigmoid", lambda T, a: T.nn.functional.hardsigmoid(a.detach()), KINKS
    ),  # has no second derivative there
    *_functional("leaky_relu", 0.2),
    *_functional("leaky_relu", -0.2),
    *_functional("leaky_relu", 2.0),
    *_functional("elu", 0.5),
    *_functional("celu", alpha=2.0),
    *_functional("gelu", approximate="tanh"),
    *_functional("softplus", 2, 5),
    *_functional("hardtanh", -2, 3),
    *_functional("hardshrink", 0.3),
    *_functional("softshrink", 1.0),
    *_functional("threshold", 0.5, -7.0),
    *_functional("softmin", 0, arrays=(R(2, 3), R(4))),
    *_functional("glu", arrays=(R(2, 4), R(4))),
    *_functional("glu", 0, arrays=(R(2, 3), R(4))),
    *_functional("rrelu", arrays=(R(5), KINKS)),
    c("prelu", lambda T, a, w: T.prelu(a, w), R(2, 3), P(1)),
    c("prelu", lambda T, a, w: a.prelu(w), R(2, 3, 2), P(3)),
    c("prelu", lambda T, a, w: T.nn.functional.prelu(a, w), np.array([-1.0, 0.5, 2.0]), P(1)),
    c("hardshrink", lambda T, a: a.hardshrink(), R(4)),
    c("selu", lambda T, a: T.selu(a), R(4)),
    c("celu", lambda T, a: T.celu(a, 0.5), R(4)),
    c("rrelu", lambda T, a: T.rrelu(a), R(4)),
    otherwise("rrelu_", lambda T, a: T.rrelu_(a * 1), R(4)),
    c("threshold", lambda T, a: T.threshold(a, 0.1, 5), R(4)),
    otherwise("threshold_", lambda T, a: T.threshold_(a * 1, 0.1, 5), R(4)),
    *[
        otherwise(f"{name}_", lambda T, a, name=name: getattr(T.nn.functional, f"{name}_")(a * 1), R(4))
        for name in ("celu", "elu", "hardtanh", "leaky_relu", "relu", "selu", "rrelu")
    ],
]


def _changed(name: str) -> Any:
    def call(T: Any, a: Any) -> Any:
        before = a * 1
        after = getattr(T.nn.functional, name)(before, inplace=True)
        return before + after

    return call


CASES += [c(name, _changed(name), P(3) * 2) for name in FLAGGED]
