"""Elementwise functions and reductions, all of them, on 1,000,000 numbers.

``python -m tests.benchmarks.every [THREADS]`` prints a table: both ways, float32, with compiled loops where
Numba is installed; what is slowest beside PyTorch comes first.
The names that :mod:`tests.benchmarks.elementwise` has are not repeated.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.elementwise import COUNT
from tests.benchmarks.measure import Job, best_times, threads

ANY, POSITIVE, ABOVE_1, INSIDE, NEAR_1 = "any number", "positive", "above 1", "from 0 to 1", "near 1"

METHODS = {
    ANY: (
        "neg exp2 expm1 cos tan sinh cosh asinh atan erf erfc floor ceil round trunc frac sign square sinc "
        "rad2deg nan_to_num nansum nanmean amax amin argmin median all any count_nonzero"
    ),
    POSITIVE: "log2 log10 log1p rsqrt reciprocal lgamma digamma i0",
    ABOVE_1: "acosh",
    INSIDE: "asin acos atanh erfinv logit",
}
SPECIAL = "entr ndtr log_ndtr erfcx i0e i1 i1e"
ACTIVATIONS = (
    "relu6 selu celu mish softsign hardtanh hardsigmoid hardshrink softshrink tanhshrink glu smooth_l1_loss "
    "huber_loss l1_loss"
)
OF_TWO = (
    "add sub mul div fmod remainder floor_divide hypot atan2 minimum fmax fmin copysign logaddexp xlogy "
    "gt eq isclose"
)
BY_ROWS = "sum mean prod std amax argmin nansum logsumexp all any count_nonzero"
RUNNING = "cumprod cummax cummin"

Call = Callable[[Any, Any, Any], Any]


def calls() -> dict[str, tuple[str, Call]]:
    """For each name the domain of its numbers, and the call of a library, an operand and a positive one."""
    found: dict[str, tuple[str, Call]] = {}

    def enter(name: str, domain: str, call: Call) -> None:
        found[name] = (domain, call)

    for domain, names in METHODS.items():
        for name in names.split():
            enter(name, domain, lambda torch, x, y, name=name: getattr(x, name)())
    for name in SPECIAL.split():
        enter(f"special.{name}", POSITIVE, lambda torch, x, y, name=name: getattr(torch.special, name)(x))
    for name in ACTIVATIONS.split():
        of_two = (lambda y: (y,)) if name.endswith("loss") else lambda y: ()
        enter(
            name,
            ANY,
            lambda torch, x, y, name=name, of_two=of_two: getattr(torch.nn.functional, name)(x, *of_two(y)),
        )
    for name in OF_TWO.split():
        enter(
            f"{name} of two",
            ANY,
            lambda torch, x, y, name=name: getattr(torch, name)(
                x.detach() if name in ("floor_divide", "isclose") else x, y
            ),
        )
    for dim, where in ((1, "rows"), (0, "columns")):
        for name in BY_ROWS.split():
            enter(
                f"{name} of {where}",
                NEAR_1 if name == "prod" else ANY,
                lambda torch, x, y, name=name, dim=dim: getattr(x.view(1000, 1000), name)(dim),
            )
        for name in RUNNING.split():
            enter(
                f"{name} of {where}",
                NEAR_1,
                lambda torch, x, y, name=name, dim=dim: _values(getattr(x.view(1000, 1000), name)(dim)),
            )
    enter("x + 1", ANY, lambda torch, x, y: x + 1)
    enter("x + row", ANY, lambda torch, x, y: x.view(1000, 1000) + y[:1000])
    enter("x · column", ANY, lambda torch, x, y: x.view(1000, 1000) * y[:1000, None])
    enter("2ˣ", ANY, lambda torch, x, y: 2**x)
    enter("√x as a power", POSITIVE, lambda torch, x, y: x**0.5)
    enter("lerp", ANY, lambda torch, x, y: torch.lerp(x, y, 0.3))
    enter("addcmul", ANY, lambda torch, x, y: torch.addcmul(x, x, y))
    enter("addcdiv", ANY, lambda torch, x, y: torch.addcdiv(x, x, y))
    enter("masked_fill", ANY, lambda torch, x, y: x.masked_fill(x.detach() > 0, 0.0))
    enter("sum of the last two of four", ANY, lambda torch, x, y: x.view(10, 10, 100, 100).sum((2, 3)))
    enter("norm, order 1", ANY, lambda torch, x, y: x.norm(1))
    enter("dot", ANY, lambda torch, x, y: torch.dot(x, x))
    return found


def _values(result: Any) -> Any:
    return getattr(result, "values", result) if isinstance(result, tuple) else result


def _numbers(domain: str) -> np.ndarray:
    random = np.random.RandomState(0)
    normal = random.standard_normal(COUNT)
    made = {
        ANY: normal,
        POSITIVE: np.abs(normal) + 0.1,
        ABOVE_1: np.abs(normal) + 1.1,
        INSIDE: random.uniform(0.01, 0.99, COUNT),
        NEAR_1: np.exp(normal / 100),
    }
    return made[domain].astype(np.float32)


def job(library: str, domain: str, call: Call) -> Job:
    """``call``, forward and backward, in the library of that name."""
    torch: Any = importlib.import_module(library)
    x, y = torch.from_numpy(_numbers(domain)).requires_grad_(), torch.from_numpy(_numbers(POSITIVE))

    def run() -> None:
        x.grad = None
        result = call(torch, x, y)
        if result.requires_grad:
            (result.sum() if result.ndim else result).backward()

    return run


def main(count: int = 1) -> None:
    """Print the table in Markdown."""
    lines = []
    with threads(count):
        for name, (domain, call) in calls().items():
            jobs = {library: job(library, domain, call) for library in ("autokit", "torch")}
            for library in jobs:
                importlib.import_module(library).set_num_threads(count)
            times = best_times(jobs, rounds=9, seconds=0.006)
            own, other = times["autokit"], times["torch"]
            lines.append((own / other, f"| {name} | {own * 1e6:.0f} µs | {own / other:.2f} |"))
    print(f"| both ways, {COUNT:,} numbers, {count} thread{'s'[: count > 1]} | autokit | of PyTorch |")
    print("|---|---|---|")
    print("\n".join(line for _, line in sorted(lines, reverse=True)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
