"""Forward mode: the directional derivative of a result, computed from each operation to the next.

The *tangent* of a tensor is its derivative when the inputs move along given directions. :func:`tangents`
visits the nodes of the graph once, the oldest first, and computes the tangent of each result from those of
its operands. No operation needs a further rule for that. The derivative that an operation has, a
vector–Jacobian product, is linear in the gradient: g ↦ Jᵀg. Differentiated by g itself, in the direction t,
it gives (Jᵀ)ᵀt = Jt, the tangent of the result.

References
----------
A. Griewank and A. Walther, *Evaluating Derivatives*, 2nd edition, SIAM, 2008, section 3.1; J. Townsend, "A
new trick for calculating Jacobian vector products", 2017.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autokit.autograd import grad as gradient_of
from autokit.engine.backward import fitted
from autokit.engine.modes import enable_grad, set_grad_enabled
from autokit.engine.node import SEVERAL, Gradients, Node
from autokit.engine.observed import fetch_kept, fetch_tensors, leading_to
from autokit.engine.tensor import Tensor, new_tensor
from autokit.func.level import Argnums, Entered, Level, basis, outputs_of, zeros
from autokit.func.transforms import jacobian_by, joined
from autokit.func.trees import flatten, mapped, unflatten


def tangents(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], directions: Sequence[Tensor], record: bool = False
) -> Iterator[tuple[Any, Any]]:
    """Yield each node between ``inputs`` and ``outputs``, the oldest first, with the tangent of its result.

    The inputs, which come first, move along ``directions``. With ``record`` the tangents have a graph
    themselves. The tangent of an operation with several results is a dict, by the results' numbers.
    """
    found: dict[Any, Any] = {each._node or each: along for each, along in zip(inputs, directions)}
    yield from list(found.items())
    between = leading_to(set(found), [each._node or each for each in outputs]).difference(found)
    results: dict[Node, dict[int, Node]] = {}  # the nodes of several results, by the operation's node
    for node in between:
        if node.owner is not node:
            results.setdefault(node.owner, {})[node.settings["slot"]] = node
    for node in sorted(between, key=lambda node: node.order):
        moving = {place: found[end] for place, end in enumerate(node.targets) if end in found}
        with set_grad_enabled(record):
            found[node] = tangent_of(node, moving, results.get(node, {}), record)
        yield node, found[node]


def tangent_of(node: Node, moving: dict[int, Any], results: dict[int, Node], record: bool) -> Any:
    """The tangent of the result of ``node``, from ``moving``: the tangents of operands, by their places."""
    if node.owner is not node:  # one of several results
        (several,) = moving.values()
        return several[(node.settings or {})["slot"]]
    several = node.shape is SEVERAL
    like = next(iter(moving.values())).array
    unknown = {slot: _unknown(result, like) for slot, result in (results or {0: node}).items()}
    g: Any = unknown.get(0)
    if several:
        count = next(iter(results.values())).settings["count"]  # type: ignore[index]
        g = Gradients([unknown.get(slot) for slot in range(count)])
    with enable_grad():
        sent = _sent_back(node, g, moving, record)
    found: Any = [zeros(each) for each in unknown.values()]
    if sent:
        along = [moving[place] for place in sent]
        found = gradient_of(
            list(sent.values()), list(unknown.values()), along, create_graph=record, materialize_grads=True
        )
    return dict(zip(unknown, found)) if several else found[0]


def _unknown(node: Node, like: Any) -> Tensor:
    """The g by which Jᵀg is differentiated: zeros, as the derivative of a linear function is constant."""
    gradient = new_tensor(np.zeros_like(like, node.dtype, shape=node.shape))
    gradient._requires_grad = True
    gradient.__dict__["_closed"] = True
    return gradient


def _sent_back(node: Node, g: Any, moving: dict[int, Any], record: bool) -> dict[int, Tensor]:
    """What the derivatives of ``node`` compute from ``g``, for the operands that move, by their places."""
    rules = node.rules
    fetch_values = fetch_tensors if record else fetch_constants
    computed: dict[int, Any] = {}
    for place, vjp, needs in rules.for_tensors:
        if rules.joint or place in moving:
            needs = (needs,) if needs.__class__ is int else needs or ()
            one = vjp(g, *fetch_values(node, needs, node.sources[place]))
            computed.update(enumerate(one) if rules.joint else {place: one})
    return {
        place: fitted(one, moving[place].array)
        for place, one in computed.items()
        if place in moving and one is not None and one._requires_grad
    }


def fetch_constants(node: Node, needs: tuple[Any, ...], target: Any) -> list[Any]:
    """As ``fetch_kept``, which fetches what a derivative needs, but as tensors outside of the graph."""
    values = fetch_kept(node, needs, target)
    return [
        mapped(value, _constant) if need.__class__ is int or need == "operands" else value
        for need, value in zip(needs, values)
    ]


def _constant(value: Any) -> Any:
    return new_tensor(value) if hasattr(value, "strides") and not isinstance(value, np.generic) else value


def along(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], directions: Sequence[Tensor], record: bool
) -> list[Tensor]:
    """How each output changes when the inputs move along ``directions``; zeros where it does not."""
    found = dict(tangents(outputs, inputs, directions, record))
    return [found.get(each._node or each, zeros(each)) for each in outputs]


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, has_aux: bool = False) -> Any:
    """``func(*primals)``, and its derivative along ``tangents``: the Jacobian times that vector.

    Parameters
    ----------
    func : callable
        Returns a tensor, or nested containers of tensors.
    primals, tangents : tuple
        The arguments, and a direction for each, of the same structure and shapes.
    has_aux : bool
        ``func`` returns a pair, whose second part is returned and not differentiated.

    Returns
    -------
    output, jvp_output, and aux with ``has_aux``

    Examples
    --------
    >>> import autokit as torch
    >>> torch.func.jvp(torch.sin, (torch.tensor(0.0),), (torch.tensor(2.0),))
    (tensor(0.), tensor(2.))
    """
    if not (isinstance(primals, tuple) and isinstance(tangents, tuple)):
        raise RuntimeError(
            "jvp: primals and tangents must be tuples, got "
            f"{type(primals).__name__} and {type(tangents).__name__}: write (x,) for one"
        )
    directions, form = flatten(tangents)
    with Level() as level:
        entered = Entered(level, primals, tuple(range(len(primals))), "jvp")
        if form != entered.structure:
            raise RuntimeError("jvp: primals and tangents must have the same structure")
        for primal, direction in zip(entered.leaves, directions):
            if not isinstance(direction, Tensor) or direction.array.shape != primal.array.shape:
                raise RuntimeError(
                    f"jvp: a tangent must have the shape of its primal, {list(primal.shape)}, got "
                    f"{list(getattr(direction, 'shape', ()))}"
                )
        outputs, structure, aux = outputs_of("jvp", func(*entered.args), has_aux)
        record = level.is_watched([*outputs, *directions])
        products = along(outputs, entered.leaves, directions, record)
        found = level.leave((unflatten(outputs, structure), unflatten(products, structure)))
        return (*found, level.leave(aux)) if has_aux else found


def jacfwd(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives the Jacobian of ``func``, column by column: see :func:`jvp` and ``jacrev``.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.func.jacfwd(lambda x: x.sum() * x)(torch.tensor([1.0, 2.0]))
    tensor([[4., 1.],
            [2., 5.]])
    """

    def columns(output: Tensor, inputs: list[Tensor], record: bool) -> list[Tensor]:
        found = []
        for one in inputs:
            each = [along([output], [one], [seed], record)[0] for seed in basis(one)]
            found.append(joined(each, output, one, output.array.ndim))
        return found

    return jacobian_by(columns, "jacfwd", func, argnums, has_aux)
