"""Products of matrices as calls of BLAS, which can add the product to what stands in the result already."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autokit.static.graph import Node
from autokit.static.loops.elements import NoLoop, Operand, Place, operand_of, place_of


class Matrix(NamedTuple):
    """A factor: where it lies, whether BLAS has to read it transposed, and the distance between its rows."""

    place: Place
    turned: bool
    width: int


class Product(NamedTuple):
    """``alpha · A B + beta · base``, for an m×k matrix A and a k×n matrix B; scales are products, too."""

    a: Matrix
    b: Matrix
    sizes: tuple[int, int, int]
    alpha: tuple[Operand, ...] = ()
    beta: tuple[Operand, ...] = ()
    base: Node | None = None

    def factors(self) -> list[Node]:
        """The nodes whose memory is read while the product is computed."""
        read = [self.a.place, self.b.place, *[each.value for each in (*self.alpha, *self.beta)]]
        return [place.owner for place in read if isinstance(place, Place)]

    def owners(self) -> list[Node]:
        """The nodes whose memory is read."""
        return [*self.factors(), *([self.base] if self.base else [])]


def product_of(node: Node) -> Product | None:
    """The product of matrices that a node is; None if it is none, or BLAS cannot read them."""
    if (
        node.function not in (np.dot, np.matmul)
        or node.settings
        or node.dtype not in (np.float32, np.float64)
    ):
        return None
    if any([not isinstance(each, Node) or each.dtype != node.dtype for each in node.args]):
        return None
    a, b = node.args
    if len(a.shape) != 2 or len(b.shape) != 2:
        return None
    try:
        return Product(_matrix(a), _matrix(b), (*node.shape, a.shape[1]))
    except NoLoop:
        return None


def _matrix(node: Node) -> Matrix:
    (rows, columns), place = node.shape, place_of(node, node.shape)
    if place.across == (columns > 1) and (place.down >= columns or rows == 1):
        return Matrix(place, False, max(place.down, columns))
    if place.down == (rows > 1) and (place.across >= rows or columns == 1):
        return Matrix(place, True, max(place.across, rows))
    raise NoLoop


def added_to(
    state: Node, node: Node, is_read_once: Callable[[Node], bool]
) -> tuple[Product, list[Node]] | None:
    """``node`` as ``alpha · A B + beta · state``, and the nodes between; None if it is something else.

    So a step of gradient descent on the weights of a linear layer is one call of BLAS.
    """
    if node.function not in (np.add, np.subtract) or node.settings:
        return None
    try:
        terms = [_scaled(each, node, is_read_once) for each in node.args]
    except NoLoop:
        return None
    if node.function is np.subtract:
        terms[1].scale.append(Operand(-1.0, node.dtype))
    base, product = sorted(terms, key=lambda term: term.node is not state)
    found = product_of(product.node) if isinstance(product.node, Node) else None
    if base.node is not state or found is None or not is_read_once(product.node):
        return None
    found = found._replace(alpha=tuple(product.scale), beta=tuple(base.scale), base=state)
    return (found, [*base.between, *product.between, product.node]) if node.shape == state.shape else None


class _Term(NamedTuple):
    """A term of a sum: the numbers by which it is multiplied, what they multiply, and the calls between."""

    scale: list[Operand]
    node: Any
    between: list[Node]


def _scaled(node: Any, total: Node, is_read_once: Callable[[Node], bool]) -> _Term:
    term = _Term([], node, [])
    while isinstance(node, Node) and node.function is np.multiply and is_read_once(node):
        number, other = sorted(node.args, key=lambda each: getattr(each, "shape", ()) != ())
        if getattr(number, "shape", ()) != () or getattr(other, "dtype", None) != total.dtype:
            break
        term.scale.append(operand_of(number, total.dtype, ()))
        term.between.append(node)
        node = other
    return term._replace(node=node)
