"""Convert the body of a request to checked inputs: template, environment, files, parameters."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.diagnostics import Diagnostic, Path, Position
from stoker.base.errors import (
    BadValue,
    RequestLimitExceeded,
    StackExists,
    StackValidationFailed,
    TemplateInvalid,
)
from stoker.contract.previews import JointDeployment
from stoker.contract.stacks import Refresh, TemplateInputs
from stoker.engine.calls.context import ActionComponents
from stoker.engine.notifications.sinks import sink_problems
from stoker.engine.ownership.healing_schedule import interval_of, is_healing_tag
from stoker.engine.planning.imports import NO_IMPORTS, Imports
from stoker.engine.planning.moves import NO_DEPARTURES, StackMoves
from stoker.engine.planning.planner import DesiredState
from stoker.engine.records.loader import Prepared
from stoker.engine.records.services import EngineServices
from stoker.engine.running.completion import named_users
from stoker.operations.problems import WHOLE, RequestCheck, RequestValues, with_all_problems
from stoker.operations.trees import checked_tree
from stoker.operations.value_checks import Questions, ValueChecker
from stoker.store import change_sets, exchange
from stoker.store.change_sets import Room
from stoker.store.records import Stack
from stoker.template.definition import Definition
from stoker.template.document import Document
from stoker.template.environment import Environment
from stoker.template.expressions import UNDETERMINED
from stoker.template.template import Template

LOG = logging.getLogger(__name__)

_STACK_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_.-]{0,254}")
MAX_TAG = 80
LONGEST_TIMEOUT = 2**31 - 1
"""Minutes; the largest integer of a database's column."""


@dataclass(frozen=True, slots=True)
class CheckedRequest:
    """A request that has passed all checks that are possible before anything is done.

    `unchecked` is a clause about what services have not answered in time; None if everything was checked. `imports` are
    the existing objects that get resources, `departures` the resources that leave other stacks, or this one. With
    `joint`, it can only be planned: other stacks are deployed before.
    """

    prepared: Prepared
    definition: Definition
    desired: DesiredState
    unchecked: str | None = None
    imports: Imports = NO_IMPORTS
    joint: JointDeployment | None = None
    departures: StackMoves = NO_DEPARTURES

    def beginning(self, action: str) -> str:
        """Return the status reason of a stack with which an action on it begins."""
        return f"Stack {action} started" + (f"; {self.unchecked}" if self.unchecked else "")


async def parse_template(services: EngineServices, context: RequestContext, source: object) -> Template:
    """Return the template of a request, which is a string or data. Raises TemplateInvalid or BadValue."""
    if source is None or source == "":
        raise BadValue("No template specified: give `template` or `template_url`.")
    if not isinstance(source, str | Mapping):
        raise BadValue("The template must be a string or a map.")
    return await services.evaluator.evaluate(context.project_id, partial(services.loader.parse, source))


async def parse_request(
    services: EngineServices,
    context: RequestContext,
    request: TemplateInputs,
    values_of: Callable[[Template], RequestValues],
    check: RequestCheck = WHOLE,
) -> Template:
    """Return the template of a request. Raises TemplateInvalid with all problems of the request, or BadValue.

    `values_of` and `check` are those of `with_all_problems`.
    """
    try:
        return await parse_template(services, context, request.template)
    except TemplateInvalid as error:
        raise await with_all_problems(
            services, context, error, request.template or {}, values_of, request.files or {}, check
        ) from error


def given_by(request: TemplateInputs, former: Mapping[str, object], template: Template) -> RequestValues:
    """Return what the request gives to the template. Raises BadValue.

    The `former` values are those of parameters that neither the request nor its environment sets, as far as the
    template declares them.
    """
    environment, problems = _environment(request, template)
    previous = {
        name: value
        for name, value in former.items()
        if name in template.parameters and name not in environment.parameters
    }
    return RequestValues(environment, {**previous, **(request.parameters or {})}, problems)


async def examine_environment(
    services: EngineServices, context: RequestContext, request: TemplateInputs, template: Template
) -> tuple[Environment, list[Diagnostic]]:
    """Return what can be used of the request's environment, and its problems.

    Named environment files are merged in order and replace it. Raises BadValue if one is missing or no map.
    """
    return await services.evaluator.evaluate(context.project_id, partial(_environment, request, template))


