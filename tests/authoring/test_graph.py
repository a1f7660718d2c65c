"""`stoker graph`: what is drawn, in each format."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from stoker.authoring.layers import arrange
from tests.authoring.support import WorkingDirectory

TEMPLATE = """
    heat_template_version: 2018-08-31
    parameters:
      wanted: {type: boolean}
    conditions:
      wanted: {get_param: wanted}
    resources:
      base: {type: OS::Heat::RandomString}
      copy: {type: OS::Heat::Value, properties: {value: {get_attr: [base, value]}}}
      last: {type: OS::Heat::Value, depends_on: copy, condition: wanted}
      "odd \\"name\\" <&>": {type: OS::Heat::Value}
"""
NESTED = """
    heat_template_version: 2018-08-31
    resources:
      words:
        type: OS::Heat::ResourceGroup
        properties: {count: 3, resource_def: {type: part.yaml}}
      after: {type: part.yaml, depends_on: words}
"""
PART = """
    heat_template_version: 2018-08-31
    resources:
      one: {type: OS::Heat::RandomString}
      two: {type: OS::Heat::Value, properties: {value: {get_resource: one}}}
"""
SVG = "{http://www.w3.org/2000/svg}"
ROUNDING = 0.11


class Box(NamedTuple):
    x: float
    y: float
    width: float
    height: float

    def apart(self, other: Box) -> bool:
        return (
            self.x + self.width <= other.x
            or other.x + other.width <= self.x
            or self.y + self.height <= other.y
            or other.y + other.height <= self.y
        )

    def contains(self, other: Box) -> bool:
        return (
            self.x <= other.x + ROUNDING
            and self.y <= other.y + ROUNDING
            and other.x + other.width <= self.x + self.width + ROUNDING
            and other.y + other.height <= self.y + self.height + ROUNDING
        )


def test_graphviz(workdir: WorkingDirectory) -> None:
    lines = workdir.stoker("graph", workdir.write("a.yaml", TEMPLATE)).stdout.splitlines()
    assert lines[0] == "digraph template {"
    assert lines[-1] == "}"
    assert '  "base" -> "copy";' in lines
    assert '  "copy" -> "last" [style=dashed];' in lines
    assert '  "last" [label="last\\nOS::Heat::Value", style="rounded,dashed"];' in lines
    assert '  "odd \\"name\\" <&>" [label="odd \\"name\\" <&>\\nOS::Heat::Value"];' in lines


def test_mermaid(workdir: WorkingDirectory) -> None:
    lines = workdir.stoker("graph", workdir.write("a.yaml", TEMPLATE), "--format", "mermaid").stdout.splitlines()
    assert lines[:2] == ["flowchart TB", '  n0["base<br/>OS::Heat::RandomString"]']
    assert "  n0 --> n1" in lines
    assert "  n1 -.-> n2" in lines
    assert "  style n2 stroke-dasharray: 4" in lines
    assert '  n3["odd #34;name#34; #60;#38;#62;<br/>OS::Heat::Value"]' in lines


def test_svg(workdir: WorkingDirectory) -> None:
    picture = ElementTree.fromstring(workdir.stoker("graph", workdir.write("a.yaml", TEMPLATE), "-f", "svg").stdout)
    texts = [text.text for text in picture.iter(f"{SVG}text")]
    assert 'odd "name" <&>' in texts
    assert len(list(picture.iter(f"{SVG}rect"))) == 4
    assert [path.get("class") for path in picture.findall(f"{SVG}path")] == ["", "depends_on"]
    assert [rect.get("class") for rect in picture.iter(f"{SVG}rect")].count("conditional") == 1


def test_graph_depends_on_parameter_values(workdir: WorkingDirectory) -> None:
    workdir.write("a.yaml", TEMPLATE)
    assert '"last"' in workdir.stoker("graph", "a.yaml").stdout
    assert '"last"' not in workdir.stoker("graph", "a.yaml", "-P", "wanted=false").stdout


def test_nested_stacks_are_clusters(workdir: WorkingDirectory) -> None:
    workdir.write("part.yaml", PART)
    workdir.write("top.yaml", NESTED)
    flat = workdir.stoker("graph", "top.yaml").stdout
    assert "subgraph" not in flat
    dot = workdir.stoker("graph", "top.yaml", "--nested").stdout
    clusters = re.findall(r'subgraph "cluster_([^"]*)"', dot)
    assert clusters == ["words", "words/0", "after"]
    assert '"words/0/one" -> "words/0/two";' in dot
    assert '"words" -> "after" [style=dashed];' in dot
    assert dot.count("{") == dot.count("}")
    mermaid = workdir.stoker("graph", "top.yaml", "--nested", "-f", "mermaid").stdout
    assert mermaid.count("subgraph") == mermaid.count("end\n") == 3


def test_nested_boxes_lie_inside_their_parents(workdir: WorkingDirectory) -> None:
    workdir.write("part.yaml", PART)
    picture = ElementTree.fromstring(
        workdir.stoker("graph", workdir.write("top.yaml", NESTED), "--nested", "-f", "svg").stdout
    )
    boxes = [
        Box(*(float(rect.get(key, "")) for key in ("x", "y", "width", "height"))) for rect in picture.iter(f"{SVG}rect")
    ]
    assert len(boxes) == 7
    assert all(first.apart(second) or first.contains(second) for first, second in combinations(boxes, 2))


def test_recursive_template_terminates(workdir: WorkingDirectory) -> None:
    workdir.write("loop.yaml", "heat_template_version: 2018-08-31\nresources: {again: {type: loop.yaml}}\n")
    assert workdir.stoker("graph", "loop.yaml", "--nested").stdout.count("subgraph") == 5


CYCLE = """
    heat_template_version: 2018-08-31
    resources:
      first: {type: OS::Heat::Value, properties: {value: {get_attr: [third, value]}}}
      second: {type: OS::Heat::Value, depends_on: first}
      third: {type: OS::Heat::Value, depends_on: [second, root]}
      root: {type: OS::Heat::Value}
      itself: {type: OS::Heat::Value, depends_on: [itself, second]}
