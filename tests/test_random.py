"""autokit.random: PyTorch's stream, held by literal numbers and, where PyTorch is here, by comparison."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from autokit import random
from autokit.random import Generator
from tests.support import gpu_works, on_intel, printed_by, require

SIZES = st.sampled_from([0, 1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 40, 100, 640, 2000])
DTYPES = ["float32", "float64", "float16"]
SEEDS = st.one_of(st.integers(0, 100), st.integers(-(2**63), 2**64 - 1))


def seeded(seed: int = 0) -> Generator:
    return Generator().manual_seed(seed)


# Literal numbers, printed by PyTorch 2.13.

LITERALS = {
    "rand64": [0.9700530018065531, 0.707819864399788],
    "randn3": [1.5409960746765137, -0.293428897857666, -2.1787893772125244],
    "randn3_64": [1.5409961082440433, -0.2934289057609464, -2.1787893820745574],
    "randn20": [
        -1.1258398294448853,
        1.85300612449646,
        0.46809640526771545,
        -0.843676745891571,
        0.9318265914916992,
        0.05373690277338028,
    ],
    "randn20_64": [
        -2.310411800234176,
        -0.830510051008449,
        0.23871805816817063,
        -0.8910030351707375,
        0.6748575435940039,
        -0.7498915228391941,
    ],
    "randint": [4, 9, 3, 0, 3],
    "randint_wide": [-358231004625, -593374360384, 291447657211],
    "randperm": [4, 1, 7, 5, 3, 9, 0, 8, 6, 2],
    "bernoulli": [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0],
    "bernoulli_": [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
}


def test_uniform_gives_the_numbers_of_rand():
    expected = [0.49625658988952637, 0.7682217955589294, 0.08847743272781372]
    assert seeded().uniform(3).tolist() == expected


def test_uniform_float64():
    assert seeded().uniform(2, "float64").tolist() == LITERALS["rand64"]


def test_normal_below_sixteen():
    assert seeded().normal(3).tolist() == LITERALS["randn3"]
    assert seeded().normal(3, "float64").tolist() == LITERALS["randn3_64"]


def test_normal_keeps_the_second_of_a_pair():
    generator = seeded()
    one_by_one = [generator.normal(1).item() for _ in range(3)]
    assert one_by_one == LITERALS["randn3"]


def test_normal_in_blocks():
    assert seeded().normal(20)[[0, 7, 8, 15, 16, 19]].tolist() == LITERALS["randn20"]
    np.testing.assert_allclose(
        seeded().normal(20, "float64")[[0, 7, 8, 15, 16, 19]], LITERALS["randn20_64"], rtol=0, atol=5e-16
    )


def test_integers_of_narrow_and_wide_ranges():
    assert seeded().integers(0, 10, 5).tolist() == LITERALS["randint"]
    assert seeded().integers(-(2**40), 2**40, 3).tolist() == LITERALS["randint_wide"]


def test_permutation():
    assert seeded().permutation(10).tolist() == LITERALS["randperm"]


def test_bernoulli_of_an_array_and_of_a_number():
    assert seeded().bernoulli(np.full(8, 0.3, np.float32)).tolist() == LITERALS["bernoulli"]
    assert seeded().bernoulli(0.3, 8).tolist() == LITERALS["bernoulli_"]


# Against PyTorch: programs of draws, on one stream.


def _strided(library: Any, size: int, dtype: Any) -> Any:
    """Places in memory that are not neighbours."""
    return library.zeros(size, 3, dtype=dtype)[:, 1]


def _turned(library: Any, size: int, dtype: Any) -> Any:
    """A matrix that lies in memory column by column."""
    return library.zeros(3, size, dtype=dtype).t()


DRAWS: dict[str, Callable[[Any, int, Any], Any]] = {
    "rand": lambda T, n, d: T.rand(n, dtype=d),
    "rand_like": lambda T, n, d: T.rand_like(_turned(T, n, d)),
    "randn": lambda T, n, d: T.randn(n, dtype=d),
    "randn_like": lambda T, n, d: T.randn_like(_turned(T, n, d)),
    "normal": lambda T, n, d: T.normal(0.3, 0.7, (n, 2), dtype=d),
    "normal of tensors": lambda T, n, d: T.normal(T.ones(n, 1, dtype=d) / 3, T.arange(4).to(d)),
    "uniform_": lambda T, n, d: T.zeros(n, dtype=d).uniform_(-0.2, 0.7),
    "uniform_ turned": lambda T, n, d: _turned(T, n, d).uniform_(1, 1 + 2**-9),
    "normal_": lambda T, n, d: T.zeros(n, dtype=d).normal_(0.3, 0.7),
    "normal_ strided": lambda T, n, d: _strided(T, n, d).normal_(0.3, 0.7),
    "normal_ turned": lambda T, n, d: _turned(T, n, d).normal_(),
    "random_ from the least": lambda T, n, d: T.zeros(n, dtype=T.int64).random_(-(2**63), None),
    "rand into turned": lambda T, n, d: T.rand(n, 3, out=_turned(T, n, d)),
    "randn into turned": lambda T, n, d: T.randn(n, 3, out=_turned(T, n, d)),
    "randn into strided": lambda T, n, d: T.randn(n, out=_strided(T, n, d)),
    "randint": lambda T, n, d: T.randint(-5, 11, (n,), dtype=d),
    "randint wide": lambda T, n, d: T.randint(-7, 2**28 - 7, (n,)),
    "randint widest": lambda T, n, d: T.randint(-(2**63), 2**63 - 1, (n,)),
    "random_": lambda T, n, d: T.zeros(n, dtype=d).random_(),
    "random_ bytes": lambda T, n, d: T.zeros(n, dtype=T.uint8).random_(),
    "random_ from": lambda T, n, d: T.zeros(n, dtype=T.int16).random_(-9, None),
    "random_ to": lambda T, n, d: _turned(T, n, d).random_(50),
    "randperm": lambda T, n, d: T.randperm(n),
    "bernoulli": lambda T, n, d: T.bernoulli(T.arange(n).to(d) / max(n, 1)),
    "bernoulli_ of a tensor": lambda T, n, d: T.zeros(3, n, dtype=d).bernoulli_(
        T.arange(n).to(d) / max(n, 1)
    ),
    "geometric_": lambda T, n, d: T.zeros(n, dtype=d).geometric_(0.3),
    "cauchy_": lambda T, n, d: T.zeros(n, dtype=d).cauchy_(0.3, 0.7),
    "log_normal_": lambda T, n, d: T.zeros(n, dtype=d).log_normal_(0.3, 0.7),
    "poisson": lambda T, n, d: T.poisson(T.arange(n).to(T.float32) % 23),
    "binomial": lambda T, n, d: T.binomial((T.arange(n) % 50).double(), (T.arange(n) % 7 / 6).double()),
    "multinomial": lambda T, n, d: T.multinomial(T.arange(1, 8).to(d), n + 2, replacement=True),
}
OF_INTEL: dict[str, Callable[[Any, int, Any], Any]] = {
    "bernoulli_": lambda T, n, d: T.zeros(n, dtype=d).bernoulli_(0.3),
    "exponential_": lambda T, n, d: _turned(T, n, d).exponential_(0.7),
    "multinomial of one": lambda T, n, d: T.multinomial(T.arange(1, n + 2).float(), 1),
    "multinomial without replacement": lambda T, n, d: T.multinomial(
        _turned(T, 5, T.float64) + T.arange(1.0, 4.0).double(), 2
    ),
}
"""What PyTorch draws from another stream on Intel processors."""

PROGRAMS = DRAWS if on_intel() else {**DRAWS, **OF_INTEL}


@settings(max_examples=200, deadline=None)
@given(
    SEEDS,
    st.lists(
        st.tuples(st.sampled_from(sorted(PROGRAMS)), SIZES, st.sampled_from(DTYPES)), min_size=1, max_size=6
    ),
)
def test_any_draws_in_any_order_equal_pytorch(seed: int, program: list[tuple[str, int, str]]):
    require("torch")
    import torch

    torch.manual_seed(seed)
    assert autokit.manual_seed(seed).initial_seed() == torch.initial_seed()
    for name, size, dtype in program:
        ours = PROGRAMS[name](autokit, size, getattr(autokit, dtype))
        theirs = PROGRAMS[name](torch, size, getattr(torch, dtype))
        assert repr(ours.dtype) == repr(theirs.dtype)
        assert ours.stride() == theirs.stride() or size < 2
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy(), err_msg=name)
    assert autokit.get_rng_state().tolist() == torch.get_rng_state().tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_a_large_draw_equals_pytorch(name: str, dtype: str):
    require("torch")
    import torch

    size = 20 if "of one" in name else 5_000
    autokit.manual_seed(7), torch.manual_seed(7)
    ours = PROGRAMS[name](autokit, size, getattr(autokit, dtype))
    theirs = PROGRAMS[name](torch, size, getattr(torch, dtype))
    np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
    assert autokit.get_rng_state().tolist() == torch.get_rng_state().tolist()


@settings(max_examples=100, deadline=None)
@given(SEEDS, st.sampled_from([0, 1, 311, 623, 624, 625, 1500]), st.integers(0, 3))
def test_the_state_goes_over_to_pytorch_and_back(seed: int, uniforms: int, normals: int):
    require("torch")
    import torch

    generator, other = seeded(seed), torch.Generator().manual_seed(seed)
    generator.uniform(uniforms), torch.rand(uniforms, generator=other)
    generator.normal(normals), torch.randn(normals, generator=other)
    assert generator.get_state().tolist() == other.get_state().tolist()
    other.set_state(torch.from_numpy(generator.get_state().numpy()))
    back = Generator().set_state(autokit.from_numpy(other.get_state().numpy()))
    theirs = [*torch.randn(3, generator=other).tolist(), *torch.rand(700, generator=other).tolist()]
    assert theirs == [*generator.normal(3).tolist(), *generator.uniform(700).tolist()]
    assert theirs == [*back.normal(3).tolist(), *back.uniform(700).tolist()]


def test_a_million_normal_numbers_equal_pytorch():
    require("torch")
    import torch

    torch.manual_seed(5)
    np.testing.assert_array_equal(seeded(5).normal((1000, 1000)), torch.randn(1000, 1000).numpy())


# The state, the seed, the default generator.


@given(st.integers(0, 700), st.integers(0, 3))
def test_set_state_goes_on_where_get_state_was_called(uniforms: int, normals: int):
    generator = seeded(3)
    generator.uniform(uniforms)
    generator.normal(normals)
    state = generator.get_state()
    first = [*generator.normal(3), *generator.uniform(4)]
    generator.set_state(state)
    assert [*generator.normal(3), *generator.uniform(4)] == first
    assert state.dtype == autokit.uint8 and state.shape == (5056,)


def test_clone_state_goes_its_own_way():
    generator = seeded(1)
    twin = generator.clone_state()
    assert twin.uniform(3).tolist() == generator.uniform(3).tolist()
    twin.uniform(1)
    assert twin.uniform(1) != generator.uniform(1)


def test_seed_is_new_each_time_and_can_be_had_again():
    generator = Generator()
    seed = generator.seed()
    assert seed == generator.initial_seed() != Generator().seed()
    assert generator.uniform(3).tolist() == seeded(seed).uniform(3).tolist()


def test_only_the_low_32_bits_of_a_seed_count():
    assert seeded(2**32 + 5).uniform(2).tolist() == seeded(5).uniform(2).tolist()
    assert seeded(-1).initial_seed() == 2**64 - 1


@pytest.mark.parametrize(
    "seed",
    [0, -1, 1.9, "7", np.int64(3), True, 2**64 - 1, -(2**63), 2**64, -(2**63) - 1, "a", None, [1]],
    ids=repr,
)
def test_manual_seed_takes_what_pytorch_takes(seed: Any):
    require("torch")
    import torch

    outcomes: list[Any] = []
    for library in (torch, autokit):
        try:
            assert library.random.manual_seed(seed) is library.default_generator
            outcomes.append((library.initial_seed(), library.rand(2).tolist()))
        except (TypeError, ValueError, RuntimeError) as error:
            outcomes.append(type(error))
    assert outcomes[0] == outcomes[1]


def test_default_generator():
    assert random.manual_seed(9) is random.default_generator
    assert random.initial_seed() == 9
    state = random.get_rng_state()
    first = random.default_generator.uniform(4).tolist()
    random.set_rng_state(state)
    assert random.default_generator.uniform(4).tolist() == first
    assert random.seed() == random.initial_seed()


def test_fork_rng_puts_the_state_back_also_after_an_error():
    random.manual_seed(0)
    expected = seeded(0).uniform(2).tolist()
    with pytest.raises(KeyError), random.fork_rng():
        random.default_generator.uniform(10)
        raise KeyError
    assert random.default_generator.uniform(2).tolist() == expected
    with random.fork_rng(enabled=False):
        random.manual_seed(0)
    assert random.default_generator.uniform(2).tolist() == expected


def test_shapes_and_dtypes():
    generator = seeded()
    assert generator.uniform(()).shape == ()
    assert generator.normal((2, 0, 3)).shape == (2, 0, 3)
    assert generator.uniform((2, 3), np.float16).dtype == np.float16
    assert generator.integers(0, 256, (4,), np.uint8).dtype == np.uint8
    assert generator.bernoulli(0.5, (2, 2), bool).dtype == bool
    assert generator.permutation(0).tolist() == []


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda g: g.manual_seed(2**64), ValueError, "64 bits"),
        (lambda g: g.manual_seed(1.5), RuntimeError, "expected a long, but got float"),
        (lambda g: g.manual_seed(True), RuntimeError, "expected a long, but got bool"),
        (lambda g: g.integers(5, 5, 2), RuntimeError, "low=5 must be below high=5"),
        (lambda g: g.bernoulli(np.array([0.5, 2.0])), RuntimeError, "2.0"),
        (lambda g: g.bernoulli(float("nan"), 2), RuntimeError, "nan"),
        (
            lambda g: g.set_state(autokit.zeros(3, dtype=autokit.uint8)),
            RuntimeError,
            "of size 5056, .* to be 3",
        ),
        (
            lambda g: g.set_state(autokit.zeros(5056, dtype=autokit.uint8)),
            RuntimeError,
            "Invalid mt19937 state",
        ),
        (lambda g: g.set_state(autokit.zeros(5056)), TypeError, "ByteTensor"),
        (lambda g: g.set_state(5), TypeError, "ByteTensor, .* but got int"),
        pytest.param(
            lambda g: Generator("cuda"),
            RuntimeError,
            "No CUDA GPU is available",
            marks=pytest.mark.skipif(gpu_works(), reason="there is a GPU here"),
        ),
    ],
)
def test_wrong_use_says_what_is_wrong(call, error, words: str):
    with pytest.raises(error, match=words):
        call(seeded())


def test_import_leaves_numpy_random_unloaded_where_numpy_does():
    code = (
        "import sys, numpy; before = 'numpy.random' in sys.modules; import autokit.random; "
        "print(before == ('numpy.random' in sys.modules))"
    )
    assert printed_by(code) == "True\n"