def _environment(request: TemplateInputs, template: Template) -> tuple[Environment, list[Diagnostic]]:
    files = request.files or {}
    sources: list[tuple[str, object]]
    if request.environment_files:
        missing = [name for name in request.environment_files if name not in files]
        if missing:
            raise BadValue(f"Missing environment files: {', '.join(missing)}. Send their content in `files`.")
        sources = [(name, files[name]) for name in request.environment_files]
    else:
        sources = [("environment", request.environment or {})]
    written: list[tuple[str, Mapping[str, object]]] = []
    documents: dict[str, Document] = {}
    problems: list[Diagnostic] = []
    for number, (name, source) in enumerate(sources, 1):
        label = f"environment {number}"
        if isinstance(source, Mapping):
            written.append((label, source))
        elif not isinstance(source, str):
            raise BadValue(f"The environment {name} must be a map.")
        elif source.strip():
            try:
                documents[label] = Document.parse(source, source=name)
            except TemplateInvalid as error:
                problems += error.diagnostics
            else:
                written.append((label, documents[label].data))
    environment, found = Environment.examine(written, template.parameters)

    def locate(label: str, path: Path) -> Position | None:
        return documents[label].locate(path) if label in documents else None

    transfers = environment.transfers.located(locate)
    if request.template is not None and template.transfers:  # those of a template that stays are carried out
        transfers = transfers.with_further(template.transfers)
        found = [*found, *(item for item in transfers.conflicts() if item not in found)]
    return environment.with_transfers(transfers), problems + [
        _located(item, documents.get(item.source)) for item in found
    ]


def _located(item: Diagnostic, document: Document | None) -> Diagnostic:
    return item if document is None else replace(item, position=document.locate(item.path))


def check_name(name: object) -> str:
    """Return a valid stack name. Raises StackValidationFailed."""
    if not isinstance(name, str) or not _STACK_NAME.fullmatch(name):
        raise StackValidationFailed(
            f"Invalid stack name {name!r}: it must start with a letter, contain only letters, digits, '_', '.' and "
            "'-', and be at most 255 characters long."
        )
    return name


def check_tags(tags: Sequence[Any] | None) -> tuple[str, ...]:
    """Return a stack's tags. Raises BadValue."""
    for tag in tags or ():
        if not isinstance(tag, str) or not 0 < len(tag) <= MAX_TAG or "," in tag:
            raise BadValue(f"Invalid tag {tag!r}: it must be a string of 1 to {MAX_TAG} characters without a comma.")
        if is_healing_tag(tag):
            interval_of(tag, 0.0)
    return tuple(tags or ())


def check_timeout(minutes: object) -> int | None:
    """Return `timeout_mins`; None and 0 mean the default. Raises BadValue."""
    if minutes is None or minutes == 0:
        return None
    if isinstance(minutes, bool) or not isinstance(minutes, int) or not 0 < minutes <= LONGEST_TIMEOUT:
        raise BadValue(
            f"Invalid timeout_mins {minutes!r}: it must be an integer from 1 to {LONGEST_TIMEOUT}, in minutes."
        )
    return minutes


async def check_request(
    components: ActionComponents,
    context: RequestContext,
    stack: Stack,
    template: Template,
    environment: Environment,
    files: Mapping[str, str],
    parameters: Mapping[str, object],
    wrong: Sequence[Diagnostic] = (),
    joint: JointDeployment | None = None,
    refresh: Refresh = Refresh.NONE,
    together: Collection[str] = (),
) -> CheckedRequest:
    """Run all checks that are possible before anything is done, and report all errors together.

    `environment` is what can be used of environments with the problems `wrong`. With `joint`, the request can only be
    planned. `refresh` is that of `ValueChecker`. `together` are the names of the stacks of a refactoring, which moves
    resources between them.

    Raises TemplateInvalid with all diagnostics, RequestLimitExceeded, StackValidationFailed for an unusable event sink,
    or Forbidden for a type refused by policy.
    """
    services = components.services
    if wrong:
        raise await with_all_problems(
            services,
            context,
            TemplateInvalid(wrong),
            template.document,
            lambda _: RequestValues(environment, parameters, list(wrong)),
            files,
            WHOLE,
        )
    sinks = environment.event_sinks
    if sinks and (problems := list(sink_problems(services.types.registry, sinks))):
        raise StackValidationFailed(" ".join(problems))
    exports = await services.loader.exports(stack.project_id, template)
    coming = joint or {}
    if exports is not None:
        exports = {**exports, **dict.fromkeys(coming.get("exports") or (), UNDETERMINED)}
    unknown = dict.fromkeys(coming.get("parameters") or (), UNDETERMINED)
    known = {name: value for name, value in parameters.items() if name not in unknown}

    def bound() -> tuple[Prepared, Definition]:
        prepared = services.loader.prepare(
            template, environment, services.loader.files(files), known, context.denied_types
        )
        if unknown:
            prepared = prepared.with_parameters({**known, **unknown})
        return prepared, services.loader.bind(stack, prepared.loaded, strict=True, exports=exports)

    try:
        prepared, definition = await services.evaluator.evaluate(context.project_id, bound)
    except TemplateInvalid as error:
        raise await with_all_problems(
            services, context, error, template.document, lambda _: RequestValues(environment, known, []), files, WHOLE
        ) from error
    await check_exports(services, stack, [name for name, _ in definition.exports()], coming.get("released") or ())
    checker = await checked_tree(services, context, definition)
    limit = services.settings.max_resources_per_stack
    if 0 <= limit < checker.resources:
        raise RequestLimitExceeded(
            f"The stack has {checker.resources} resources; at most {limit} are allowed (max_resources_per_stack)."
        )
    questions = Questions(services.settings.validation_seconds)
    diagnostics = await ValueChecker(components, context, stack, questions, refresh).check(checker.found)
    if diagnostics:
        raise TemplateInvalid(diagnostics)
    unchecked = questions.report()
    if unchecked is not None:
        LOG.warning("the template of stack %s was accepted; %s", stack.name, unchecked)
    desired = await services.evaluator.evaluate(
        context.project_id, partial(DesiredState.of, services, definition, prepared.loaded)
    )
    imports, departures = NO_IMPORTS, NO_DEPARTURES
    if environment.transfers:
        from stoker.operations.transfer_checks import check_transfers  # only for environments that have some

        if environment.transfers.between:
            from stoker.operations.outgoing_move_checks import check_departures

            departures = await check_departures(services, stack, desired, together, coming.get("earlier") or ())
        imports = await check_transfers(components, context, stack, desired)
    return CheckedRequest(prepared, definition, desired, unchecked, imports, joint, departures)


