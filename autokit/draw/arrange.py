"""A picture is arranged: a layout engine places the boxes, and arrows and frames are drawn around them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from autokit.draw.card import SIZES, card, fold_card, in_order, left_out_card, line, text_width
from autokit.draw.flows import make_room
from autokit.draw.layout import Arrow, Cluster, Placement, Plan, place
from autokit.draw.part import Part
from autokit.draw.reading_order import in_reading_order
from autokit.draw.routes import Bounds, choose
from autokit.draw.shapes import Box, Field, Frame, Line, Point, TextLine
from autokit.graphs.model import Edge, Graph

_FLOW_WIDEST, _FLOW_HEIGHT, _FLOW_AIR = 150.0, 22.0, 14.0
_WORDS = 6  # more of them would stand on each other's feet
_FRAME_PAD = 22.0
_ARRIVAL, _TWIN = 16.0, 14.0  # between arrows that end, or begin, at one box


class Arrangement:
    """One picture in the making; x runs along the arrows until ``build`` turns it for top to bottom."""

    def __init__(
        self,
        graph: Graph,
        drawn: Part,
        texts: Mapping[str, Mapping[str, set[str]]],
        direction: str,
        show: Collection[str],
    ) -> None:
        self.graph, self.part, self.down = graph, drawn, direction == "TB"
        arriving: dict[int, list[Edge]] = {}
        for edge in graph.edges:
            arriving.setdefault(edge.target, []).append(edge)
        self.cards = [
            card(node, texts.get(node.element, {}), arriving.get(node.id, ()), graph.nodes, show, self.down)
            for node in drawn.nodes
        ]
        self.ordered = frozenset(
            i for i, node in enumerate(drawn.nodes) if in_order(node, arriving.get(node.id, ()))
        )
        self.index = drawn.boxes()
        self.cards += map(fold_card, drawn.folds)
        if drawn.left_out:
            self.cards.append(left_out_card(drawn.left_out))
        self.edges = [*drawn.edges, *drawn.bundles, *drawn.cut]
        self.flows = [
            min(
                max((text_width(t, "flow") for t in texts.get(e.element, {}).get("flow", ())), default=0.0),
                _FLOW_WIDEST,
            )
            for e in drawn.edges
        ] + [0.0] * (len(drawn.bundles) + len(drawn.cut))
        self.groups = nest(graph, drawn)

    def build(self, engine: str) -> tuple[list[Box], list[Line], list[Frame]]:
        """Everything in its place."""
        placed = in_reading_order(self._plan(), lambda plan: place(plan, engine))
        self._align(placed)
        sizes = [self._size(i) for i in range(len(self.cards))]
        arrows = [self._ends(edge) for edge in self.edges]
        flows = [self._turn((flow + _FLOW_AIR, _FLOW_HEIGHT)) if flow else (0.0, 0.0) for flow in self.flows]
        self.roomy = make_room(placed, sizes, arrows, flows, self._reaches())
        placement = self.roomy.placement
        starts, ends = self._anchors(placement)
        lines = self._lines(placement, starts, ends)
        return self._boxes(placement, ends), lines, self._frames(placement)

    def _turn(self, point: Point) -> Point:
        return (point[1], point[0]) if self.down else point

    def _size(self, i: int) -> Point:
        return self._turn((self.cards[i].width, self.cards[i].height))

    def _ends(self, edge: Edge) -> tuple[int, int]:
        return self.index.get(edge.source, len(self.cards) - 1), self.index[edge.target]

    def _plan(self) -> Plan:
        """The boxes, as the still and the player have them both: :mod:`autokit.draw.flows` opens the gaps."""
        sizes = tuple(self._size(i) for i in range(len(self.cards)))
        arrows = self._arrows()
        clusters = tuple(Cluster(group.members, group.parent) for group in self.groups)
        gap = (66.0 if self.groups else 52.0, 24.0)
        return Plan(sizes, arrows, clusters, gap, _FRAME_PAD, self.ordered)

    def _arrows(self) -> tuple[Arrow, ...]:
        """Downward, what comes into a frame stands above the parameters in it, and not beside them.

        Else a frame must stand beside the one before, and a model of many layers runs off to the side.
        """
        ends = [self._ends(edge) for edge in self.edges]
        home = {i: g for g, group in enumerate(self.groups) for i in group.members}
        given = {source for source, _ in ends} - {target for _, target in ends}
        furnished = {
            target
            for source, target in ends
            if source in given and target in home and home.get(source) == home[target]
        }
        return tuple(
            Arrow(
                source,
                target,
                2 if self.down and target in furnished and home.get(source) != home[target] else 1,
            )
            for source, target in ends
        )

    def _reaches(self) -> list[tuple[list[int], float]]:
        """For each frame the boxes in it, and how far it reaches out from them, around the frames in it."""
        held = [list(group.members) for group in self.groups]
        levels = [1] * len(self.groups)
        for g in range(len(self.groups) - 1, -1, -1):  # parents come first
            parent = self.groups[g].parent
            if parent >= 0:
                held[parent] += held[g]
                levels[parent] = max(levels[parent], levels[g] + 1)
        return [(members, level * _FRAME_PAD) for members, level in zip(held, levels, strict=True) if members]

    def _align(self, placement: Placement) -> None:
        """Give the cards of one column one width: there is room, since the widest has it."""
        if self.down:
            return
        columns: dict[int, list[int]] = {}
        for i in range(len(self.cards)):
            x, _ = placement.centres[i]
            columns.setdefault(round(x), []).append(i)
        for members in columns.values():
            widest = max(self.cards[i].width for i in members)
            for i in members:
                if self.cards[i].width < widest:
                    self.cards[i] = self.cards[i].widened(widest)

    def _corner(self, placement: Placement, i: int) -> Point:
        (x, y), (w, h) = placement.centres[i], self._size(i)
        return x - w / 2, y - h / 2

    def _bounds(self, placement: Placement, i: int) -> Bounds:
        (x, y), (w, h) = placement.centres[i], self._size(i)
        return x - w / 2, y - h / 2, x + w / 2, y + h / 2

    def _boxes(self, placement: Placement, ends: list[Point]) -> list[Box]:
        arriving: dict[int, list[tuple[Edge, Point]]] = {}
        for edge, end in zip(self.edges, ends, strict=True):
            arriving.setdefault(self._ends(edge)[1], []).append((edge, end))
        count = len(self.part.nodes)
        boxes = []
        for i, content in enumerate(self.cards):
            x, y = self._turn(self._corner(placement, i))
            node = self.part.nodes[i] if i < count else None
            held = self.part.folds[i - count].nodes if count <= i < count + len(self.part.folds) else ()
            ports = [
                self._port(content.operands[edge.slot], end, x, y)
                for edge, end in arriving.get(i, ())
                if edge.slot in content.operands and len(content.operands) <= _WORDS
            ]
            boxes.append(Box(x, y, content, node, held, tuple(ports)))
        return boxes

    def _port(self, word: str, end: Point, left: float, top: float) -> TextLine:
        """An operand's word, inside of the box where its arrow arrives."""
        x, y = self._turn(end)
        if self.down:
            return TextLine(x - left, 10.0, word, "operand", "middle")
        return TextLine(4.0, y - top + 3.3, word, "operand")

    def _lines(self, placement: Placement, starts: list[Point], ends: list[Point]) -> list[Line]:
        walls = [self._bounds(placement, i) for i in range(len(self.cards))]
        lines = []
        for i, edge in enumerate(self.edges):
            middle, pieces = self.roomy.stations[i], self.roomy.pieces[i]
            source, target = self._ends(edge)
            homes = walls[source], walls[target]
            middle, points = choose(starts[i], ends[i], middle, bool(self.flows[i]), pieces, walls, homes)
            x, y = self._turn(middle)
            flow = Field(x, y + 4.0, self.flows[i], SIZES["flow"], "middle")
            own = len(self.part.edges)
            cut, bundle = i >= own + len(self.part.bundles), own <= i
            lines.append(Line(tuple(map(self._turn, points)), edge, flow, cut, bundle and not cut))
        return lines

    def _anchors(self, placement: Placement) -> tuple[list[Point], list[Point]]:
        """Where each arrow begins and ends.

        Arrivals stand apart, in the order they come in.  One value leaves from
        one point, unless two of its arrows go to the same place.
        """
        arriving: dict[int, list[tuple[float, int, int]]] = {}
        leaving: dict[int, list[int]] = {}
        for i, edge in enumerate(self.edges):
            source, target = self._ends(edge)
            leaving.setdefault(source, []).append(i)
            y = self.roomy.stations[i][1]
            arriving.setdefault(target, []).append((round(y, 1), edge.slot, i))
        starts, ends = [(0.0, 0.0)] * len(self.edges), [(0.0, 0.0)] * len(self.edges)
        for target, comers in arriving.items():
            (x, y), (w, h) = placement.centres[target], self._size(target)
            names = self.cards[target].operands.values() if self.down else ()
            wanted = max([_ARRIVAL, *(text_width(name, "operand") + 8 for name in names)])
            spacing = min(wanted, (h - 24) / len(comers))
            for k, (_, _, i) in enumerate(sorted(comers)):
                ends[i] = (x - w / 2, y + (k - (len(comers) - 1) / 2) * spacing)
        for source, group in leaving.items():
            (x, y), (w, h) = placement.centres[source], self._size(source)
            twins = len({self._ends(self.edges[i])[1] for i in group}) < len(group)
            spacing = min(_TWIN, (h - 24) / len(group)) if twins else 0.0
            for k, i in enumerate(sorted(group, key=lambda i: (ends[i][1], i))):
                starts[i] = (x + w / 2, y + (k - (len(group) - 1) / 2) * spacing)
        return starts, ends

    def _frames(self, placement: Placement) -> list[Frame]:
        """Frames as tight as their content allows, inner ones first, so that outer ones can hold them."""
        bounds: dict[int, Bounds] = {}
        frames = []
        for g in range(len(self.groups) - 1, -1, -1):
            group = self.groups[g]
            held = [bound for k, bound in bounds.items() if self.groups[k].parent == g]
            held += [self._bounds(placement, i) for i in group.members]
            if not held:
                continue
            left, top, right, bottom = zip(*held, strict=True)
            bound = (
                min(left) - _FRAME_PAD,
                min(top) - _FRAME_PAD,
                max(right) + _FRAME_PAD,
                max(bottom) + _FRAME_PAD,
            )
            bounds[g] = bound
            if not placement.nested and self._catches(placement, g, bound):
                continue
            (x0, y0), (x1, y1) = self._turn(bound[:2]), self._turn(bound[2:])
            words = (
                f"{group.path} · {group.label}" if group.path and group.label else group.path or group.label
            )
            title = line(x0 + 12, y0 + 16, words, "group", x1 - x0 - 24)
            frames.append(Frame(group.path, x0, y0, x1 - x0, y1 - y0, title))
        return frames[::-1]

    def _catches(self, placement: Placement, g: int, bound: Bounds) -> bool:
        """Whether a frame would lie over a box that is not its own."""
        family = {g}
        for k, group in enumerate(self.groups):  # parents come first
            if group.parent in family:
                family.add(k)
        own = {i for k in family for i in self.groups[k].members}
        for i in range(len(self.cards)):
            left, top, right, bottom = self._bounds(placement, i)
            apart = right < bound[0] or left > bound[2] or bottom < bound[1] or top > bound[3]
            if i not in own and not apart:
                return True
        return False


