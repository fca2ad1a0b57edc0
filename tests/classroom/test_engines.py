"""Engines as learners write them: right ones pass, and each typical mistake is told by its own words."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autokit as ak
from autokit.classroom import check_engine, judge


class Value:
    """An engine of lesson 5, whose mistakes are its subclasses."""

    def __init__(self, data: Any, parents: tuple = (), sends: Callable = lambda g: ()) -> None:
        self.data, self.parents, self.sends, self.grad = data, parents, sends, 0.0

    def __add__(self, other: Value) -> Value:
        return type(self)(self.data + other.data, (self, other), lambda g: (g, g))

    def __mul__(self, other: Value) -> Value:
        return type(self)(self.data * other.data, (self, other), lambda g: (g * other.data, g * self.data))

    def tanh(self) -> Value:
        out = math.tanh(self.data)
        return type(self)(out, (self,), lambda g: (g * (1 - out * out),))

    def order(self) -> list[Value]:
        found, seen, waiting = [], set(), [(self, False)]
        while waiting:
            value, is_done = waiting.pop()
            if is_done:
                found.append(value)
            elif value not in seen:
                seen.add(value)
                waiting += [(value, True), *[(parent, False) for parent in value.parents]]
        return found[::-1]

    def receive(self, contribution: Any) -> None:
        self.grad = self.grad + contribution

    def backward(self) -> None:
        self.grad = np.ones_like(self.data)
        for value in self.order():
            for parent, contribution in zip(value.parents, value.sends(value.grad)):
                parent.receive(contribution)


class Assigns(Value):
    def receive(self, contribution: Any) -> None:
        self.grad = contribution


class Forgets(Value):
    def backward(self) -> None:
        for value in self.order():
            value.grad = 0.0
        super().backward()


class Recursive(Value):
    def order(self) -> list[Value]:
        found: dict[Value, None] = {}

        def visit(value: Value) -> None:
            if value not in found:
                for parent in value.parents:
                    visit(parent)
                found[value] = None

        visit(self)
        return list(found)[::-1]


class Unvisited(Value):
    def order(self) -> list[Value]:
        found = []

        def visit(value: Value) -> None:
            for parent in value.parents:
                visit(parent)
            found.append(value)

        visit(self)
        return found[::-1]


class Last(Value):
    def __mul__(self, other: Value) -> Value:
        return type(self)(self.data * other.data, (self, other), lambda g: (g * other.data, g * other.data))


class Curved(Value):
    def tanh(self) -> Value:
        return type(self)(math.tanh(self.data), (self,), lambda g: (g * (1 - self.data**2),))


def unbroadcast(g: Any, data: Any) -> Any:
    g = g.sum(axis=tuple(range(g.ndim - data.ndim)))
    return g.sum(axis=tuple(n for n, size in enumerate(data.shape) if size == 1), keepdims=True)


class Arrays(Value):
    def receive(self, contribution: Any) -> None:
        super().receive(unbroadcast(contribution, self.data))


class Leading(Value):
    def receive(self, contribution: Any) -> None:
        super().receive(contribution.sum(axis=tuple(range(np.ndim(contribution) - np.ndim(self.data)))))


made: list[Value] = []


class Sum(Value):
    """The engine of lesson 3: it adds, and knows the order in which its values were made."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        made.append(self)


def walking(step: Callable[[Value], None], order: Callable = reversed) -> Callable[[Value], None]:
    """A learner's ``backward(order)``."""

    def backward(result: Value) -> None:
        made[-1].grad = 1.0
        for value in order(list(made)):
            step(value)
        made.clear()

    return backward


def add(value: Value) -> None:
    for parent in value.parents:
        parent.grad += value.grad


def assign(value: Value) -> None:
    for parent in value.parents:
        parent.grad = value.grad


def count(value: Value) -> None:
    for parent in value.parents:
        parent.grad += 1


def once(value: Value) -> None:
    for parent in set(value.parents):
        parent.grad += value.grad


def paths(value: Value, contribution: float = 1.0) -> None:
    value.grad += contribution
    for parent in value.parents:
        paths(parent, contribution)


def accumulated(value: Value, contribution: float = 1.0) -> None:
    value.grad += contribution
    for parent in value.parents:
        accumulated(parent, value.grad)


WRONG = [
    (Assigns, "A value that is used twice"),
    (Forgets, "A second backward pass adds"),
    (Unvisited, "c = a + b, d = c + c"),
    (Last, "c = a * b: in the gradient with respect to b"),
    (Curved, "c = a.tanh()"),
    (lambda number: number, "AttributeError"),
    (..., "Not answered yet"),
]
BY_ORDER = [
    (walking(assign), "It replaces the contribution before."),
    (walking(add, list), "A value passes on the gradient that has arrived."),
    (walking(count), "A value passes its gradient on once, all of it."),
    (walking(once), "A value that is used twice gets two contributions."),
    (paths, "it takes too many steps"),
    (accumulated, "Not yet"),
]


@pytest.mark.parametrize(
    "engine", [Value, Recursive, lambda x: ak.tensor(x, dtype=ak.float64, requires_grad=True)]
)
def test_right_engines_pass(engine: Callable):
    assert judge(check_engine, engine, "+ * tanh").right


@pytest.mark.parametrize(("engine", "words"), WRONG)
def test_each_wrong_engine_has_its_words(engine: Any, words: str):
    verdict = judge(check_engine, engine, "+ * tanh")
    assert not verdict.right and words in verdict.text


@pytest.mark.parametrize(("backward", "words"), BY_ORDER)
def test_each_wrong_walk_has_its_words(backward: Callable, words: str):
    why = {walking(assign): "It replaces the contribution before."}
    verdict = judge(check_engine, Sum, "+", backward=backward, why=why)
    made.clear()
    assert not verdict.right and words in verdict.text
    assert judge(check_engine, Sum, "+", backward=walking(add), why=why).right


def test_a_long_chain_needs_no_recursion_and_arrays_are_summed():
    assert judge(check_engine, Value, depth=10_000).right
    deep = judge(check_engine, Recursive, depth=10_000).text
    assert "a chain of 10,000 operations: line" in deep and "RecursionError" in deep
    assert judge(check_engine, Arrays, "+ *", arrays=True).right
    assert "expected (2, 1)" in judge(check_engine, Leading, "+ *", arrays=True).text
