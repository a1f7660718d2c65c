"""Check the values of a request with the services of the cloud, before anything is done.

All questions to services together have a limited time, since a slow service must not hold a request for longer than its
sender waits: what has not been answered by then is unknown, which is reported, and is no reason to refuse the request.
The operation itself gets the service's answer later.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, TypeAlias, TypeVar

from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.diagnostics import Diagnostic, Path
from stoker.base.errors import CloudError, ResourceTypeUnavailable, StokerError, TokenRejected
from stoker.cloud.session import Cloud
from stoker.contract.stacks import Refresh
from stoker.engine.calls.context import ActionComponents
from stoker.engine.records.services import EngineServices
from stoker.engine.running.adoption import External, missing
from stoker.engine.scheduling import all_of
from stoker.operations.trees import Place, Render, checked_values, without_secrets
from stoker.plugins import capabilities
from stoker.plugins.constraints import ConstraintChecker
from stoker.plugins.resource import ResourceType, finalized
from stoker.schema.unknown import has_unknown
from stoker.store import queries
from stoker.store.records import COMPLETE, Stack
from stoker.template.definition import Definition
from stoker.template.definition_parts import ResourceDefinition
from stoker.template.expressions import UnknownScope

LOG = logging.getLogger(__name__)

Result = TypeVar("Result")

_Question: TypeAlias = Awaitable[list[Diagnostic]]

_MOST_NAMED = 5


class Questions:
    """Asks for at most `seconds` from now on. `unanswered` describes what got no answer in time."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = asyncio.get_running_loop().time() + seconds
        self.unanswered: list[str] = []

    async def ask(self, what: str, answer: Awaitable[Result], otherwise: Result) -> Result:
        """Return the answer, or `otherwise` without one; `what` describes the question. Raises its errors."""
        try:
            async with asyncio.timeout_at(self._end):
                return await answer
        except TimeoutError:
            self.unanswered.append(what)
            return otherwise

    def report(self) -> str | None:
        """Return a clause about what was not checked; None if everything was answered."""
        if not self.unanswered:
            return None
        more = ", …" if len(self.unanswered) > _MOST_NAMED else ""
        named = ", ".join(self.unanswered[:_MOST_NAMED])
        return f"not checked, since services did not answer within {self._seconds:g} seconds: {named}{more}"


THIS_SERVICE = "heat"
"""The service name of types that this engine implements itself, whether or not the catalog lists it."""

SERVICE_UNAVAILABLE = "99001"
"""The code of ResourceTypeUnavailable, with which a validation can skip this check."""

_UNKNOWN = UnknownScope()


async def check_services(
    services: EngineServices, context: RequestContext, definitions: Iterable[Definition], questions: Questions
) -> None:
    """Raise ResourceTypeUnavailable for a type whose service, or extension of it, the caller's cloud lacks."""
    needed: dict[tuple[str, str | None], str] = {}
    for definition in definitions:
        for resource, kind in services.types.in_definition(definition):
            if kind is not None and not kind.any_properties and kind.service not in (None, THIS_SERVICE):
                needed.setdefault((kind.service, kind.extension), resource.type)
    if not needed:
        return
    cloud = await services.credentials.of_caller(context)
    for (service, _), type_name in needed.items():
        if not cloud.has_service(service):
            raise _unavailable(service, type_name, "the service is not in the catalog")

    async def require(service: str, extension: str, type_name: str) -> None:
        lookup = cloud.has_extension(service, extension)
        if not await questions.ask(f"the extension {extension} of {service}", lookup, True):
            raise _unavailable(service, type_name, f"it lacks the extension {extension!r}")

    await all_of(
        [require(service, extension, name) for (service, extension), name in needed.items() if extension is not None]
    )


