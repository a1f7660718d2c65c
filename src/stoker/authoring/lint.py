"""Checking templates with everything they refer to on disk, and nothing else: no server, no cloud, no network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stoker.authoring.rules import WARNING
from stoker.authoring.sources import Files, Sources, beside, is_remote
from stoker.authoring.suppression import suppress
from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import StokerError, TemplateInvalid
from stoker.plugins.registry import Registry
from stoker.plugins.resource import ChildRequest, ResourceType
from stoker.template.check import TypeLookup, check
from stoker.template.definition import Definition, ResourceDefinition
from stoker.template.environment import Environment
from stoker.template.limits import DEFAULT_LIMITS, Limits
from stoker.template.parameters import PseudoParameters
from stoker.template.properties import key_path
from stoker.template.registry import is_template_name
from stoker.template.template import Template
from stoker.template.warnings import warnings

MAX_NESTED_STACK_DEPTH = 5
"""Levels of stacks below the root that a server accepts by default (option max_nested_stack_depth)."""

_PSEUDO = PseudoParameters(
    "00000000-0000-0000-0000-000000000000", "lint", "0" * 32, arn="arn:openstack:heat::lint:stacks/lint/0"
)


class NotRead(ResourceType):
    """Stands for a template that is not on this machine: nothing about it can be wrong."""

    type_name = "(a template that is not read)"
    any_properties = True
    any_attribute = True


@dataclass(frozen=True, slots=True)
class _Place:
    """A template to be bound: what it is bound to, and where its relative names begin."""

    template: Template
    environment: Environment
    files: Files
    parameters: Mapping[str, Any]
    depth: int = 0


class Linter:
    """Checks templates against the resource types of a registry, with the same environments and parameters for all."""

    def __init__(
        self,
        registry: Registry,
        environments: Sequence[str] = (),
        parameters: Mapping[str, Any] | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self.sources = Sources(limits)
        self._registry = registry
        self._environments = environments
        self._parameters = parameters or {}
        self._type_names = sorted(registry.types())
        self._template_types: dict[str, ResourceType] = {}

    def run(self, paths: Iterable[str]) -> list[Diagnostic]:
        """All complaints about the templates in these files and about what they refer to, by source and place."""
        found = dict.fromkeys(diagnostic for path in paths for diagnostic in self._complaints(str(Path(path))))
        by_source: dict[str, list[Diagnostic]] = {}
        for diagnostic in found:
            by_source.setdefault(diagnostic.source, []).append(diagnostic)
        kept: list[Diagnostic] = []
        for source in [*by_source, *self.sources.names() - by_source.keys()]:
            text = self.sources.shown(source)
            complaints = by_source.get(source, [])
            kept += complaints if text is None else suppress(complaints, source, text)
        return sorted(kept, key=Diagnostic.sort_key)

    # -- one template -----------------------------------------------------------------------------------------

    def _complaints(self, path: str) -> list[Diagnostic]:
        try:
            template = self.sources.template(path)
            environment = self._environment(template)
            return self._check(
                _Place(template, environment, Files(str(Path(path).parent)), self._parameters), missing_ok=True
            )
        except TemplateInvalid as error:
            return list(error.diagnostics)

    def _environment(self, template: Template) -> Environment:
        """The environments as one. Raises TemplateInvalid with places in the environments' files."""
        read = []
        for path in self._environments:
            document = self.sources.document(str(Path(path)))
            try:
                Environment.from_data(document.data, source=document.source)
            except TemplateInvalid as error:
                raise TemplateInvalid(
                    [replace(item, position=document.locate(item.path)) for item in error.diagnostics]
                ) from error
            registry = document.data.get("resource_registry")
            if registry:
                read.append({**document.data, "resource_registry": _relocated(registry, str(Path(path).parent))})
            else:
                read.append(dict(document.data))
        return Environment.merged(read, template.parameters)

    def _check(self, place: _Place, *, missing_ok: bool = False) -> list[Diagnostic]:
        definition = Definition.bind(
            place.template,
            place.environment,
            parameters=place.parameters,
            files=place.files,
            pseudo=_PSEUDO,
            missing_ok=missing_ok,
        )

        def lookup(type_name: str, resource_name: str) -> ResourceType | None:
            return self._type(type_name, resource_name, place)

        def deep(resource: ResourceDefinition, kind: ResourceType, values: Mapping[str, Any]) -> Iterable[Diagnostic]:
            return self._nested(place, definition, resource, kind.sample_of(values))

        found = check(definition, lookup, deep=deep, type_names=self._type_names)
        found += self._unread(definition, lookup)
        if place.depth == 0:
            found += warnings(definition, lookup)
        return [_as_missing(item) if item.message in place.files.missing else item for item in found]

    def _type(self, type_name: str, resource_name: str, place: _Place) -> ResourceType | None:
        """The type that a name stands for. Raises TemplateInvalid for a template that is broken."""
        implementation = place.environment.registry.resolve(type_name, resource_name)
        if not is_template_name(implementation):
            return self._registry.get(implementation)
        if is_remote(implementation):
            return NotRead()
        # A registry's entry is relative to the working directory by now; a name in a template to the template.
        path = beside(place.files.folder, implementation) if implementation == type_name else implementation
        if not Path(path).is_file():
            return None
        if path not in self._template_types:
            self._template_types[path] = self._registry.template_type(self.sources.template(path), path)
        return self._template_types[path]

    def _nested(
        self, place: _Place, parent: Definition, resource: ResourceDefinition, request: ChildRequest | None
    ) -> list[Diagnostic]:
        """Complaints about the stack that a resource makes."""
        if request is None or request.template is None:
            return []
        depth = place.depth + 1
        if depth > MAX_NESTED_STACK_DEPTH:
            message = f"stacks are nested more than {MAX_NESTED_STACK_DEPTH} deep here"
            return [_at_resource(parent, resource, Diagnostic("nesting", message))]
        name = request.template_name
        environment = place.environment.for_child(resource.name, name)
        try:
            template = self.sources.template(name) if name else Template.load(request.template)
            files = Files(str(Path(name).parent)) if name else place.files
            found = self._check(_Place(template, environment, files, request.parameters, depth))
        except TemplateInvalid as error:
            found = list(error.diagnostics)
        except StokerError as error:
            found = [Diagnostic("limit", error.message)]
        named = {name, *self.sources.names()}
        return [item if item.source in named else _at_resource(parent, resource, item) for item in found]

    @staticmethod
    def _unread(definition: Definition, lookup: TypeLookup) -> Iterator[Diagnostic]:
        """Which templates were left out."""
        document = definition.template.document
        for resource in definition.resources.values():
            if _is_unread(resource, lookup):
                path = key_path(definition, resource, "type")
                message = f"the template {resource.type} is not fetched"
                yield Diagnostic(
                    "missing-file", message, path, document.source, document.locate(path), severity=WARNING
                )


