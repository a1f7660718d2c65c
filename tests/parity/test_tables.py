"""The table of versions and the conversions of values against what was read out of the reference engine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from stoker.schema.property import Finalizer, Property, Type
from stoker.template.functions.builtin import FUNCTIONS
from stoker.template.parameter import ParameterSchema
from stoker.template.parameter_types import BY_HOT_NAME
from stoker.template.versions import HOT_2026_11_01, VERSIONS, Version, by_name, functions_of, list_versions

_HERE = Path(__file__).parent
FACTS: Mapping[str, Any] = json.loads((_HERE / "template_versions.json").read_text())
CONVERSIONS: Mapping[str, Any] = json.loads((_HERE / "conversions.json").read_text())

SHARED_VARIANTS = {
    "Fn::And/1": "and/1",
    "Fn::Equals/1": "equals/1",
    "Fn::If/1": "if/1",
    "Fn::Join/1": "list_join/1",
    "Fn::Or/1": "or/1",
}
"""CloudFormation's names for functions that work as one of HOT's: the reference has a class of its own for each."""


ADDED: Mapping[str, Mapping[str, Any]] = {
    "AWSTemplateFormatVersion.2010-09-09": {
        "sections": {"Metadata", "Rules", "Transform"},
        "resource_keys": {"CreationPolicy", "UpdateReplacePolicy"},
        "output_keys": {"Export"},
        "functions": {
            "Fn::Base64": "Fn::Base64/2",
            "Fn::Cidr": "Fn::Cidr/1",
            "Fn::GetAtt": "Fn::GetAtt/2",
            "Fn::ImportValue": "Fn::ImportValue/1",
            "Fn::Join": "Fn::Join/1",
            "Fn::Split": "Fn::Split/2",
            "Fn::Sub": "Fn::Sub/1",
            "Ref": "Ref/2",
        },
        "deletion_policies": {"RetainExceptOnCreate"},
        "condition_functions": {
            "Condition": "Condition/1",
            "Fn::Equals": "Fn::Equals/1",
            "Fn::Sub": "Fn::Sub/1",
        },
    }
}
"""What AWS has added to its format since, also functions that take numbers as strings."""

OURS: Mapping[str, Mapping[str, set[str]]] = {
    "hot": {"resource_keys": {"ignore_drift"}},
    "cfn": {"resource_keys": {"IgnoreDrift"}},
}
"""What Stoker has added to all versions of a format."""


@pytest.mark.parametrize("name", sorted(FACTS["versions"]))
def test_version(name: str) -> None:
    expected = FACTS["versions"][name]
    version = by_name()[tuple(name.split(".", 1))]  # type: ignore[index]
    assert version.name == name
    assert version.dialect.name == expected["kind"]
    assert [f"{version.key}.{alias}" for alias in version.aliases] == expected["aliases"]
    added = ADDED.get(name, {})
    ours = OURS[version.dialect.name]
    for field in ("sections", "resource_keys", "output_keys", "parameter_keys", "parameter_constraints"):
        assert getattr(version, field) == set(expected[field]) | added.get(field, set()) | ours.get(field, set()), field
    assert set(version.deletion_policies) == set(expected["deletion_policies"]) | added.get("deletion_policies", set())
    assert version.removed_functions == set(expected["functions_removed"])
    for field in ("functions", "condition_functions"):
        assert getattr(version, field) == {**_ours(expected[field]), **added.get(field, {})}, field


def _ours(functions: Mapping[str, str]) -> dict[str, str]:
    return {name: SHARED_VARIANTS.get(variant, variant) for name, variant in functions.items()}


def test_every_version_exists_and_every_variant_is_used() -> None:
    assert {version.name for version in VERSIONS} == {*FACTS["versions"], HOT_2026_11_01.name}
    assert len(by_name()) == len(FACTS["versions"]) + len(FACTS["aliases"]) + 1
    tables = (table for version in VERSIONS for table in _tables(version))
    assert {variant for table in tables for variant in table.values()} == set(FUNCTIONS)


def _tables(version: Version) -> Iterator[Mapping[str, str]]:
    for each in (version, version.extended):
        yield from (each.functions, each.condition_functions, each.rule_functions)


def test_lists_for_the_api() -> None:
    listed = {row["version"]: row for row in list_versions()}
    assert listed["heat_template_version.2018-03-02"] == {
        "version": "heat_template_version.2018-03-02",
        "type": "hot",
        "aliases": ["heat_template_version.queens"],
    }
    plain = functions_of("heat_template_version.queens")
    both = functions_of("heat_template_version.2018-03-02", with_condition_functions=True)
    assert plain is not None and both is not None
    assert {row["functions"] for row in both} - {row["functions"] for row in plain} == {"and", "equals", "not", "or"}
    assert all(len(row["description"]) > 20 for row in both)
    assert functions_of("heat_template_version.1999-01-01") is None


@pytest.mark.parametrize("kind", sorted(CONVERSIONS["parameter"]))
def test_parameter_conversions(kind: str) -> None:
    schema = ParameterSchema(name="p", type=BY_HOT_NAME[kind])
    for given, expected in CONVERSIONS["parameter"][kind].items():
        value = json.loads(given)
        if "error" in expected:
            with pytest.raises(ValueError, match="is not"):
                schema.convert(value)
        else:
            converted = schema.convert(value)
            assert json.dumps(converted) == json.dumps(expected["ok"]), given
            assert schema.to_text(converted) == expected["as_text"], given


NULL = "null"
"""A null property stays null here; types see their own default where the reference gives an empty value."""


@pytest.mark.parametrize("kind", sorted(CONVERSIONS["property"]))
def test_property_conversions(kind: str) -> None:
    for given, expected in CONVERSIONS["property"][kind].items():
        if given == NULL:
            continue
        finalizer = Finalizer()
        value = finalizer.value(Property(Type(kind)), json.loads(given), ("p",))
        if "error" in expected:
            assert [problem.rule for problem in finalizer.problems] == ["wrong-type"], given
        else:
            assert not finalizer.problems, given
            assert json.dumps(value) == json.dumps(expected["ok"]), given
