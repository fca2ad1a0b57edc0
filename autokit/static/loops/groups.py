"""Which calls of a graph run in one loop, and in which order.

Calls with as many rows run together, one row after the other, as long as each reads only its own row of what
is computed in that loop; so values that no other loop reads never leave the registers or the cache. In a row,
the calls are passes over the columns: what reads a sum over the row waits for the next pass.
"""

from __future__ import annotations

from autokit.static.graph import Graph, Node
from autokit.static.loops.elements import TYPES, Call, call_of
from autokit.static.loops.products import Product, added_to, product_of


class Check:
    """A check of a number that a loop computes."""

    def __init__(self, condition: Node) -> None:
        self.condition = condition

    def stops(self) -> bool:
        """Whether this can stop the run."""
        return True

    def owners(self) -> list[Node]:
        """The node whose memory is read."""
        return [self.condition]


Work = Call | Product | Check


def work_of(node: Node) -> Work | None:
    """What a loop or BLAS can do for a node; None if it stays a call of NumPy."""
    if node.kind != "check":
        return product_of(node) or call_of(node)
    condition = node.args[0]
    computed = isinstance(condition, Node) and condition.kind == "call" and condition.value.size == 1
    return Check(condition) if computed and condition.dtype in TYPES else None


class Loop:
    """Calls that run together, row by row.

    Attributes
    ----------
    rows : int
    passes : list of (int, list of Node)
        Over how many columns, and the calls.
    place : dict
        For each node the number of its pass.
    """

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.passes: list[tuple[int, list[Node]]] = []
        self.place: dict[Node, int] = {}

    def put(self, node: Node, columns: int, least: int) -> None:
        """Let ``node`` join the first pass over so many columns, from the number ``least`` on."""
        fitting = [k for k, (width, _) in enumerate(self.passes) if k >= least and width == columns]
        if not fitting:
            fitting = [len(self.passes)]
            self.passes.append((columns, []))
        self.passes[fitting[0]][1].append(node)
        self.place[node] = fitting[0]


