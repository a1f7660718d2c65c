"""Check and draw project files without a server."""

from __future__ import annotations

from collections.abc import Iterator

from stoker.authoring.graph import Edge, Graph, Node, draw
from stoker.authoring.project_files.project import Project, ProjectStack, looks_like_project, read_project, stages_of
from stoker.authoring.sources import is_remote
from stoker.authoring.workspace import Workspace
from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import RequestLimitExceeded, TemplateInvalid
from stoker.base.named_files import read_named
from stoker.plugins.registry import Registry

_WHY = {"outputs": "reference", "depends_on": "depends_on"}
_IMPORT = "type"
"""How an edge is drawn for an export that is imported, like one that is not written as a dependency."""


def is_project(path: str) -> bool:
    """Return whether a path is that of a project file; a pipe, which can be read only once, is none."""
    try:
        return looks_like_project(read_named(path).decode("utf-8-sig"))
    except (OSError, ValueError):
        return False


def problems_of(path: str) -> list[Diagnostic]:
    """Return the mistakes of a project file in all its stages, and of its templates."""
    problems: dict[Diagnostic, None] = {}
    try:
        for stage in stages_of(path):
            problems |= dict.fromkeys(_mistakes(path, stage))
    except TemplateInvalid as error:
        problems |= dict.fromkeys(error.diagnostics)
    return sorted(problems, key=Diagnostic.sort_key)


def _mistakes(path: str, stage: str | None) -> Iterator[Diagnostic]:
    try:
        read_project(path, stage)
    except TemplateInvalid as error:
        yield from error.diagnostics


def draw_project(project: Project, *, nested: bool = False) -> Graph:
    """Return the stacks of a project and their dependencies; with `nested`, with the resources of each."""
    nodes = tuple(
        Node(key, key, stack.template, False, _inside(stack) if nested else None)
        for key, stack in project.stacks.items()
    )
    edges = tuple(
        Edge(before, after, _WHY.get(why, _IMPORT))
        for after, needed in project.requires.items()
        for before, why in sorted(needed.items())
    )
    return Graph(nodes, edges)


def _inside(stack: ProjectStack) -> Graph | None:
    if is_remote(stack.template):
        return None
    environments = [path for path in stack.environments if not is_remote(path)]
    workspace = Workspace(Registry.on_demand(), environments, stack.parameters, stack_name=stack.name)
    try:
        return draw(workspace.root(stack.template), nested=True, prefix=f"{stack.key}/")
    except (TemplateInvalid, RequestLimitExceeded):
        return None
