"""The resource key `ignore_drift`: its paths, and where a wrong one is reported."""

from __future__ import annotations

import pytest

from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import TemplateInvalid
from stoker.engine.records.ignored_drift import ignored_paths, paths_of, without_ignored
from stoker.plugins.registry import Registry
from stoker.template.check import check
from stoker.template.definition import Definition
from stoker.template.ignored_drift import property_path
from stoker.template.names import check_names
from tests.template.support import bind

REGISTRY = Registry.from_entry_points()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("tags", ("tags",)),
        ("metadata.owner", ("metadata", "owner")),
        ('metadata["a.b"].c', ("metadata", "a.b", "c")),
        ("value_specs.a:b", ("value_specs", "a:b")),
    ],
)
def test_a_path_leads_through_keys(text: str, parts: tuple[str, ...]) -> None:
    assert property_path(text) == parts


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", "rules[0]", '["a"]', "a b", 'a["b', "a[b]"])
def test_an_invalid_path_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a path of a property"):
        property_path(text)


def definition(kind: str, ignored: str, further: str = "") -> Definition:
    return bind(
        f"""
        heat_template_version: 2021-04-16
        resources:
          one:
            type: {kind}
            ignore_drift: {ignored}
            {further}
        """
    )


def problems(kind: str, ignored: str, further: str = "") -> list[tuple[str, str]]:
    """The positions and messages about `ignore_drift`; the same whether or not values are checked, too."""
    bound = definition(kind, ignored, further)
    named, checked = (each(bound, lambda name, _: REGISTRY.types.get(name)) for each in (check_names, check))
    assert _positions_and_messages(named) == _positions_and_messages(checked)
    return _positions_and_messages(checked)


def _positions_and_messages(found: list[Diagnostic]) -> list[tuple[str, str]]:
    places = [(item.position, item.message) for item in found if item.rule == "ignore-drift"]
    return [(f"{position.line}:{position.column}", message) for position, message in places if position]


def test_paths_of_compared_properties_are_accepted() -> None:
    assert problems("OS::Neutron::SecurityGroup", "[rules, name]") == []
    assert problems("OS::Nova::Server", "[metadata.owner, 'metadata[\"a.b\"]', networks]") == []


@pytest.mark.parametrize(
    ("kind", "ignored", "position", "message"),
    [
        ("OS::Neutron::Net", "[name, tagz]", "5:26", "the type OS::Neutron::Net has no property 'tagz'"),
        ("OS::Neutron::Net", "[name.first]", "5:20", "'name' is no map, and has no part 'first'"),
        ("OS::Neutron::Router", "[external_gateway_info.nett]", "5:20", "'external_gateway_info' has no key 'nett'"),
        ("OS::Heat::RandomString", "[length]", "5:20", "'length' is not compared with the cloud"),
        ("OS::Heat::ResourceGroup", "[count]", "5:20", "'count' is not compared with the cloud"),
    ],
)
def test_a_path_without_effect_is_reported_where_it_is(kind: str, ignored: str, position: str, message: str) -> None:
    ((place, reported),) = problems(kind, ignored)
    assert place == position
    assert reported.startswith(message)


def test_objects_of_others_are_only_checked_for_existence() -> None:
    ((place, reported),) = problems("OS::Neutron::Net", "[name]", "external_id: abc")
    assert place == "5:5"
    assert "only checked for its existence" in reported


@pytest.mark.parametrize("value", ["name", "{name: true}", "[1]", "[{get_param: OS::stack_name}]"])
def test_only_a_literal_list_is_accepted(value: str) -> None:
    text = f"heat_template_version: 2021-04-16\nresources: {{one: {{type: Test::Net, ignore_drift: {value}}}}}\n"
    with pytest.raises(TemplateInvalid) as raised:
        bind(text)
    (found,) = raised.value.diagnostics
    assert (found.rule, found.position and found.position.line) == ("ignore-drift", 2)


def test_cloudformation_has_the_key_too() -> None:
    text = """
    AWSTemplateFormatVersion: 2010-09-09
    Resources:
      One: {Type: "OS::Neutron::Net", IgnoreDrift: [name, tagz]}
    """
    bound = bind(text)
    assert bound.resources["One"].ignore_drift == ("name", "tagz")
    (found,) = check(bound, lambda name, _: REGISTRY.types.get(name))
    assert (found.rule, found.path) == ("ignore-drift", ("Resources", "One", "IgnoreDrift", 1))


def test_a_property_that_differs_elsewhere_too_stays_whole() -> None:
    kind = REGISTRY.types.get("OS::Nova::Server")
    assert kind is not None
    recorded = {"metadata": {"owner": "a", "size": 1}}
    paths = paths_of(kind, ["metadata.owner"])
    only = {"metadata": {"owner": "b", "size": "1"}}
    both = {"metadata": {"owner": "b", "size": "2"}}
    assert without_ignored(kind, recorded, only, paths.values()) == {}
    assert without_ignored(kind, recorded, both, paths.values()) == both
    assert without_ignored(kind, recorded, {"metadata": None}, paths.values()) == {"metadata": None}
    assert [each.differs for each in ignored_paths(recorded, both, paths)] == [True]


def test_a_property_that_another_one_replaces_is_ignored_as_that_one() -> None:
    kind = REGISTRY.types.get("OS::Neutron::Subnet")
    assert kind is not None
    assert paths_of(kind, ["network_id"]) == {"network_id": ("network",)}
