"""Scaled products: (a @ b) · s → (a · s) @ b where ``a`` is smaller than the product.

It spares a walk over the larger array, and rounds otherwise: this pass runs only where it is asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.static.graph import Graph, Node
from autokit.static.passes.rewriting import Rewriting, is_constant, rewrite


def scale_products(graph: Graph) -> str:
    """Take numbers by which products of matrices are multiplied into the smaller operand."""
    users = graph.users()

    def scaled(node: Node, new: Rewriting, *factors: Any) -> Node | None:
        for product, number in (factors, factors[::-1]):
            if not isinstance(product, Node) or product.name not in ("dot", "matmul"):
                continue
            a, b = product.args
            is_number = is_constant(number) and np.ndim(getattr(number, "value", number)) == 0
            if is_number and users.get(product) == [node] and a.value.size < node.value.size:
                return new.call(node, product.function, new.call(product, np.multiply, a, number), b)
        return None

    return rewrite(graph, {"(a @ b) · s = (a · s) @ b": ("multiply", scaled)})
