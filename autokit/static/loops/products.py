"""Products of matrices as calls of BLAS, which can add the product to what stands in the result already."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autokit.static.graph import Node
from autokit.static.loops.frames import Region, region_of


class Matrix(NamedTuple):
    """A factor: where it lies, whether BLAS has to read it transposed, and the distance between its rows."""

    region: Region
    turned: bool
    width: int


class Product(NamedTuple):
    """``alpha · A B + beta · base``, for an m×k matrix A and a k×n matrix B; scales are products, too."""

    a: Matrix
    b: Matrix
    sizes: tuple[int, int, int]
    alpha: tuple[Any, ...] = (1.0,)
    beta: tuple[Any, ...] = (0.0,)
    base: Node | None = None

    def stops(self) -> bool:
        """Whether this can stop the run."""
        return False

    def factors(self) -> list[Node]:
        """The nodes whose memory is read while the product is computed."""
        scales = [region_of(each) for each in (*self.alpha, *self.beta) if isinstance(each, Node)]
        return [each.owner for each in (self.a.region, self.b.region, *scales) if each]

    def owners(self) -> list[Node]:
        """The nodes whose memory is read."""
        return [*self.factors(), *([self.base] if self.base else [])]


def product_of(node: Node) -> Product | None:
    """The product of matrices or vectors that a node is; None if it is none, or BLAS cannot read them."""
    if (
        node.kind != "call"
        or node.name not in ("dot", "matmul")
        or node.dtype not in (np.float32, np.float64)
    ):
        return None
    a, b = node.args
    if not all(
        isinstance(each, Node) and each.dtype == node.dtype and 0 < each.value.ndim <= 2 for each in (a, b)
    ):
        return None
    (k, n), m = (*b.shape, 1)[:2], (1, *a.shape)[-2]
    left, right = _matrix(a, (m, k)), _matrix(b, (k, n))
    return left and right and Product(left, right, (m, n, k))


def _matrix(node: Node, shape: tuple[int, int]) -> Matrix | None:
    region = region_of(node)
    if region is None:
        return None
    rows, columns = shape
    stride = region.strides[0]
    down, across = region.strides if len(region.strides) == 2 else (1, stride) if rows == 1 else (stride, 1)
    if (across == 1 or columns == 1) and (down >= columns or rows == 1):
        return Matrix(region, False, max(down, columns))
    if (down == 1 or rows == 1) and (across >= rows or columns == 1):
        return Matrix(region, True, max(across, rows))
    return None


def added_to(
    state: Node, node: Node, is_only_here: Callable[[Node], bool]
) -> tuple[Product, list[Node]] | None:
    """``node`` as ``alpha · A B + beta · state``, and the nodes between; None if it is something else.

    So a step of gradient descent on the weights of a linear layer is one call of BLAS.
    """
    between: list[Node] = []
    terms = _terms(node, (1.0,), lambda each: each is node or is_only_here(each), between)
    if len(terms) != 2:
        return None
    (alpha, product), (beta, base) = sorted(terms, key=lambda term: term[1] is state)
    found = product_of(product) if isinstance(product, Node) else None
    if base is not state or found is None or not is_only_here(product) or product.shape != state.shape:
        return None
    return found._replace(alpha=alpha, beta=beta, base=state), [*between[1:], product]


def _terms(
    node: Any, scale: tuple[Any, ...], is_followed: Callable[[Node], bool], between: list[Node]
) -> list[tuple[tuple[Any, ...], Any]]:
    """The terms of a sum, each with its scale."""
    if not isinstance(node, Node) or node.settings or not is_followed(node) or node.kind != "call":
        return [(scale, node)]
    if node.name in ("add", "subtract"):
        a, b = node.args
        between.append(node)
        turned = scale if node.name == "add" else (-1.0, *scale)
        return [*_terms(a, scale, is_followed, between), *_terms(b, turned, is_followed, between)]
    if node.name == "negative":
        between.append(node)
        return _terms(node.args[0], (-1.0, *scale), is_followed, between)
    if node.name == "multiply":
        for number, other in (node.args, node.args[::-1]):
            if _is_number(number) and isinstance(other, Node) and other.shape == node.shape:
                between.append(node)
                return _terms(other, (number, *scale), is_followed, between)
    return [(scale, node)]


def _is_number(value: Any) -> bool:
    if isinstance(value, Node):
        return value.shape == () and region_of(value) is not None
    return np.ndim(value) == 0