def _is_unread(resource: ResourceDefinition, lookup: TypeLookup) -> bool:
    try:
        return isinstance(lookup(resource.type, resource.name), NotRead)
    except TemplateInvalid:
        return False  # told by the check


def _relocated(entries: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """A registry's entries with the templates they name as seen from the working directory."""
    base = entries.get("base_url")
    if isinstance(base, str) and base:
        folder = base if is_remote(base) else beside(folder, base)
    return {name: _target(target, folder) for name, target in entries.items() if name != "base_url"}


def _target(target: Any, folder: str) -> Any:
    if isinstance(target, Mapping):
        return {name: _target(inner, folder) for name, inner in target.items()}
    if not isinstance(target, str) or not is_template_name(target) or is_remote(target):
        return target
    return f"{folder.rstrip('/')}/{target}" if is_remote(folder) else beside(folder, target)


def _as_missing(diagnostic: Diagnostic) -> Diagnostic:
    return replace(diagnostic, rule="missing-file", severity=WARNING)


def _at_resource(parent: Definition, resource: ResourceDefinition, diagnostic: Diagnostic) -> Diagnostic:
    """A complaint about a stack that has no file of its own, placed at the resource that makes it."""
    document = parent.template.document
    place = (parent.template.written("resources"), resource.name)
    return replace(diagnostic, source=document.source, path=(*place, *diagnostic.path), position=document.locate(place))
