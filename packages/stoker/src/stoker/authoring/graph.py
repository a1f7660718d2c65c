"""The resources of a template and their dependencies as a graph, in Graphviz and Mermaid format."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from stoker.authoring.lint import MAX_NESTED_STACK_DEPTH
from stoker.authoring.workspace import BoundTemplate
from stoker.base.errors import RequestLimitExceeded, TemplateInvalid
from stoker.plugins import capabilities
from stoker.plugins.resource import ResourceType
from stoker.template.check import requirements
from stoker.template.definition_parts import ResourceDefinition
from stoker.template.expressions import UnknownScope
from stoker.template.ordering import circular
from stoker.template.properties import finalize


@dataclass(frozen=True, slots=True)
class Node:
    """A resource. `identifier` is its path through nested stacks; `inside` is its nested stack, if requested.

    `status` is IN_PROGRESS, COMPLETE or FAILED for a resource of a stack, empty for one of a template.
    """

    identifier: str
    name: str
    type: str
    conditional: bool
    inside: Graph | None = None
    status: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """`after` depends on `before`; `why` is `reference`, `depends_on` or `type` (added by the resource type).

    `circular` if `before` also depends on `after`, directly or not, so that neither can be created.
    """

    before: str
    after: str
    why: str
    circular: bool = False


@dataclass(frozen=True, slots=True)
class Graph:
    """The resources of one stack, and their dependencies."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def draw(place: BoundTemplate, *, nested: bool = False, prefix: str = "") -> Graph:
    """Return the graph of a bound template; with `nested`, including its nested stacks, as far as they can be read."""
    definition = place.definition
    kinds = {name: place.kind_of(resource) for name, resource in definition.resources.items()}
    types = {name: kind for name, kind in kinds.items() if kind is not None}
    requires = requirements(definition, types)
    nodes = tuple(
        Node(
            f"{prefix}{name}",
            name,
            resource.type,
            resource.condition is not True,
            _inside(place, resource, types.get(name), f"{prefix}{name}/") if nested else None,
        )
        for name, resource in definition.resources.items()
    )
    groups = {name: group for group in circular(requires) for name in group}
    edges = tuple(
        Edge(
            f"{prefix}{before}",
            f"{prefix}{after}",
            _dependency_reason(definition.resources[after], before),
            circular=before in groups.get(after, ()),
        )
        for after in definition.resources
        for before in sorted(requires[after])
    )
    return Graph(nodes, edges)


def _dependency_reason(resource: ResourceDefinition, before: str) -> str:
    if any(reference.resource == before for reference in resource.references):
        return "reference"
    return "depends_on" if before in resource.depends_on else "type"


def _inside(place: BoundTemplate, resource: ResourceDefinition, kind: ResourceType | None, prefix: str) -> Graph | None:
    if kind is None or place.depth >= MAX_NESTED_STACK_DEPTH:
        return None
    request = capabilities.readable_of(kind, finalize(place.definition, resource, kind, UnknownScope()).values)
    if request is None or request.template is None:
        return None
    try:
        return draw(place.child(resource, request).require_valid(), nested=True, prefix=prefix)
    except (TemplateInvalid, RequestLimitExceeded):
        return None


# -- Graphviz ----------------------------------------------------------------------------------------------------

_DOT_STYLES = {"reference": [], "depends_on": ["style=dashed"], "type": ["style=dotted"]}
_DOT_CIRCULAR = ["color=red", 'label="circular"', "fontcolor=red"]


def to_dot(graph: Graph) -> str:
    """Return the graph in Graphviz's language; a nested stack is a cluster inside the resource that creates it."""
    head = ["digraph template {", "  rankdir=TB;", '  node [shape=box, style=rounded, fontname="sans-serif"];']
    edges = [f"  {_quoted(edge.before)} -> {_quoted(edge.after)}{_dot_style(edge)};" for edge in _all_edges(graph)]
    return "\n".join([*head, *_dot_nodes(graph, "  "), *edges, "}"]) + "\n"


def _dot_style(edge: Edge) -> str:
    attributes = [*_DOT_STYLES[edge.why], *(_DOT_CIRCULAR if edge.circular else ())]
    return f" [{', '.join(attributes)}]" if attributes else ""


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _dot_nodes(graph: Graph, margin: str) -> Iterator[str]:
    for node in graph.nodes:
        style = ', style="rounded,dashed"' if node.conditional else ""
        label = f"{_quoted(node.name)[:-1]}\\n{_quoted(node.type)[1:]}"
        line = f"{_quoted(node.identifier)} [label={label}{style}];"
        if node.inside is None:
            yield f"{margin}{line}"
            continue
        yield f"{margin}subgraph {_quoted(f'cluster_{node.identifier}')} {{"
        yield f"{margin}  label={_quoted(node.name)};"
        yield f"{margin}  {line}"
        yield from _dot_nodes(node.inside, f"{margin}  ")
        yield f"{margin}}}"


def _all_edges(graph: Graph) -> Iterator[Edge]:
    yield from graph.edges
    for node in graph.nodes:
        if node.inside is not None:
            yield from _all_edges(node.inside)


# -- Mermaid -----------------------------------------------------------------------------------------------------

_MERMAID_ARROWS = {"reference": "-->", "depends_on": "-.->", "type": "-.->"}


def to_mermaid(graph: Graph) -> str:
    """Return the graph as a Mermaid flow chart; a nested stack is a subgraph."""
    numbers = {node.identifier: f"n{number}" for number, node in enumerate(_all_nodes(graph))}
    drawn = list(_all_edges(graph))
    edges = [
        f"  {numbers[edge.before]} {_MERMAID_ARROWS[edge.why]}{'|circular|' if edge.circular else ''} "
        f"{numbers[edge.after]}"
        for edge in drawn
    ]
    circular_links = [str(number) for number, edge in enumerate(drawn) if edge.circular]
    marked = [f"  linkStyle {','.join(circular_links)} stroke:red,color:red"] if circular_links else []
    dashed = [
        f"  style {numbers[node.identifier]} stroke-dasharray: 4" for node in _all_nodes(graph) if node.conditional
    ]
    return "\n".join(["flowchart TB", *_mermaid_nodes(graph, numbers, "  "), *edges, *marked, *dashed]) + "\n"


def _all_nodes(graph: Graph) -> Iterator[Node]:
    for node in graph.nodes:
        yield node
        if node.inside is not None:
            yield from _all_nodes(node.inside)


def _mermaid_nodes(graph: Graph, numbers: dict[str, str], margin: str) -> Iterator[str]:
    for node in graph.nodes:
        label = f'["{_mermaid_text(node.name)}<br/>{_mermaid_text(node.type)}"]'
        if node.inside is None:
            yield f"{margin}{numbers[node.identifier]}{label}"
            continue
        yield f"{margin}subgraph {numbers[node.identifier]}{label}"
        yield from _mermaid_nodes(node.inside, numbers, f"{margin}  ")
        yield f"{margin}end"


def _mermaid_text(text: str) -> str:
    """Return a quoted string, with Mermaid's special characters as entities."""
    return "".join(char if char.isalnum() or char in " _-.:/" else f"#{ord(char)};" for char in text)
