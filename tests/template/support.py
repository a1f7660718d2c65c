"""Resource types and helpers for tests of the template language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from textwrap import dedent
from typing import Any

import pytest

from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import TemplateInvalid
from stoker.plugins.resource import Graph, Node, ResourceType
from stoker.schema.constraints import AllowedValues, Range
from stoker.schema.property import Attribute, Change, Property, Type
from stoker.template.check import check
from stoker.template.definition import Definition
from stoker.template.environment import Environment
from stoker.template.parameters import PseudoParameters
from stoker.template.template import Template

PSEUDO = PseudoParameters("uuid", "web", "project", arn="arn:openstack:heat::project:stacks/web/uuid")


class Net(ResourceType):
    type_name = "Test::Net"
    properties = {
        "name": Property(change=Change.UPDATE),
        "description": Property(change=Change.UPDATE),
        "mtu": Property(Type.INTEGER, constraints=(Range(min=68, max=9000),)),
    }
    attributes = {"subnets": Attribute()}


class Port(ResourceType):
    type_name = "Test::Port"
    properties = {
        "network": Property(required=True),
        "fixed_ips": Property(Type.LIST, items=Property(Type.MAP, schema={"ip_address": Property()})),
        "security": Property(constraints=(AllowedValues(values=("on", "off")),)),
    }
    attributes = {"mac_address": Attribute(), "fixed_ips": Attribute()}

    def implicit_requirements(self, node: Node, graph: Graph) -> Iterable[str]:
        requirement = node.properties["network"]
        return [net.name for net in graph.of_type("Test::Gateway") if net.properties["network"] == requirement]


class Gateway(ResourceType):
    type_name = "Test::Gateway"
    properties = {"network": Property(required=True), "peer": Property(), "a": Property(), "b": Property()}
    update_policy = {"batch": Property(Type.INTEGER)}
    snapshot_on_delete = True

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        if properties["a"] is not None and properties["b"] is not None:
            yield "a and b exclude each other"


class Group(ResourceType):
    type_name = "Test::Group"
    any_properties = True
    nested = True


TYPES: Mapping[str, ResourceType] = {kind.type_name: kind() for kind in (Net, Port, Gateway, Group)}


def load(text: str, source: str = "web.yaml") -> Template:
    return Template.load(dedent(text).lstrip(), source=source)


def bind(
    template: Template | str,
    parameters: Mapping[str, Any] | None = None,
    environment: Mapping[str, Any] | None = None,
    **options: Any,
) -> Definition:
    if isinstance(template, str):
        template = load(template)
    files = options.pop("files", {})
    return Definition.bind(
        template,
        Environment.from_data(environment),
        parameters=parameters or {},
        files=files,
        pseudo=PSEUDO,
        **options,
    )


def problems(template: Template | str, parameters: Mapping[str, Any] | None = None) -> list[Diagnostic]:
    """The diagnostics of `check` for a bound template; types are looked up by the name as written."""
    definition = bind(template, parameters)
    return check(definition, lambda name, _: TYPES.get(name), type_names=list(TYPES))


def invalid(text: str, parameters: Mapping[str, Any] | None = None) -> TemplateInvalid:
    """The error of a template that cannot even be bound."""
    with pytest.raises(TemplateInvalid) as caught:
        bind(text, parameters)
    return caught.value


def messages(diagnostics: Iterable[Diagnostic]) -> list[str]:
    return [diagnostic.text() for diagnostic in diagnostics]
