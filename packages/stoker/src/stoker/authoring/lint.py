"""Check templates and the local files that they refer to, without a server, a cloud or the network."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace

from stoker.authoring.repeated_keys import repeated_keys
from stoker.authoring.rules import WARNING
from stoker.authoring.sources import MISSING_FILE
from stoker.authoring.suppression import suppress
from stoker.authoring.workspace import BoundTemplate, NotRead, Workspace
from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import RequestLimitExceeded, TemplateInvalid
from stoker.plugins import capabilities
from stoker.plugins.constraints import FormCheck
from stoker.plugins.registry import Registry
from stoker.plugins.resource import ChildRequest, ResourceType, traits_of
from stoker.template.check import check
from stoker.template.definition_parts import ResourceDefinition
from stoker.template.expressions import UnknownScope, entries_of
from stoker.template.nested import inside, seen_from_parent
from stoker.template.problems import further
from stoker.template.properties import finalize, key_path
from stoker.template.warnings import warnings

MAX_NESTED_STACK_DEPTH = 5
"""Levels of stacks below the root that a server accepts by default (option max_nested_stack_depth)."""


def lint(workspace: Workspace, paths: Iterable[str]) -> list[Diagnostic]:
    """Return all diagnostics for the templates in these files and the files they refer to, by source and position."""
    passed: Passed = defaultdict(set)
    roots = [_Root.of(workspace, path, passed) for path in paths]
    diagnostics = dict.fromkeys(diagnostic for root in roots for diagnostic in root.diagnostics(passed))
    diagnostics |= dict.fromkeys([*workspace.sources.problems(), *workspace.environment_warnings()])
    by_source = {
        source: list(repeated_keys(source, workspace.sources.text(source))) for source in workspace.sources.names()
    }
    for diagnostic in workspace.placed(diagnostics):
        by_source.setdefault(diagnostic.source, []).append(diagnostic)
    reported: list[Diagnostic] = []
    for source, problems in by_source.items():
        text = workspace.sources.shown(source)
        reported += problems if text is None else suppress(problems, source, text)
    return sorted(reported, key=Diagnostic.sort_key)


_UNUSED = ("unused-parameter", "unused-condition")

Passed = MutableMapping[str, set[str]]
"""The parameters that resources pass to nested templates, by the template's path; those of types that are not known
under an empty path.
"""


@dataclass(frozen=True, slots=True)
class _Root:
    """A template that was given by its `path`, with what was found in it; without a `place` if it cannot be read."""

    path: str
    place: BoundTemplate | None
    found: Sequence[Diagnostic]

    @classmethod
    def of(cls, workspace: Workspace, path: str, passed: Passed) -> _Root:
        """Check a template; add to `passed` what it passes to nested ones."""
        try:
            place = workspace.root(path)
            return cls(path, place, _check(workspace, place, passed))
        except TemplateInvalid as error:
            return cls(path, None, error.diagnostics)
        except RequestLimitExceeded as error:
            return cls(path, None, [Diagnostic("limit", error.message, source=path)])

    def diagnostics(self, passed: Passed) -> Iterator[Diagnostic]:
        """Yield what was found, and warnings; `passed` is what all templates pass."""
        yield from self.found
        if self.place is not None:
            received = passed.get(os.path.normpath(self.path), set()) | passed.get("", set())
            yield from _warnings(self.place, self.found, received)


def _warnings(place: BoundTemplate, errors: Collection[Diagnostic], received: Collection[str]) -> Iterator[Diagnostic]:
    """Yield the warnings about a template, without those that repeat one of the `errors` at the same place.

    The template must keep the parameters that it has `received` from others.
    """
    refused = {(item.source, item.path) for item in errors}
    for item in warnings(place.definition, place.type_of):
        # Parts of a template that cannot be read may use anything.
        if item.rule in _UNUSED and (place.problems or item.path[-1] in received):
            continue
        if item.rule in ("failing-output", MISSING_FILE):
            repeats = (item.source, item.path) in refused
        else:
            repeats = item.rule == "misspelt-function" and (item.source, item.path[:-1]) in refused
        if not repeats:
            yield item


def _check(workspace: Workspace, place: BoundTemplate, passed: Passed) -> list[Diagnostic]:
    def deep(resource: ResourceDefinition, kind: ResourceType, values: Mapping[str, object]) -> Iterable[Diagnostic]:
        return _nested(workspace, place, resource, capabilities.readable_of(kind, values), passed)

    for resource in place.definition.resources.values():
        if place.kind_of(resource) is None:
            passed[""].update(map(str, entries_of(resource.properties) or ()))

    type_names = sorted(workspace.registry.types)
    diagnostics = check(place.definition, place.type_of, deep=deep, type_names=type_names)
    diagnostics += (item for item in _forms(workspace.registry, place) if item not in diagnostics)
    return [
        *place.problems,
        *(
            replace(item, severity=WARNING) if item.rule == MISSING_FILE else item
            for item in further(diagnostics, place.problems)
        ),
        *_not_read(place),
    ]


def _forms(registry: Registry, place: BoundTemplate) -> Iterator[Diagnostic]:
    """Yield diagnostics of the custom constraints that check only the format of a value, without a service."""

    def custom(name: str, value: object) -> str | None:
        known = registry.constraints.get(name)
        if known is None:
            return f"there is no constraint {name!r}"
        return known.problem(value) if isinstance(known, FormCheck) else None

    definition = place.definition
    document = definition.template.document
    for custom_check in definition.parameters.custom_checks:
        problem = custom(custom_check.constraint, custom_check.value)
        if problem:
            position = document.locate(custom_check.path)
            yield Diagnostic(
                "parameter-constraint", custom_check.message(problem), custom_check.path, document.source, position
            )
    for resource in definition.resources.values():
        kind = place.kind_of(resource)
        if kind is not None and traits_of(kind).constrained and resource.external_id is None:
            yield from finalize(definition, resource, kind, UnknownScope(), custom).diagnostics


def _nested(
    workspace: Workspace,
    place: BoundTemplate,
    resource: ResourceDefinition,
    request: ChildRequest | None,
    passed: Passed,
) -> list[Diagnostic]:
    """Return diagnostics for the nested stack of a resource."""
    parent = place.definition
    if request is None or request.template is None:
        return []
    if request.template_name:
        names = entries_of(resource.properties) or request.parameters
        passed[os.path.normpath(request.template_name)].update(map(str, names))
    if place.depth >= MAX_NESTED_STACK_DEPTH:
        message = f"stacks are nested more than {MAX_NESTED_STACK_DEPTH} deep here"
        return [inside((), parent, resource, Diagnostic("nesting", message))]
    try:
        diagnostics = _check(workspace, place.child(resource, request), passed)
    except TemplateInvalid as error:
        diagnostics = list(error.diagnostics)
    except RequestLimitExceeded as error:
        diagnostics = [Diagnostic("limit", error.message)]
    own, inner = seen_from_parent(parent, resource, diagnostics)
    files = workspace.sources.own_names()
    return [*own, *(inside(files, parent, resource, item) for item in inner)]


def _not_read(place: BoundTemplate) -> Iterator[Diagnostic]:
    """Yield warnings for the nested templates that were not read."""
    definition = place.definition
    document = definition.template.document
    for resource in definition.resources.values():
        if isinstance(place.kind_of(resource), NotRead):
            path = key_path(definition, resource, "type")
            message = f"the template {resource.type} is not fetched"
            yield Diagnostic(MISSING_FILE, message, path, document.source, document.locate(path), severity=WARNING)
