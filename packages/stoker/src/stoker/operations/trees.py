"""Check a definition with its nested stacks, before anything is done; templates at URLs are fetched for that."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from stoker.base.context import RequestContext
from stoker.base.diagnostics import Diagnostic, Path
from stoker.base.errors import BadValue, Overloaded, RequestLimitExceeded, StokerError, TemplateInvalid
from stoker.engine.records.services import EngineServices, require_permitted
from stoker.engine.redaction.stacks import Redaction
from stoker.engine.redaction.templates import redact_file
from stoker.plugins import capabilities
from stoker.plugins.constraints import FormCheck
from stoker.plugins.resource import ChildRequest, FetchedTemplate, ResourceType, traits_of
from stoker.schema.property import custom_constraints
from stoker.schema.unknown import has_unknown
from stoker.template.check import check
from stoker.template.definition import Definition
from stoker.template.definition_parts import ResourceDefinition
from stoker.template.derived import derived_values
from stoker.template.environment import Environment
from stoker.template.expressions import UnknownScope
from stoker.template.nested import inside, seen_from_parent
from stoker.template.parameters import PseudoParameters
from stoker.template.problems import further
from stoker.template.properties import key_path, resolve_map
from stoker.template.template import Template
from stoker_foundation.clock import sleep

Place = Callable[[Diagnostic], Diagnostic]
"""Maps a diagnostic about a nested stack to the position in the root template."""

Render = Callable[[str], str]
"""Maps the message of a custom constraint to the message for the user."""

_NESTED = "StackValidationFailed"
"""The type of every error about a nested stack, as in Heat."""

_UNKNOWN = UnknownScope()


class TreeChecker:
    """Checks a definition and its nested stacks against the resource types, and counts resources.

    `fetched` are templates by the URL that types fetch them from, or the reason why there is none. Afterwards,
    `resources` is the number of resources in the whole tree, and `unfetched` the templates that are not among
    `fetched`, by URL: what is below them was not checked. Asks no service.
    """

    def __init__(
        self, services: EngineServices, context: RequestContext, fetched: Mapping[str, str | StokerError] | None = None
    ) -> None:
        self.services = services
        self._context = context
        self._fetched = fetched or {}
        self.unfetched: dict[str, FetchedTemplate] = {}
        self._type_names = services.types.offered_names()
        self.resources = 0
        self.found: list[tuple[Definition, Place]] = []

    def check(
        self, definition: Definition, depth: int = 0, times: int = 1, place: Place = lambda found: found
    ) -> list[Diagnostic]:
        """Return all diagnostics for a definition that occurs `times` times in the tree, `depth` levels down.

        `place` maps diagnostics to the root template. `found` then has the definitions of the whole tree. Raises
        Forbidden for a type refused by policy, RequestLimitExceeded for a tree that is too deep.
        """
        self.resources += len(definition.resources) * times
        self.found.append((definition, place))

        def lookup(type_name: str, resource_name: str) -> ResourceType | None:
            types = self.services.types
            _, kind = types.lookup(definition.environment, definition.files, type_name, resource_name)
            steps = definition.environment.registry.steps(type_name, resource_name)
            require_permitted(self._context.denied_types, steps, kind)
            return kind

        def deep(
            resource: ResourceDefinition, kind: ResourceType, values: Mapping[str, object]
        ) -> Iterable[Diagnostic]:
            return self._nested(definition, resource, kind, values, depth, times)

        problems = check(definition, lookup, deep=deep, type_names=self._type_names)
        return [place(item) for item in without_secrets(problems, [definition])]

    def _nested(
        self,
        parent: Definition,
        resource: ResourceDefinition,
        kind: ResourceType,
        values: Mapping[str, object],
        depth: int,
        times: int,
    ) -> list[Diagnostic]:
        if kind.fetched_template is not None:
            return self._with_fetched(kind.fetched_template, parent, resource, values, depth, times)
        if not isinstance(kind, capabilities.ParentOfStack):
            return []
        sample, whole = capabilities.sample_of(kind, values), capabilities.child_of(kind, values)
        if sample is None or whole is None or sample.template is None or whole.template is None:
            return []
        members = max(1, _size(whole.template) // max(1, _size(sample.template)))
        # The user sees no other templates than those in the request's files.
        place = partial(inside, parent.files, parent, resource)
        try:
            template = template_of(self.services, parent, sample)
        except TemplateInvalid as error:
            return [place(replace(item, kind=_NESTED)) for item in error.diagnostics]
        return self._child(parent, resource, sample, template, depth, times * members, place)

    def _with_fetched(
        self,
        place: FetchedTemplate,
        parent: Definition,
        resource: ResourceDefinition,
        values: Mapping[str, object],
        depth: int,
        times: int,
    ) -> list[Diagnostic]:
        """Return the diagnostics for a nested stack whose template is fetched; they have positions in that template."""
        url = place.url(values)
        if url is None:
            return []
        document = self._fetched.get(url)
        if document is None:
            self.unfetched[url] = place
            return []
        if isinstance(document, StokerError):
            path, written = key_path(parent, resource, "properties"), parent.template.document
            message = f"the template of the nested stack cannot be used: {document.message}"
            return [Diagnostic("properties", message, path, written.source, written.locate(path))]
        try:
            template = self.services.loader.parse(document, url)
        except TemplateInvalid as error:
            return [replace(item, kind=_NESTED) for item in error.diagnostics]
        request = place.child(values, template.data)
        return self._child(parent, resource, request, template, depth, times, lambda found: found)

    def _child(
        self,
        parent: Definition,
        resource: ResourceDefinition,
        request: ChildRequest,
        template: Template,
        depth: int,
        times: int,
        place: Place,
    ) -> list[Diagnostic]:
        """Return the diagnostics of the nested stack of a resource."""
        if template.transfers:
            return [*template.transfers.refused_below()]
        require_depth(self.services, depth, resource)
        try:
            child, found = Definition.examine(
                template,
                child_environment(parent, resource, request),
                parameters=request.parameters,
                files=parent.files,
                pseudo=PseudoParameters("", resource.name, self._context.project_id),
            )
        except TemplateInvalid as error:
            return [place(replace(item, kind=_NESTED)) for item in error.diagnostics]
        own, inner = seen_from_parent(parent, resource, [replace(item, kind=_NESTED) for item in found])
        inner = [place(item) for item in inner]
        return [*own, *inner, *further(self.check(child, depth + 1, times, place), inner)]


def require_depth(services: EngineServices, depth: int, resource: ResourceDefinition) -> None:
    """Raise RequestLimitExceeded if the nested stack of a resource, `depth` levels down, would be too deep."""
    limit = services.settings.max_nested_stack_depth
    if depth + 1 > limit:
        raise RequestLimitExceeded(
            f"Stacks are nested more than {limit} deep (max_nested_stack_depth) at {resource.name!r}."
        )


def template_of(services: EngineServices, parent: Definition, request: ChildRequest) -> Template:
    """Return the template of a nested stack. Raises TemplateInvalid."""
    loader = services.loader
    return loader.template_named(parent.files, request.template_name) or loader.generated(request.template or {})


def child_environment(parent: Definition, resource: ResourceDefinition, request: ChildRequest) -> Environment:
    """Return the environment of the nested stack of a resource."""
    return parent.environment.for_child(resource.name, request.template_name).with_missing(request.registry)


def all_problems(checker: TreeChecker, definition: Definition) -> list[Diagnostic]:
    """Return the diagnostics of a definition; if there are any, also those of values whose form alone is checked."""
    found = checker.check(definition)
    return [*found, *form_problems(checker)] if found else []


def form_problems(checker: TreeChecker) -> Iterator[Diagnostic]:
    """Yield the problems of values with custom constraints that no service is asked about, in a checked tree."""
    constraint = checker.services.types.registry.constraints.get
    for definition, place in checker.found:
        document = definition.template.document
        found = [
            place(Diagnostic("constraint", tell(problem), path, document.source, document.locate(path)))
            for name, value, path, tell in checked_values(checker.services, definition)
            if isinstance(check := constraint(name), FormCheck) and (problem := check.problem(value))
        ]
        yield from without_secrets(found, [definition])


def checked_values(services: EngineServices, definition: Definition) -> Iterator[tuple[str, object, Path, Render]]:
    """Yield known values with custom constraints, their positions, and functions that render messages."""
    for parameter in definition.parameters.custom_checks:
        yield parameter.constraint, parameter.value, parameter.path, parameter.message
    for resource, kind in services.types.in_definition(definition):
        if kind is None or kind.any_properties:
            continue
        if constrained := traits_of(kind).constrained:
            path = (definition.template.written("resources"), resource.name, "properties")
            properties, _ = resolve_map(definition, resource.properties, _UNKNOWN, path)
            for constraint, value, inner in custom_constraints(constrained, properties):
                if not has_unknown(value):
                    yield constraint, value, (*path, *inner), str


def without_secrets(problems: Iterable[Diagnostic], definitions: Iterable[Definition]) -> list[Diagnostic]:
    """Return the diagnostics with the values of the definitions' hidden parameters redacted."""
    problems = list(problems)
    if not problems:
        return problems
    secrets: set[str] = set()
    for definition in definitions:
        hidden = Redaction(definition, {}).secrets
        secrets |= hidden | derived_values(definition, UnknownScope(), hidden)
    return [replace(item, message=redact_file(item.message, secrets)) for item in problems]