"""


def test_circular_dependencies_are_drawn_and_marked(workdir: WorkingDirectory) -> None:
    dot = workdir.stoker("graph", workdir.write("a.yaml", CYCLE)).stdout.splitlines()
    marks = 'color=red, label="circular", fontcolor=red'
    assert f'  "third" -> "first" [{marks}];' in dot
    assert f'  "first" -> "second" [style=dashed, {marks}];' in dot
    assert f'  "itself" -> "itself" [style=dashed, {marks}];' in dot
    assert '  "root" -> "third" [style=dashed];' in dot
    assert '  "second" -> "itself" [style=dashed];' in dot
    mermaid = workdir.stoker("graph", "a.yaml", "-f", "mermaid").stdout
    assert "  n2 -->|circular| n0\n" in mermaid
    assert mermaid.count("|circular|") == 4
    links = [line for line in mermaid.splitlines() if re.search(r"n\d -", line)]
    expected = ",".join(str(number) for number, line in enumerate(links) if "circular" in line)
    assert f"  linkStyle {expected} stroke:red,color:red\n" in mermaid
    picture = ElementTree.fromstring(workdir.stoker("graph", "a.yaml", "-f", "svg").stdout)
    kinds = [path.get("class", "") for path in picture.findall(f"{SVG}path")]
    assert sorted(kinds) == sorted(["circular", *["depends_on circular"] * 3, *["depends_on"] * 2])


def test_undrawable_templates_are_reported(workdir: WorkingDirectory) -> None:
    result = workdir.stoker("graph", workdir.write("a.yaml", "resources: {}\n"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "--> a.yaml:" in result.stderr


@given(st.data())
def test_random_graphs_are_laid_out(data: st.DataObject) -> None:
    names = [f"b{number}" for number in range(data.draw(st.integers(1, 8)))]
    name = st.sampled_from(names)
    edges = data.draw(st.lists(st.tuples(name, name), unique=True))
    found = arrange(dict.fromkeys(names, (100.0, 40.0)), edges)
    assert set(found.paths) == set(edges)
    boxes = [Box(*found.corners[name], 100.0, 40.0) for name in names]
    assert all(first.apart(second) for first, second in combinations(boxes, 2))


@given(st.data())
def test_boxes_never_overlap_and_edges_lead_down(data: st.DataObject) -> None:
    names = [f"b{number}" for number in range(data.draw(st.integers(0, 12)))]
    pairs = [(first, second) for first, second in combinations(names, 2)]
    edges = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    side = st.floats(1, 300)
    sizes = {name: (data.draw(side), data.draw(side)) for name in names}
    found = arrange(sizes, edges)
    assert set(found.corners) == set(names)
    boxes = {name: Box(*found.corners[name], *sizes[name]) for name in names}
    assert all(first.apart(second) for first, second in combinations(boxes.values(), 2))
    for before, after in edges:
        heights = [y for _, y in found.paths[before, after]]
        assert heights == sorted(heights)
        assert heights[0] == found.corners[before][1] + sizes[before][1]
        assert heights[-1] == found.corners[after][1]
    whole = Box(0.0, 0.0, *found.size)
    assert all(whole.contains(box) for box in boxes.values())


@given(st.data())
def test_edges_cross_no_box(data: st.DataObject) -> None:
    names = [f"b{number}" for number in range(data.draw(st.integers(2, 10)))]
    name = st.sampled_from(names)
    edges = data.draw(st.lists(st.tuples(name, name), unique=True, max_size=20))
    side = st.floats(10, 400)
    sizes = {name: (data.draw(side), data.draw(side)) for name in names}
    found = arrange(sizes, edges)
    for (before, after), path in found.paths.items():
        if before == after:
            continue  # a loop at the side of its own box
        for x, y in drawn_points(path):
            crossed = [name for name, corner in found.corners.items() if is_inside((x, y), corner, sizes[name])]
            assert not crossed, f"the line from {before} to {after} crosses {crossed}"


def drawn_points(path: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Yield points of the line that is drawn along a path: a cubic curve from each point to the next."""
    for (x, y), (next_x, next_y) in pairwise(path):
        middle = (y + next_y) / 2
        for part in range(21):
            along, rest = part / 20, 1 - part / 20
            weights = (rest**3, 3 * rest**2 * along, 3 * rest * along**2, along**3)
            yield (
                sum(weight * value for weight, value in zip(weights, (x, x, next_x, next_x), strict=True)),
                sum(weight * value for weight, value in zip(weights, (y, middle, middle, next_y), strict=True)),
            )


