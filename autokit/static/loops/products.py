"""Products of matrices as calls of BLAS, which can add the product to what stands in the result already."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from autokit.static.graph import Node
from autokit.static.loops.elements import NoLoop, Operand, Place, operand_of, place_of


class Matrix(NamedTuple):
    """A factor: where it lies, whether BLAS has to read it transposed, and the distance between its rows."""

    place: Place
    turned: bool
    width: int


class Product(NamedTuple):
    """``base + sign · scale · A B``, for an m×k matrix A and a k×n matrix B."""

    a: Matrix
    b: Matrix
    sizes: tuple[int, int, int]
    base: Node | None = None
    sign: int = 1
    scale: tuple[Operand, ...] = ()

    def factors(self) -> list[Node]:
        """The nodes whose memory is read while the product is computed."""
        read = [self.a.place, self.b.place, *[each.value for each in self.scale]]
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
    """``node`` as a product that is added to ``state``, and the nodes between; None if it is something else.

    So a step of gradient descent on the weights of a linear layer is one call of BLAS.
    """
    if node.function not in (np.add, np.subtract) or node.args[0] is not state or node.shape != state.shape:
        return None
    term, between, scale = node.args[1], [], tuple[Operand, ...]()
    if isinstance(term, Node) and term.function is np.multiply and is_read_once(term):
        number, factor = sorted(term.args, key=lambda each: getattr(each, "shape", ()))
        if getattr(number, "shape", ()) == () and getattr(factor, "dtype", None) == node.dtype:
            between, term, scale = [term], factor, (operand_of(number, node.dtype, ()),)
    found = product_of(term) if isinstance(term, Node) else None
    if found is None or term.shape != state.shape or not all(map(is_read_once, [*between, term])):
        return None
    sign = 1 if node.function is np.add else -1
    return found._replace(base=state, sign=sign, scale=scale), [*between, term]
