"""Draw a graph as an SVG image, without any other program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from stoker.authoring.graph import Graph, Node
from stoker.authoring.layers import Arrangement, Point, Size, arrange

_CHARACTER = 7.4
_LINE = 16.0
_PADDING = 12.0
_HEADER = 2 * _LINE + _PADDING
_MARGIN = 16.0
_QUOTE = {'"': "&quot;"}
_STYLE = """
  text { font: 12px ui-monospace, monospace; fill: #1f2933 }
  .type { fill: #647380 }
  rect { fill: #ffffff; stroke: #52616b; rx: 6px }
  .stack { fill: #eef3f7 }
  .conditional { stroke-dasharray: 5 3 }
  path { fill: none; stroke: #52616b; marker-end: url(#tip) }
  .depends_on { stroke-dasharray: 5 3 }
  .type-order { stroke-dasharray: 1 3 }
  .circular { stroke: #c81e1e }
  #tip path { fill: #52616b; stroke: none; marker-end: none }
"""
_TIP = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    '<path d="M0 0 8 4 0 8z"/></marker></defs>'
)
MARKS = {"IN_PROGRESS": "…", "COMPLETE": "✓", "FAILED": "✗"}
"""Signs of the statuses of resources."""

_EDGE_CLASSES = {"reference": "", "depends_on": "depends_on", "type": "type-order"}


@dataclass(frozen=True, slots=True)
class _Box:
    """A node with its size, and the layout of its content."""

    node: Node
    size: Size
    inside: _Picture | None


@dataclass(frozen=True, slots=True)
class _Picture:
    graph: Graph
    boxes: dict[str, _Box]
    arrangement: Arrangement


def to_svg(graph: Graph) -> str:
    """Return the graph as an SVG document; a nested stack is drawn inside the box of the resource that creates it."""
    (width, height), content = drawing(graph)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}"'
            f' viewBox="0 0 {width:.0f} {height:.0f}">',
            f"<style>{_STYLE}</style>",
            content,
            "</svg>",
            "",
        ]
    )


def drawing(graph: Graph) -> tuple[Size, str]:
    """Return the size and the content of an SVG element, without a style sheet.

    Each resource is a group whose ID is `n-` and the node's identifier.
    """
    picture = _picture(graph)
    width, height = (length + 2 * _MARGIN for length in picture.arrangement.size)
    return (width, height), "\n".join([_TIP, *_drawn(picture, (_MARGIN, _MARGIN))])


def _picture(graph: Graph) -> _Picture:
    boxes = {node.identifier: _box(node) for node in graph.nodes}
    sizes = {name: box.size for name, box in boxes.items()}
    return _Picture(graph, boxes, arrange(sizes, [(edge.before, edge.after) for edge in graph.edges]))


def _box(node: Node) -> _Box:
    head = len(node.name) + (3 if node.status else 0)
    width = max(head, len(node.type)) * _CHARACTER + 2 * _PADDING
    if node.inside is None:
        return _Box(node, (width, _HEADER), None)
    inside = _picture(node.inside)
    inner_width, inner_height = inside.arrangement.size
    size = (max(width, inner_width + 2 * _PADDING), _HEADER + inner_height + 2 * _PADDING)
    return _Box(node, size, inside)


def _drawn(picture: _Picture, origin: Point) -> Iterator[str]:
    for name, (left, top) in picture.arrangement.corners.items():
        yield from _drawn_box(picture.boxes[name], (origin[0] + left, origin[1] + top))
    for edge in picture.graph.edges:
        points = [(origin[0] + x, origin[1] + y) for x, y in picture.arrangement.paths[edge.before, edge.after]]
        kind = f"{_EDGE_CLASSES[edge.why]}{' circular' if edge.circular else ''}".strip()
        title = "<title>circular dependency</title>" if edge.circular else ""
        yield f'<path class="{kind}" d="{_curve(points)}">{title}</path>'


def _drawn_box(box: _Box, corner: Point) -> Iterator[str]:
    (left, top), (width, height) = corner, box.size
    kind = "stack" if box.inside else ""
    if box.node.conditional:
        kind += " conditional"
    status = f' class="node" data-status="{escape(box.node.status, _QUOTE)}"' if box.node.status else ""
    yield f'<g id="n-{escape(box.node.identifier, _QUOTE)}"{status}>'
    yield f'<rect class="{kind.strip()}" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"/>'
    text_left = left + _PADDING
    yield f'<text x="{text_left:.1f}" y="{top + _LINE + 2:.1f}">{escape(box.node.name)}</text>'
    yield f'<text class="type" x="{text_left:.1f}" y="{top + 2 * _LINE + 2:.1f}">{escape(box.node.type)}</text>'
    if box.node.status:
        right = left + width - _PADDING
        mark = MARKS.get(box.node.status, "")
        yield f'<text class="mark" text-anchor="end" x="{right:.1f}" y="{top + _LINE + 2:.1f}">{mark}</text>'
    yield "</g>"
    if box.inside is not None:
        inner_left = left + (width - box.inside.arrangement.size[0]) / 2
        yield from _drawn(box.inside, (inner_left, top + _HEADER + _PADDING))


def _curve(points: Sequence[Point]) -> str:
    """Return a smooth curve through the points, vertical at both ends."""
    (x, y), *rest = points
    parts = [f"M{x:.1f} {y:.1f}"]
    for next_x, next_y in rest:
        middle = (y + next_y) / 2
        straight = x == next_x
        bend = f"C{x:.1f} {middle:.1f} {next_x:.1f} {middle:.1f} {next_x:.1f} {next_y:.1f}"
        parts.append(f"V{next_y:.1f}" if straight else bend)
        x, y = next_x, next_y
    return " ".join(parts)