@dataclass(frozen=True)
class _Nested:
    """A module group in the tree of groups: ``parent`` is an index, or -1; ``members`` are box indices."""

    path: str
    label: str
    parent: int
    members: tuple[int, ...]


def nest(graph: Graph, drawn: Part) -> list[_Nested]:
    """The groups as a tree, outer before inner; each box belongs to the innermost group that names it."""
    labels: dict[str, str] = {}
    for group in graph.groups:
        if drawn.depth is None or group.path.count(".") < drawn.depth or group.path in drawn.opened:
            labels.setdefault(group.path, group.label)
    paths = sorted(labels, key=lambda path: (path.count(".") + 1 if path else 0, path))
    index = {node.id: i for i, node in enumerate(drawn.nodes)}
    home: dict[int, str] = {}
    opened = [group for group in graph.groups if group.path in labels]
    for group in sorted(opened, key=lambda group: paths.index(group.path)):
        home.update({index[node]: group.path for node in group.nodes if node in index})
    for i, folded in enumerate(drawn.folds, len(drawn.nodes)):
        home[i] = next((path for path in reversed(paths) if lies_in(folded.path, path)), "")
    paths = [path for path in paths if any(lies_in(other, path) for other in home.values())]
    nested = []
    for path in paths:
        above = path
        while above:
            above = above.rpartition(".")[0]
            if above in paths:
                break
        parent = paths.index(above) if above in paths and above != path else -1
        members = tuple(sorted(i for i, home_path in home.items() if home_path == path))
        nested.append(_Nested(path, labels[path], parent, members))
    return nested


def lies_in(path: str, outer: str) -> bool:
    """Whether the module at ``path`` is the one at ``outer``, or inside of it."""
    return path == outer or not outer or path.startswith(f"{outer}.")
