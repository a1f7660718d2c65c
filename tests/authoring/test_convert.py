"""`stoker convert`: the result is equivalent, or a message names what cannot be converted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from textwrap import dedent
from typing import Any

import pytest
import yaml

from stoker.authoring.convert.templates import convert, to_json, to_yaml
from stoker.template.definition import Definition
from stoker.template.environment import Environment
from stoker.template.expressions import Facade, UnknownScope
from stoker.template.parameters import PseudoParameters
from stoker.template.paths import follow_attribute
from stoker.template.template import Template
from tests.authoring.support import WorkingDirectory

PSEUDO = PseudoParameters("uuid", "web", "project", arn="arn:openstack:heat::project:stacks/web/uuid")


class ValueScope(UnknownScope):
    """A stack of OS::Heat::Value resources, each of whose value is the value of its property."""

    def __init__(self, definition: Definition) -> None:
        self._definition = definition

    def reference(self, resource: str) -> Any:
        return f"id-of-{resource}"

    def attribute(self, resource: str, attribute: str, path: tuple[str | int, ...]) -> Any:
        assert attribute == "value"
        properties = self._definition.resolve(self._definition.resources[resource].properties, self)
        return follow_attribute(properties["value"], path)

    def facade(self) -> Facade | None:
        return Facade({"key": "text"}, "Retain", {})


def outputs(template: Template, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The outputs of a stack that is made from the template."""
    definition = Definition.bind(template, Environment.from_data({}), parameters=parameters, files={}, pseudo=PSEUDO)
    scope = ValueScope(definition)
    return {
        key: definition.resolve(output.value, scope) for key, output in definition.outputs.items() if output.enabled
    }


def assert_same(text: str, to: str, *parameters: Mapping[str, Any]) -> Template:
    """Converts there and back, and compares the outputs of all three; answers the converted template."""
    template = Template.load(dedent(text))
    there = convert(template, to)
    assert there.problems == []
    converted = Template.load(to_yaml(there.data))
    assert Template.load(to_json(there.data)).data == converted.data
    back = convert(converted, template.dialect.name)
    assert back.problems == []
    for values in parameters or ({},):
        expected = outputs(template, values)
        assert expected
        assert outputs(converted, values) == expected
        assert outputs(Template.load(to_yaml(back.data)), values) == expected
    return converted


