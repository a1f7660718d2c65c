"""The generated reference against what it is generated from: links between types, groups, examples."""

from __future__ import annotations

from pathlib import Path

import pytest
from stoker_reference.resource_types import GROUPS, examples, grouped, pages, visible
from stoker_reference.type_page import file_name
from stoker_reference.type_references import constraints_named, walk

from stoker.authoring.constraint_words import ACCEPTED
from stoker.authoring.lint import lint
from stoker.authoring.rules import ERROR, RULES
from stoker.authoring.workspace import Workspace
from stoker.plugins.registry import Registry
from stoker.plugins.resource import ResourceType
from stoker.resources.constraints import CONSTRAINTS


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry.from_entry_points()


@pytest.fixture(scope="module")
def types(registry: Registry) -> dict[str, ResourceType]:
    return visible(registry)


def test_every_constraint_of_a_property_is_explained(types: dict[str, ResourceType]) -> None:
    used = {name for kind in types.values() for _, prop in walk(kind.properties) for name in constraints_named(prop)}
    assert used <= ACCEPTED.keys() == CONSTRAINTS.keys()
    assert {name for accepted in ACCEPTED.values() for name in accepted.types} <= types.keys()


def test_every_group_of_the_list_has_types(types: dict[str, ResourceType]) -> None:
    assert list(grouped(types)) == list(GROUPS)


def test_the_linter_has_no_error_in_an_example(
    types: dict[str, ResourceType], registry: Registry, tmp_path: Path
) -> None:
    for name, text in examples(types).items():
        (tmp_path / f"{file_name(name)}.yaml").write_text(text)
    shown = sorted(tmp_path.iterdir())
    (tmp_path / "member.yaml").write_text("heat_template_version: 2021-04-16\n")  # the member of the example's group
    found = lint(Workspace(registry), [str(path) for path in shown])
    errors = [one for one in found if RULES[one.rule].severity == ERROR]
    assert [f"{Path(one.source or '').name}: {one.message}" for one in errors] == []


def test_a_page_links_both_ways_and_shows_what_is_nested() -> None:
    written = dict(pages())
    port = written["types/os-neutron-port.md"]
    assert "[`ip_address`]{#prop-fixed_ips-ip_address}\n  : {.facts}\n    string" in port
    assert "[OS::Neutron::Net](/generated/types/os-neutron-net.md)" in port
    assert "- [OS::Neutron::Port](/generated/types/os-neutron-port.md): `network`" in written["types/os-neutron-net.md"]
    assert "**required** · a change replaces the resource" in written["types/os-neutron-subnet.md"]
