"""The catalog of resource types, template versions and functions; validation of templates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from stoker import __version__
from stoker.base.context import RequestContext
from stoker.base.errors import BadValue, EntityNotFound, Invalid, NotSupported
from stoker.contract.catalog import (
    EngineView,
    GenerateTemplate,
    ListEngines,
    ListResourceTypes,
    ListTemplateFunctions,
    ListTemplateVersions,
    ShowBuildInfo,
    ShowResourceType,
    TypeDetails,
    TypeSummary,
)
from stoker.contract.views import JSONObject
from stoker.engine.records.services import EngineServices
from stoker.plugins.resource import ResourceType
from stoker.schema.property import Attribute, Property, Type, schema_to_api
from stoker.store import claims
from stoker.template.versions import functions_of, list_versions
from stoker_foundation.patterns import Pattern, PatternError, PatternTooCostly, compiled

_STATUSES = ("UNKNOWN", "SUPPORTED", "DEPRECATED", "UNSUPPORTED", "HIDDEN")
_BASE_ATTRIBUTES = {"show": Attribute("Detailed information about resource.", Type.MAP, live=True)}


# -- resource types ----------------------------------------------------------------------------------------------


async def resource_type_list(
    services: EngineServices, context: RequestContext, request: ListResourceTypes
) -> Sequence[str | TypeSummary]:
    """Return the names of the types available to the caller, filtered by support status, name pattern, or version."""
    if request.support_status is not None and request.support_status not in _STATUSES:
        raise Invalid(f"Invalid support status {request.support_status!r}; the statuses are {', '.join(_STATUSES)}.")
    pattern = _pattern(request.name) if request.name else None
    offered = sorted(services.types.offered().items())
    if pattern is not None:
        fits = partial(_begins, pattern)
        offered = await services.evaluator.evaluate(
            context.project_id, lambda: [(name, type_) for name, type_ in offered if fits(name)]
        )
    found: list[str | TypeSummary] = []
    for type_name, type_ in offered:
        support = type_.support
        if support.status == "HIDDEN" or not context.may_use(type_name):
            continue
        if request.support_status is not None and support.status != request.support_status:
            continue
        if request.version is not None and support.version != request.version:
            continue
        found.append(
            {"resource_type": type_name, "description": type_.description} if request.with_description else type_name
        )
    return found


def _pattern(text: str) -> Pattern:
    try:
        return compiled(text)
    except PatternError as error:
        raise BadValue(f"Invalid name {text!r}: it is not a regular expression ({error}).") from error


def _begins(pattern: Pattern, type_name: str) -> bool:
    try:
        return pattern.begins(type_name)
    except PatternTooCostly as error:
        raise BadValue(f"Invalid name {pattern.text!r}: matching it with {type_name} takes too long.") from error


def _type(services: EngineServices, type_name: str) -> ResourceType:
    type_ = services.types.offered_type(type_name)
    if type_ is None:
        raise EntityNotFound(f"The Resource Type ({type_name}) could not be found.")
    if type_.support.status == "HIDDEN":
        raise NotSupported(f"The resource type {type_name} is hidden and has no schema to show.")
    return type_


async def resource_type_show(
    services: EngineServices, context: RequestContext, request: ShowResourceType
) -> TypeDetails:
    """Return a type's properties and attributes. Raises EntityNotFound."""
    type_ = _type(services, request.type_name)
    attributes = {**type_.attributes, **_BASE_ATTRIBUTES}
    answer: TypeDetails = {
        "resource_type": request.type_name,
        "properties": schema_to_api(type_.properties),
        "attributes": {
            name: attribute.to_schema()
            for name, attribute in attributes.items()
            if attribute.support.status != "HIDDEN"
        },
        "support_status": type_.support.to_schema(),
    }
    if request.with_description:
        answer["description"] = type_.description
    return answer


