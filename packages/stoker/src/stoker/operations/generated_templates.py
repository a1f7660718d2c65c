"""Templates that are generated from objects of a project, and kept until they are deleted.

They are generated in the background, with the credentials of the caller, so that no other engine can take that over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from stoker.base.context import RequestContext
from stoker.base.errors import (
    ActionInProgress,
    BadValue,
    Conflict,
    EntityNotFound,
    NotSupported,
    RequestLimitExceeded,
)
from stoker.base.ids import new_id
from stoker.cloud.session import Cloud
from stoker.contract.generated_templates import (
    CreateGeneratedTemplate,
    DeleteGeneratedTemplate,
    ListGeneratedTemplates,
    ObjectToGenerate,
    PropertyWarning,
    ResourceOfTemplate,
    ShowGeneratedTemplate,
    TemplateDetails,
    TemplateIdentity,
    TemplatePolicies,
    TemplateView,
    UpdateGeneratedTemplate,
)
from stoker.contract.request import by_name
from stoker.contract.stacks import ShowTemplate
from stoker.engine.generation.kept import Base, Item, Order, generate
from stoker.engine.generation.notation import CFN, Notation
from stoker.engine.generation.scan import Scanned, scanned_types
from stoker.engine.records.services import EngineServices, RecordingServices
from stoker.operations.background_work import has_living_engine, reason_of
from stoker.operations.inspection import stack_template
from stoker.operations.lookup import find_stack
from stoker.operations.template_generation import requested_types, types_to_generate
from stoker.plugins.resource import ResourceType
from stoker.store import claims, generated_templates, queries
from stoker.store.journal import Batch
from stoker.store.records import COMPLETE, FAILED, PENDING
from stoker.store.survey_records import GeneratedTemplate
from stoker.template.versions import functions_of

MOST_TEMPLATES = 100
"""Maximum number of generated templates of a project."""
MOST_RESOURCES = 500
"""Maximum number of resources of one."""
CREATING, UPDATING = "CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS"
_IN_PROGRESS = (CREATING, UPDATING)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,127}")
_RESOURCE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,254}")
_DEFAULTS: TemplatePolicies = {"deletion_policy": "Retain"}


@dataclass(frozen=True)
class _Body:
    """What is recorded of a generated template; `stack` is the ID of the stack that it is based on."""

    items: Sequence[Item]
    policies: TemplatePolicies
    stack: str | None
    template: Mapping[str, Any] | None = None

    def sealed(self, services: EngineServices) -> str:
        items = [item.to_data() for item in self.items]
        return services.sealer.seal({**vars(self), "items": items})

    @classmethod
    def opened(cls, services: EngineServices, row: GeneratedTemplate) -> _Body:
        data = services.sealer.open(row.body)
        return cls(**{**data, "items": [Item.of_data(each) for each in data["items"]]})


async def generated_template_create(
    services: RecordingServices, context: RequestContext, request: CreateGeneratedTemplate
) -> TemplateIdentity:
    """Start to generate a template. Raises BadValue, EntityNotFound for the stack, Conflict for a name that is used."""
    _check_name(request.name)
    stack = await find_stack(services, context, by_name(request.stack_name)) if request.stack_name else None
    body = _Body(
        items=_added((), request.objects),
        policies={**_DEFAULTS, **request.policies},
        stack=stack.id if stack is not None else None,
    )
    base, types = await _checked(services, context, body)
    if await services.database.read(generated_templates.count, context.project_id) >= MOST_TEMPLATES:
        raise RequestLimitExceeded(
            f"A project can have at most {MOST_TEMPLATES} generated templates; delete one first."
        )
    now = services.clock.now()
    row = GeneratedTemplate(
        id=new_id(),
        project_id=context.project_id,
        name=request.name,
        engine=services.id,
        status=CREATING,
        reason="",
        number=len(body.items),
        body=body.sealed(services),
        created_at=now,
        updated_at=now,
    )
    cloud = await services.credentials.of_caller(context)
    await _commit(services, Batch().add(row), request.name)
    services.background.spawn(_generate(services, context, row, body, _order(body, base, types, context), cloud))
    return _identity(row)


async def generated_template_update(
    services: RecordingServices, context: RequestContext, request: UpdateGeneratedTemplate
) -> TemplateIdentity:
    """Start to change a generated template.

    Raises EntityNotFound, BadValue, Conflict for a name that is used, ActionInProgress.
    """
    row = await _found(services, context, request.name)
    if row.status in _IN_PROGRESS:
        raise _in_progress(row.name)
    former, read = _Body.opened(services, row), row.body
    remaining = _without(former.items, request.remove)
    if request.refresh:
        remaining = [replace(item, values=None, status=PENDING, reason="") for item in remaining]
    policies: TemplatePolicies = {**former.policies, **request.policies}
    body = replace(former, items=_added(remaining, request.add), policies=policies)
    if request.new_name is not None:
        _check_name(request.new_name)
        row.name = request.new_name
    base, types = await _checked(services, context, body)
    row.engine, row.status, row.reason = services.id, UPDATING, ""
    row.number, row.updated_at, row.body = len(body.items), services.clock.now(), body.sealed(services)
    cloud = await services.credentials.of_caller(context)
    changed = replace(row)

    def write(connection: Connection) -> None:
        if not generated_templates.replace_read(connection, changed, read):
            raise _in_progress(request.name)

    await _commit(services, Batch().then(write), row.name)
    services.background.spawn(_generate(services, context, row, body, _order(body, base, types, context), cloud))
    return _identity(row)


async def generated_template_show(
    services: EngineServices, context: RequestContext, request: ShowGeneratedTemplate
) -> TemplateDetails:
    """Return a generated template, with its resources. Raises EntityNotFound."""
    row = await _found(services, context, request.name)
    body = _Body.opened(services, row)
    stack = await services.database.read(queries.stack_by_id, body.stack) if body.stack is not None else None
    return {
        **_view(row),
        "resources": [_resource(item, services.types.offered_type(item.type)) for item in body.items],
        "policies": body.policies,
        "stack_id": body.stack,
        "stack_name": stack.name if stack is not None else None,
        "template": dict(body.template) if body.template is not None else None,
    }


async def generated_template_list(
    services: EngineServices, context: RequestContext, request: ListGeneratedTemplates
) -> Sequence[TemplateView]:
    """Return the generated templates of the project, by name."""
    rows = await services.database.read(generated_templates.of_project, context.project_id)
    alive = await services.database.read(claims.living, services.clock.now())
    return [_view(_now(row, row.engine in alive)) for row in rows]


async def generated_template_delete(
    services: RecordingServices, context: RequestContext, request: DeleteGeneratedTemplate
) -> None:
    """Delete a generated template. Raises EntityNotFound, and ActionInProgress while it is being generated."""
    row = await _found(services, context, request.name)
    if row.status in _IN_PROGRESS:
        raise _in_progress(row.name)

    def remove(connection: Connection) -> None:
        if not generated_templates.remove_read(connection, row):
            raise _in_progress(row.name)

    await services.journal.commit(Batch().then(remove))


def _in_progress(name: str) -> ActionInProgress:
    return ActionInProgress(f"The generated template {name} is being generated: change or delete it afterwards.")


# -- requests ------------------------------------------------------------------------------------------------------


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise BadValue(
            f"Invalid name of a generated template {name!r}: it must start with a letter, contain only letters, digits "
            "and '-', and be at most 128 characters long."
        )


def _added(remaining: Sequence[Item], objects: Sequence[ObjectToGenerate]) -> list[Item]:
    """Return the items with further ones. Raises BadValue for what is there already."""
    items = list(remaining)
    known, names = {item.key for item in remaining}, {item.name for item in remaining}
    for each in objects:
        name = each["resource_name"]
        item = Item(type=each["resource_type"], id=each["physical_resource_id"], name=name)
        if item.key in known:
            raise BadValue(f"The object {item.id} of the type {item.type} is given twice.")
        if name is not None and not _RESOURCE_NAME.fullmatch(name):
            raise BadValue(
                f"Invalid name of a resource {name!r}: it must start with a letter, contain only letters, digits, '-' "
                "and '_', and be at most 255 characters long."
            )
        if name is not None and name in names:
            raise BadValue(f"Two resources have the name {name}.")
        known.add(item.key)
        names.add(name)
        items.append(item)
    if len(items) > MOST_RESOURCES:
        raise RequestLimitExceeded(f"A generated template can have at most {MOST_RESOURCES} resources.")
    return items


def _without(items: Sequence[Item], names: Iterable[str]) -> list[Item]:
    """Return the items without those with the names. Raises BadValue for an unknown name."""
    removed = set(names)
    if unknown := sorted(removed - {str(item.name) for item in items}):
        raise BadValue(f"The generated template has no resource {', '.join(unknown)}.")
    return [item for item in items if item.name not in removed]


async def _checked(
    services: EngineServices, context: RequestContext, body: _Body
) -> tuple[Base, Mapping[str, ResourceType]]:
    """Return the base, and the types. Raises BadValue for types and names that are impossible, NotSupported for a
    policy that the format of the base does not have.
    """
    types = types_to_generate(services, context)
    requested_types(services, types, {item.type for item in body.items})
    base = await _base(services, context, body.stack)
    mine = {item.name for item in body.items if item.values is None and item.key not in base.owned}
    if clash := next((name for name in sorted(filter(None, mine)) if name in base.taken), None):
        raise BadValue(f"The template of the stack has {clash} already; choose another name for the resource.")
    deletion = body.policies["deletion_policy"]
    if base.notation is not CFN and body.policies.get("update_replace_policy", deletion) != deletion:
        raise NotSupported(
            "The stack's template is a HOT template, in which the deletion policy applies to replaced objects, too: "
            "give both policies the same value."
        )
    return base, types


async def _base(services: EngineServices, context: RequestContext, stack_id: str | None) -> Base:
    if stack_id is None:
        return Base(CFN.head)
    template = await stack_template(services, context, ShowTemplate(ref={"name": "", "id": stack_id}))
    rows = (await services.database.read(queries.resource_summaries, [stack_id])).get(stack_id, [])
    owned = {(row.type, row.physical_id): row.name for row in rows if row.physical_id is not None}
    known = scanned_types(types_to_generate(services, context), {row.type for row in rows}, context.project_id)
    return Base(template, owned, {each.kind.type_name: each.inventory.finder for each in known})


def _order(body: _Body, base: Base, types: Mapping[str, ResourceType], context: RequestContext) -> Order:
    scanned: list[Scanned] = scanned_types(types, {item.type for item in body.items}, context.project_id)
    replaced = body.policies.get("update_replace_policy") if base.notation is CFN else None
    return Order(body.items, scanned, base, body.policies["deletion_policy"], replaced)


async def _commit(services: RecordingServices, batch: Batch, name: str) -> None:
    try:
        await services.journal.commit(batch)
    except IntegrityError as error:
        raise Conflict(f"The project already has a generated template {name}.") from error


# -- generation ----------------------------------------------------------------------------------------------------


def _functions(notation: Notation) -> list[str]:
    return [str(each["functions"]) for each in functions_of(notation.version) or ()]


async def _generate(
    services: RecordingServices,
    context: RequestContext,
    row: GeneratedTemplate,
    body: _Body,
    order: Order,
    cloud: Cloud,
) -> None:
    evaluate = partial(services.evaluator.evaluate, context.project_id)
    try:
        items, template = await generate(order, cloud, context.project_id, _functions, evaluate)
        body = replace(body, items=items, template=template)
        failed = sum(item.status == FAILED for item in items)
        row.status = FAILED if failed else COMPLETE
        row.reason = f"{failed} of {len(items)} resources could not be generated." if failed else ""
    except Exception as error:
        row.status, row.reason = FAILED, reason_of(error, f"the generation of the template {row.id}")
    row.body, row.updated_at = body.sealed(services), services.clock.now()
    await services.journal.commit(Batch().change(row))


# -- reading -------------------------------------------------------------------------------------------------------


async def _found(services: EngineServices, context: RequestContext, name: str) -> GeneratedTemplate:
    """Return a generated template of the project as it is now. Raises EntityNotFound."""
    row = await services.database.read(generated_templates.find, context.project_id, name)
    if row is None:
        raise EntityNotFound(f"There is no generated template {name}.")
    return _now(row, row.status not in _IN_PROGRESS or await has_living_engine(services, row.engine))


def _now(row: GeneratedTemplate, is_looked_after: bool) -> GeneratedTemplate:
    if row.status not in _IN_PROGRESS or is_looked_after:
        return row
    return replace(row, status=FAILED, reason="The engine that generated the template has stopped; refresh it.")


def _identity(row: GeneratedTemplate) -> TemplateIdentity:
    return {"id": row.id, "name": row.name, "project_id": row.project_id}


def _view(row: GeneratedTemplate) -> TemplateView:
    return {
        **_identity(row),
        "status": row.status,
        "reason": row.reason,
        "number_of_resources": row.number,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }


def _resource(item: Item, kind: ResourceType | None) -> ResourceOfTemplate:
    return {
        "resource_type": item.type,
        "physical_resource_id": item.id,
        "resource_name": item.name,
        "status": item.status,
        "reason": item.reason,
        "warnings": _warnings(item, kind) if kind is not None and item.values is not None else [],
    }


def _warnings(item: Item, kind: ResourceType) -> list[PropertyWarning]:
    left_out: list[PropertyWarning] = [
        {
            "kind": "EXCLUDED_PROPERTIES",
            "property": name,
            "required": kind.properties[name].required,
            "description": reason,
        }
        for name, reason in item.dropped.items()
    ]
    unseen: list[PropertyWarning] = [
        {
            "kind": "UNSUPPORTED_PROPERTIES",
            "property": name,
            "required": prop.required,
            "description": "No service shows it.",
        }
        for name, prop in kind.properties.items()
        if prop.secret
    ]
    return left_out + unseen