class ValueChecker:
    """Asks the caller's cloud about values: which services there are, and what they and custom constraints accept.

    `questions` are asked concurrently; what remains unanswered is not checked. With the `refresh` ALL, the plan reports
    which of the objects that the stack uses already are gone (external_id): these are no errors of the template.
    """

    def __init__(
        self,
        components: ActionComponents,
        context: RequestContext,
        stack: Stack,
        questions: Questions,
        refresh: Refresh = Refresh.NONE,
    ) -> None:
        self._components = components
        self._services = components.services
        self._context = context
        self._stack = stack
        self._questions = questions
        self._refresh = refresh
        self._constraints: ConstraintChecker | None = None

    async def check(self, tree: Sequence[tuple[Definition, Place]]) -> list[Diagnostic]:
        """Return the diagnostics of services and custom constraints for a checked tree; each value is checked once.

        Names in a nested stack that can be those of objects created by the tree itself are not checked.

        Raises ResourceTypeUnavailable for a type whose service, or extension of it, the caller's cloud lacks,
        TokenRejected, and CloudError if a service is unavailable, which is no error of the template.
        """
        values: dict[tuple[str, object], list[tuple[Render, Diagnostic]]] = {}
        definitions = [definition for definition, _ in tree]
        created_names = await self._evaluate(partial(self._names_made, definitions)) if len(tree) > 1 else {}
        for number, (definition, place) in enumerate(tree):
            for name, value, path, tell in await self._evaluate(partial(self._values, definition)):
                if number and self._may_be_made(name, value, created_names):
                    continue
                document = definition.template.document
                found = Diagnostic("constraint", "", path, document.source, document.locate(path))
                values.setdefault((name, _hashable(value)), []).append((tell, place(found)))
        questions: list[_Question] = [self._unfit(*key, places) for key, places in values.items()]
        questions += [*self._external_objects(tree), *self._consulted(tree)]
        answers = await all_of([*questions, self._services_lacked(definitions)])
        return without_secrets(list(chain.from_iterable(answers)), definitions)

    async def _services_lacked(self, definitions: Sequence[Definition]) -> list[Diagnostic]:
        """Return nothing, or raise as `check_services`."""
        await check_services(self._services, self._context, definitions, self._questions)
        return []

    def _names_made(self, definitions: Sequence[Definition]) -> Mapping[tuple[str, str], list[object]]:
        """Return the names, some unknown, of the objects that the tree creates, by service and path of their
        collection.
        """
        found: dict[tuple[str, str], list[object]] = {}
        for definition in definitions:
            for resource, kind in self._services.types.in_definition(definition):
                if kind is None or kind.named_in is None or resource.external_id is not None:
                    continue
                service, path, named = kind.named_in
                called = (definition.resolve(resource.properties, _UNKNOWN) or {}).get(named)
                if called is not None:
                    found.setdefault((service, path), []).append(called)
        return found

    def _may_be_made(
        self, constraint: str, value: object, created_names: Mapping[tuple[str, str], list[object]]
    ) -> bool:
        check = self._services.types.registry.constraints.get(constraint)
        if check is None or check.service is None or check.collection is None:
            return False
        names = created_names.get((check.service, check.collection), ())
        return any(name == value or has_unknown(name) for name in names)

    def _external_objects(self, tree: Sequence[tuple[Definition, Place]]) -> Iterator[_Question]:
        """Yield the questions about objects that a template refers to by id: those that do not exist are problems."""
        for definition, place in tree:
            for resource, kind in self._services.types.in_definition(definition):
                if resource.external_id is not None and kind is not None:
                    yield self._external_object(definition, place, resource, kind)

    async def _external_object(
        self, definition: Definition, place: Place, resource: ResourceDefinition, kind: ResourceType
    ) -> list[Diagnostic]:
        if kind.nested:
            why: str | None = f"{resource.type} is a nested stack and cannot have an external_id."
        else:
            properties = await self._evaluate(partial(definition.resolve, resource.properties, _UNKNOWN)) or {}
            external = External(resource.name, kind, str(resource.external_id), properties)
            lookup = missing(self._components, self._stack, await self._cloud(), external)
            why = await self._questions.ask(f"the external_id of {resource.name}", lookup, None)
        if why is None or (self._refresh is Refresh.ALL and await self._is_used(resource)):
            return []
        path = (definition.template.written("resources"), resource.name, "external_id")
        document = definition.template.document
        return [place(Diagnostic("external-id", why, path, document.source, document.locate(path)))]

    async def _is_used(self, resource: ResourceDefinition) -> bool:
        """Return whether a resource of the stack, or of one nested in it, refers to the object already."""
        if not self._stack.inputs:
            return False
        used = await self._services.database.read(_objects_used, self._stack)
        return (resource.name, str(resource.external_id)) in used

    def _consulted(self, tree: Sequence[tuple[Definition, Place]]) -> Iterator[_Question]:
        """Yield the questions to services that types consult about their properties."""
        for definition, place in tree:
            for resource, kind in self._services.types.in_definition(definition):
                if kind is not None and kind.consults and resource.external_id is None:
                    yield self._consult(definition, place, resource, kind)

    async def _consult(
        self, definition: Definition, place: Place, resource: ResourceDefinition, kind: ResourceType
    ) -> list[Diagnostic]:
        values = await self._evaluate(lambda: finalized(kind, definition.resolve(resource.properties, _UNKNOWN) or {}))
        try:
            answer = capabilities.consult(kind, values, await self._cloud(), DefinitionSources(definition))
            found = await self._questions.ask(f"the properties of {resource.name}", answer, [])
        except TokenRejected:
            raise
        except StokerError as error:
            found = [error.message]
        document = definition.template.document
        path = (definition.template.written("resources"), resource.name, "properties")
        position = document.locate(path)
        return [place(Diagnostic("service", words, path, document.source, position)) for words in found]

    def _values(self, definition: Definition) -> list[tuple[str, object, Path, Render]]:
        return list(checked_values(self._services, definition))

    async def _evaluate(self, work: Callable[[], Result]) -> Result:
        return await self._services.evaluator.evaluate(self._context.project_id, work)

    async def _cloud(self) -> Cloud:
        return await self._services.credentials.of_caller(self._context)

    async def _unfit(self, name: str, value: object, places: Sequence[tuple[Render, Diagnostic]]) -> list[Diagnostic]:
        """Return the diagnostics of all places with a value that does not satisfy the constraint `name`."""
        problem = await self._problem(name, value, places[0][1].path)
        return [replace(found, message=tell(problem)) for tell, found in places] if problem else []

    async def _problem(self, name: str, value: object, path: Path) -> str | None:
        """Return the problem, if any; a refusal to answer is one. Raises CloudError if a service cannot answer now."""
        cloud = await self._cloud()
        if self._constraints is None:
            self._constraints = ConstraintChecker(self._services.types.registry.constraints.get, cloud)
        what = f"{name} at {'.'.join(map(str, path))}"  # without the value, which may be secret
        try:
            return await self._questions.ask(what, self._constraints.check(name, value), None)
        except StokerError as error:
            if isinstance(error, TokenRejected) or (isinstance(error, CloudError) and error.transient):
                raise
            return error.message


def _objects_used(connection: Connection, stack: Stack) -> set[tuple[str, str | None]]:
    """Return the names and the objects of the complete resources of a stack and of the stacks nested in it."""
    inside = [each.id for level in queries.levels_of(connection, stack) for each in level]
    found = queries.resource_summaries(connection, inside).values()
    return {(row.name, row.physical_id) for rows in found for row in rows if row.status == COMPLETE}


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


def _unavailable(service: str, type_name: str, reason: str) -> ResourceTypeUnavailable:
    code = f"HEAT-E{SERVICE_UNAVAILABLE}"
    return ResourceTypeUnavailable(
        f"{code} Service {service} is not available for resource type {type_name}, reason: {reason}."
    )


def _hashable(value: object) -> object:
    return value if isinstance(value, str | int | float | bool) else str(value)
