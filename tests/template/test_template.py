"""Structure: all problems of a template are reported at once, each with its position."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from stoker.base.errors import RequestLimitExceeded, TemplateInvalid
from stoker.template.limits import Limits
from stoker.template.template import Template
from tests.template.support import bind, invalid, load, messages

LATEST = "heat_template_version: 2021-04-16\n"


def test_all_structural_problems_are_reported_together_in_order() -> None:
    with pytest.raises(TemplateInvalid) as caught:
        load(
            """
            heat_template_version: 2021-04-16
            outputs:
              a: text
            resources:
              web:
                type: Test::Net
                propertys: {}
              db: {type: Test::Net, depends_on: 5}
            parameters:
              p: {type: strin}
            unknown: 1
            """
        )
    assert messages(caught.value.diagnostics) == [
        "web.yaml:11:1: unknown: unknown section 'unknown'; use one of conditions, description, heat_template_version, "
        "outputs, parameter_groups, parameters, resources",
        "web.yaml:10:13: parameters.p.type: there is no parameter type 'strin'; did you mean 'string'?",
        "web.yaml:7:5: resources.web.propertys: a resource has no key 'propertys'; did you mean 'properties'?",
        "web.yaml:8:37: resources.db.depends_on: must be the name of a resource or a list of names",
        "web.yaml:3:6: outputs.a: an output must be a map with a value, not a string",
    ]


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("resources: {}", "ValueError", "does not state its version"),
        ("heat_template_version: 2099-01-01", "InvalidTemplateVersion", "use one of 2013-05-23"),
        ("{heat_template_version: 2013-05-23, AWSTemplateFormatVersion: 2010-09-09}", "InvalidTemplateVersion", "one"),
        (LATEST + "mappings: {}", "StackValidationFailed", "unknown section"),
        ("HeatTemplateFormatVersion: 2012-12-12\nConditions: {}", "StackValidationFailed", "unknown section"),
        ("heat_template_version: 2013-05-23\nconditions: {}", "StackValidationFailed", "it exists from 2016-10-14 on"),
        (LATEST + "parameter_groups: text", "StackValidationFailed", "must be a list"),
        (LATEST + "parameter_groups: [{label: x}]", "StackValidationFailed", "needs parameters"),
        (LATEST + "parameter_groups: [{parameters: x}]", "StackValidationFailed", "needs parameters"),
        (LATEST + "parameter_groups: [{parameters: [x]}]", "StackValidationFailed", "no parameter 'x'"),
        (
            LATEST + "parameters: {x: {type: string, default: a}}\nparameter_groups: [{parameters: [x, x]}]",
            "StackValidationFailed",
            "more than one group",
        ),
        (LATEST + "parameters: [x]", "StackValidationFailed", "must be a map"),
        (LATEST + "resources: [x]", "StackValidationFailed", "must be a map"),
        (LATEST + "outputs: [x]", "StackValidationFailed", "must be a map"),
        (LATEST + "conditions: [x]", "StackValidationFailed", "must be a map"),
        (LATEST + "resources: {a: }", "StackValidationFailed", "a resource must be a map"),
        (LATEST + "resources: {a: text}", "StackValidationFailed", "a resource must be a map"),
        (LATEST + "resources: {a: {}}", "StackValidationFailed", "type is missing"),
        (LATEST + "resources: {a: {type: ''}}", "StackValidationFailed", "type is missing"),
        (LATEST + "resources: {a: {type: 5}}", "StackValidationFailed", "must be a string"),
        (LATEST + "resources: {a/b: {type: T}}", "StackValidationFailed", "'/'"),
        (LATEST + "resources: {a: {type: T, properties: [1]}}", "StackValidationFailed", "must be a map"),
        (LATEST + "resources: {a: {type: T, properties: }}", "StackValidationFailed", "must be a map, not null"),
        (LATEST + "resources: {a: {type: T, metadata: x}}", "StackValidationFailed", "must be a map"),
        (LATEST + "resources: {a: {type: T, depends_on: [5]}}", "StackValidationFailed", "list of names"),
        (LATEST + "resources: {a: {type: T, deletion_policy: keep}}", "StackValidationFailed", "deletion policy"),
        (
            "heat_template_version: 2015-10-15\nresources: {a: {type: T, deletion_policy: retain}}",
            "StackValidationFailed",
            "did you mean 'Retain'?",
        ),
        (
            "heat_template_version: 2015-10-15\nresources: {a: {type: T, condition: c}}",
            "StackValidationFailed",
            "use a newer version",
        ),
        (LATEST + "resources: {a: {type: T, condition: 5}}", "StackValidationFailed", "condition"),
        (LATEST + "resources: {a: {type: T, condition: nope}}", "StackValidationFailed", "no condition 'nope'"),
        (LATEST + "conditions: {a: {not: b}, b: {not: a}}", "StackValidationFailed", "depends on itself"),
        (LATEST + "outputs: {o: {}}", "StackValidationFailed", "value is missing"),
        (LATEST + "outputs: {o: }", "StackValidationFailed", "an output must be a map"),
        (LATEST + "outputs: {o: {value: 1, condition: nope}}", "StackValidationFailed", "no condition"),
        (
            LATEST + "parameters: {a: {type: string, default: x}}\nresources: {a: {type: T}}",
            "StackValidationFailed",
            "also a parameter",
        ),
        (LATEST + "parameters: {a: {type: x}}\nresources: {a: 5}", "InvalidSchemaError", "no parameter type"),
        (LATEST + "nonsense: 1\nresources: {a: 5}", "StackValidationFailed", "unknown section"),
        (LATEST + "outputs: {o: {value: {Ref: x}}}", "StackValidationFailed", "use get_param or get_resource"),
        (LATEST + "outputs: {o: {value: {list_join: x}}}", "StackValidationFailed", "list_join takes a list"),
    ],
)
def test_structural_problem(text: str, kind: str, words: str) -> None:
    with pytest.raises(TemplateInvalid) as caught:
        Template.load(text)
    assert caught.value.kind == kind
    assert words in caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        "parameter_groups: {}",
        "resources: {a: {type: T, deletion_policy: retain}}",
        "resources: {a: {type: T, depends_on: }}",
        "outputs: {o: {value: , whatever: 1}}",
        "resources: {a: {type: T, properties: {get_param: p}}}\nparameters: {p: {type: json, default: {}}}",
        "resources: {a: {type: T, condition: {equals: [1, 1]}}}",
        "outputs: {o: {value: {get_file: {get_param: f}}}}",
        "outputs: {o: {value: {not_a_function: 1}}}",
        "outputs: {o: {value: {if: [true, 1, {list_join: wrong}]}}}",
    ],
)
def test_valid_structure(text: str) -> None:
    template = Template.load(LATEST + text)
    written = yaml.safe_load(text)
    assert [*template.resources] == [*written.get("resources", {})]
    assert [*template.outputs] == [*written.get("outputs", {})]


def test_unknown_keys_of_cfn_resources_are_ignored() -> None:
    template = Template.load({"HeatTemplateFormatVersion": "2012-12-12", "Resources": {"a": {"Type": "T", "X": 1}}})
    assert template.resources["a"].type == "T"


def test_resource_limit() -> None:
    resources = {f"r{n}": {"type": "T"} for n in range(5)}
    data = {"heat_template_version": "2013-05-23", "resources": resources}
    with pytest.raises(RequestLimitExceeded, match="5 resources"):
        Template.load(data, limits=Limits(max_resources_per_stack=4))
    assert len(Template.load(data, limits=Limits(max_resources_per_stack=-1)).resources) == 5


def test_empty_template_and_description() -> None:
    template = Template.empty()
    assert template.description == ""
    assert not template.resources
    assert load("heat_template_version: rocky\ndescription: Web\n").description == "Web"


def test_functions_in_use_are_known() -> None:
    template = Template.load(
        {"HeatTemplateFormatVersion": "2012-12-12", "Outputs": {"o": {"Value": {"Fn::GetAZs": ""}}}}
    )
    assert template.uses("Fn::GetAZs")
    assert not template.uses("Fn::Join")


def test_problems_in_branches_are_reported_only_when_chosen() -> None:
    text = """
    heat_template_version: 2021-04-16
    parameters: {wanted: {type: boolean}}
    conditions: {wanted: {get_param: wanted}}
    resources:
      a: {type: T, condition: wanted, deletion_policy: {list_join: wrong}}
    """
    assert not bind(text, {"wanted": False}).resources
    error = invalid(text, {"wanted": True})
    assert "list_join takes a list" in error.message
    assert error.diagnostics[0].position is not None


@pytest.mark.parametrize("condition", [True, "c", {"not": "d"}, None])
def test_conditions_that_are_true(condition: Any) -> None:
    definition = bind(
        Template.load(
            {
                "heat_template_version": "2021-04-16",
                "conditions": {"c": True, "d": {"and": [False, "c"]}},
                "resources": {"a": {"type": "T", "condition": condition}},
            }
        )
    )
    assert set(definition.resources) == {"a"}