CFN = """
    AWSTemplateFormatVersion: 2010-09-09
    Description: Everything that HOT can say as well
    Parameters:
      Name: {Type: String, Default: web, MinLength: 2, MaxLength: 8, ConstraintDescription: short}
      Size: {Type: String, Default: small, AllowedValues: [small, large]}
      Zones: {Type: CommaDelimitedList, Default: "a,b,c"}
      Count: {Type: Number, Default: 3, MinValue: 1, NoEcho: true}
      Key: {Type: "AWS::EC2::KeyPair::KeyName", Default: mine}
    Mappings:
      Sizes:
        small: {Memory: "1", Disks: [x, y]}
        large: {Memory: "64", Disks: [z]}
    Conditions:
      Large: !Equals [!Ref Size, large]
      Named: !Not [!Equals [!Ref Name, web]]
      Both: !And [!Condition Large, !Condition Named]
      Any: !Or [!Condition Large, !Equals [!FindInMap [Sizes, !Ref Size, Memory], "1"]]
    Resources:
      value:
        Type: OS::Heat::Value
        DeletionPolicy: Retain
        Metadata: {a: !Ref Name}
        Properties: {value: [one, two, {deep: [x, y]}]}
      later:
        Type: OS::Heat::Value
        DependsOn: [value]
        Condition: Large
        Properties: {value: !Ref Name}
    Outputs:
      ref: {Value: !Ref Name, Description: The name}
      reference: {Value: !Ref value}
      stack: {Value: !Ref "AWS::StackName"}
      joined: {Value: !Join ["-", [!Ref Name, x, !Ref Size]]}
      zones: {Value: !Join ["+", !Ref Zones]}
      mapped: {Value: !FindInMap [Sizes, !Ref Size, Memory]}
      deeper: {Value: !Select [0, !FindInMap [Sizes, !Ref Size, Disks]]}
      zone: {Value: !Select ["1", !Ref Zones]}
      outside: {Value: !Select ["7", !Ref Zones]}
      literal: {Value: !Select [1, [a, !Ref Name]]}
      attribute: {Value: !GetAtt value.value}
      item: {Value: !Select ["1", !GetAtt [value, value]]}
      deep_item: {Value: !Select [0, !Select [deep, !Select [2, !GetAtt [value, value]]]]}
      split: {Value: !Split [",", "a,b"]}
      piece: {Value: !Select [1, !Split [",", !Join [",", [p, q]]]]}
      sub: {Value: !Sub "${Name} in ${AWS::StackName}: ${Count} ${!Name}"}
      sub_two: {Value: !Sub ["${Name}/${Own}/${value}", {Own: !Ref Size}]}
      replaced: {Value: {"Fn::Replace": [{N: !Ref Name}, "N and N"]}}
      encoded: {Value: {"Fn::Base64": !Ref Name}}
      chosen: {Value: !If [Large, big, !Ref Name]}
      left_out: {Value: [always, !If [Both, both, !Ref "AWS::NoValue"], !If [Any, !Ref "AWS::NoValue", none]]}
      facade: {Value: {"Fn::ResourceFacade": DeletionPolicy}}
      only_large: {Value: large, Condition: Large}
"""
HOT = """
    heat_template_version: 2021-04-16
    description: Everything that CloudFormation can say as well
    parameters:
      name:
        type: string
        label: A name
        default: web
        constraints:
          - {length: {min: 2, max: 8}}
          - {allowed_pattern: "[a-z]*"}
      size: {type: string, default: small, hidden: true, constraints: [{allowed_values: [small, large]}]}
      data: {type: json, default: {list: [a, b], map: {key: text}}}
      zones: {type: comma_delimited_list, default: "a,b,c"}
      flag: {type: boolean, default: false}
      key: {type: string, default: mine, constraints: [{custom_constraint: nova.keypair}]}
    conditions:
      large: {equals: [{get_param: size}, large]}
      named: {not: {equals: [{get_param: name}, web]}}
      both: {and: [large, named]}
      any: {or: [large, {not: named}]}
    resources:
      value:
        type: OS::Heat::Value
        deletion_policy: retain
        properties: {value: [one, {deep: [x, y]}]}
      later:
        type: OS::Heat::Value
        depends_on: value
        condition: {not: large}
        properties: {value: {get_param: name}}
    outputs:
      name: {value: {get_param: name}, description: The name}
      stack: {value: {get_param: "OS::stack_name"}}
      project: {value: {get_param: "OS::project_id"}}
      path: {value: {get_param: [data, map, key]}}
      item: {value: {get_param: [data, list, 1]}}
      nothing: {value: {get_param: [data, no, where]}}
      zone: {value: {get_param: [zones, 2]}}
      reference: {value: {get_resource: value}}
      attribute: {value: {get_attr: [value, value]}}
      inside: {value: {get_attr: [value, value, 1, deep, 0]}}
      joined: {value: {list_join: ["-", [a, {get_param: name}], [b]]}}
      replaced: {value: {str_replace: {template: "N in S", params: {N: {get_param: name}, S: 3}}}}
      split: {value: {str_split: [",", "a,b"]}}
      piece: {value: {str_split: [",", "a,b", 1]}}
      chosen: {value: {if: [both, x, {get_param: name}]}}
      inline: {value: {if: [{not: any}, x, y]}}
      left_out: {value: [always, {if: [large, x]}]}
      facade: {value: {resource_facade: metadata}}
      only_large: {value: large, condition: large}
"""