async def check_whole(
    components: ActionComponents,
    context: RequestContext,
    stack: Stack,
    request: TemplateInputs,
    former: Mapping[str, object] | None = None,
    joint: JointDeployment | None = None,
    together: Collection[str] = (),
) -> CheckedRequest:
    """Check a request that defines the whole stack; `former` is that of `given_by`. Raises as `check_request`."""
    services = components.services
    values_of = partial(given_by, request, former or {})
    template = await parse_request(services, context, request, values_of)
    environment, parameters, wrong = await services.evaluator.evaluate(context.project_id, partial(values_of, template))
    files = request.files or {}
    return await check_request(
        components, context, stack, template, environment, files, parameters, wrong, joint=joint, together=together
    )


async def check_exports(
    services: EngineServices, stack: Stack, names: list[str], released: Collection[str] = ()
) -> None:
    """Refuse exports that another stack has, and the removal of exports that another stack imports.

    Those that are `released` by then are not looked at.
    """
    if names or stack.operation is not None:  # a stack that is not recorded has no exports
        await services.database.read(_compare_exports, stack, names, released)


def _compare_exports(connection: Connection, stack: Stack, names: list[str], released: Collection[str]) -> None:
    if names:
        taken = exchange.exporters(connection, stack.project_id, [name for name in names if name not in released])
        foreign = sorted(name for name, owner in taken.items() if owner != stack.id)
        if foreign:
            raise StackValidationFailed(f"Another stack of this project exports {', '.join(foreign)}.")
    lost = exchange.exported_by(connection, stack.id).keys() - {*names, *released}
    if lost:
        used = exchange.importers(connection, stack.project_id, lost)
        if used:
            uses = ", ".join(f"{name} (imported by {named_users(by)})" for name, by in sorted(used.items()))
            raise StackValidationFailed(f"Exports that are in use cannot be removed: {uses}.")


def check_room(connection: Connection, services: EngineServices, context: RequestContext, stack: Stack) -> None:
    """Refuse a new stack for which there is no room. Raises as `refuse_without_room`."""
    limit = services.settings.max_stacks_per_tenant
    refuse_without_room(change_sets.room_for(connection, stack, limit), context, stack, limit)


def refuse_without_room(room: Room, context: RequestContext, stack: Stack, limit: int) -> None:
    """Refuse a name that is in use, and more stacks than the project's limit; administrators have no limit.

    Change sets reserve the name of the stack that they create, for the stack with their reserved id. Raises StackExists
    or RequestLimitExceeded.
    """
    if room.is_taken:
        raise StackExists(f"The Stack ({stack.name}) already exists.")
    if room.is_promised:
        raise StackExists(
            f"The Stack ({stack.name}) already exists: it has change sets. Execute one of them to create it, or delete "
            "them to use the name otherwise."
        )
    if 0 <= limit <= room.stacks and not context.is_admin:
        raise RequestLimitExceeded(f"The project has {limit} stacks, and more are not allowed (max_stacks_per_tenant).")
