"""Scaled products: (a @ b) · s → (a · s) @ b where ``a`` is smaller than the product.

It spares a walk over the larger array, and rounds otherwise: this pass runs only where it is asked for.
"""

from __future__ import annotations

import numpy as np

from autokit.static.graph import Graph, Node
from autokit.static.passes.rewriting import Rewriting, is_constant


def scale_products(graph: Graph) -> str:
    """Take numbers by which products of matrices are multiplied into the smaller operand."""
    users = graph.users()

    def change(node: Node, rewriting: Rewriting) -> Node | None:
        if node.name != "multiply" or len(node.args) != 2 or node.settings:
            return None
        for product, number in (node.args, node.args[::-1]):
            is_number = is_constant(number) and np.ndim(getattr(number, "value", number)) == 0
            if not isinstance(product, Node) or product.name not in ("dot", "matmul") or not is_number:
                continue
            a, b = product.args
            if users.get(product) == [node] and isinstance(a, Node) and a.value.size < node.value.size:
                rewriting.said["(a @ b) · s = (a · s) @ b"] += 1
                scaled = rewriting.call(product, "multiply", np.multiply, a, number)
                return rewriting.call(node, product.name, product.function, scaled, b)
        return None

    return Rewriting(graph).run(change)
