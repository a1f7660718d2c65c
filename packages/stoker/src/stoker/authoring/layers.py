"""Arrange the boxes of a graph in layers from top to bottom, each box below those that it depends on.

Boxes without edges, such as the members of a group, stand in rows below the layers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

_SWEEPS = 8
_GAP = 24.0
_LAYER_GAP = 48.0
_BREADTH = 3.0
"""The width of the rows of boxes without edges, as a multiple of their height, at the most."""

Size = tuple[float, float]
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Arrangement:
    """`corners` are the top left corners of the boxes, `paths` the points of each edge."""

    size: Size
    corners: Mapping[str, Point]
    paths: Mapping[tuple[str, str], Sequence[Point]]


def arrange(sizes: Mapping[str, Size], edges: Sequence[tuple[str, str]]) -> Arrangement:
    """Arrange boxes; in each cycle, one edge leads upwards. An edge from a box to itself is a loop at its side.

    An edge over several layers has a narrow virtual box in each layer in between, which is ordered like the others.
    Each edge is vertical within a layer, and bends only in the gaps between layers, so that edges do not cross boxes.
    """
    upwards = _upward(sizes, edges)
    loops = [edge for edge in edges if edge[0] == edge[1]]
    downward = list(dict.fromkeys((edge[::-1] if edge in upwards else edge) for edge in edges if edge not in loops))
    depth = _depths(sizes, downward)
    joined = {name for edge in edges for name in edge}
    boxes = {name: size for name, size in sizes.items() if name in joined}
    chains: dict[tuple[str, str], list[str]] = {}
    for number, (before, after) in enumerate(downward):
        between = [f"\0{number}.{level}" for level in range(depth[before] + 1, depth[after])]
        for level, name in enumerate(between, depth[before] + 1):
            boxes[name], depth[name] = (1.0, 0.0), level
        chains[before, after] = [before, *between, after]
    layers: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for name in boxes:
        layers[depth[name]].append(name)
    steps = [pair for chain in chains.values() for pair in pairwise(chain)]
    _reduce_crossings(layers, steps)
    alone = _rows({name: size for name, size in sizes.items() if name not in joined}, _width(layers, boxes))
    corners, bands, size = _placed([layer for layer in layers if layer], alone, {**boxes, **sizes})
    paths = {edge: _path(chain, corners, bands, boxes) for edge, chain in chains.items()}
    paths = {edge: paths[edge[::-1]][::-1] if edge in upwards else paths[edge] for edge in edges if edge not in loops}
    paths |= {(name, name): _loop(corners[name], boxes[name]) for name, _ in loops}
    return Arrangement(size, {name: corners[name] for name in sizes}, paths)


def _upward(names: Iterable[str], edges: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the edges that close a cycle in a depth-first search; without them, the graph has no cycles."""
    after: dict[str, list[str]] = defaultdict(list)
    for first, second in edges:
        if first != second:
            after[first].append(second)
    done: set[str] = set()
    closing = set()
    for start in names:
        trail = {} if start in done else {start: iter(after[start])}
        while trail:
            name, pending = next(reversed(trail.items()))
            following = next(pending, None)
            if following is None:
                done.add(name)
                del trail[name]
            elif following in trail:
                closing.add((name, following))
            elif following not in done:
                trail[following] = iter(after[following])
    return closing


def _depths(names: Iterable[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Return for each box the length of the longest path to it."""
    before: dict[str, list[str]] = defaultdict(list)
    for first, second in edges:
        before[second].append(first)
    depth: dict[str, int] = {}
    for start in names:
        pending = [start]
        while pending:
            name = pending[-1]
            waiting = [other for other in before[name] if other not in depth]
            if waiting:
                pending += waiting
                continue
            depth[name] = max((depth[other] + 1 for other in before[name]), default=0)
            pending.pop()
    return depth


def _reduce_crossings(layers: list[list[str]], steps: Iterable[tuple[str, str]]) -> None:
    """Order each layer by the mean position of its neighbors above, then below, several times."""
    above: dict[str, list[str]] = defaultdict(list)
    below: dict[str, list[str]] = defaultdict(list)
    for first, second in steps:
        above[second].append(first)
        below[first].append(second)
    for sweep in range(_SWEEPS):
        neighbours, order = (above, layers) if sweep % 2 == 0 else (below, layers[::-1])
        for fixed, layer in pairwise(order):
            places = {name: index / max(1, len(fixed) - 1) for index, name in enumerate(fixed)}
            means = {
                name: _mean([places[other] for other in neighbours[name]], index / max(1, len(layer) - 1))
                for index, name in enumerate(layer)
            }
            layer.sort(key=means.__getitem__)


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _rows(sizes: Mapping[str, Size], least_width: float) -> list[list[str]]:
    """Distribute boxes over rows, which are as wide as `least_width` or as it takes for a handy shape."""
    area = sum((width + _GAP) * (height + _GAP) for width, height in sizes.values())
    room = max(least_width, sqrt(area * _BREADTH))
    rows: list[list[str]] = []
    right = room
    for name, (width, _) in sizes.items():
        right += _GAP + width
        if right > room:
            rows.append([])
            right = width
        rows[-1].append(name)
    return rows


def _width(rows: Iterable[Sequence[str]], boxes: Mapping[str, Size]) -> float:
    return max((sum(boxes[name][0] for name in row) + _GAP * (len(row) - 1) for row in rows), default=0.0)


def _placed(
    layers: Sequence[Sequence[str]], rows: Sequence[Sequence[str]], boxes: Mapping[str, Size]
) -> tuple[dict[str, Point], dict[str, tuple[float, float]], Size]:
    """Return the corners of all boxes, the upper and lower edge of the layer of each, and the total size.

    Layers and rows are centered.
    """
    width = _width([*layers, *rows], boxes)
    corners: dict[str, Point] = {}
    bands: dict[str, tuple[float, float]] = {}
    top = bottom = 0.0
    for row, gap in [*((layer, _LAYER_GAP) for layer in layers), *((row, _GAP) for row in rows)]:
        height = max(boxes[name][1] for name in row)
        left = (width - _width([row], boxes)) / 2
        bottom = top + height
        for name in row:
            corners[name] = (left, top + (height - boxes[name][1]) / 2)
            bands[name] = (top, bottom)
            left += boxes[name][0] + _GAP
        top = bottom + gap
    return corners, bands, (width, bottom)


def _path(
    chain: Sequence[str],
    corners: Mapping[str, Point],
    bands: Mapping[str, tuple[float, float]],
    boxes: Mapping[str, Size],
) -> list[Point]:
    """Return the path from the lower edge of the first box to the upper edge of the last.

    It enters and leaves each layer at the layer's edges, so that it is vertical beside the boxes of the layer, however
    high they are.
    """
    points: list[Point] = []
    for index, name in enumerate(chain):
        (left, top), (width, height), (upper, lower) = corners[name], boxes[name], bands[name]
        middle = left + width / 2
        if index > 0:
            points.append((middle, upper))
        if index == 0:
            points.append((middle, top + height))
        if index < len(chain) - 1:
            points.append((middle, lower))
        else:
            points.append((middle, top))
    return [point for point, before in zip(points, [None, *points], strict=False) if point != before]


def _loop(corner: Point, size: Size) -> list[Point]:
    """Return the path from the lower edge of a box around its right side to its upper edge."""
    (left, top), (width, height) = corner, size
    right = left + width
    return [
        (right - _GAP, top + height),
        (right + _GAP / 4, top + height + _GAP / 4),
        (right + _GAP / 4, top - _GAP / 4),
        (right - _GAP, top),
    ]
