"""From the body of a request to checked inputs: template, environment, files, parameters."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stoker.base.context import RequestContext
from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import (
    BadValue,
    Forbidden,
    RequestLimitExceeded,
    ResourceTypeUnavailable,
    StackValidationFailed,
    StokerError,
    TemplateInvalid,
)
from stoker.cloud.session import Cloud
from stoker.engine.core import Engine
from stoker.engine.loader import LoadedInputs, Prepared
from stoker.engine.planner import Wanted
from stoker.plugins.constraints import ConstraintChecker
from stoker.plugins.resource import ResourceType
from stoker.schema.property import custom_constraints
from stoker.schema.unknown import has_unknown
from stoker.store import queries
from stoker.store.records import Stack
from stoker.template.check import check
from stoker.template.definition import Definition
from stoker.template.document import Document
from stoker.template.environment import Environment
from stoker.template.expressions import UnknownScope
from stoker.template.template import Template

_STACK_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_.-]{0,254}")
MAX_TAG = 80


@dataclass(frozen=True, slots=True)
class StackRequest:
    """The parts of a create or update body that say what the stack should be."""

    template: Any = None
    environment: Any = None
    environment_files: Sequence[str] | None = None
    files: Mapping[str, str] | None = None
    parameters: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class CheckedRequest:
    """A request that has passed every check that can be made before anything is done."""

    prepared: Prepared
    definition: Definition
    wanted: Wanted


def parse_template(engine: Engine, source: Any) -> Template:
    """The template of a request, given as text or as data. Raises TemplateInvalid or BadValue."""
    if source is None or source == "":
        raise BadValue("No template specified: give `template` or `template_url`.")
    if not isinstance(source, str | Mapping):
        raise BadValue("The template must be a text or a map.")
    return engine.loader.parse(source)


def parse_environment(request: StackRequest, template: Template) -> Environment:
    """The request's environment; named environment files are merged in order, and then stand in for it."""
    files = request.files or {}
    sources: list[tuple[str, Any]]
    if request.environment_files:
        missing = [name for name in request.environment_files if name not in files]
        if missing:
            raise BadValue(f"Environment files are not among the files: {', '.join(missing)}.")
        sources = [(name, files[name]) for name in request.environment_files]
    else:
        sources = [("environment", request.environment or {})]
    data = [_environment_data(name, source) for name, source in sources]
    return Environment.merged(data, template.parameters)


def _environment_data(name: str, source: Any) -> Mapping[str, Any]:
    if isinstance(source, str):
        return Document.parse(source, source=name).data if source.strip() else {}
    if isinstance(source, Mapping):
        return source
    raise BadValue(f"The environment {name} must be a map.")


def check_name(name: Any) -> str:
    """A stack's name. Raises StackValidationFailed (facts: engine.yaml, names.stack)."""
    if not isinstance(name, str) or not _STACK_NAME.fullmatch(name):
        raise StackValidationFailed(
            f"Invalid stack name {name!r}: it must start with a letter, hold only letters, digits, '_', '.' and '-', "
            "and be at most 255 characters long."
        )
    return name


def check_tags(tags: Sequence[Any] | None) -> tuple[str, ...]:
    """A stack's tags. Raises BadValue (facts: engine.yaml, tags.rules)."""
    for tag in tags or ():
        if not isinstance(tag, str) or not 0 < len(tag) <= MAX_TAG or "," in tag:
            raise BadValue(f"Invalid tag {tag!r}: it must be a text of 1 to {MAX_TAG} characters without a comma.")
    return tuple(tags or ())


def check_timeout(minutes: Any) -> int | None:
    """`timeout_mins`; none and 0 mean the default. Raises BadValue."""
    if minutes is None or minutes == 0:
        return None
    if isinstance(minutes, bool) or not isinstance(minutes, int) or minutes < 0:
        raise BadValue(f"Invalid timeout_mins {minutes!r}: it must be a positive whole number of minutes.")
    return minutes


