"""The catalog of the service: template formats, functions, resource types, validation, engine processes."""

from __future__ import annotations

from typing import Any

from stoker.api.policies import REQUEST_RULES
from stoker.api.requests import Query
from stoker.api.v1 import views
from stoker.api.v1.call import RestCall
from stoker.api.v1.stack_body import validate_request
from stoker.api.values import BOOLEAN, COMMA_LIST, STRING, Choice, Field
from stoker.base.errors import Forbidden
from stoker.contract.catalog import (
    GenerateTemplate,
    ListEngines,
    ListResourceTypes,
    ListTemplateFunctions,
    ListTemplateVersions,
    ShowBuildInfo,
    ShowResourceType,
)

VALIDATE_QUERY = Query({"show_nested": Field(BOOLEAN, default=False), "ignore_errors": Field(COMMA_LIST, default=[])})

TYPES_QUERY = Query(
    {
        "support_status": Field(STRING),
        "name": Field(STRING),
        "version": Field(STRING),
        "with_description": Field(BOOLEAN, default=False),
    }
)

TYPE_TEMPLATE_QUERY = Query({"template_type": Field(Choice("cfn", "hot"), default="cfn")})

FUNCTIONS_QUERY = Query({"with_condition_func": Field(BOOLEAN, default=False)})


def validate_template(call: RestCall) -> dict[str, object]:
    """Validate a template and show its parameters."""
    return views.validated(call.execute(validate_request(call)))


def list_resource_types(call: RestCall) -> dict[str, object]:
    """List the resource types that the caller can use."""
    answer = call.execute(ListResourceTypes(**call.query))
    return {"resource_types": [item for item in answer if call.context.may_use(_type_name(item))]}


def resource_schema(call: RestCall) -> object:
    """Show a resource type's properties and attributes."""
    return call.execute(ShowResourceType(type_name=_allowed_type(call), with_description=False))


def generate_template(call: RestCall) -> object:
    """Generate a template with a resource type's properties as parameters."""
    return call.execute(GenerateTemplate(type_name=_allowed_type(call), template_type=call.query["template_type"]))


def list_permissions(call: RestCall) -> dict[str, object]:
    """List which policy rules the caller passes in the project: what other requests of the caller are refused for."""
    return {"permissions": {rule: call.allows(rule) for rule in REQUEST_RULES}}


def list_template_versions(call: RestCall) -> dict[str, object]:
    """List the template formats."""
    return {"template_versions": call.execute(ListTemplateVersions())}


def list_template_functions(call: RestCall) -> dict[str, object]:
    """List the functions of a template format."""
    answer = call.execute(ListTemplateFunctions(version=call.path["template_version"], **call.query))
    return {"template_functions": answer}


def list_services(call: RestCall) -> dict[str, object]:
    """List the engine processes."""
    return {"services": [views.service(view) for view in call.execute(ListEngines())]}


def build_info(call: RestCall) -> dict[str, object]:
    """Show the revisions of the API and of the engine."""
    return {"api": {"revision": call.config.revision.heat_revision}, **call.execute(ShowBuildInfo())}


def _type_name(item: Any) -> str:
    return item if isinstance(item, str) else item["resource_type"]


def _allowed_type(call: RestCall) -> str:
    name = call.path["type_name"]
    if not call.context.may_use(name):
        raise Forbidden(f"Policy does not allow the resource type {name} to this user.")
    return name
