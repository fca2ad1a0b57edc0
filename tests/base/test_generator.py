"""The generator: PyTorch's stream, by literal numbers and by comparison; the state, the seed, wrong use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from autokit.base import generator as streams
from autokit.base.generator import Generator
from tests.support import gpu_works, printed_by

pytorch = pytest.importorskip("torch", reason="PyTorch is the oracle: pip install torch==2.13.0")

SEEDS = st.one_of(st.integers(0, 100), st.integers(-(2**63), 2**64 - 1))


def seeded(seed: int = 0) -> Generator:
    return Generator().manual_seed(seed)


# ---------------------------------------------------------------- literal numbers, printed by PyTorch 2.13


def test_literal_numbers():
    assert seeded().uniform(3).tolist() == [0.49625658988952637, 0.7682217955589294, 0.08847743272781372]
    assert seeded().uniform(2, "float64").tolist() == [0.9700530018065531, 0.707819864399788]
    assert seeded().normal(3).tolist() == [1.5409960746765137, -0.293428897857666, -2.1787893772125244]
    assert seeded().normal(3, "float64").tolist()[0] == 1.5409961082440433
    assert seeded().integers(0, 10, 5).tolist() == [4, 9, 3, 0, 3]
    assert seeded().integers(-(2**40), 2**40, 3).tolist() == [-358231004625, -593374360384, 291447657211]
    assert seeded().permutation(10).tolist() == [4, 1, 7, 5, 3, 9, 0, 8, 6, 2]
    assert seeded().bernoulli(np.full(8, 0.3, np.float32)).tolist() == [0, 0, 1, 1, 0, 0, 0, 0]
    assert seeded().bernoulli(0.3, 8).tolist() == [0, 0, 0, 0, 0, 0, 1, 0]


def test_normal_numbers_in_blocks():
    assert seeded().normal(20)[[0, 8, 16]].tolist() == [
        -1.1258398294448853,
        0.46809640526771545,
        0.9318265914916992,
    ]
    assert seeded().normal(20, "float64")[0] == pytest.approx(-2.310411800234176, abs=1e-15)


def test_the_second_of_a_pair_of_normal_numbers_waits_for_the_next_draw():
    generator = seeded()
    assert [generator.normal(1).item() for _ in range(3)] == seeded().normal(3).tolist()


# ---------------------------------------------------------------- beside PyTorch


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 1000])
def test_numbers_that_no_tensor_is_drawn_with_equal_pytorchs(size: int):
    """``tests/ops/test_draw.py`` compares the other draws."""
    ours, theirs = seeded(7), pytorch.Generator().manual_seed(7)
    shapes = np.arange(size) % 23 / 3
    wanted = pytorch._standard_gamma(pytorch.from_numpy(shapes), generator=theirs).numpy()
    np.testing.assert_allclose(ours.gamma(shapes), wanted, rtol=1e-13, atol=1e-300)
    assert ours.get_state().tolist() == theirs.get_state().tolist()


@settings(max_examples=50, deadline=None)
@given(SEEDS, st.sampled_from([0, 1, 311, 623, 624, 625, 1500]), st.integers(0, 3))
def test_the_state_goes_over_to_pytorch_and_back(seed: int, uniforms: int, normals: int):
    generator, other = seeded(seed), pytorch.Generator().manual_seed(seed)
    generator.uniform(uniforms), pytorch.rand(uniforms, generator=other)
    generator.normal(normals), pytorch.randn(normals, generator=other)
    assert generator.get_state().tolist() == other.get_state().tolist()
    other.set_state(pytorch.from_numpy(generator.get_state().numpy()))
    back, twin = Generator().set_state(autokit.from_numpy(other.get_state().numpy())), generator.clone_state()
    theirs = [*pytorch.randn(3, generator=other).tolist(), *pytorch.rand(700, generator=other).tolist()]
    for one in (generator, back, twin):
        assert theirs == [*one.normal(3).tolist(), *one.uniform(700).tolist()]


# ---------------------------------------------------------------- the seed, the default generator


def test_seed_is_new_each_time_and_can_be_had_again():
    generator = Generator()
    seed = generator.seed()
    assert seed == generator.initial_seed() != Generator().seed()
    assert generator.uniform(3).tolist() == seeded(seed).uniform(3).tolist()


def test_only_the_low_32_bits_of_a_seed_count():
    assert seeded(2**32 + 5).uniform(2).tolist() == seeded(5).uniform(2).tolist()
    assert seeded(-1).initial_seed() == 2**64 - 1


@pytest.mark.parametrize(
    "seed", [0, -1, 1.9, "7", True, 2**64 - 1, -(2**63), 2**64, "a", None, [1]], ids=repr
)
def test_manual_seed_takes_what_pytorch_takes(seed: Any):
    outcomes: list[Any] = []
    for library in (pytorch, autokit):
        try:
            assert library.random.manual_seed(seed) is library.default_generator
            outcomes.append((library.initial_seed(), library.rand(2).tolist()))
        except (TypeError, ValueError, RuntimeError) as error:
            outcomes.append(type(error))
    assert outcomes[0] == outcomes[1]


def test_default_generator():
    assert streams.manual_seed(9) is streams.default_generator
    assert streams.initial_seed() == 9
    state = streams.get_rng_state()
    assert state.dtype == autokit.uint8 and state.shape == (5056,)
    first = streams.default_generator.uniform(4).tolist()
    streams.set_rng_state(state)
    assert streams.default_generator.uniform(4).tolist() == first
    assert streams.seed() == streams.initial_seed()


def test_fork_rng_puts_the_state_back_also_after_an_error():
    streams.manual_seed(0)
    expected = seeded(0).uniform(2).tolist()
    with pytest.raises(KeyError), streams.fork_rng():
        streams.default_generator.normal(11)
        raise KeyError
    assert streams.default_generator.uniform(2).tolist() == expected
    with streams.fork_rng(enabled=False):
        streams.manual_seed(0)
    assert streams.default_generator.uniform(2).tolist() == expected


def test_a_gpu_has_a_stream_of_its_own_until_all_are_seeded():
    gpu = autokit.device("cuda")
    assert streams.generator_for(gpu) is streams.default_generator
    streams.STREAMS["cuda"] = own = seeded(3)
    assert streams.generator_for(gpu) is own
    with streams.fork_rng():
        streams.manual_seed(4)
        assert streams.generator_for(gpu) is streams.default_generator
    assert streams.generator_for(gpu).uniform(2).tolist() == seeded(3).uniform(2).tolist()
    streams.manual_seed(0)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda g: g.manual_seed(2**64), ValueError, "64 bits"),
        (lambda g: g.manual_seed(1.5), RuntimeError, "expected a long, but got float"),
        (lambda g: g.bernoulli(np.array([0.5, 2.0])), RuntimeError, "2.0"),
        (lambda g: g.poisson(np.array([-1.0])), RuntimeError, "invalid Poisson rate"),
        (lambda g: g.set_state(autokit.zeros(3, dtype=autokit.uint8)), RuntimeError, "5056 bytes"),
        (lambda g: g.set_state(autokit.zeros(5056, dtype=autokit.uint8)), RuntimeError, "Invalid mt19937"),
        (lambda g: g.set_state(autokit.zeros(5056)), TypeError, "ByteTensor"),
    ],
)
def test_wrong_use_says_what_is_wrong(call: Any, error: Any, words: str):
    with pytest.raises(error, match=words):
        call(seeded())


@pytest.mark.skipif(gpu_works(), reason="there is a GPU here")
def test_a_generator_for_a_gpu_needs_one():
    with pytest.raises(RuntimeError, match="no CUDA GPU"):
        Generator("cuda")


def test_the_import_leaves_numpy_random_unloaded_where_numpy_does():
    code = (
        "import sys, numpy; before = 'numpy.random' in sys.modules; import autokit; "
        "print(before == ('numpy.random' in sys.modules))"
    )
    assert printed_by(code) == "True\n"
