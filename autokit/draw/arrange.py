"""A picture is arranged: a layout engine places the boxes, and arrows and frames are drawn around them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from autokit.draw.card import (
    SIZES,
    card,
    flow_lines,
    fold_card,
    in_order,
    left_out_card,
    line,
    longest,
    text_width,
)
from autokit.draw.flows import make_room
from autokit.draw.layout import Arrow, Cluster, Placement, Plan, place
from autokit.draw.part import Part
from autokit.draw.reading_order import in_reading_order
from autokit.draw.routes import Bounds, choose
from autokit.draw.shapes import Box, Field, Frame, Line, Point
from autokit.draw.stations import Station, across, at_the_side, row, station
from autokit.graphs.model import Edge, Graph, Node

_FLOW_WIDEST, _FLOW_AIR, _LINE = 150.0, 6.0, 16.0
_SHORT = 24.0  # from a box at the side to its operation
_SEEN = 24.0
_ASIDE = 10.0  # from an arrow that runs down to its flow at the right of it
_PAD, _ROOF = 10.0, 21.0  # around what a frame holds; and with its title
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
        in_a_row: Sequence[Edge] = (),
    ) -> None:
        self.part, self.down = drawn, direction == "TB"
        arriving: dict[int, list[Edge]] = {}
        for edge in graph.edges:
            arriving.setdefault(edge.target, []).append(edge)
        beside = at_the_side(drawn)
        self.aside = {edge.source for edges in beside.values() for edge in edges}

        def form(node: Node) -> str:
            if node.id in self.aside:
                return "side"
            return "wide" if self.down and not in_a_row else "narrow"

        self.cards = [
            card(
                *(node, texts.get(node.element, {}), arriving.get(node.id, ()), graph.nodes, show),
                form(node),
            )
            for node in drawn.nodes
        ]
        self.in_order = {node.id for node in drawn.nodes if in_order(node, arriving.get(node.id, ()))}
        self.index = drawn.boxes()
        self.cards += map(fold_card, drawn.folds)
        if drawn.left_out:
            self.cards.append(left_out_card(drawn.left_out))
        self.edges = [*drawn.edges, *drawn.bundles, *drawn.cut]
        self.level = {edge.id for edge in in_a_row}
        short = self.level | {edge.id for edges in beside.values() for edge in edges}
        self.main = [i for i, edge in enumerate(self.edges) if edge.id not in short]
        self.short = short
        self.flows = []
        for edge in self.edges:
            fields = texts.get(edge.element, {})
            self.flows.append(self._flow(edge, fields.get("flow", ())))
        self.groups = nest(graph, drawn, {self.index[id] for id in self.aside})
        self.sides = {
            self.index[id]: [self.index[edge.source] for edge in edges] for id, edges in beside.items()
        }
        chain = [self.index[id] for edge in in_a_row for id in (edge.source, edge.target)]
        grouped = {*chain, *(k for each in self.sides.values() for k in each)}
        self.sizes = [self._size(i) for i in range(len(self.cards))]
        self.stations = [self._station(i) for i in range(len(self.cards)) if i not in grouped]
        if chain:
            gaps = [self._gap(edge) for edge in in_a_row]
            self.stations.append(row(list(dict.fromkeys(chain)), self.sizes, gaps))
        self.unit = {box: u for u, each in enumerate(self.stations) for box in each.centres}

    def build(self, engine: str) -> tuple[list[Box], list[Line], list[Frame]]:
        """Everything in its place."""
        placed = in_reading_order(self._plan(), lambda plan: place(plan, engine))
        self._align(placed)
        sizes = [each.size for each in self.stations]
        flows = [self._room(self.flows[i]) for i in self.main]
        arrows = [self._units(self.edges[i]) for i in self.main]
        self.roomy = make_room(placed, sizes, arrows, flows, self._reaches(), bool(self.level))
        centres = self.roomy.placement.centres
        self.centres = [(0.0, 0.0)] * len(self.cards)
        for (x, y), each in zip(centres, self.stations, strict=True):
            for box, (dx, dy) in each.centres.items():
                self.centres[box] = x + dx, y + dy
        starts, ends = self._anchors()
        lines = self._lines(starts, ends)
        return self._boxes(), lines, self._frames(placed.nested)

    def _flow(self, edge: Edge, texts: Collection[str]) -> Field:
        """The room for what an arrow carries; a range has two lines where it runs level between them."""
        lines = 2 if self.down == (edge.id in self.short) else 1
        pieces = [piece for text in texts for piece in flow_lines(text, lines)]
        wide = max((min(text_width(piece, "flow"), longest(piece)) for piece in pieces), default=0.0)
        lines = 2 if len(pieces) > len(texts) else 1
        return Field(0, 0, min(wide, _FLOW_WIDEST), SIZES["flow"], "middle", lines)

    def _room(self, flow: Field) -> Point:
        """The room for what flows; where it lies on the arrow, the arrow is seen before and behind it."""
        if not flow.width:
            return 0.0, 0.0
        air = _FLOW_AIR if self.down or flow.lines > 1 else _FLOW_AIR + _SEEN
        return self._turn((flow.width + air, flow.lines * _LINE + _FLOW_AIR))

    def _station(self, box: int) -> Station:
        sides = self.sides.get(box, [])
        edges = [edge for edge in self.edges if self.index.get(edge.source) in sides]
        gap = max(map(self._gap, edges), default=0.0)
        return station(box, sides, self.sizes, gap, bool(self.level))

    def _gap(self, edge: Edge) -> float:
        """The length of a short arrow, with room for what flows there."""
        flow = self.flows[self.edges.index(edge)]
        seen = _SEEN if flow.lines == 1 else 0.0
        return max(_SHORT, flow.width + _FLOW_AIR + seen if self.down and flow.width else 0.0)

    def _turn(self, point: Point) -> Point:
        return (point[1], point[0]) if self.down else point

    def _size(self, i: int) -> Point:
        return self._turn((self.cards[i].width, self.cards[i].height))

    def _ends(self, edge: Edge) -> tuple[int, int]:
        return self.index.get(edge.source, len(self.cards) - 1), self.index[edge.target]

    def _units(self, edge: Edge) -> tuple[int, int]:
        source, target = self._ends(edge)
        return self.unit[source], self.unit[target]

    def _plan(self) -> Plan:
        """The stations: :mod:`autokit.draw.flows` opens the gaps."""
        clusters = tuple(Cluster(self._members(group), group.parent) for group in self.groups)
        ordered = frozenset(self.unit[self.index[id]] for id in self.in_order)
        return Plan(
            tuple(each.size for each in self.stations),
            *(self._arrows(), clusters, (52.0, 24.0), self._turn((_PAD, _ROOF))[1], ordered),
        )

    def _members(self, group: _Nested) -> tuple[int, ...]:
        """The stations in a frame; one is where its operation is."""
        main = {next(iter(each.centres)) for each in self.stations}
        return tuple(self.unit[i] for i in group.members if i in main)

    def _arrows(self) -> tuple[Arrow, ...]:
        arrows = []
        for i in self.main:
            boxes = self._ends(self.edges[i])
            source, target = self._units(self.edges[i])
            leaves, arrives = (self.stations[self.unit[box]].centres[box][1] for box in boxes)
            arrows.append(Arrow(source, target, leaves, arrives))
        return tuple(arrows)

    def _reaches(self) -> list[tuple[list[int], float]]:
        """For each frame the stations in it, and how far it reaches out, around the frames in it."""
        held = [list(self._members(group)) for group in self.groups]
        levels = [1] * len(self.groups)
        for g in range(len(self.groups) - 1, -1, -1):  # parents come first
            parent = self.groups[g].parent
            if parent >= 0:
                held[parent] += held[g]
                levels[parent] = max(levels[parent], levels[g] + 1)
        along = self._turn((_PAD, _ROOF))[0]
        return [(members, level * along) for members, level in zip(held, levels, strict=True) if members]

    def _align(self, placement: Placement) -> None:
        """Give the cards of one column one width: there is room, since the widest has it."""
        if self.down:
            return
        columns: dict[int, list[int]] = {}
        for u, (x, _) in enumerate(placement.centres):
            columns.setdefault(round(x), []).append(u)
        for members in columns.values():
            boxes = [i for u in members for i, (x, _) in self.stations[u].centres.items() if not x]
            widest = max((self.cards[i].width for i in boxes), default=0.0)
            for i in boxes:
                if self.cards[i].width < widest:
                    self.cards[i] = self.cards[i].widened(widest)

    def _bounds(self, i: int) -> Bounds:
        (x, y), (w, h) = self.centres[i], self._size(i)
        return x - w / 2, y - h / 2, x + w / 2, y + h / 2

    def _boxes(self) -> list[Box]:
        count = len(self.part.nodes)
        boxes = []
        for i, content in enumerate(self.cards):
            x, y = self._turn(self._bounds(i)[:2])
            node = self.part.nodes[i] if i < count else None
            held = self.part.folds[i - count].nodes if count <= i < count + len(self.part.folds) else ()
            boxes.append(Box(x, y, content, node, held))
        return boxes

    def _lines(self, starts: list[Point], ends: list[Point]) -> list[Line]:
        walls = [self._bounds(i) for i in range(len(self.cards))]
        lines: list[Line] = []
        main = iter(zip(self.roomy.stations, self.roomy.pieces, strict=True))
        own, bundles = len(self.part.edges), len(self.part.edges) + len(self.part.bundles)
        for i, edge in enumerate(self.edges):
            flow, (source, target) = self.flows[i], self._ends(edge)
            if edge.id in self.short:
                points, (x, y) = self._short(flow, source, target)
            else:
                middle, pieces = next(main)
                homes = walls[source], walls[target]
                middle, points = choose(starts[i], ends[i], middle, bool(flow.width), pieces, walls, homes)
                x, y = self._turn(middle)
            placed = replace(flow, x=x, y=y + 4.0)
            route = tuple(map(self._turn, points))
            lines.append(Line(route, edge, placed, i >= bundles, own <= i < bundles))
        return lines

    def _short(self, flow: Field, source: int, target: int) -> tuple[list[Point], Point]:
        """The arrow from the side of a station, and where its flow stands: beside it, where it runs down."""
        sizes = self._size(source), self._size(target)
        shift = 0.0 if self.down else -(flow.width + _ASIDE) / 2
        points = across(self.centres[source], self.centres[target], sizes, shift)
        (x0, y0), (x1, y1) = self._turn(points[0]), self._turn(points[-1])
        beside = 0.0 if self.down else flow.width / 2 + _ASIDE
        return points, ((x0 + x1) / 2 + beside, (y0 + y1) / 2)

    def _anchors(self) -> tuple[list[Point], list[Point]]:
        """Where each arrow of the main line begins and ends.

        Arrivals stand apart, in the order they come in.  One value leaves from
        one point, unless two of its arrows go to the same place.
        """
        arriving: dict[int, list[tuple[float, int, int]]] = {}
        leaving: dict[int, list[int]] = {}
        for (_, y), i in zip(self.roomy.stations, self.main, strict=True):
            source, target = self._ends(self.edges[i])
            leaving.setdefault(source, []).append(i)
            arriving.setdefault(target, []).append((round(y, 1), self.edges[i].slot, i))
        starts, ends = [(0.0, 0.0)] * len(self.edges), [(0.0, 0.0)] * len(self.edges)
        for target, comers in arriving.items():
            (x, y), (w, h) = self.centres[target], self._size(target)
            spacing = min(_ARRIVAL, (h - 24) / len(comers))
            for k, (_, _, i) in enumerate(sorted(comers)):
                ends[i] = (x - w / 2, y + (k - (len(comers) - 1) / 2) * spacing)
        for source, group in leaving.items():
            (x, y), (w, h) = self.centres[source], self._size(source)
            twins = len({self._ends(self.edges[i])[1] for i in group}) < len(group)
            spacing = min(_TWIN, (h - 24) / len(group)) if twins else 0.0
            for k, i in enumerate(sorted(group, key=lambda i: (ends[i][1], i))):
                starts[i] = (x + w / 2, y + (k - (len(group) - 1) / 2) * spacing)
        return starts, ends

    def _frames(self, nested: bool) -> list[Frame]:
        """Frames as tight as their content allows, inner ones first, so that outer ones can hold them."""
        bounds: dict[int, Bounds] = {}
        frames = []
        for g in range(len(self.groups) - 1, -1, -1):
            group = self.groups[g]
            held = [bound for k, bound in bounds.items() if self.groups[k].parent == g]
            held += [self._bounds(i) for i in group.members]
            if not held:
                continue
            left, top, right, bottom = zip(*held, strict=True)
            before, above = self._turn((_PAD, _ROOF))
            bound = (min(left) - before, min(top) - above, max(right) + _PAD, max(bottom) + _PAD)
            bounds[g] = bound
            if not nested and self._catches(g, bound):
                continue
            (x0, y0), (x1, y1) = self._turn(bound[:2]), self._turn(bound[2:])
            words = (
                f"{group.path} · {group.label}" if group.path and group.label else group.path or group.label
            )
            title = line(x0 + 10, y0 + 14, words, "group", x1 - x0 - 20)
            frames.append(Frame(group.path, x0, y0, x1 - x0, y1 - y0, title))
        return frames[::-1]

    def _catches(self, g: int, bound: Bounds) -> bool:
        """Whether a frame would lie over a box that is not its own."""
        family = {g}
        for k, group in enumerate(self.groups):  # parents come first
            if group.parent in family:
                family.add(k)
        own = {i for k in family for i in self.groups[k].members}
        for i in range(len(self.cards)):
            left, top, right, bottom = self._bounds(i)
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


def nest(graph: Graph, drawn: Part, aside: Collection[int]) -> list[_Nested]:
    """The groups as a tree, outer before inner; each box belongs to the innermost group that names it.

    A group of one operation, with what stands ``aside`` of it, needs no frame.
    """
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
    main = [path for i, path in home.items() if i not in aside]
    paths = [path for path in paths if sum(lies_in(other, path) for other in main) > 1]
    for i, path in home.items():
        while path and path not in paths:
            path = path.rpartition(".")[0]
        home[i] = path
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
