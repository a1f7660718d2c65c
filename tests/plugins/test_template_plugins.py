"""Functions and versions of templates that packages offer."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.base.budget import Budget, opened
from stoker.base.errors import BudgetExceeded, TemplateInvalid
from stoker.base.extensions import PluginInvalid
from stoker.template.definition import Definition
from stoker.template.environment import Environment
from stoker.template.expressions import UnknownScope
from stoker.template.limits import Limits
from stoker.template.parameters import PseudoParameters
from stoker.template.template import Template
from stoker.template.versions import by_name, functions_of, list_versions, versions
from tests.plugins.conftest import Install

SOURCE = """
from stoker.template.functions.base import Function
from stoker.template.versions import HOT_2021_04_16, next_version


class Repeated(Function):
    '''A string that is repeated; takes the string and the count.'''

    __slots__ = ()

    def apply(self, arguments, evaluation):
        text, count = arguments
        self.charge(evaluation, made=len(text) * count)
        return text * count


FUNCTIONS = {"repeated/1": Repeated}
VERSIONS = [next_version(HOT_2021_04_16, "2030-01-01", "future", functions={"repeated": "repeated/1"})]
"""
GROUPS = {"stoker.template_functions": "future:FUNCTIONS", "stoker.template_versions": "future:VERSIONS"}


def template(version: str, count: int = 3) -> dict[str, Any]:
    return {"heat_template_version": version, "outputs": {"word": {"value": {"repeated": ["ab", count]}}}}


def evaluated(source: dict[str, Any]) -> Any:
    definition = Definition.bind(
        Template.load(source),
        Environment.from_data(None),
        parameters={},
        files={},
        pseudo=PseudoParameters("", "stack", "p"),
        exports={},
    )
    return definition.resolve(definition.outputs["word"].value, UnknownScope())


@pytest.mark.parametrize("value", ["2030-01-01", "future"])
def test_a_template_of_the_new_version_calls_the_new_function(install: Install, value: str) -> None:
    install("future", GROUPS, SOURCE)
    assert evaluated(template(value)) == "ababab"


def test_the_api_lists_the_version_and_its_function(install: Install) -> None:
    install("future", GROUPS, SOURCE)
    row = {
        "version": "heat_template_version.2030-01-01",
        "type": "hot",
        "aliases": ["heat_template_version.future"],
    }
    assert row in list_versions()
    assert list_versions().count(row) == 1
    described = functions_of("heat_template_version.future")
    assert described is not None
    assert {
        "functions": "repeated",
        "description": "A string that is repeated; takes the string and the count.",
    } in described


def test_other_versions_do_not_have_the_function(install: Install) -> None:
    install("future", GROUPS, SOURCE)
    assert evaluated(template("2021-04-16")) == {"repeated": ["ab", 3]}  # data, as any map is


def test_without_the_package_there_is_no_such_version() -> None:
    with pytest.raises(TemplateInvalid, match="unknown heat_template_version '2030-01-01'"):
        evaluated(template("2030-01-01"))


def test_a_function_of_a_package_is_charged_for(install: Install) -> None:
    install("future", GROUPS, SOURCE)
    with opened(Budget(Limits(evaluation_bytes=1000).allowed)), pytest.raises(BudgetExceeded, match="1000 bytes"):
        evaluated(template("2030-01-01", count=10**12))


def test_version_with_unknown_function_is_refused(install: Install) -> None:
    install("future", {"stoker.template_versions": "future:VERSIONS"}, SOURCE)
    with pytest.raises(
        PluginInvalid, match=r"future \(.*2030-01-01: the function repeated is the variant 'repeated/1'"
    ):
        versions()


def test_a_version_that_exists_is_not_replaced(install: Install) -> None:
    install("future", GROUPS, SOURCE.replace('"2030-01-01", "future"', '"2030-01-01", "wallaby"'))
    with pytest.raises(PluginInvalid, match=r"'heat_template_version: wallaby' is offered by stoker .* and by future"):
        by_name()


def test_a_version_needs_a_key_that_templates_have(install: Install) -> None:
    source = SOURCE + "from dataclasses import replace\nVERSIONS = [replace(VERSIONS[0], key='my_version')]\n"
    install("future", GROUPS, source)
    with pytest.raises(PluginInvalid, match="not with 'my_version'"):
        by_name()


def test_invalid_function_object_is_refused(install: Install) -> None:
    install("future", GROUPS, SOURCE.replace('{"repeated/1": Repeated}', '{"repeated/1": str}'))
    with pytest.raises(PluginInvalid, match="'repeated/1' must be a class derived from Function"):
        by_name()
