"""Generate a template from the objects of the caller's project, as the caller sees them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue
from stoker.base.similar import closest
from stoker.contract.generating import (
    GeneratedTemplate,
    GenerateFromProject,
    GroupedTemplate,
    LeftOut,
    LeftOutProperty,
    ListGeneratedTypes,
)
from stoker.engine.generation.descriptions import describe
from stoker.engine.generation.notation import HOT
from stoker.engine.generation.scan import Found, find_owners, scan, scanned_types
from stoker.engine.generation.template import Generated, write
from stoker.engine.records.services import EngineServices
from stoker.plugins.inventory import inventory_of
from stoker.plugins.resource import ResourceType
from stoker.template.versions import functions_of
from stoker_foundation.patterns.linear import fits_shell

_LONGEST_PATTERN = 255
_NOT_CHOSEN = "it was not asked for"


async def generated_type_list(
    services: EngineServices, context: RequestContext, request: ListGeneratedTypes
) -> Sequence[str]:
    """Return the names of the types, available to the caller, whose objects can be generated."""
    return sorted(types_to_generate(services, context))


async def project_generate(
    services: EngineServices, context: RequestContext, request: GenerateFromProject
) -> GeneratedTemplate:
    """Return a template with the objects of the project that no stack owns, and an environment that imports them.

    Raises BadValue for types that cannot be generated, RequestLimitExceeded for a project that is too large.
    """
    types = types_to_generate(services, context)
    requested = requested_types(services, types, request.types)
    cloud = await services.credentials.of_caller(context)
    found = await scan(cloud, scanned_types(types, requested, context.project_id), partial(_selects, request))
    await find_owners(services.database, found.found, context.project_id, context.user_id)

    chosen = frozenset(request.ids)
    for each in found.found:
        if chosen and each.id not in chosen:
            each.reason = each.reason or _NOT_CHOSEN
    free = [each for each in found.found if not each.reason and each.owner is None]
    described, dropped = await describe(cloud, free, found.found, context.project_id)
    others = [each for each in found.found if each not in described]
    functions = [each["functions"] for each in functions_of(HOT.version) or ()]
    generated = await services.evaluator.evaluate(context.project_id, partial(write, described, others, functions))
    grouped = await _grouped(services, context, generated) if request.groups else None
    names = generated.names
    return {
        "template": generated.template,
        "environment": generated.environment,
        "grouped": grouped,
        "resources": [
            {
                "resource_name": names[each],
                "resource_type": each.type_name,
                "physical_resource_id": each.id,
                "object_name": each.name,
            }
            for each in sorted(names, key=lambda each: each.order)
        ],
        "left_out": [
            _left_out(each, context.project_id)
            for each in sorted(others, key=lambda each: each.order)
            if not chosen or each.id in chosen
        ],
        "left_out_properties": _properties(dropped, names),
        "unread": [
            {"resource_types": each.types, "service": each.service, "reason": each.reason} for each in found.unread
        ],
        "parameters_without_value": generated.without_value,
    }


async def _grouped(services: EngineServices, context: RequestContext, generated: Generated) -> GroupedTemplate | None:
    """Return a template in which what repeats is written once; None if nothing does."""
    from stoker.engine.generation.grouping import with_groups

    grouped = await services.evaluator.evaluate(context.project_id, partial(with_groups, generated))
    if not grouped.paths:
        return None
    parameters = {name: value for name, value in generated.environment.items() if name == "parameters"}
    moved = [{"from": name, "to": path} for name, path in grouped.paths.items()]
    return {"template": grouped.template, "environment": {**parameters, "moved": moved}, "files": grouped.files}


def types_to_generate(services: EngineServices, context: RequestContext) -> Mapping[str, ResourceType]:
    """Return the types that the caller may use and whose objects can be generated."""
    return {
        name: kind
        for name, kind in services.types.offered().items()
        if context.may_use(name) and name == kind.type_name and inventory_of(kind, context.project_id) is not None
    }


def requested_types(services: EngineServices, types: Mapping[str, object], names: Iterable[str]) -> frozenset[str]:
    """Return the types to scan. Raises BadValue for those that cannot be generated."""
    requested = frozenset(names)
    for name in sorted(requested - types.keys()):
        if name in services.types.offered_names():
            raise BadValue(f"Objects of the type {name} cannot be generated; those of these can: {_listed(types)}.")
        close = closest(name, types)
        hint = f"did you mean {close}?" if close else f"These types can be generated: {_listed(types)}."
        raise BadValue(f"There is no resource type {name}; {hint}")
    return requested or frozenset(types)


def _listed(types: Iterable[str]) -> str:
    return ", ".join(sorted(types))


def _selects(request: GenerateFromProject, found: Found) -> bool:
    """Return whether a request asks for an object. Raises BadValue for a pattern that is too long."""
    if request.name is not None:
        if len(request.name) > _LONGEST_PATTERN:
            raise BadValue(f"The pattern of names is longer than {_LONGEST_PATTERN} characters.")
        if not fits_shell(request.name, found.name):
            return False
    metadata = found.fields.get("metadata") or {}
    has = {*(found.fields.get(found.scanned.inventory.tags_field) or ()), *(f"{k}={v}" for k, v in metadata.items())}
    return has.issuperset(request.tags)


def _left_out(found: Found, project_id: str) -> LeftOut:
    owner = found.owner
    visible = owner if owner is not None and owner.project_id == project_id else None
    return {
        "resource_type": found.type_name,
        "physical_resource_id": found.id,
        "object_name": found.name,
        "reason": found.reason if owner is None else f"it belongs to {owner.named_for(project_id)}",
        "stack_name": visible.stack if visible is not None else None,
        "owner": visible.name if visible is not None else None,
    }


def _properties(dropped: Mapping[Found, Mapping[str, str]], names: Mapping[Found, str]) -> list[LeftOutProperty]:
    return [
        {"resource_name": names[found], "property": name, "reason": reason}
        for found, reasons in dropped.items()
        if found in names
        for name, reason in reasons.items()
    ]
