"""In which order a graph's calls run, which of them share a loop, and where their values are kept.

Calls of the same rows and columns share a loop as long as each reads, of what that loop computes, only the
element at its own row and column; so values that nothing else reads never leave the registers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from itertools import combinations

import numpy as np

from autokit.static.graph import Graph, Node
from autokit.static.loops.elements import NoLoop, Work, added_to, work_of
from autokit.static.memory import Lives


def sources(nodes: Iterable[Node]) -> list[Node]:
    """The given ones of ``nodes``, and in place of each view what it is a view of."""
    found: dict[Node, None] = {}
    for node in nodes:
        found |= dict.fromkeys(sources(node.operands()) if node.kind == "view" else [node])
    return list(found)


def operands_of(nodes: Iterable[Node]) -> list[Node]:
    """All operands of ``nodes``."""
    return [operand for node in nodes for operand in node.operands()]


class Schedule:
    """The order of a graph's calls: each time the first, by rank, that does not wait for another one.

    What a call of NumPy or a check waits for comes first, so that as many of the others as can be come after
    all of these, in one function. Last come the calls for which nothing waits that stops a run or reads a
    state: they may write over states.

    Attributes
    ----------
    work : dict
        The compiled forms, by their nodes.
    parts : dict
        For each call the nodes whose work its form does: itself, and others that only it needs.
    reads : dict
        For each call the nodes whose memory it reads.
    items : list of list of Node
        The calls of a loop, or another call.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.calls = [node for node in graph.nodes if node.kind in ("call", "draw", "check")]
        acts = any([node.kind == "draw" for node in self.calls])  # and checks stand between them
        found = {node: work_of(node) for node in self.calls if node.kind != "check" or not acts}
        self.work: dict[Node, Work] = {node: work for node, work in found.items() if work}
        self.parts = {node: [node] for node in self.calls}
        self.states = self._writable()
        self._add_products_to_states()
        self.reads = {node: sources(operands_of(self.parts[node])) for node in self.calls}
        self.last = self._last()
        self.items = self._packed()

    def _writable(self) -> dict[Node, Node]:
        """The new values that might be written over the old ones, and the state of each."""
        graph, owners = self.graph, Lives(self.graph).owners
        kept = {owner for node in (*graph.outputs, *graph.updates.values()) for owner in owners[node]}
        for one, other in combinations(graph.states, 2):
            if np.may_share_memory(one.value, other.value):
                kept |= {one, other}
        return {
            node: state
            for state, node in graph.updates.items()
            if (node.shape, node.dtype) == (state.shape, state.dtype) and node in self.work
            if state.value.flags.c_contiguous and state not in kept
        }

    def _add_products_to_states(self) -> None:
        roots = [*self.graph.outputs, *self.graph.updates.values()]
        readers = Counter(
            [owner for each in self.calls for owner in sources(each.operands())] + sources(roots)
        )
        for node, state in self.states.items():
            with suppress(NoLoop, ValueError, AttributeError):  # where the call is of another form
                work, between = added_to(state, node)
                if all([readers[each] == 1 for each in between]):
                    self.work[node], self.parts[node] = work, [node, *between]
                    self.calls = [each for each in self.calls if each not in between]

    def _last(self) -> set[Node]:
        last = {node for node in self.calls if node in self.work}
        for node in reversed(self.calls):
            work = self.work.get(node)
            stays = work and work.result and not work.row and (work.base or not work.factors)
            if not stays or node not in last:
                last -= {node, *self.reads[node]}
        return last

    def _packed(self) -> list[list[Node]]:
        first = [node for node in self.calls if node not in self.work or node.kind == "check"]
        awaited = set(self.graph.needed(first))

        def rank(node: Node) -> int:
            return 1 if node not in self.work else 0 if node in awaited else 3 if node in self.last else 2

        items: list[list[Node]] = []
        left = sorted(self.calls, key=rank)
        waiting = set(left)
        while left:
            item: list[Node] = []
            for node in left:
                if waiting.isdisjoint(self.reads[node]) and self._joins(node, item):
                    item.append(node)
                    waiting.remove(node)
            left = [node for node in left if node in waiting]
            items.append(item)
        return items

    def _joins(self, node: Node, item: list[Node]) -> bool:
        """Whether a call shares the loop of an item; of the last calls only sums join earlier ones."""
        if not item:
            return True
        one, first = self.work.get(node), self.work.get(item[0])
        if not one or not first or one.size != first.size or one.factors:
            return False
        if one.is_plain and node in self.last and item[0] not in self.last:
            return False
        inner = [(place, self.work[place.owner]) for place in one.reads() if place.owner in item]
        return all([it.is_plain and place == it.result and place is not one.row for place, it in inner])


class Group:
    """Calls that become one compiled function.

    Attributes
    ----------
    given, states : list of Node
        What comes from outside: arrays of each run; and states, which stay where they are.
    memory : dict
        For each node that is written over a state, that state.
    outputs : list of Node
        The nodes that are read outside.
    stored : set of Node
        Those whose values are kept in memory.
    """

    def __init__(self, schedule: Schedule, items: list[list[Node]]) -> None:
        self.items, self.work, graph = items, schedule.work, schedule.graph
        self.home = {node: item for item in items for node in item}
        self.memory = {
            node: state
            for node, state in schedule.states.items()
            if node in self.home and node in schedule.last and self._can_overwrite(node, state)
        }
        members = [each for node in self.home for each in schedule.parts[node]]
        late = [node for state, node in graph.updates.items() if self.memory.get(node) is not state]
        others = operands_of([node for node in schedule.calls if node not in self.home])
        read = set(sources([*graph.outputs, *late, *others]))
        self.outputs = [node for node in self.home if node in read]
        self.stored = {*self.outputs, *self.memory}
        for node, item in self.home.items():
            self.stored |= {each for each in schedule.reads[node] if self.home.get(each) is not item}
        inner = sources([*self.memory.values(), *operands_of(members)])
        outside = [each for each in inner if each not in members and each.kind != "const"]
        self.given = [each for each in outside if each.kind != "state"]
        self.states = [each for each in outside if each.kind == "state"]

    def _can_overwrite(self, node: Node, state: Node) -> bool:
        """Whether nothing reads an element of the state after it is written."""
        home, work = self.home[node], self.work[node]
        own = work.result._replace(owner=state) if work.result and work.is_plain else None
        for item in self.items[self.items.index(home) :]:
            read = [place for each in item for place in self.work[each].reads() if place.owner is state]
            if any([item is not home or place != own for place in read]):
                return False
        return True
