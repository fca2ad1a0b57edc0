"""The forward half of a story: a step for every value, in topological order."""

from __future__ import annotations

from autokit.graphs.model import Change, Node
from autokit.graphs.script import Script
from autokit.graphs.words import Words, awaited, equals, listed, says, shape_text


def tell_forward(script: Script, words: Words) -> None:
    """Every value, in topological order."""
    for node in words.graph.nodes:
        tell_value(script, words, node)


def tell_value(script: Script, words: Words, node: Node, leaf: str = "collects a gradient") -> None:
    """One value: what is given, where a leaf does what ``leaf`` says, or what an operation computes."""
    if words.operands.get(node.id):
        _tell_operation(script, words, node)
    elif not node.is_number:  # which the formulas say
        _tell_input(script, words, node, leaf)


def _tell_input(script: Script, words: Words, node: Node, leaf: str) -> None:
    name, value = node.name, words.value(node)
    if node.kind == "leaf":
        sentence = f"{equals(name, node.shape, value)} is given: a leaf, which {leaf}."
    elif node.kind == "constant":
        given = name if says(name, value) else equals(name, node.shape, value)
        sentence = f"{given} is given: a constant, which needs no gradient."
    else:
        sentence = f"{equals(name, node.shape, value)} comes from earlier operations that are not shown."
    script.step("input", "forward", sentence, touches=(node.element,), changes=_computed(words, node))
    script.close(sentence)


def _tell_operation(script: Script, words: Words, node: Node) -> None:
    edges = words.operands[node.id]
    operands = [words.graph.nodes[edge.source] for edge in edges]
    names = listed([operand.name for operand in operands])
    formula = f"{node.name} = {words.formula(node)}"
    flowing = tuple(Change(edge.element, "status", "forward") for edge in edges)
    touched = (node.element, *(e.element for e in edges), *(operand.element for operand in operands))
    numbers = words.numbers(node)
    result = words.result(node)
    line = f"Line {node.source.line}: {node.source.text}" if node.source and node.source.text else ""
    told = f"{formula}{result}."
    into = f"{names} {'goes' if len(operands) == 1 else 'go'} into {words.operation(node)}"
    if script.brief:
        changes = (*flowing, *_computed(words, node))
        script.step("value", "forward", f"{into}: {told}", formula, "", touched, changes, line)
        script.close(told)
        return
    changes = (*flowing, Change(node.element, "status", "current"))
    script.step(
        "operands", "forward", f"{into}.{_repeated(node, operands)}", formula, "", touched, changes, line
    )
    saved = listed(words.saved(node))
    kept = (
        f"Its rule keeps {saved} for the way back." if saved else "Its rule keeps nothing for the way back."
    )
    note = f"It is number {node.id} in topological order."
    changes = _computed(words, node)
    script.step("value", "forward", f"{told} {kept}", formula, f"= {numbers}", (node.element,), changes, note)
    script.close(told)


_REPEATING = frozenset({"add", "sub", "mul", "div", "maximum", "minimum", "pow"})


def _repeated(node: Node, operands: list[Node]) -> str:
    """Which operands are broadcast, where the operation goes element by element."""
    if node.operation not in _REPEATING:
        return ""
    smaller = [f"{o.name} {shape_text(o.shape)}" for o in operands if o.shape and o.shape != node.shape]
    if not smaller:
        return ""
    return f" {listed(smaller)} {'is' if len(smaller) == 1 else 'are'} repeated to {shape_text(node.shape)}."


def _computed(words: Words, node: Node) -> tuple[Change, ...]:
    return (Change(node.element, "value", words.value(node)), Change(node.element, "status", "computed"))


def tell_turn(script: Script, words: Words, pending: dict[int, int]) -> None:
    """From here on the order is flipped, and each value waits for its consumers."""
    changes = []
    for node in words.graph.nodes:
        if node.id in pending:
            changes.append(Change(node.element, "pending", awaited(pending[node.id])))
            changes.append(Change(node.element, "status", "waiting"))
        else:
            changes.append(Change(node.element, "status", "dim"))
    changes += [Change(edge.element, "status", "idle") for edge in words.graph.edges]
    shared = [node for node in words.graph.nodes if pending.get(node.id, 0) > 1]
    counts = listed([f"{node.name} for {pending[node.id]}" for node in shared[:_SHARED_TOLD]])
    if len(shared) > _SHARED_TOLD:
        counts += f", and {len(shared) - _SHARED_TOLD} others for theirs"
    sentence = (
        "Now the order is flipped: a value may go on only when every consumer has sent its contribution"
        + (f" ({counts})." if shared else ".")
    )
    script.step("turn", "turn", sentence, changes=tuple(changes), note="What needs no gradient is dimmed.")
    script.close(sentence)


_SHARED_TOLD = 4
