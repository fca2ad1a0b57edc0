"""Cases of complex numbers and their parts, made of real ones; ``test_complex`` makes all others complex."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import P, R, otherwise
from tests.ops.case import case as c


def _z(T: Any, a: Any) -> Any:
    return T.view_as_complex(a)


CASES = [
    c("view_as_complex", lambda T, a: T.view_as_complex(a), R(3, 2)),
    c("view_as_complex", lambda T, a: T.view_as_complex(a.reshape(2, 3, 2)[:, 1]), R(4, 3)),
    c("view_as_real", lambda T, a: T.view_as_real(_z(T, a) * _z(T, a)), R(3, 2)),
    c("view_as_real", lambda T, a: T.view_as_real(_z(T, a).t()), R(3, 4, 2)),
    c("complex", lambda T, a, b: T.complex(a, b), R(3), R(3)),
    c("complex", lambda T, a, b: T.complex(a, b), R(2, 1), R(3)),
    c("polar", lambda T, a, b: T.polar(a, b), P(3), R(3)),
    c("polar", lambda T, a, b: T.polar(a, b), np.array([0.0, 2.0]), R(2, 2)),
    c("polar", lambda T, a: T.polar(T.ones_like(a), a), R(3)),
    c("real", lambda T, a: T.real(_z(T, a) * 2), R(3, 2)),
    c("real", lambda T, a: a.real * 2, R(3)),
    c("imag", lambda T, a: T.imag(_z(T, a)), R(3, 2)),
    c("imag", lambda T, a: (_z(T, a) * 1j).imag, R(2, 2, 2)),
    c("conj", lambda T, a: T.conj(_z(T, a)) * _z(T, a), R(3, 2)),
    c("conj", lambda T, a: a.conj(), R(3)),
    c("conj_physical", lambda T, a: T.conj_physical(_z(T, a)), R(3, 2)),
    otherwise("conj_physical", lambda T, a: T.conj_physical(a), R(3)),
    otherwise("conj_physical_", lambda T, a: (_z(T, a) * 1).conj_physical_(), R(3, 2)),
    otherwise("resolve_conj", lambda T, a: T.resolve_conj(_z(T, a).conj()), R(3, 2)),
    otherwise("resolve_neg", lambda T, a: a.resolve_neg(), R(3)),
    c("angle", lambda T, a: T.angle(a), np.array([1.0, -1.0, 0.0, np.nan])),
    c("angle", lambda T, a: _z(T, a).angle(), R(3, 2)),
    c("angle", lambda T, a: T.angle(a), np.array([1, -1, 0])),
    c("abs", lambda T, a: _z(T, a).abs(), R(3, 2)),
    c("abs", lambda T, a: _z(T, a).abs(), np.zeros((2, 2))),
    c("sgn", lambda T, a: T.sgn(_z(T, a)), np.array([[1.0, 2], [0, -3]])),
    c("adjoint", lambda T, a: _z(T, a).mH, R(3, 2, 2)),
    c("adjoint", lambda T, a: _z(T, a).H @ _z(T, a), R(3, 2, 2)),
    c("vdot", lambda T, a, b: T.vdot(_z(T, a), _z(T, b)).real, R(3, 2), R(3, 2))._replace(named_alike=False),
    c("mul", lambda T, a, b: a * _z(T, b), R(3), R(3, 2)),
    c("mul", lambda T, a: a.double() * (1 - 2j), R(3)),
    c("add", lambda T, a, b: a + 1j * b.double(), R(3), R(3)),
    c("div", lambda T, a, b: a / _z(T, b), R(3), R(3, 2)),
    c("pow", lambda T, a: _z(T, a) ** 2, R(3, 2)),
    c("pow", lambda T, a, b: _z(T, a) ** _z(T, b), R(3, 2), R(3, 2)),
    c("where", lambda T, m, a: T.where(m, 0.0, _z(T, a)), np.array([True, False, True]), R(3, 2)),
    c("mean", lambda T, a: _z(T, a).mean(), R(3, 2)),
    c("to", lambda T, a: a.to(T.complex128) * 1j, R(3)),
    c("to", lambda T, a: _z(T, a).to(a.dtype), R(3, 2)),
    c("linalg.eigvals", lambda T, a: T.linalg.eigvals(a).abs().sort()[0], R(3, 3)),
    c("linalg.eig", lambda T, a: T.linalg.eig(a)[1].abs().sum(), R(3, 3)),
    c("linalg.slogdet", lambda T, a: T.linalg.slogdet(_z(T, a)), R(3, 3, 2)),
    c("logdet", lambda T, a: T.logdet(_z(T, a)), R(3, 3, 2))._replace(named_alike=False),
]