def is_inside(point: tuple[float, float], corner: tuple[float, float], size: tuple[float, float]) -> bool:
    return all(low + 0.01 < value < low + length - 0.01 for value, low, length in zip(point, corner, size, strict=True))


def test_unconnected_boxes_are_arranged_in_rows() -> None:
    members = {f"member-{number}": (200.0, 60.0) for number in range(12)}
    sizes = members | {"policy": (150.0, 60.0), "alarm": (150.0, 60.0)}
    arranged = arrange(sizes, [("policy", "alarm")])

    tops = sorted({arranged.corners[name][1] for name in members})
    assert len(tops) == 4, "three in each row"
    assert tops[0] > arranged.corners["alarm"][1] > arranged.corners["policy"][1]
    assert len(set(arranged.corners.values())) == len(sizes)
    width, height = arranged.size
    assert all(
        left + sizes[name][0] <= width and top + sizes[name][1] <= height
        for name, (left, top) in arranged.corners.items()
    )
    assert arrange({}, []).size == (0, 0)


REMOTE = """
    heat_template_version: 2018-08-31
    resources:
      base: {type: OS::Heat::RandomString}
      west:
        type: OS::Heat::Stack
        properties:
          context: {region_name: west}
          template: {get_file: part.yaml}
          parameters: {length: {get_attr: [base, value]}}
"""


def test_remote_stack_is_drawn_with_its_resources(workdir: WorkingDirectory) -> None:
    """Its resources are drawn, and its mistakes are those of the resource that creates it."""
    workdir.write("remote.yaml", REMOTE)
    workdir.write("part.yaml", PART.replace("resources:", "parameters: {length: {type: string}}\n    resources:"))
    drawn = workdir.stoker("graph", "--nested", "remote.yaml").stdout
    assert '"base" -> "west";' in drawn and '"west/one" -> "west/two";' in drawn
    assert "no problems" in workdir.stoker("lint", "remote.yaml").stdout
    workdir.write("part.yaml", PART)
    found = workdir.stoker("lint", "remote.yaml").stdout
    assert "remote.yaml:" in found and "has no parameter 'length'" in found, found
    workdir.write("part.yaml", PART.replace("RandomString", "RandomStrin"))
    assert "did you mean 'OS::Heat::RandomString'?" in workdir.stoker("lint", "remote.yaml").stdout
    workdir.write("part.yaml", "resources: [")
    found = workdir.stoker("lint", "remote.yaml").stdout
    assert "remote.yaml:" in found and "template: " in found
