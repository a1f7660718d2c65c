"""Check a request before anything is done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from stoker.base.context import RequestContext
from stoker.base.diagnostics import Diagnostic, Path
from stoker.base.errors import (
    CloudError,
    RequestLimitExceeded,
    ResourceTypeUnavailable,
    StokerError,
    TemplateInvalid,
    TokenRejected,
)
from stoker.cloud.session import Cloud
from stoker.engine.core import Engine
from stoker.engine.records.types import require_permitted
from stoker.engine.records.values import finalized
from stoker.engine.redaction.hidden_values import Redaction
from stoker.engine.redaction.templates import redact_file
from stoker.engine.running.adoption import External, missing
from stoker.operations.questions import Questions
from stoker.plugins.constraints import ConstraintChecker, FormCheck
from stoker.plugins.resource import ChildRequest, FetchedTemplate, ResourceType
from stoker.schema.property import custom_constraints
from stoker.schema.unknown import has_unknown
from stoker.store.records import Stack
from stoker.template.check import check
from stoker.template.definition import Definition
from stoker.template.definition_parts import ResourceDefinition
from stoker.template.derived import derived_values
from stoker.template.expressions import UnknownScope
from stoker.template.parameters import PseudoParameters
from stoker.template.properties import key_path, resolve_map
from stoker.template.template import Template

Result = TypeVar("Result")

Place = Callable[[Diagnostic], Diagnostic]
"""Maps a diagnostic about a nested stack to the position in the root template."""

Render = Callable[[str], str]
"""Maps the message of a custom constraint to the message for the user."""

THIS_SERVICE = "heat"
"""The service name of types that this engine implements itself, whether or not the catalog lists it."""

SERVICE_UNAVAILABLE = "99001"
"""The code of ResourceTypeUnavailable, with which a validation can skip this check."""

_NESTED = "StackValidationFailed"
"""The type of every error about a nested stack, as in Heat."""

_UNKNOWN = UnknownScope()


class TreeChecker:
    """Checks a definition and its nested stacks against the resource types, and counts resources.

    `fetched` are templates by the URL that types fetch them from, or the reason why there is none. Afterwards,
    `resources` is the number of resources in the whole tree, `elsewhere` contains the resources whose diagnostics are
    about other templates than that of the request, and `unfetched` the templates that are not among `fetched`, by URL:
    what is below them was not checked. Asks no service.
    """

    def __init__(
        self, engine: Engine, context: RequestContext, fetched: Mapping[str, str | StokerError] | None = None
    ) -> None:
        self.engine = engine
        self._context = context
        self._fetched = fetched or {}
        self.unfetched: dict[str, FetchedTemplate] = {}
        self._type_names = list(engine.types.offered())
        self.resources = 0
        self.found: list[tuple[Definition, Place]] = []
        self.elsewhere: list[Diagnostic] = []
        self._below: dict[int, dict[str, Definition]] = {}

    def below(self, definition: Definition) -> Mapping[str, Definition]:
        """Return the nested stacks of the resources of a checked definition, by the resources' names."""
        return self._below.get(id(definition), {})

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
            types = self.engine.types
            _, kind = types.lookup(definition.environment, definition.files, type_name, resource_name)
            steps = definition.environment.registry.steps(type_name, resource_name)
            require_permitted(self._context.denied_types, steps, kind)
            return kind

        def deep(resource: ResourceDefinition, kind: ResourceType, values: Mapping[str, Any]) -> Iterable[Diagnostic]:
            return self._nested(definition, resource, kind, values, depth, times)

        complaints = check(definition, lookup, deep=deep, type_names=self._type_names)
        return [place(item) for item in _without_secrets(complaints, [definition])]

    def _nested(
        self,
        parent: Definition,
        resource: ResourceDefinition,
        kind: ResourceType,
        values: Mapping[str, Any],
        depth: int,
        times: int,
    ) -> list[Diagnostic]:
        if kind.fetched_template is not None:
            return self._with_fetched(kind.fetched_template, parent, resource, values, depth, times)
        sample, whole = kind.sample_of(values), kind.child_of(values)
        if sample is None or whole is None or sample.template is None or whole.template is None:
            return []
        self._require_depth(depth, resource)
        members = max(1, _size(whole.template) // max(1, _size(sample.template)))
        place: Place = (lambda found: found) if sample.template_name else partial(_inside, parent, resource)
        try:
            child = self._bind(parent, resource, sample, self._template(parent, sample))
        except TemplateInvalid as error:
            return [place(replace(item, kind=_NESTED)) for item in error.diagnostics]
        self._below.setdefault(id(parent), {})[resource.name] = child
        complaints = self.check(child, depth + 1, times * members, place)
        if sample.template_name:
            self.elsewhere += complaints
        return complaints

    def _with_fetched(
        self,
        place: FetchedTemplate,
        parent: Definition,
        resource: ResourceDefinition,
        values: Mapping[str, Any],
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
        self._require_depth(depth, resource)
        try:
            template = self.engine.loader.parse(document, url)
            child = self._bind(parent, resource, place.child(values, template.data), template)
        except TemplateInvalid as error:
            complaints = [replace(item, kind=_NESTED) for item in error.diagnostics]
        else:
            self._below.setdefault(id(parent), {})[resource.name] = child
            complaints = self.check(child, depth + 1, times)
        self.elsewhere += complaints
        return complaints

    def _require_depth(self, depth: int, resource: ResourceDefinition) -> None:
        limit = self.engine.settings.max_nested_stack_depth
        if depth + 1 > limit:
            raise RequestLimitExceeded(
                f"Stacks are nested more than {limit} deep (max_nested_stack_depth) at {resource.name!r}."
            )

    def _template(self, parent: Definition, request: ChildRequest) -> Template:
        loader = self.engine.loader
        return loader.template_named(parent.files, request.template_name) or loader.generated(request.template or {})

    def _bind(
        self, parent: Definition, resource: ResourceDefinition, request: ChildRequest, template: Template
    ) -> Definition:
        return Definition.bind(
            template,
            parent.environment.for_child(resource.name, request.template_name).with_missing(request.registry),
            parameters=request.parameters,
            files=parent.files,
            pseudo=PseudoParameters("", resource.name, self._context.project_id),
        )


def all_problems(checker: TreeChecker, definition: Definition) -> list[Diagnostic]:
    """Return the diagnostics of a definition; if there are any, also those of values whose form alone is checked."""
    found = checker.check(definition)
    return [*found, *form_problems(checker)] if found else []


def _inside(parent: Definition, resource: ResourceDefinition, diagnostic: Diagnostic) -> Diagnostic:
    """Return a diagnostic for a stack without a file, with the position of the resource that creates the stack."""
    document = parent.template.document
    place = (parent.template.written("resources"), resource.name)
    return replace(diagnostic, source=document.source, path=(*place, *diagnostic.path), position=document.locate(place))


async def check_services(
    engine: Engine, context: RequestContext, tree: Sequence[tuple[Definition, Place]], questions: Questions
) -> None:
    """Raise ResourceTypeUnavailable for a type whose service, or extension of it, the caller's cloud lacks."""
    needed: dict[tuple[str, str | None], str] = {}
    for definition, _ in tree:
        for name, resource in definition.resources.items():
            _, kind = engine.types.lookup(definition.environment, definition.files, resource.type, name)
            if kind is not None and not kind.any_properties and kind.service not in (None, THIS_SERVICE):
                needed.setdefault((kind.service, kind.extension), resource.type)
    if not needed:
        return
    cloud = await engine.credentials.of_caller(context)
    for (service, _), type_name in needed.items():
        if not cloud.has_service(service):
            raise _unavailable(service, type_name, "the service is not in the catalog")

    async def require(service: str, extension: str, type_name: str) -> None:
        asked = cloud.has_extension(service, extension)
        if not await questions.ask(f"the extension {extension} of {service}", asked, True):
            raise _unavailable(service, type_name, f"it lacks the extension {extension!r}")

    await asyncio.gather(
        *(require(service, extension, name) for (service, extension), name in needed.items() if extension is not None)
    )


class ValueChecker:
    """Asks the caller's cloud about values: which services there are, and what they and custom constraints accept.

    `questions` are asked concurrently; what remains unanswered is not checked.
    """

    def __init__(self, engine: Engine, context: RequestContext, stack: Stack, questions: Questions) -> None:
        self._engine = engine
        self._context = context
        self._stack = stack
        self._questions = questions

    async def check(self, tree: Sequence[tuple[Definition, Place]]) -> list[Diagnostic]:
        """Return the diagnostics of services and custom constraints for a checked tree; each value is checked once.

        Names in a nested stack that can be those of objects created by the tree itself are not checked.

        Raises ResourceTypeUnavailable for a type whose service, or extension of it, the caller's cloud lacks,
        TokenRejected, and CloudError if a service is unavailable, which is no error of the template.
        """
        asked: dict[tuple[str, Any], list[tuple[Render, Diagnostic]]] = {}
        definitions = [definition for definition, _ in tree]
        made = await self._evaluate(partial(self._names_made, definitions)) if len(tree) > 1 else {}
        for number, (definition, place) in enumerate(tree):
            for name, value, path, tell in await self._evaluate(partial(self._values, definition)):
                if number and self._may_be_made(name, value, made):
                    continue
                document = definition.template.document
                found = Diagnostic("constraint", "", path, document.source, document.locate(path))
                asked.setdefault((name, _hashable(value)), []).append((tell, place(found)))
        _, external, consulted, answers = await asyncio.gather(
            check_services(self._engine, self._context, tree, self._questions),
            self._external_objects(tree),
            self._consulted(tree),
            self._ask_all({key: places[0][1].path for key, places in asked.items()}),
        )
        unfit = [
            replace(found, message=tell(complaint))
            for complaint, places in zip(answers, asked.values(), strict=True)
            if complaint
            for tell, found in places
        ]
        return _without_secrets(unfit + external + consulted, definitions)

    def _names_made(self, definitions: Sequence[Definition]) -> Mapping[tuple[str, str], list[Any]]:
        """Return the names, some unknown, of the objects that the tree creates, by service and path of their
        collection.
        """
        found: dict[tuple[str, str], list[Any]] = {}
        for definition in definitions:
            for name, resource in definition.resources.items():
                _, kind = self._engine.types.lookup(definition.environment, definition.files, resource.type, name)
                if kind is None or kind.named_in is None or resource.external_id is not None:
                    continue
                service, path, named = kind.named_in
                called = (definition.resolve(resource.properties, _UNKNOWN) or {}).get(named)
                if called is not None:
                    found.setdefault((service, path), []).append(called)
        return found

    def _may_be_made(self, constraint: str, value: Any, made: Mapping[tuple[str, str], list[Any]]) -> bool:
        check = self._engine.registry.constraint(constraint)
        if check is None or check.service is None or check.collection is None:
            return False
        names = made.get((check.service, check.collection), ())
        return any(name == value or has_unknown(name) for name in names)

    async def _external_objects(self, tree: Sequence[tuple[Definition, Place]]) -> list[Diagnostic]:
        """Return the diagnostics for objects that a template refers to by id and that do not exist."""
        complaints = []
        for definition, place in tree:
            for name, resource in definition.resources.items():
                _, kind = self._engine.types.lookup(definition.environment, definition.files, resource.type, name)
                if resource.external_id is not None and kind is not None:
                    complaints.append(self._external_object(definition, place, resource, kind))
        return [found for found in await asyncio.gather(*complaints) if found is not None]

    async def _external_object(
        self, definition: Definition, place: Place, resource: ResourceDefinition, kind: ResourceType
    ) -> Diagnostic | None:
        if kind.nested:
            why: str | None = f"{resource.type} is a nested stack and cannot have an external_id."
        else:
            given = await self._evaluate(partial(definition.resolve, resource.properties, _UNKNOWN)) or {}
            external = External(resource.name, kind, str(resource.external_id), given)
            asked = missing(self._engine, self._stack, await self._cloud(), external)
            why = await self._questions.ask(f"the external_id of {resource.name}", asked, None)
        if why is None:
            return None
        path = (definition.template.written("resources"), resource.name, "external_id")
        document = definition.template.document
        return place(Diagnostic("external-id", why, path, document.source, document.locate(path)))

    async def _consulted(self, tree: Sequence[tuple[Definition, Place]]) -> list[Diagnostic]:
        """Return the diagnostics of services that types consult about their properties."""
        complaints = []
        for definition, place in tree:
            for name, resource in definition.resources.items():
                _, kind = self._engine.types.lookup(definition.environment, definition.files, resource.type, name)
                if kind is not None and kind.consults and resource.external_id is None:
                    complaints.append(self._consult(definition, place, resource, kind))
        return [complaint for found in await asyncio.gather(*complaints) for complaint in found]

    async def _consult(
        self, definition: Definition, place: Place, resource: ResourceDefinition, kind: ResourceType
    ) -> list[Diagnostic]:
        values = await self._evaluate(lambda: finalized(kind, definition.resolve(resource.properties, _UNKNOWN) or {}))
        try:
            answer = kind.consult(values, await self._cloud(), DefinitionSources(definition))
            found = await self._questions.ask(f"the properties of {resource.name}", answer, [])
        except TokenRejected:
            raise
        except StokerError as error:
            found = [error.message]
        document = definition.template.document
        path = (definition.template.written("resources"), resource.name, "properties")
        position = document.locate(path)
        return [place(Diagnostic("service", words, path, document.source, position)) for words in found]

    def _values(self, definition: Definition) -> list[tuple[str, Any, Path, Render]]:
        return list(_checked_values(self._engine, definition))

    async def _evaluate(self, work: Callable[[], Result]) -> Result:
        return await self._engine.evaluator.evaluate(self._context.project_id, work)

    async def _cloud(self) -> Cloud:
        return await self._engine.credentials.of_caller(self._context)

    async def _ask_all(self, asked: Mapping[tuple[str, Any], Path]) -> list[str | None]:
        """Return the problems, if any, of values with the names of their constraints; paths are where they are."""
        if not asked:
            return []
        checker = ConstraintChecker(self._engine.registry.constraint, await self._cloud())
        return await asyncio.gather(*(self._ask(checker, *key, path) for key, path in asked.items()))

    async def _ask(self, checker: ConstraintChecker, name: str, value: Any, path: Path) -> str | None:
        """Return the problem, if any; a refusal to answer is one. Raises CloudError if a service cannot answer now."""
        what = f"{name} at {'.'.join(map(str, path))}"  # without the value, which may be secret
        try:
            return await self._questions.ask(what, checker.check(name, value), None)
        except StokerError as error:
            if isinstance(error, TokenRejected) or (isinstance(error, CloudError) and error.transient):
                raise
            return error.message


def _checked_values(engine: Engine, definition: Definition) -> Iterator[tuple[str, Any, Path, Render]]:
    """Yield known values with custom constraints, their positions, and functions that render messages."""
    for parameter in definition.parameters.custom_checks:
        yield parameter.constraint, parameter.value, parameter.path, parameter.message
    for name, resource in definition.resources.items():
        _, kind = engine.types.lookup(definition.environment, definition.files, resource.type, name)
        if kind is None or kind.any_properties:
            continue
        if kind.traits.has_custom_constraints:
            path = (definition.template.written("resources"), name, "properties")
            given, _ = resolve_map(definition, resource.properties, _UNKNOWN, path)
            for constraint, value, inner in custom_constraints(kind.properties, given):
                if not has_unknown(value):
                    yield constraint, value, (*path, *inner), str


def form_problems(checker: TreeChecker) -> Iterator[Diagnostic]:
    """Yield the problems of values with custom constraints that no service is asked about, in a checked tree."""
    constraint = checker.engine.registry.constraint
    for definition, place in checker.found:
        document = definition.template.document
        found = [
            place(Diagnostic("constraint", tell(complaint), path, document.source, document.locate(path)))
            for name, value, path, tell in _checked_values(checker.engine, definition)
            if isinstance(check := constraint(name), FormCheck) and (complaint := check.problem(value))
        ]
        yield from _without_secrets(found, [definition])


class DefinitionSources:
    """Implements plugins.resource.Sources for a definition."""

    def __init__(self, definition: Definition) -> None:
        self._definition = definition
        self.files: Mapping[str, str] = definition.files

    def environment(self) -> Mapping[str, Any]:
        """Return the environment of the definition."""
        return self._definition.environment.to_data()

    def parameters(self) -> Mapping[str, Any]:
        """Return the values of the definition's parameters."""
        return self._definition.parameters.values()


def _without_secrets(complaints: Iterable[Diagnostic], definitions: Iterable[Definition]) -> list[Diagnostic]:
    """Return the diagnostics with the values of the definitions' hidden parameters redacted."""
    complaints = list(complaints)
    if not complaints:
        return complaints
    secrets: set[str] = set()
    for definition in definitions:
        hidden = Redaction(definition, {}).secrets
        secrets |= hidden | derived_values(definition, UnknownScope(), hidden)
    return [replace(item, message=redact_file(item.message, secrets)) for item in complaints]


def _size(template: Mapping[str, Any]) -> int:
    """Return the number of a template's resources; the section may be missing or empty."""
    return len(template.get("resources") or template.get("Resources") or ())


def _unavailable(service: str, type_name: str, reason: str) -> ResourceTypeUnavailable:
    code = f"HEAT-E{SERVICE_UNAVAILABLE}"
    return ResourceTypeUnavailable(
        f"{code} Service {service} is not available for resource type {type_name}, reason: {reason}."
    )


def _hashable(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) else str(value)
