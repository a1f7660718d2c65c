"""All of Heat's resource types are there, and declare what the recorded schemas say, at every depth."""

from __future__ import annotations

from stoker.plugins.live_values import live_values
from stoker.plugins.registry import Registry, declaration_problems
from stoker.plugins.resource import ResourceType
from stoker.resources.base import RestResource
from stoker.resources.constraints import CONSTRAINTS
from testing.cases import check_each
from tests.resources.schema_facts import FOLDER, differences, facts

RECORDED = {
    name: fact
    for path in sorted(FOLDER.glob("*.json"))
    if path.stem != "custom_constraints"
    for name, fact in facts(path.stem).items()
}
TYPES = Registry.from_entry_points().types
MISSING = sorted(RECORDED.keys() - TYPES.keys())

_ZONES = "properties.AvailabilityZones.required: declared False, recorded True"
ON_PURPOSE = {
    # Magnum limits the names of clusters; Heat sends none.
    "OS::Magnum::Cluster": ["physical_name_limit: declared 242, recorded 255"],
    # A generated name is a label of a domain name, which has at most 63 characters.
    "OS::Designate::RecordSet": ["physical_name_limit: declared 63, recorded 255"],
    # The newer name has the value, as with all other properties that have two names.
    "OS::Designate::Zone": ["masters.replaces: declared None, recorded 'primaries'"],
    # The property has no effect, and AWS does not require it.
    "AWS::AutoScaling::AutoScalingGroup": [_ZONES],
    "AWS::ElasticLoadBalancing::LoadBalancer": [_ZONES],
    "OS::Heat::InstanceGroup": [_ZONES],
    # Members that are named by keys are our own.
    "OS::Heat::AutoScalingGroup": [
        "properties, names: declared ['cooldown', 'desired_capacity', 'for_each', 'key_var', 'max_size', 'min_size', "
        "'resource', 'rolling_updates', 'value_var'], recorded ['cooldown', 'desired_capacity', 'max_size', "
        "'min_size', 'resource', 'rolling_updates']"
    ],
    "OS::Heat::ResourceGroup": [
        "properties, names: declared ['count', 'for_each', 'index_var', 'key_var', 'removal_policies', "
        "'removal_policies_mode', 'resource_def', 'value_var'], recorded ['count', 'index_var', 'removal_policies', "
        "'removal_policies_mode', 'resource_def']"
    ],
    # The value of a list property is a list, also by default.
    "OS::Neutron::NetworkGateway": ["properties.connections.default: declared [], recorded {}"],
}
REVIVED = {"OS::Glance::Image"}
"""Placeholders in the recorded release that have the properties of older releases here, and create objects."""
WORKING = {"OS::Heat::HARestarter"}
"""Placeholders in the recorded release that keep its declaration, and do here what older releases did."""

OWN = {"OS::Congress::Policy", "OS::Congress::PolicyRule", "OS::Murano::Environment", "OS::Murano::Package"}
"""Types of Stoker's own, for services that the recorded release has no types for."""


def test_no_recorded_type_is_missing() -> None:
    assert len(RECORDED) == 201
    assert MISSING == []


def test_only_stoker_types_have_no_record() -> None:
    assert TYPES.keys() - RECORDED.keys() == OWN


def test_declarations_equal_records() -> None:
    def check(name: str) -> None:
        assert differences(TYPES[name], RECORDED[name]) == ON_PURPOSE.get(name, [])

    check_each(((name, name) for name in sorted(RECORDED.keys() & TYPES.keys() - REVIVED)), check)


def test_placeholders_are_those_of_the_record() -> None:
    recorded = {name for name, fact in RECORDED.items() if fact.get("family") == "placeholder"}
    declared = {name for name, kind in TYPES.items() if kind.any_properties and kind.local and name in RECORDED}
    assert declared == recorded - REVIVED - WORKING


def test_every_property_declares_its_live_value() -> None:
    def check(kind: ResourceType) -> None:
        known = live_values(kind)
        assert kind.properties.keys() - known.keys() == set()
        unexplained = {name for name, live in known.items() if not (live.is_compared or live.reason)}
        assert unexplained == set()
        readers = kind.readers.keys() if isinstance(kind, RestResource) else set()
        fetched = {name for name in readers if name in known and not known[name].is_compared}
        assert fetched == set(), "a property that is read is not NEVER"

    check_each(sorted(TYPES.items()), check)


def test_declarations_are_sound() -> None:
    def check(kind: ResourceType) -> None:
        assert list(declaration_problems(kind, CONSTRAINTS)) == []
        assert kind.description, "describes the type in one line"

    check_each(sorted(TYPES.items()), check)
