"""Plug-ins: what the registry finds, and which declarations it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

import pytest
from stoker_reference import resource_types as reference

from stoker.api.policies import ADMIN_ROLE, RULE_SETS
from stoker.base.extensions import PluginInvalid
from stoker.plugins.registry import Registry
from stoker.plugins.resource import ResourceType
from stoker.resources.constraints import CONSTRAINTS
from stoker.resources.declare import custom, one_of
from stoker.resources.neutron import TYPES
from stoker.schema.property import Property, Type


class Sound(ResourceType):
    type_name = "Test::Sound"
    local = True


CHECKED = {
    "AWS::AutoScaling::AutoScalingGroup", "AWS::CloudFormation::Stack", "AWS::EC2::Instance", "AWS::EC2::Volume",
    "AWS::ElasticLoadBalancing::LoadBalancer",
    "OS::Aodh::Alarm", "OS::Aodh::CompositeAlarm", "OS::Aodh::EventAlarm",
    "OS::Aodh::GnocchiAggregationByMetricsAlarm", "OS::Aodh::GnocchiAggregationByResourcesAlarm",
    "OS::Aodh::GnocchiResourcesAlarm", "OS::Aodh::LBMemberHealthAlarm", "OS::Aodh::PrometheusAlarm",
    "OS::Cinder::Volume", "OS::Heat::AutoScalingGroup", "OS::Heat::InstanceGroup", "OS::Heat::ResourceChain",
    "OS::Heat::ResourceGroup", "OS::Heat::SoftwareDeploymentGroup", "OS::Heat::SoftwareDeployments", "OS::Heat::Stack",
    "OS::Heat::StructuredDeploymentGroup", "OS::Heat::StructuredDeployments", "OS::Heat::TestResource",
    "OS::Manila::Share", "OS::Neutron::FloatingIPPortForward", "OS::Nova::KeyPair", "OS::Nova::Server",
    "OS::Swift::Container", "OS::Trove::Instance",
}  # fmt: skip
"""Types that Heat 27 can check."""

CHECKED_HERE = {
    "AWS::EC2::EIPAssociation", "AWS::EC2::SubnetRouteTableAssociation", "AWS::EC2::VPCGatewayAttachment",
    "AWS::S3::Bucket", "OS::Nova::FloatingIPAssociation",
    "OS::Congress::Policy", "OS::Congress::PolicyRule", "OS::Murano::Environment", "OS::Murano::Package",
}  # fmt: skip
"""Types that Heat 27 cannot check or does not have, although a check finds out whether they are as declared."""


def test_checkable_types_include_those_of_heat() -> None:
    registry = Registry.from_entry_points({})
    found = {name for name in registry.types if registry.types.get(name).checkable}  # type: ignore[union-attr]
    assert found == (CHECKED & set(registry.types)) | CHECKED_HERE


def test_administrator_types_are_marked_in_the_reference() -> None:
    types = Registry.from_entry_points({}).types
    refused = [
        name.removeprefix("resource_types:")
        for rules in RULE_SETS
        if rules.check == ADMIN_ROLE
        for name in rules.names
        if name.startswith("resource_types:")
    ]
    assert {name for name in types if any(fnmatchcase(name, rule) for rule in refused)} <= {
        name for name, kind in types.items() if kind.for_administrators
    }
    pages = dict(reference.pages())
    flavor, port, net = (pages[f"types/{name}.md"] for name in ("os-nova-flavor", "os-ironic-port", "os-neutron-net"))
    assert "For administrators" in flavor and "`resource_types:OS::Nova::Flavor` refuses it to other users" in flavor
    assert "For administrators" in port and "resource_types:" not in port
    assert "administrators" not in net.partition("## Properties")[0]
    assert "[OS::Nova::Flavor](/generated/types/os-nova-flavor.md) (for administrators)" in pages["types/os-nova.md"]


def test_types_are_found_by_name() -> None:
    registry = Registry([Sound, *TYPES], CONSTRAINTS)
    assert isinstance(registry.types.get("Test::Sound"), Sound)
    assert registry.types.get("Test::Nothing") is None
    assert "OS::Neutron::Net" in registry.types
    assert registry.constraints.get("ip_addr") is CONSTRAINTS["ip_addr"]
    assert registry.constraints.get("made.up") is None


def test_every_invalid_declaration_is_reported() -> None:
    class Wrong(ResourceType):
        type_name = "Test::Wrong"
        service = "nowhere"
        properties: Mapping[str, Property] = {
            "a": Property(Type.INTEGER, default="many"),
            "b": Property(resolve="neutron.nothing"),
            "c": Property(replaces="d"),
            "e": Property(constraints=custom("made.up")),
            "f": Property(wire="x"),
            "g": Property(wire="x"),
            "h": Property(default="z", constraints=one_of("a", "b")),
            "i": Property(Type.LIST, items=Property(Type.MAP, schema={"deep": Property(resolve="no")})),
        }

    with pytest.raises(PluginInvalid) as caught:
        Registry([Wrong], CONSTRAINTS)
    reported = "\n".join(caught.value.problems)
    assert len(caught.value.problems) == 9
    for part in (
        "'nowhere'",
        "recovery",
        "properties.a",
        "neutron.nothing",
        "'d'",
        "made.up",
        "'x'",
        "properties.h",
        "i[].deep",
    ):
        assert part in reported


def test_two_types_of_one_name() -> None:
    other = type("Other", (Sound,), {})
    with pytest.raises(PluginInvalid, match="Sound and Other"):
        Registry([Sound, other])
    assert Registry([Sound, Sound]).types.get("Test::Sound") is not None


def test_template_types_come_from_one_factory() -> None:
    def factory(template: Any, name: str) -> ResourceType:
        return Sound()

    assert isinstance(Registry([], template_type=factory).template_type({}, "web.yaml"), Sound)
    with pytest.raises(PluginInvalid, match=r"web\.yaml"):
        Registry([]).template_type({}, "web.yaml")