def _size(template: Mapping[str, Any]) -> int:
    """Return the number of a template's resources; the section may be missing or empty."""
    return len(template.get("resources") or template.get("Resources") or ())


_SECONDS = 30
"""Seconds that a request waits for all templates that are fetched for it."""
_AT_ONCE = 2
"""Templates that are fetched for one request at a time: fewer than a project may fetch by default."""
_PAUSE = 0.5
"""Seconds before a retry while the project has too many fetches in progress."""


async def checked_tree(services: EngineServices, context: RequestContext, definition: Definition) -> TreeChecker:
    """Check a definition with its nested stacks. Templates are fetched level by level, after all above them are valid.

    Raises TemplateInvalid with all diagnostics, and the errors of `TreeChecker.check`.
    """
    fetched: dict[str, str | StokerError] = {}

    def checked() -> tuple[TreeChecker, list[Diagnostic]]:
        checker = TreeChecker(services, context, fetched)
        return checker, all_problems(checker, definition)

    deadline = asyncio.get_running_loop().time() + _SECONDS
    while True:
        size = len(definition.resources)
        checker, diagnostics = await services.evaluator.evaluate(context.project_id, checked, size)
        if diagnostics:
            raise TemplateInvalid(diagnostics)
        if not checker.unfetched:
            return checker
        fetched |= await _fetched(services, context, checker.unfetched, deadline)


async def _fetched(
    services: EngineServices, context: RequestContext, needed: Mapping[str, FetchedTemplate], deadline: float
) -> dict[str, str | StokerError]:
    """Return the templates at URLs, or the reasons why there are none."""
    slots = asyncio.Semaphore(_AT_ONCE)
    found: dict[str, str | StokerError] = {
        url: BadValue(f"{url} could not be fetched: the templates of a request must be there in {_SECONDS} seconds.")
        for url in needed
    }

    async def fetch(url: str, place: FetchedTemplate) -> None:
        async with slots:
            while True:
                try:
                    found[url] = await place.fetch(url, context.project_id, services.settings.type_options)
                    return
                except Overloaded:
                    await sleep(services.clock, _PAUSE)
                except StokerError as error:
                    found[url] = error
                    return

    try:
        async with asyncio.timeout_at(deadline):
            await asyncio.gather(*(fetch(url, place) for url, place in needed.items()))
    except TimeoutError:
        pass
    return found