class Group:
    """Calls that become one compiled function.

    Parameters
    ----------
    work : dict
        What is to be done for each node.
    graph : Graph
    outside : set of Node
        Those of these nodes that calls outside of the group read.
    states : dict
        The nodes whose values may be written over a state, and that state.

    Attributes
    ----------
    memory : dict
        For each node the one whose memory its value takes, if that is not its own.
    before : dict
        For each node those that have to run before it.
    items : list
        In the order in which they run: loops, and nodes that are no part of one.
    stored : set of Node
        The nodes whose values are kept in memory, all rows of them.
    """

    def __init__(
        self, work: dict[Node, Work], graph: Graph, outside: set[Node], states: dict[Node, Node]
    ) -> None:
        self.work, self.outside, self.states = dict(work), outside, states
        self._add_products_to_states(graph)
        self.before = {
            node: {each for each in one.owners() if each in self.work} for node, one in self.work.items()
        }
        self.memory: dict[Node, Node] = {}
        for node in self.work:
            self._share_memory(node)
        self.items = self._scheduled()
        self.stored = self._read_elsewhere()

    def _add_products_to_states(self, graph: Graph) -> None:
        users = graph.users()
        for node, state in self.states.items():
            found = added_to(state, node, lambda each: len(users[each]) == 1 and each not in self.outside)
            if found is not None and all([each in self.work for each in found[1]]):
                self.work[node] = found[0]
                for each in found[1]:
                    del self.work[each]

    # ------------------------------------------------------------ memory

    def _share_memory(self, node: Node) -> None:
        """Let the new value of a state take the memory of the old one."""
        owner = self.states.get(node)
        shared = owner is None or owner in self.outside or owner in self.memory.values()
        if shared or not self._can_overwrite(node, owner):  # type: ignore[arg-type]
            return
        first = {each for each, other in self.work.items() if owner in other.owners() or other.stops()} - {
            node
        }
        if not any([self._depends(each, node) for each in first]):
            self.memory[node] = owner  # type: ignore[assignment]
            self.before[node] |= first

    def _can_overwrite(self, node: Node, owner: Node) -> bool:
        """Whether the call reads no element of ``owner`` after it has written that element."""
        work = self.work[node]
        if isinstance(work, Product):
            return owner not in work.factors()
        if not isinstance(work, Call) or work.combine or work.stops():
            return False
        return all([access == work.result for access in work.accesses(owner)])

    def _depends(self, node: Node, on: Node) -> bool:
        """Whether ``node`` has to run after ``on``."""
        waiting, seen = [node], set()
        while waiting:
            each = waiting.pop()
            if each not in seen:
                seen.add(each)
                waiting += self.before[each]
        return on in seen

    def _read_elsewhere(self) -> set[Node]:
        """The nodes that are read outside of the loop in which they are computed, or only after it."""
        home = {
            node: item for item in self.items for node in (item.place if isinstance(item, Loop) else [item])
        }
        stored = {*self.outside, *self.memory, *self.memory.values()}
        for node, work in self.work.items():
            alone = not isinstance(work, Call) or (work.combine and not work.ends_with_row())
            stored |= {node} if alone else set()
            stored |= {each for each in work.owners() if home.get(each) is not home[node]}
        return stored

    # ------------------------------------------------------------ the order

    def _scheduled(self) -> list[Loop | Node]:
        """The calls in an order in which as many as can be share a loop."""
        items: list[Loop | Node] = []
        loop = None
        left, done = list(self.work), set[Node]()
        while left:
            ready = [node for node in left if self.before[node] <= done]
            joining = [node for node in ready if loop and self._joins(node, loop)]
            alone = [node for node in ready if self._rows(node) is None]
            node = [*joining, *alone, *ready][0]
            if not joining:
                rows = self._rows(node)
                loop = None if rows is None else Loop(rows)
                items.append(loop or node)
            if loop:
                steps = [
                    loop.place[each] + (self._distance(node, each) or 0) for each in self._within(node, loop)
                ]
                loop.put(node, self.work[node].frame.columns, max(steps, default=0))  # type: ignore[union-attr]
            done.add(node)
            left.remove(node)
        return items

    def _rows(self, node: Node) -> int | None:
        """Over how many rows the call runs; None if it is no part of a loop."""
        work = self.work[node]
        return work.frame.rows if isinstance(work, Call) else None

    def _within(self, node: Node, loop: Loop) -> list[Node]:
        return [each for each in self.before[node] if each in loop.place]

    def _joins(self, node: Node, loop: Loop) -> bool:
        if self._rows(node) != loop.rows:
            return False
        return all([self._distance(node, each) is not None for each in self._within(node, loop)])

    def _distance(self, node: Node, earlier: Node) -> int | None:
        """How many passes after an earlier call of a loop ``node`` can run; None if not in that loop."""
        call, other = self.work[node], self.work[earlier]
        assert isinstance(call, Call) and isinstance(other, Call)
        overwritten = self.memory.get(node)
        if other.combine and not other.ends_with_row() or (other.stops() and node in self.memory):
            return None
        selects = call.indices and call.operands[0].region and call.operands[0].region.owner is earlier
        if selects and any([size * stride > other.width for _, size, stride in call.indices]):
            return None  # an index may lead to another row
        if overwritten is not None:
            same = call.frame.plain == other.frame.plain
            if not same and overwritten in other.owners():
                return None
            if any([access != other.frame.plain for access in other.accesses(overwritten)]):
                return None
        accesses = call.accesses(earlier)
        frame = call.frame
        if not all([each.in_own_row(other.width, frame.rows, frame.columns) for each in accesses]):
            return None
        same = other.width == 1 or (
            other.width == frame.columns and all([each == frame.plain for each in accesses])
        )
        return 0 if same and not other.combine and not selects else 1
