"""Requests about templates that are generated from objects and kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from stoker.contract.request import Request
from stoker.contract.views import JSONObject


class ObjectToGenerate(TypedDict):
    """An object that becomes a resource; `resource_name` is null for a name that is made from the object's."""

    resource_type: str
    physical_resource_id: str
    resource_name: str | None


class TemplatePolicies(TypedDict, total=False):
    """The policies of the resources, `Retain` or `Delete`; what is missing is as it was, or as by default."""

    deletion_policy: str
    update_replace_policy: str


class TemplateIdentity(TypedDict):
    """Which generated template it is."""

    id: str
    name: str
    project_id: str


class TemplateView(TemplateIdentity):
    """A generated template in a list. `status` is CREATE_IN_PROGRESS, UPDATE_IN_PROGRESS, COMPLETE, or FAILED if a
    resource could not be generated. Times are seconds since the epoch.
    """

    status: str
    reason: str
    number_of_resources: int
    created_at: float
    updated_at: float


class PropertyWarning(TypedDict):
    """A property that the template does not have. `kind` is EXCLUDED_PROPERTIES if the object has it, and
    UNSUPPORTED_PROPERTIES if no service shows whether it has.
    """

    kind: str
    property: str
    required: bool
    description: str


class ResourceOfTemplate(TypedDict):
    """A resource of a generated template. `status` is PENDING, COMPLETE or FAILED."""

    resource_type: str
    physical_resource_id: str
    resource_name: str | None
    status: str
    reason: str
    warnings: Sequence[PropertyWarning]


class TemplateDetails(TemplateView):
    """A generated template with its resources. The stack is that which the template is based on."""

    resources: Sequence[ResourceOfTemplate]
    policies: TemplatePolicies
    stack_id: str | None
    stack_name: str | None
    template: JSONObject | None


@dataclass(frozen=True, kw_only=True)
class CreateGeneratedTemplate(Request[TemplateIdentity]):
    """Start to generate a template of objects of the caller's project, and keep it.

    With a stack, its template is the base: the resources are added to it, and refer to the stack's.
    """

    method = "generated_template_create"
    name: str
    objects: Sequence[ObjectToGenerate]
    policies: TemplatePolicies
    stack_name: str | None = None


@dataclass(frozen=True, kw_only=True)
class UpdateGeneratedTemplate(Request[TemplateIdentity]):
    """Start to change a generated template: add objects, remove resources by name, or read all objects again."""

    method = "generated_template_update"
    name: str
    new_name: str | None
    add: Sequence[ObjectToGenerate]
    remove: Sequence[str]
    refresh: bool
    policies: TemplatePolicies


@dataclass(frozen=True, kw_only=True)
class ShowGeneratedTemplate(Request[TemplateDetails]):
    """Show a generated template, by name or ID."""

    method = "generated_template_show"
    name: str


@dataclass(frozen=True, kw_only=True)
class ListGeneratedTemplates(Request[Sequence[TemplateView]]):
    """List the generated templates of the project, by name."""

    method = "generated_template_list"


@dataclass(frozen=True, kw_only=True)
class DeleteGeneratedTemplate(Request[None]):
    """Delete a generated template; nothing else is deleted."""

    method = "generated_template_delete"
    name: str
