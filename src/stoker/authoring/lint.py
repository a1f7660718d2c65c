"""Check templates and the local files that they refer to, without a server, a cloud or the network."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from stoker.authoring.repeated_keys import repeated_keys
from stoker.authoring.rules import WARNING
from stoker.authoring.suppression import suppress
from stoker.authoring.workspace import NotRead, Place, Workspace
from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import RequestLimitExceeded, TemplateInvalid
from stoker.plugins.constraints import FormCheck
from stoker.plugins.registry import Registry
from stoker.plugins.resource import ChildRequest, ResourceType
from stoker.template.check import check
from stoker.template.definition import Definition
from stoker.template.definition_parts import ResourceDefinition
from stoker.template.expressions import UnknownScope
from stoker.template.problems import further
from stoker.template.properties import finalize, key_path
from stoker.template.warnings import warnings

MAX_NESTED_STACK_DEPTH = 5
"""Levels of stacks below the root that a server accepts by default (option max_nested_stack_depth)."""


def lint(workspace: Workspace, paths: Iterable[str]) -> list[Diagnostic]:
    """Return all diagnostics for the templates in these files and the files they refer to, by source and position."""
    found = dict.fromkeys(diagnostic for path in paths for diagnostic in _root(workspace, path))
    found |= dict.fromkeys([*workspace.sources.problems(), *workspace.environment_warnings()])
    by_source = {
        source: list(repeated_keys(source, workspace.sources.text(source))) for source in workspace.sources.names()
    }
    for diagnostic in workspace.placed(found):
        by_source.setdefault(diagnostic.source, []).append(diagnostic)
    kept: list[Diagnostic] = []
    for source, complaints in by_source.items():
        text = workspace.sources.shown(source)
        kept += complaints if text is None else suppress(complaints, source, text)
    return sorted(kept, key=Diagnostic.sort_key)


def _root(workspace: Workspace, path: str) -> list[Diagnostic]:
    try:
        place = workspace.root(path)
        found = _check(workspace, place)
        if place.problems:
            return found
        return [*found, *_warnings(place, found)]
    except TemplateInvalid as error:
        return list(error.diagnostics)
    except RequestLimitExceeded as error:
        return [Diagnostic("limit", error.message, source=path)]


def _warnings(place: Place, found: Collection[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the warnings about a template, without those that repeat what was `found` at the same place."""
    refused = {(item.source, item.path) for item in found}
    for item in warnings(place.definition, place.type_of):
        if item.rule == "failing-output":
            is_missing = any(item.message.endswith(message) for message in place.files.missing)
            item = replace(item, rule="missing-file") if is_missing else item
            repeats = (item.source, item.path) in refused
        else:
            repeats = item.rule == "misspelt-function" and (item.source, item.path[:-1]) in refused
        if not repeats:
            yield item


def _check(workspace: Workspace, place: Place) -> list[Diagnostic]:
    def deep(resource: ResourceDefinition, kind: ResourceType, values: Mapping[str, Any]) -> Iterable[Diagnostic]:
        return _nested(workspace, place, resource, kind.sample_of(values))

    type_names = sorted(workspace.registry.types())
    found = check(place.definition, place.type_of, deep=deep, type_names=type_names)
    found += (item for item in _forms(workspace.registry, place) if item not in found)
    missing = place.files.missing
    return [
        *place.problems,
        *(
            replace(item, rule="missing-file", severity=WARNING) if item.message in missing else item
            for item in further(found, place.problems)
        ),
        *_not_read(place),
    ]


def _forms(registry: Registry, place: Place) -> Iterator[Diagnostic]:
    """Yield diagnostics of the custom constraints that check only the format of a value, without a service."""

    def custom(name: str, value: Any) -> str | None:
        known = registry.constraint(name)
        if known is None:
            return f"there is no constraint {name!r}"
        return known.problem(value) if isinstance(known, FormCheck) else None

    definition = place.definition
    document = definition.template.document
    for asked in definition.parameters.custom_checks:
        complaint = custom(asked.constraint, asked.value)
        if complaint:
            position = document.locate(asked.path)
            yield Diagnostic("parameter-constraint", asked.message(complaint), asked.path, document.source, position)
    for resource in definition.resources.values():
        kind = place.kind_of(resource)
        if kind is not None and kind.traits.has_custom_constraints and resource.external_id is None:
            yield from finalize(definition, resource, kind, UnknownScope(), custom).diagnostics


def _nested(
    workspace: Workspace, place: Place, resource: ResourceDefinition, request: ChildRequest | None
) -> list[Diagnostic]:
    """Yield diagnostics for the nested stack of a resource."""
    parent = place.definition
    if request is None or request.template is None:
        return []
    if place.depth >= MAX_NESTED_STACK_DEPTH:
        message = f"stacks are nested more than {MAX_NESTED_STACK_DEPTH} deep here"
        return [_at_resource(parent, resource, Diagnostic("nesting", message))]
    try:
        found = _check(workspace, place.child(resource, request))
    except TemplateInvalid as error:
        found = list(error.diagnostics)
    except RequestLimitExceeded as error:
        found = [Diagnostic("limit", error.message)]
    files = workspace.sources.names()
    return [item if item.source in files else _at_resource(parent, resource, item) for item in found]


def _at_resource(parent: Definition, resource: ResourceDefinition, diagnostic: Diagnostic) -> Diagnostic:
    """Return a diagnostic for a stack without a file, with the position of the resource that creates it."""
    document = parent.template.document
    place = (parent.template.written("resources"), resource.name)
    return replace(diagnostic, source=document.source, path=(*place, *diagnostic.path), position=document.locate(place))


def _not_read(place: Place) -> Iterator[Diagnostic]:
    """Yield warnings for the nested templates that were not read."""
    definition = place.definition
    document = definition.template.document
    for resource in definition.resources.values():
        if isinstance(place.kind_of(resource), NotRead):
            path = key_path(definition, resource, "type")
            message = f"the template {resource.type} is not fetched"
            yield Diagnostic("missing-file", message, path, document.source, document.locate(path), severity=WARNING)