def test_cloudformation_converts_to_equivalent_hot() -> None:
    converted = assert_same(CFN, "hot", {}, {"Size": "large"}, {"Size": "large", "Name": "other"})
    assert converted.dialect.name == "hot"
    resource = converted.resources["value"]
    assert (resource.type, resource.deletion_policy) == ("OS::Heat::Value", "Retain")
    assert converted.resources["later"].depends_on == ("value",)
    parameters = converted.data["parameters"]
    assert parameters["Name"]["constraints"] == [{"length": {"min": 2, "max": 8}, "description": "short"}]
    assert parameters["Count"]["hidden"] is True
    assert parameters["Key"]["constraints"] == [{"custom_constraint": "nova.keypair"}]


def test_hot_converts_to_equivalent_cloudformation() -> None:
    converted = assert_same(HOT, "cfn", {}, {"size": "large"}, {"size": "large", "name": "other"})
    assert converted.dialect.name == "cfn"
    parameters = converted.data["Parameters"]
    assert parameters["name"] == {
        "Type": "String",
        "Label": "A name",
        "Default": "web",
        "MinLength": 2,
        "MaxLength": 8,
        "AllowedPattern": "[a-z]*",
    }
    assert parameters["size"]["NoEcho"] is True
    assert parameters["key"]["Type"] == "AWS::EC2::KeyPair::KeyName"
    assert converted.data["Resources"]["value"]["DeletionPolicy"] == "Retain"


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"get_file": "a.sh"}, "get_file"),
        ({"yaql": {"expression": "$", "data": 1}}, "yaql"),
        ({"str_replace_strict": {"template": "a", "params": {"a": "b"}}}, "str_replace_strict"),
        ({"get_attr": ["value"]}, "all attributes"),
        ({"get_param": "OS::stack_id"}, "OS::stack_id"),
        ({"list_join": ["", [{"a": "map"}]]}, "strings only"),
        ({"Fn::Sub": "value"}, "plain data in this format"),
        ({"get_param": ["text", 0]}, "neither a list nor a map"),
        ({"get_param": "txt"}, "the template has no parameter 'txt'"),
    ],
)
def test_parts_that_cloudformation_cannot_express(value: Any, why: str) -> None:
    template = Template.load(
        {
            "heat_template_version": "2021-04-16",
            "parameters": {"text": {"type": "string"}},
            "resources": {"value": {"type": "OS::Heat::Value", "properties": {"value": [value]}}},
        }
    )
    conversion = convert(template, "cfn")
    (problem,) = conversion.problems
    assert why in problem.message
    assert problem.path[:5] == ("resources", "value", "properties", "value", 0)
    assert conversion.data["Resources"]["value"]["Properties"]["value"] == [value]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"Fn::GetAZs": ""}, "Fn::GetAZs"),
        ({"Ref": "AWS::Region"}, "AWS::Region"),
        ({"Ref": "AWS::StackId"}, "AWS::StackId"),
        ({"Fn::Select": [{"Ref": "Number"}, ["a", "b"]]}, "select items only"),
        ({"Fn::FindInMap": ["Table", {"Ref": "Number"}, "a"]}, "key is a number"),
        ({"Fn::ImportValue": "x"}, "Fn::ImportValue"),
        ({"Fn::Cidr": ["10.0.0.0/8", 2, 8]}, "Fn::Cidr"),
        ({"get_param": "Number"}, "plain data in this format"),
        ({"Ref": "Adress"}, "the template has no parameter or resource 'Adress'"),
        ({"Fn::Sub": "at ${Adress}"}, "the template has no parameter or resource 'Adress'"),
    ],
)
def test_parts_that_hot_cannot_express(value: Any, why: str) -> None:
    template = Template.load(
        {
            "AWSTemplateFormatVersion": "2010-09-09",
            "Parameters": {"Number": {"Type": "Number"}},
            "Mappings": {"Table": {"1": {"a": "b"}}},
            "Resources": {"value": {"Type": "OS::Heat::Value", "Properties": {"value": [value]}}},
        }
    )
    conversion = convert(template, "hot")
    (problem,) = conversion.problems
    assert why in problem.message
    assert problem.path[:5] == ("Resources", "value", "Properties", "value", 0)