async def check_request(
    engine: Engine,
    context: RequestContext,
    stack: Stack,
    template: Template,
    environment: Environment,
    files: Mapping[str, str],
    parameters: Mapping[str, Any],
) -> CheckedRequest:
    """Everything that can be found wrong before anything is done, all at once.

    Raises TemplateInvalid with all complaints, RequestLimitExceeded, or Forbidden for a type refused by policy.
    """
    prepared = engine.loader.prepare(template, environment, files, parameters)
    definition = engine.loader.bind(stack, prepared.loaded, strict=True)
    checker = _Checker(engine, context, files)
    diagnostics = checker.tree(definition, prepared.loaded, 0)
    if diagnostics:
        raise TemplateInvalid(diagnostics)
    limit = engine.settings.max_resources_per_stack
    if 0 <= limit < checker.resources:
        raise RequestLimitExceeded(
            f"The stack has {checker.resources} resources; at most {limit} are allowed (max_resources_per_stack)."
        )
    wanted = engine.wanted(definition, prepared.loaded)
    diagnostics = await checker.values(definition, wanted)
    if diagnostics:
        raise TemplateInvalid(diagnostics)
    return CheckedRequest(prepared, definition, wanted)


class _Checker:
    """Checks a definition and the templates nested in it, counting resources on the way."""

    def __init__(self, engine: Engine, context: RequestContext, files: Mapping[str, str]) -> None:
        self._engine = engine
        self._context = context
        self._files = files
        self.resources = 0

    def tree(self, definition: Definition, inputs: LoadedInputs, depth: int) -> list[Diagnostic]:
        """Complaints about a definition and everything nested in it."""
        self.resources += len(definition.resources)

        def lookup(type_name: str, resource_name: str) -> ResourceType | None:
            if not self._context.may_use(type_name):
                raise Forbidden(f"You may not use the resource type {type_name}.")
            return self._engine.types.lookup(inputs.environment, inputs.files, type_name, resource_name)[1]

        return check(definition, lookup)

    async def values(self, definition: Definition, wanted: Wanted) -> list[Diagnostic]:
        """Complaints of the custom constraints: each value is asked about once."""
        asked: dict[tuple[str, Any], list[Diagnostic]] = {}
        for check_ in definition.parameters.custom_checks:
            place = Diagnostic("constraint", "", check_.path, definition.template.document.source)
            asked.setdefault((check_.constraint, _hashable(check_.value)), []).append(place)
        await self._available(wanted)
        scope = UnknownScope()
        for name, (_, type_) in wanted.types.items():
            if type_.any_properties:
                continue
            target = wanted.target(name, scope)
            path = ("resources", name, "properties")
            for constraint, value in custom_constraints(type_.properties, target.given):
                if not has_unknown(value):
                    place = Diagnostic("constraint", "", path, definition.template.document.source)
                    asked.setdefault((constraint, _hashable(value)), []).append(place)
        if not asked:
            return []
        checker = ConstraintChecker(self._engine.registry.constraint, await self._cloud())
        answers = await asyncio.gather(*(self._ask(checker, name, value) for name, value in asked))
        return [
            Diagnostic(
                "constraint",
                complaint,
                place.path,
                place.source,
                definition.template.document.locate(place.path),
            )
            for complaint, places in zip(answers, asked.values(), strict=True)
            if complaint
            for place in places
        ]

    async def _available(self, wanted: Wanted) -> None:
        """Raise ResourceTypeUnavailable for a type whose service, or extension of it, the caller's cloud lacks."""
        needs = {(type_.service, type_.extension): name for name, (_, type_) in wanted.types.items() if type_.service}
        if not needs:
            return
        cloud = await self._cloud()
        for (service, extension), name in needs.items():
            type_name = wanted.definition.resources[name].type
            if service is not None and not cloud.has_service(service):
                raise ResourceTypeUnavailable(
                    f"HEAT-E99001 Service {service} is not available for resource type {type_name}, "
                    "reason: the service is not in the catalog."
                )
            if service is not None and extension is not None and not await cloud.has_extension(service, extension):
                raise ResourceTypeUnavailable(
                    f"HEAT-E99001 Service {service} is not available for resource type {type_name}, "
                    f"reason: it lacks the extension {extension!r}."
                )

    async def _cloud(self) -> Cloud:
        return await self._engine.credentials.of_caller(self._context)

    async def _ask(self, checker: ConstraintChecker, name: str, value: Any) -> str | None:
        try:
            return await checker.check(name, value)
        except StokerError as error:
            return error.message


def _hashable(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) else str(value)


async def check_quota(engine: Engine, context: RequestContext) -> None:
    """Refuse one stack more than the project may have; administrators are exempt. Raises RequestLimitExceeded."""
    limit = engine.settings.max_stacks_per_tenant
    if limit < 0 or context.is_admin:
        return
    count = await engine.database.read(queries.count_stacks, context.project_id)
    if count >= limit:
        raise RequestLimitExceeded(
            f"The project has {count} stacks; at most {limit} are allowed (max_stacks_per_tenant)."
        )