async def resource_type_template(
    services: EngineServices, context: RequestContext, request: GenerateTemplate
) -> JSONObject:
    """Return a template with one resource of the type: its properties as parameters, its attributes as outputs."""
    if request.template_type not in ("cfn", "hot"):
        raise BadValue(f"Invalid template type {request.template_type!r}: it must be cfn or hot.")
    type_ = _type(services, request.type_name)
    visible = {name: prop for name, prop in type_.properties.items() if prop.implemented}
    visible = {name: prop for name, prop in visible.items() if prop.support.status != "HIDDEN"}
    resource = request.type_name.rpartition("::")[2] or request.type_name
    attributes = {**type_.attributes, **_BASE_ATTRIBUTES}
    if request.template_type == "hot":
        return {
            "heat_template_version": "2016-10-14",
            "description": f"Initial template of {resource}",
            "parameters": {name: _hot_parameter(prop) for name, prop in visible.items()},
            "resources": {
                resource: {"type": request.type_name, "properties": {name: {"get_param": name} for name in visible}}
            },
            "outputs": {
                name: {"description": attribute.description, "value": {"get_attr": [resource, name]}}
                for name, attribute in attributes.items()
            },
        }
    return {
        "HeatTemplateFormatVersion": "2012-12-12",
        "Description": f"Initial template of {resource}",
        "Parameters": {name: _cfn_parameter(prop) for name, prop in visible.items()},
        "Resources": {
            resource: {
                "Type": request.type_name,
                "Properties": {name: _cfn_value(name, visible[name]) for name in visible},
            }
        },
        "Outputs": {
            name: {"Description": attribute.description, "Value": {"Fn::GetAtt": [resource, name]}}
            for name, attribute in attributes.items()
        },
    }


_HOT_TYPES = {
    Type.STRING: "string",
    Type.INTEGER: "number",
    Type.NUMBER: "number",
    Type.BOOLEAN: "boolean",
    Type.LIST: "comma_delimited_list",
    Type.MAP: "json",
    Type.ANY: "string",
}
_CFN_TYPES = {**_HOT_TYPES, Type.LIST: "CommaDelimitedList", Type.MAP: "Json", Type.BOOLEAN: "Boolean"}


def _hot_parameter(prop: Property) -> dict[str, object]:
    body: dict[str, object] = {"type": _HOT_TYPES[prop.type], "description": prop.description}
    if not prop.required:
        body["default"] = _default(prop)
    constraints = [dict(constraint.to_schema()) for constraint in prop.constraints]
    if constraints:
        body["constraints"] = constraints
    return body


def _default(prop: Property) -> object:
    if prop.type is Type.LIST:
        return ",".join(str(item) for item in prop.default or [])
    if prop.type is Type.MAP:
        return dict(prop.default or {})
    return prop.default if prop.default is not None else ""


def _cfn_parameter(prop: Property) -> dict[str, object]:
    name = _CFN_TYPES[prop.type]
    body: dict[str, object] = {"Type": name[0].upper() + name[1:], "Description": prop.description}
    if not prop.required:
        body["Default"] = _default(prop)
    return body


def _cfn_value(name: str, prop: Property) -> object:
    if prop.type is Type.LIST:
        return {"Fn::Split": [",", {"Ref": name}]}
    return {"Ref": name}


# -- templates ---------------------------------------------------------------------------------------------------


async def template_version_list(
    services: EngineServices, context: RequestContext, request: ListTemplateVersions
) -> Sequence[JSONObject]:
    """Return the template formats and versions."""
    return list_versions()


async def template_function_list(
    services: EngineServices, context: RequestContext, request: ListTemplateFunctions
) -> Sequence[JSONObject]:
    """Return the functions of a template version. Raises EntityNotFound."""
    functions = functions_of(request.version, with_condition_functions=request.with_condition_func)
    if functions is None:
        raise EntityNotFound(f"The Template with version ({request.version}) could not be found.")
    return functions


# -- the service -------------------------------------------------------------------------------------------------


async def build_info(services: EngineServices, context: RequestContext, request: ShowBuildInfo) -> dict[str, object]:
    """Return the build of the engine."""
    return {"engine": {"revision": __version__}}


async def service_list(services: EngineServices, context: RequestContext, request: ListEngines) -> Sequence[EngineView]:
    """Return the engine processes, and whether each is alive."""
    now = services.clock.now()
    rows = await services.database.read(claims.list_engines)
    return [
        {
            "id": row.id,
            "host": row.host,
            "hostname": row.host,
            "binary": "stoker-engine",
            "topic": "engine",
            "engine_id": row.id,
            "status": "up" if row.stopped_at is None and row.seen_at + row.lease > now else "down",
            "created_at": row.started_at,
            "updated_at": row.seen_at,
            "deleted_at": row.stopped_at,
            "report_interval": int(services.settings.heartbeat_seconds),
        }
        for row in rows
        if row.stopped_at is None or row.stopped_at > now - 3600
    ]
