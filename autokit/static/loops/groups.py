"""Which calls of a graph share a loop, in which order all run, and where their values are kept.

Calls of the same rows and columns share a loop as long as each reads, of what that loop computes, only the
element at its own row and column; so values that nothing else reads never leave the registers.
"""

from __future__ import annotations

from collections import Counter

from autokit.static.graph import Node
from autokit.static.loops.elements import Call
from autokit.static.loops.products import Product, added_to

Work = Call | Product


class Group:
    """Calls that become one compiled function.

    Parameters
    ----------
    work : dict
        What is to be done for each node, in an order in which they can run.
    outside : set of Node
        Those of these nodes that calls outside of the group read.
    states : dict
        The nodes whose values may be written over a state, and that state.

    Attributes
    ----------
    items : list of list of Node
        In the order in which they run: the calls of a loop, or a node that is no part of one.
    memory : dict
        For each node that is written over a state, that state.
    stored : set of Node
        The nodes whose values are kept in memory.
    """

    def __init__(self, work: dict[Node, Work], outside: set[Node], states: dict[Node, Node]) -> None:
        self.work = dict(work)
        readers = Counter([owner for one in work.values() for owner in one.owners()])
        once = {node for node in work if readers[node] == 1} - outside
        for node, state in states.items():
            found = added_to(state, node, once.__contains__)
            if found is not None and once.issuperset(found[1]):
                self.work[node] = found[0]
                for each in found[1]:
                    del self.work[each]
        self.items = self._packed(self._last())
        home = {node: item for item in self.items for node in item}
        self.memory = {
            node: state for node, state in states.items() if self._can_overwrite(node, state, home[node])
        }
        self.stored = {node for node in self.work if node in outside or not self._is_plain(node)}
        for node, one in self.work.items():
            self.stored |= {each for each in one.owners() if home.get(each) is not home[node]}

    def _last(self) -> set[Node]:
        """The calls for which nothing waits that stops a run or reads a state: they come last."""
        last = set(self.work)
        for node, one in reversed(self.work.items()):
            is_last = one.base if isinstance(one, Product) else not one.stops
            if not is_last or node not in last:
                last -= {node, *one.owners()}
        return last

    def _is_plain(self, node: Node) -> bool:
        """Whether each element of the result is computed from the operands' elements at its place."""
        one = self.work[node]
        return isinstance(one, Call) and not one.combine

    def _packed(self, last: set[Node]) -> list[list[Node]]:
        """The calls where as many as can be share a loop; of ``last`` only sums join earlier ones."""
        items: list[list[Node]] = []
        left = sorted(self.work, key=last.__contains__)
        waiting = set(left)
        while left:
            item: list[Node] = []
            for node in left:
                is_early = item and item[0] not in last and node in last and self._is_plain(node)
                is_ready = waiting.isdisjoint(self.work[node].owners())
                if is_ready and not is_early and self._joins(node, item):
                    item.append(node)
                    waiting.remove(node)
            left = [node for node in left if node in waiting]
            items.append(item)
        return items

    def _joins(self, node: Node, item: list[Node]) -> bool:
        if not item:
            return True
        one, first = self.work[node], self.work[item[0]]
        if not isinstance(one, Call) or not isinstance(first, Call) or one.size != first.size:
            return False
        if one.row and one.row.owner in item:
            return False
        read = [place for place in one.reads() if place.owner in item]
        return all([self._is_plain(place.owner) and place == self.work[place.owner].result for place in read])  # type: ignore[union-attr]

    def _can_overwrite(self, node: Node, state: Node, home: list[Node]) -> bool:
        """Whether nothing reads the state's element after it is written, or stops the run."""
        if not self._is_plain(node) and not isinstance(self.work[node], Product):
            return False
        for each in [each for item in self.items[self.items.index(home) :] for each in item]:
            other = self.work[each]
            if isinstance(other, Product):
                is_read = state in (other.factors() if each is node else other.owners())
            else:
                own = other.result._replace(owner=state) if each in home and other.result else None
                is_read = other.stops or any([read.owner is state and read != own for read in other.reads()])
            if is_read:
                return False
        return True