def test_inexpressible_template_parts() -> None:
    template = Template.load(
        dedent("""
        heat_template_version: 2021-04-16
        parameter_groups: [{parameters: [size]}]
        parameters:
          size:
            type: number
            immutable: true
            tags: [a]
            constraints: [{range: {min: 1}, description: one}, {modulo: {step: 2, offset: 0}, description: two}]
        resources:
          value: {type: OS::Heat::Value, external_id: x}
        """)
    )
    problems = convert(template, "cfn").problems
    assert [(problem.path[-1], problem.position is not None) for problem in problems] == [
        ("parameter_groups", True),
        *[("size", True)] * 4,
        ("external_id", True),
    ]
    messages = [problem.message for problem in problems]
    assert messages[0] == "CloudFormation has no equivalent of the section parameter_groups"
    assert messages[-1] == "CloudFormation has no equivalent of external_id here"


def test_mapping_is_renamed_if_a_parameter_has_its_name() -> None:
    assert_same(
        """
        HeatTemplateFormatVersion: '2012-12-12'
        Parameters: {Sizes: {Type: String, Default: small}}
        Mappings: {Sizes: {small: {Memory: '1'}}}
        Outputs: {memory: {Value: {"Fn::FindInMap": [Sizes, {Ref: Sizes}, Memory]}}}
        """,
        "hot",
    )


# -- the command -------------------------------------------------------------------------------------------------


def test_the_command_prints_yaml_or_json(workdir: WorkingDirectory) -> None:
    workdir.write("a.yaml", CFN)
    text = workdir.stoker("convert", "a.yaml", "--to", "hot").stdout
    assert text.startswith("heat_template_version: '2021-04-16'\n\ndescription: Everything")
    data = json.loads(workdir.stoker("convert", "a.yaml", "--to", "hot", "--format", "json").stdout)
    assert data == yaml.safe_load(text)


def test_conversion_within_a_format_changes_notation_only(workdir: WorkingDirectory) -> None:
    workdir.write("a.template", '{"HeatTemplateFormatVersion": "2012-12-12", "Description": "a\\nb\\n"}')
    assert workdir.stoker("convert", "a.template", "--to", "cfn").stdout == (
        "HeatTemplateFormatVersion: '2012-12-12'\n\nDescription: |\n  a\n  b\n"
    )


def test_inexpressible_parts_are_listed_with_places(workdir: WorkingDirectory) -> None:
    workdir.write("a.yaml", "heat_template_version: 2018-08-31\noutputs:\n  a: {value: {get_file: x.sh}}\n")
    refused = workdir.stoker("convert", "a.yaml", "--to", "cfn")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "--> a.yaml:3:15  outputs.a.value.get_file" in refused.stderr
    partial = workdir.stoker("convert", "a.yaml", "--to", "cfn", "--partial")
    assert partial.exit_code == 0
    assert partial.stderr == refused.stderr
    assert yaml.safe_load(partial.stdout)["Outputs"] == {"a": {"Value": {"get_file": "x.sh"}}}


def test_invalid_template_is_not_converted(workdir: WorkingDirectory) -> None:
    result = workdir.stoker(
        "convert", workdir.write("a.yaml", "heat_template_version: 2018-08-31\nresorces: {}\n"), "--to", "cfn"
    )
    assert (result.exit_code, result.stdout) == (1, "")
    assert "error[section]" in result.stderr


def test_policies_without_hot_equivalent_are_reported() -> None:
    template = Template.load(
        dedent("""
        AWSTemplateFormatVersion: 2010-09-09
        Resources:
          it:
            Type: AWS::CloudFormation::WaitCondition
            CreationPolicy: {ResourceSignal: {Count: 2}}
            UpdateReplacePolicy: Retain
            DeletionPolicy: Retain
        """)
    )
    conversion = convert(template, "hot")
    paths = {problem.path for problem in conversion.problems}
    assert paths == {("Resources", "it", "CreationPolicy"), ("Resources", "it", "UpdateReplacePolicy")}
    assert conversion.data["resources"]["it"] == {
        "type": "AWS::CloudFormation::WaitCondition",
        "deletion_policy": "retain",
    }
