"""The same call written in another way: in another dtype, contiguous, by place, as another function.

What has to hold of its answer is in ``checks``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import torch


def as_float64(source: str, rounded: bool = True) -> str:
    """The numbers in float64, as they were rounded; those that the call itself converts not unless asked."""
    learns = ".requires_grad_(True)" * ("requires_grad=True" in source)
    wide = "complex128" if "complex" in source else "float64"
    if source.startswith(MAKES_TENSORS) and re.search(r"dtype=T\.(float(16|32)|complex64)", source):
        return source.replace(", requires_grad=True", "") + f".to(T.{wide})" + learns
    return re.sub(r"(\.to\()?T\.(float16|float32|complex64)\b(?(1)\))", partial(_wider, rounded), source)


def _wider(rounded: bool, found: re.Match[str]) -> str:
    """The wider dtype; of a conversion, one to that, after it or instead of it."""
    converts, dtype = found.groups()
    wide = "T.complex128" if dtype == "complex64" else "T.float64"
    if converts is None:
        return wide
    return f".to(T.{dtype}).to({wide})" if rounded else f".to({wide})"


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def as_int64(source: str) -> str:
    return source.replace("T.uint8", "T.int64")


def changing(change: Callable[[ast.Call], None]) -> Callable[[str], str]:
    """What changes the call itself, and leaves the sources of tensors as they are."""

    def rewrite(source: str) -> str:
        tree = ast.parse(source, mode="eval")
        if not isinstance(tree.body, ast.Call) or source.startswith(MAKES_TENSORS) and "out=" not in source:
            return source
        change(tree.body)
        return ast.unparse(tree)

    return rewrite


MAKES_TENSORS = ("T.tensor", "T.zeros", "T.ones")


def without(*names: str) -> Callable[[str], str]:
    def change(call: ast.Call) -> None:
        call.keywords = [each for each in call.keywords if each.arg not in names]

    return changing(change)


plain = without("out", "assume_unique")


def contiguous(source: str) -> str:
    return re.sub(
        r"\.transpose\(-1, -2\)|\.expand\([\d, ]*\)|\[::2\]",
        r"\g<0>.clone(memory_format=T.contiguous_format)",
        plain(source),
    )


def by_name(*names: str) -> Callable[[str], str]:
    """Give what stands by place by these names."""

    def change(call: ast.Call) -> None:
        given = list(zip(names, call.args))
        call.args = call.args[len(names) :]
        call.keywords += [ast.keyword(name, value) for name, value in given if name != "self"]
        call.args = [value for name, value in given if name == "self"] + call.args

    return changing(change)


def by_place(call: ast.Call) -> None:
    """Give the operands by place, and no place for the result."""
    given = {each.arg: each.value for each in call.keywords}
    operands = [
        given.pop(name)
        for name in ("condition", "sorted_sequence", "input", "exponent", "other")
        if name in given
    ]
    call.args = [*call.args, *operands]
    call.keywords = [each for each in call.keywords if each.arg in given and each.arg != "out"]


def cut_at_last_offset(call: ast.Call) -> None:
    """Give embedding_bag only the places before the last offset."""
    given = {each.arg: each for each in call.keywords}
    offsets = given["offsets"].value if "offsets" in given else call.args[2]

    def cut(part: ast.expr) -> ast.expr:
        return ast.parse(f"({ast.unparse(part)})[: int(({ast.unparse(offsets)})[-1])]", mode="eval").body

    for name in {"input", "per_sample_weights"} & given.keys():
        given[name].value = cut(given[name].value)
    if "input" not in given:
        call.args[0] = cut(call.args[0])


def strided(source: str) -> str:
    if not source.startswith(MAKES_TENSORS) or "out=" in source:
        return source
    learns = ".requires_grad_(True)" * ("requires_grad=True" in source)
    return f"T.stack([{source.replace(', requires_grad=True', '')}] * 2, -1)[..., 0]{learns}"


def with_tensors(call: ast.Call) -> None:
    """Give tensors for numbers, but for the last of several, which sets something."""
    for place, each in enumerate(call.args):
        if ast.unparse(each).lstrip("-") in ("nan", "inf", "0.5", "0.0"):
            call.args[place] = ast.parse(f"T.tensor({ast.unparse(each)})", mode="eval").body
    for keyword in call.keywords:
        if ast.unparse(keyword.value).lstrip("-") in ("nan", "inf", "0.5", "0.0"):
            keyword.value = ast.parse(f"T.tensor({ast.unparse(keyword.value)})", mode="eval").body


def with_numbers(call: ast.Call) -> None:
    """Give the number that a tensor holds for an exponent without dimensions."""
    given = [*call.args[-1:], *(each.value for each in call.keywords if each.arg == "exponent")][-1:]
    for each in given:
        number = ast.parse(f"(lambda t: t if t.ndim else t.item())({ast.unparse(each)})", mode="eval").body
        call.args = [number if part is each else part for part in call.args]
        for keyword in call.keywords:
            keyword.value = number if keyword.value is each else keyword.value


def with_bounds_of_one_shape(call: ast.Call) -> None:
    """Give clamp its numbers and both bounds in the shape that they have together."""
    assert isinstance(call.func, ast.Attribute)
    if ast.unparse(call.func.value) != "T":
        call.args.insert(0, call.func.value)
    together = "(lambda input, min, max: T.clamp(*T.broadcast_tensors(input, min, max)))"
    call.func = ast.parse(together, mode="eval").body


def of_one_dtype(source: str) -> str:
    return source.replace("T.float64", "T.float16").replace("T.float32", "T.float16")


def without_flags(call: ast.Call) -> None:
    call.args = [each for each in call.args if ast.unparse(each) not in ("True", "False")]


def with_dtype_of_out(call: ast.Call) -> None:
    for keyword in call.keywords:
        if keyword.arg == "out":
            dtype = ast.parse(f"{ast.unparse(keyword.value)}.dtype", mode="eval").body
            keyword.arg, keyword.value = "dtype", dtype


def as_jvp(source: str) -> str:
    linearized = "(lambda f, x: (f(x), lambda t: T.func.jvp(f, (x.clone(),), (t,))[1]))"
    return source.replace("T.func.linearize", linearized)


def as_inverse(source: str) -> str:
    """The inverse by itself, for the one by a Cholesky factor."""
    inverse = (
        "(lambda L, upper=False: T.linalg.inv(L.triu().mH @ L.triu() if upper else L.tril() @ L.tril().mH))"
    )
    source = re.sub(r", out=\w+", "", source)
    called = re.sub(r"^(?!T\.)(.*)\.cholesky_inverse\(", r"T.cholesky_inverse(\1, ", source)
    return called.replace("T.cholesky_inverse", inverse).replace("input=", "L=")


def with_gelsd(call: ast.Call) -> None:
    others = [each for each in call.keywords if each.arg != "driver"]
    call.keywords = [*others, ast.keyword("driver", ast.Constant("gelsd"))]
