"""Verdicts: right answers pass in every form, wrong ones are named, and nothing crashes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import autokit as ak
from autokit.classroom import (
    check,
    check_engine,
    check_function,
    check_gradient,
    check_graph,
    choose,
    judge,
    predict,
)

floats = hnp.arrays(
    st.sampled_from([np.float32, np.float64]),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
    elements=st.floats(-1e3, 1e3, width=32),
)


@given(floats)
def test_an_answer_is_right_in_every_form(array: np.ndarray):
    forms = [array, ak.tensor(array), ak.tensor(array, requires_grad=True)]
    if array.size:
        forms.append(array.tolist())
    for answer in forms:
        for expected in forms:
            assert judge(check, answer, expected).right


@given(floats.filter(lambda a: a.size > 0), st.data())
def test_one_value_off_is_found_and_placed(array: np.ndarray, data: st.DataObject):
    place = tuple(data.draw(st.integers(0, n - 1)) for n in array.shape)
    wrong = array.copy()
    wrong[place] = array[place] + 1 + 0.1 * np.abs(array).max()
    verdict = judge(check, wrong, array)
    assert not verdict.right
    if array.size > 1:
        assert f"1 of {array.size} values differ; the first at {list(place)}" in verdict.text


@pytest.mark.parametrize(
    ("answer", "expected", "text"),
    [
        ([1.0, 2.0], [[1.0], [2.0]], "Not yet: the shape is (2,), expected (2, 1)."),
        (np.ones(2, np.float32), ak.ones(2, dtype=ak.float64), "Right."),
        ("3", 3, "Right."),
        ([6.0], 6, "Right."),
        (np.array([6.0]), ak.tensor(6.0), "Right."),
        (ak.tensor([6.0]), ak.tensor(6.0), "Not yet: the shape is (1,), expected ()."),
        ((3), (3,), "Not yet: (3) is a number; a tuple of one number has a comma, (3,)."),
        ({"w": 1}, {"w": 1, "b": 2}, "Not yet: in b, nothing is given."),
        ((np.ones(2), 1), (np.ones(2), np.ones(3)), "Not yet: in result 2, the shape is (), expected (3,)."),
        ([0, 0, 7], [0, 1, 1], "Not yet: 2 of 3 values differ; the first at [1], where yours is 0."),
        (float("nan"), 6.0, "Not yet: the value differs (yours is nan)."),
        (-6.0, 6.0, "Not yet: the sign is the other way round."),
        ([-1.0, 2.0], [1.0, -2.0], "Not yet: all signs are the other way round."),
        (1, True, "Not yet: True or False is expected, yours is a number."),
        (True, 1, "Not yet: a number is expected, yours is True or False."),
        ([[1], [1, 2]], [1, 2], "Not yet: a number or a tensor is expected, yours is of type list."),
        (len, 6, "Not yet: a number or a tensor is expected, yours is a function: did you mean to call it."),
        ("five", "six", "Not yet: the answer is not 'five'."),
        (" Six", "six", "Right."),
        ([float("nan"), 1.0], [float("nan"), 1.0], "Right."),
        (
            ...,
            6,
            "Not answered yet: put your answer where dots or YOUR CODE HERE stand.",
        ),
    ],
)
def test_what_the_verdict_says(answer: object, expected: object, text: str):
    assert judge(check, answer, expected).text == text


def test_the_hint_comes_with_a_wrong_answer_only(capsys: pytest.CaptureFixture[str]):
    check(6, 6, hint="count again")
    check(..., 6, hint="count again")
    assert "count again" not in capsys.readouterr().out
    check(5, 6, hint="count again")
    assert capsys.readouterr().out == "Not yet: the value differs (yours is 5).\nHint: count again\n"


anything = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), floats,
        st.sampled_from([..., len, object, object()]),
    ),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text(), inner),
)  # fmt: skip


@given(anything)
def test_no_answer_crashes_a_verdict(answer: object):
    first = judge(check, answer, np.ones((2, 2))).text
    assert first == judge(check, answer, np.ones((2, 2))).text
    assert judge(check, answer, "text").text


class Hostile:
    def __array__(self, *args: object, **options: object) -> np.ndarray:
        raise RuntimeError("no")

    def detach(self) -> Hostile:
        raise RuntimeError("no")


def test_an_object_that_fails_in_its_own_way_does_not_crash_a_verdict():
    assert "of type Hostile" in judge(check, Hostile(), 6).text
    assert "of type list" in judge(check, [Hostile()], 6).text


def test_nothing_is_revealed_before_a_prediction(capsys: pytest.CaptureFixture[str]):
    def outcome() -> float:
        raise AssertionError("computed before the prediction")

    predict(..., outcome)
    assert (
        capsys.readouterr().out == "Not answered yet: put your answer where dots or YOUR CODE HERE stand.\n"
    )
    predict([8.0, 8.0], lambda: ak.tensor([8.0, 8.0]))
    assert capsys.readouterr().out == "You said [8.0, 8.0], and it is [8.0, 8.0]: right.\n"
    for guess, said in (
        (7.0, "Not yet: the value differs"),
        (7.0, "Not yet"),
        (9, "You said 9, and it is 8.0"),
    ):
        predict(guess, lambda: 8.0)
        assert capsys.readouterr().out.startswith(said)
    predict("addbackward0", "AddBackward0")
    assert capsys.readouterr().out == "You said addbackward0, and it is AddBackward0: right.\n"


@given(st.permutations("abcd"), anything)
def test_an_order_may_be_chosen_in_any_form_and_no_choice_crashes(order: list[str], other: object):
    options = {"".join(order): "So it is.", "xyz": "No."}
    for answer in (order, tuple(order), " ".join(order), ", ".join(order).upper()):
        assert judge(choose, answer, options, "".join(order)) == (True, "Right. So it is.")
    assert judge(choose, other, options, "xyz").text


def test_each_other_wrong_answer_gets_the_next_hint_and_then_the_last(capsys: pytest.CaptureFixture[str]):
    def double(x: float) -> float:
        return 2 * x

    def told(answer: object) -> str:
        check(answer, 6, hint=["first", "second", "third"])
        return capsys.readouterr().out.partition("Hint: ")[2]

    said = [told(answer) for answer in (1, 1, ..., 2, 6, 1, 3, 4)]
    assert said == ["first\n", "first\n", "", "second\n", "", "second\n", "third\n", "third\n"]
    for answer, hint in [(lambda x: 2 + x, "one"), (double, "two"), (lambda x: x + 2.0, "two")]:
        verdict = judge(
            check_function, answer, lambda x: 4 * x, 3.0, 5.0, gradients=False, hint=["one", "two"]
        )
        assert verdict.text.endswith(f"Hint: {hint}")


@pytest.mark.parametrize("answer", [lambda *_: 1 / 0, len, {}, object(), "?", np.array([None]), int])
@pytest.mark.parametrize(
    "judging",
    [
        lambda answer: judge(check_function, answer, abs, 1.0, -2.0),
        lambda answer: judge(check_gradient, lambda x: x * x, 3.0, derivative=answer),
        lambda answer: judge(check_graph, answer, nodes=3),
        lambda answer: judge(check_engine, answer),
    ],
    ids=["function", "gradient", "graph", "engine"],
)
def test_what_an_answer_does_stops_no_exercise(judging: Callable, answer: object):
    assert judging(answer).text.startswith("Not yet")
