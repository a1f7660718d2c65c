"""Features of CloudFormation templates that AWS added later and Heat does not have."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent, indent
from typing import Any

import pytest

from stoker.base.errors import TemplateInvalid
from stoker.schema.unknown import has_unknown
from stoker.template.check import check
from stoker.template.definition import Definition
from stoker.template.expressions import UnknownScope
from stoker.template.template import Template
from stoker.template.warnings import warnings
from tests.template.support import TYPES, bind, invalid, load, problems

HEAD = "AWSTemplateFormatVersion: 2010-09-09\n"
TRANSFORM = f"{HEAD}Transform: AWS::LanguageExtensions\n"
PARAMETERS = """
Parameters:
  Name: {Type: String, Default: web}
  Size: {Type: Number, Default: 3}
  Zones: {Type: CommaDelimitedList, Default: 'a,b'}
Mappings:
  Sizes: {big: {cores: 8}}
Conditions:
  Web: !Equals [!Ref Name, web]
"""


def aws(text: str, head: str = HEAD) -> str:
    return head + PARAMETERS + dedent(text)


class Made:
    """A scope in which all resources exist."""

    def reference(self, resource: str) -> Any:
        return f"id of {resource}"

    def attribute(self, resource: str, attribute: str, path: tuple[str | int, ...]) -> Any:
        return f"{attribute} of {resource}"

    def all_attributes(self, resource: str) -> Any:
        return {}

    def availability_zones(self) -> Any:
        return ["nova"]

    def facade(self) -> None:
        return None


def bound_value(expression: str, head: str = HEAD, **options: Any) -> tuple[Definition, Any]:
    """The definition of a template with one resource `Net` and an output of that expression, and the output's tree."""
    text = aws("Resources:\n  Net: {Type: Test::Net}\nOutputs:\n  o:\n    Value:\n", head) + indent(
        dedent(expression).strip("\n"), "      "
    )
    definition = bind(Template.load(text), **options)
    return definition, definition.outputs["o"].value


def value(expression: str, head: str = HEAD, **options: Any) -> Any:
    """The value of the expression when all resources exist."""
    definition, tree = bound_value(expression, head, **options)
    return definition.resolve(tree, Made())


def refused(expression: str, head: str = HEAD, **options: Any) -> str:
    with pytest.raises(TemplateInvalid) as caught:
        value(expression, head, **options)
    return caught.value.message


# -- functions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("!Sub 'no place'", "no place"),
        ("!Sub '${Name}-${Size}'", "web-3"),
        ("!Sub '${Net} ${Net.mac} ${!Name}'", "id of Net mac of Net ${Name}"),
        ("!Sub ['${Who} in ${Name}', {Who: !Ref AWS::StackName}]", "web in web"),
        ("!Sub ['${Net.mac}', {Net.mac: x}]", "x"),
        ("!Sub '${AWS::AccountId} ${AWS::Partition}'", "project openstack"),
        ("!Sub 'a${AWS::NoValue}b'", "ab"),
        ("!Sub '$Name {Name} ${'", "$Name {Name} ${"),
        ("!Join ['-', [a, !Sub '${Name}']]", "a-web"),
        ("!GetAtt Net.mac", "mac of Net"),
        ("!GetAtt Net.Outputs.x", "Outputs.x of Net"),
        ("!GetAtt [Net, mac]", "mac of Net"),
        ("Fn::GetAtt: Net.mac", "mac of Net"),
        ("!Cidr [192.168.0.0/24, 6, 5]", [f"192.168.0.{32 * number}/27" for number in range(6)]),
        ("!Cidr [!Sub '10.0.0.0/16', '2', '8']", ["10.0.0.0/24", "10.0.1.0/24"]),
        ("!Cidr ['fd00::/56', 1, 64]", ["fd00::/64"]),
        ("!If [Web, !Ref Name, !Ref AWS::NoValue]", "web"),
        ("{a: 1, b: !Ref AWS::NoValue}", {"a": 1}),
        ("[1, !If [Web, !Ref AWS::NoValue, 2]]", [1]),
        ("!FindInMap [Sizes, big, cores]", 8),
        ("!Select [1, !Split [',', 'a,b']]", "b"),
        ("!Base64 x", "x"),
        ("!GetAZs ''", ["nova"]),
        ("!Ref AWS::URLSuffix", "amazonaws.com"),
    ],
)
def test_functions(expression: str, expected: Any) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("!Sub '${Nam}'", "no resource 'Nam'"),
        ("!Sub '${Zones}'", "must be a string or a number"),
        ("!Sub [a]", "takes a string, or a list of a string and a map"),
        ("!Sub {a: b}", "takes a string, or a list of a string and a map"),
        ("!Cidr [x, 1, 8]", "'x' is not an address block"),
        ("!Cidr [10.0.0.0/24, 300, 2]", "from 1 to 256"),
        ("!Cidr [10.0.0.0/24, 2, 8]", "no room for 2 blocks"),
        ("!Cidr [10.0.0.0/24, 2, 16]", "no room"),
        ("!Cidr [10.0.0.0/24, 2, 0]", "from 1 to 32"),
        ("!Cidr [10.0.0.0/24, 2]", "takes a list of three"),
        ("!GetAtt Net", "takes a list of two"),
        ("!Length [a]", "Fn::Length needs a transform; add Transform: AWS::LanguageExtensions"),
        ("!Transform {Name: AWS::Include}", "Fn::Transform is not supported"),
        ("!Ref AWS::NotificationARNs", "no resource 'AWS::NotificationARNs'"),
    ],
)
def test_invalid_function_arguments(expression: str, words: str) -> None:
    assert words in refused(expression)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("!Length [a, b, c]", 3),
        ("!Length {Ref: Zones}", 2),
        ("!ToJsonString {a: [1, !Ref Name]}", '{"a":[1,"web"]}'),
        ("!FindInMap [Sizes, !Sub '${Name}', cores, {DefaultValue: 1}]", 1),
        ("!FindInMap [Sizes, big, cores, {DefaultValue: 1}]", 8),
        ("!FindInMap [None, big, cores, {DefaultValue: !Ref Name}]", "web"),
    ],
)
def test_functions_of_the_transform(expression: str, expected: Any) -> None:
    assert value(expression, TRANSFORM) == expected


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("!Length abc", "takes a list"),
        ("!Length {Ref: Name}", "takes a list"),
        ("!ToJsonString abc", "takes a map or a list"),
        ("!FindInMap [Sizes, big, cores, 1]", "takes {DefaultValue: …} as the fourth argument"),
        ("!FindInMap [Sizes, small, cores]", "the mapping 'Sizes' has no key 'small'; use one of big"),
        ("!FindInMap [Sizes, [a], cores, {DefaultValue: 1}]", "the keys must be strings"),
    ],
)
def test_invalid_arguments_of_functions_of_the_transform(expression: str, words: str) -> None:
    assert words in refused(expression, TRANSFORM)


def test_values_that_depend_on_a_resource() -> None:
    for expression in ("!Sub '${Net.mac}'", "!Ref Net"):
        definition, tree = bound_value(expression)
        assert has_unknown(definition.resolve(tree, UnknownScope()))
        assert [placed.reference.resource for placed in definition.references_in(tree)] == ["Net"]
    definition, tree = bound_value("!Length [!Ref Net, b]", TRANSFORM)
    assert definition.resolve(tree, UnknownScope()) == 2


def test_conditions_that_refer_to_conditions() -> None:
    text = HEAD + dedent("""
        Conditions:
          a: !Equals [!Sub '${AWS::StackName}', web]
          b: !And [!Condition a, !Not [!Condition c]]
          c: {Condition: d}
          d: false
        Outputs: {o: {Value: !If [b, yes it is, no]}}
    """)
    definition = bind(Template.load(text))
    assert definition.resolve(definition.outputs["o"].value, Made()) == "yes it is"
    assert "depends on itself" in invalid(text.replace("d: false", "d: !Not [!Condition b]")).message


# -- short tags ---------------------------------------------------------------------------------------------------


def test_positions_after_short_tags() -> None:
    found = problems(
        aws("""
        Resources:
          Net:
            Type: Test::Net
            Properties:
              name: !Join
              - ','
              - - a
                - !Sub "${Nobody}"
              mtu: !If [Web, !GetAtt Other.x, 5]
    """)
    )
    lines = [(item.position.line, item.position.column) for item in found if item.position]
    assert lines == [(19, 11), (20, 22)], [item.text() for item in found]


def test_short_tags_belong_to_cloudformation() -> None:
    message = invalid("heat_template_version: 2021-04-16\noutputs: {o: {value: !Ref x}}").message
    assert "web.yaml:2:22" in message
    assert "tag !Ref is not supported" in message
    assert "tag !Nope is not supported" in invalid(HEAD + "Outputs: {o: {Value: !Nope x}}").message


def test_short_tags_with_anchors_and_as_keys() -> None:
    template = load(HEAD + "Outputs: {a: {Value: &v !Ref AWS::StackName}, b: {Value: *v}, c: {Value: !Sub &s x}}")
    assert template.data["Outputs"]["b"] == {"Value": {"Ref": "AWS::StackName"}}
    assert template.data["Outputs"]["c"] == {"Value": {"Fn::Sub": "x"}}
    assert "a key must be" in invalid(HEAD + "Outputs: {!Ref a: b}").message


# -- exports ------------------------------------------------------------------------------------------------------


def test_exports_and_imports() -> None:
    definition = bind(
        Template.load(
            aws("""
        Resources: {Net: {Type: Test::Net, Properties: {name: !ImportValue shared-name}}}
        Outputs:
          a: {Value: !Ref Net, Export: {Name: !Sub "${AWS::StackName}-net"}}
          b: {Value: !ImportValue {Fn::Sub: "${Name}-x"}}
    """)
        ),
        exports={"shared-name": "n", "web-x": 5},
    )
    assert definition.exports() == [("web-net", "a")]
    assert definition.imports == ["shared-name", "web-x"]
    assert definition.resolve(definition.outputs["b"].value, Made()) == 5


def test_import_of_a_missing_export() -> None:
    assert "no stack of this project exports 'netx'; did you mean 'nets'?" in refused(
        "!ImportValue netx", exports={"nets": 1}
    )
    definition, tree = bound_value("!ImportValue netx")
    assert has_unknown(definition.resolve(tree, Made()))


@pytest.mark.parametrize(
    ("export", "words"),
    [
        ("{Name: !Ref Net}", "must not depend on resources"),
        ("{Name: ''}", "must be a string"),
        ("{Name: [a]}", "must be a string, not a list"),
        ("{}", "a map with a Name"),
        ("x", "a map with a Name"),
        ("{Name: taken}", "another output is already exported as 'taken'"),
        ("{Name: !Ref Nobody}", "no resource 'Nobody'"),
    ],
)
def test_wrong_exports(export: str, words: str) -> None:
    error = invalid(
        aws(f"""
        Resources: {{Net: {{Type: Test::Net}}}}
        Outputs:
          first: {{Value: 1, Export: {{Name: taken}}}}
          second: {{Value: 1, Export: {export}}}
    """)
    )
    assert words in error.message


# -- parameters ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "given", "expected", "checked"),
    [
        ("List<Number>", "1, 2.5", ["1", "2.5"], []),
        ("List<String>", "a, b", ["a", "b"], []),
        ("CommaDelimitedList", "a, b", ["a", "b"], []),
        ("AWS::EC2::Image::Id", "fedora", "fedora", [("glance.image", "fedora")]),
        ("AWS::EC2::AvailabilityZone::Name", "nova", "nova", []),
        ("List<AWS::EC2::Subnet::Id>", "s1, s2", ["s1", "s2"], [("neutron.subnet", "s1"), ("neutron.subnet", "s2")]),
        ("AWS::EC2::KeyPair::KeyName", "k", "k", [("nova.keypair", "k")]),
    ],
)
def test_parameter_types(kind: str, given: Any, expected: Any, checked: list[tuple[str, Any]]) -> None:
    definition = bind(HEAD + f"Parameters: {{p: {{Type: '{kind}', ConstraintDescription: pick one}}}}", {"p": given})
    assert definition.parameters["p"] == expected
    checks = definition.parameters.custom_checks
    assert [(check.constraint, check.value) for check in checks] == checked
    assert {check.description for check in checks} <= {"pick one"}


@pytest.mark.parametrize(
    ("declared", "given", "words"),
    [
        ("Type: List<Number>", "1,x", "'1,x' is not a list of numbers"),
        ("Type: AWS::SSM::Parameter::Value<String>", "x", "is not supported; AWS's parameter store is not available"),
        ("Type: List<AWS::EC2::KeyPair::KeyName>", "x", "no parameter type"),
        (
            "Type: String, AllowedPattern: '[a-z]+', ConstraintDescription: only letters",
            "1",
            "only letters ('1' does not",
        ),
        ("Type: List<Number>, AllowedValues: [1, 2]", "1,3", "'3' is not one of 1, 2"),
        ("Type: AWS::EC2::Image::Id, MinLength: 3, NoEcho: true", "ab", "******"),
    ],
)
def test_wrong_parameters(declared: str, given: str, words: str) -> None:
    assert words in invalid(HEAD + f"Parameters: {{p: {{{declared}}}}}", {"p": given}).message


def test_other_formats_keep_whitespace_in_lists() -> None:
    head = "HeatTemplateFormatVersion: 2012-12-12\n"
    assert bind(head + "Parameters: {p: {Type: CommaDelimitedList}}", {"p": "a, b"}).parameters["p"] == ["a", " b"]


def test_the_newer_types_belong_to_one_format() -> None:
    assert (
        "no parameter type"
        in invalid("HeatTemplateFormatVersion: 2012-12-12\nParameters: {p: {Type: List<String>}}").message
    )


# -- sections and keys --------------------------------------------------------------------------------------------


def test_metadata_and_policies() -> None:
    template = aws("""
        Metadata: {AWS::CloudFormation::Interface: {ParameterGroups: []}}
        Resources: {Net: {Type: Test::Net, UpdateReplacePolicy: Delete, Metadata: {a: !Ref Name}}}
    """)
    assert problems(template) == []
    found = warnings(bind(template), lambda name, _: TYPES.get(name))
    assert {item.rule for item in found} == {"unused-parameter", "unused-condition"}


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("UpdateReplacePolicy: Retained", "no update replace policy 'Retained'; did you mean 'Retain'?"),
        ("UpdateReplacePolicy: [Delete]", "a literal string, not a list"),
        ("CreationPolicy: [ResourceSignal]", "must be a map, not a list"),
    ],
)
def test_invalid_policies(key: str, words: str) -> None:
    error = invalid(aws(f"Resources: {{Net: {{Type: Test::Net, {key}}}}}"))
    assert words in error.message
    (found,) = error.diagnostics
    assert found.position is not None
    assert found.path == ("Resources", "Net", key.partition(":")[0])


@pytest.mark.parametrize("transform", ["AWS::Serverless-2016-10-31", "[AWS::LanguageExtensions, Mine]", "{a: b}"])
def test_other_transforms(transform: str) -> None:
    assert "is not supported; use AWS::LanguageExtensions" in invalid(HEAD + f"Transform: {transform}").message


# -- rules --------------------------------------------------------------------------------------------------------

RULES = """
Parameters:
  Kind: {Type: String, Default: test}
  Zones: {Type: CommaDelimitedList, Default: 'a,b'}
  Net: {Type: AWS::EC2::VPC::Id, Default: n1}
  Nets: {Type: List<AWS::EC2::VPC::Id>, Default: 'n1,n2'}
Rules:
  Sizes:
    RuleCondition: !Equals [!Ref Kind, production]
    Assertions:
    - Assert: ASSERTION
      AssertDescription: not in production
"""


def held(assertion: str, parameters: Mapping[str, Any] | None = None, **options: Any) -> bool:
    """Whether the assertion accepts a production stack."""
    text = HEAD + RULES.replace("ASSERTION", assertion)
    bind(text)  # it never counts elsewhere
    try:
        bind(text, {"Kind": "production", **(parameters or {})}, **options)
    except TemplateInvalid as error:
        (found,) = error.diagnostics
        assert (found.rule, found.message) == ("rule-assertion", "not in production"), error.message
        assert found.path == ("Rules", "Sizes", "Assertions", 0, "Assert")
        assert found.position is not None
        assert found.position.line == 12
        return False
    return True


@pytest.mark.parametrize(
    ("assertion", "zones", "expected"),
    [
        ("!Contains [!Ref Zones, a]", "a,b", True),
        ("!Contains [!Ref Zones, c]", "a,b", False),
        ("!EachMemberEquals [!Ref Zones, a]", "a,a", True),
        ("!EachMemberEquals [!Ref Zones, a]", "a,b", False),
        ("!EachMemberIn [!Ref Zones, [a, b, c]]", "a,b", True),
        ("!EachMemberIn [!Ref Zones, [a, c]]", "a,b", False),
        ("!Contains [!RefAll 'AWS::EC2::VPC::Id', n1]", "a", True),
        ("!Not [!Contains [!Ref Zones, a]]", "a,b", False),
        ("!Or [!Contains [!Ref Zones, x], !Equals [!Ref Kind, production]]", "a,b", True),
    ],
)
def test_rules(assertion: str, zones: str, expected: bool) -> None:
    assert held(assertion, {"Zones": zones}) is expected


def test_rules_on_attributes_of_parameter_values() -> None:
    def look_up(kind: str, name: str, attribute: str) -> str:
        assert kind == "AWS::EC2::VPC::Id"
        return f"{attribute}-{name}"

    assert held("!Equals [!ValueOf [Net, Tags.x], Tags.x-n1]", look_up=look_up)
    assert held("!EachMemberIn [!ValueOf [Nets, Id], [Id-n1, Id-n2]]", look_up=look_up)
    assert not held("!Contains [!ValueOfAll ['AWS::EC2::VPC::Id', Id], Id-n3]", look_up=look_up)
    with pytest.raises(TemplateInvalid, match=r"the Id of a AWS::EC2::VPC::Id cannot be looked up here"):
        bind(HEAD + RULES.replace("ASSERTION", "!Equals [!ValueOf [Net, Id], x]"), {"Kind": "production"})


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ("{a: [b]}", "must be a map with RuleCondition and Assertions"),
        ("{a: {}}", "a rule needs Assertions"),
        ("{a: {Assertions: [{}]}}", "the assertion's Assert is missing"),
        ("{a: {Assertions: [{Assert: c}]}}", "an assertion must be a boolean or a function of the Rules section"),
        ("{a: {Assertions: [{Assert: !GetAtt a.b}]}}", "Fn::GetAtt cannot be used in an assertion"),
        ("{a: {Assertions: [{Assert: !Contains [a, b]}]}}", "takes a list of strings and a string"),
        ("{a: {Assertions: [{Assert: !EachMemberIn [a]}]}}", "takes a list of two"),
        ("{a: {Assertions: [{Assert: !Equals [!ValueOf [Q, b], 1]}]}}", "the parameter 'Q' does not exist"),
        ("{a: {Assertions: [{Assert: true, Text: x}]}}", "unknown key 'Text'"),
    ],
)
def test_wrong_rules(rules: str, words: str) -> None:
    assert words in invalid(HEAD + f"Rules: {rules}").message


# -- loops --------------------------------------------------------------------------------------------------------


def test_loops_over_lists_and_parameters() -> None:
    text = aws(
        """
        Resources:
          Fn::ForEach::Nets:
          - Zone
          - !Ref Zones
          - Net${Zone}:
              Type: Test::Net
              Properties: {name: !Sub "${Name}-${Zone}", description: !Ref Zone}
            Fn::ForEach::Ports:
            - Number
            - [1, 2]
            - Port${Zone}${Number}:
                Type: Test::Port
                Properties: {network: !Ref "Net${Zone}"}
        Outputs:
          Fn::ForEach::Macs:
          - Address
          - [10.0.0.1, 10.0.0.2]
          - At&{Address}: {Value: "${Address}"}
        """,
        TRANSFORM,
    )
    template = Template.load(text)
    definition = bind(template, {"Zones": "x, y,z"})
    assert list(definition.resources) == [
        f"{name}" for zone in "xyz" for name in (f"Net{zone}", f"Port{zone}1", f"Port{zone}2")
    ]
    net = definition.resolve(definition.resources["Nety"].properties, Made())
    assert net == {"name": "web-y", "description": "y"}
    assert definition.resources["Portz2"].requires == {"Netz"}
    outputs = {key: definition.resolve(output.value, Made()) for key, output in definition.outputs.items()}
    assert outputs == {"At10001": "10.0.0.1", "At10002": "10.0.0.2"}
    assert list(bind(template).resources)[::3] == ["Neta", "Netb"]
    assert definition.template.data is template.data
    assert check(definition, lambda name, _: TYPES.get(name)) == []


def test_loops_in_conditions_and_properties() -> None:
    text = TRANSFORM + dedent("""
        Parameters: {Name: {Type: String, Default: web}}
        Conditions:
          Fn::ForEach::Is:
          - Kind
          - [web, db]
          - Is${Kind}: !Equals [!Ref Name, "${Kind}"]
        Resources:
          Net:
            Type: Test::Group
            Properties:
              Fn::ForEach::Tags:
              - Tag
              - !FindInMap [Sizes, none, x, {DefaultValue: [a, b]}]
              - tag${Tag}: !If [Isdb, 1, "${!Tag}${Tag}"]
    """)
    definition = bind(Template.load(text))
    assert list(definition.template.conditions) == ["Isweb", "Isdb"]
    assert definition.resolve(definition.resources["Net"].properties, Made()) == {
        "taga": "${!Tag}a",
        "tagb": "${!Tag}b",
    }


def test_positions_in_expanded_loops() -> None:
    error = invalid(
        TRANSFORM
        + dedent("""
        Resources:
          Fn::ForEach::Nets:
          - Zone
          - [a, b]
          - Net${Zone}:
              Properties: {}
    """)
    )
    found = error.diagnostics
    assert [(item.path, item.position and item.position.line) for item in found] == [
        (("Resources", "Neta"), 8),
        (("Resources", "Netb"), 8),
    ]


@pytest.mark.parametrize(
    ("loop", "words"),
    [
        ("[X, [a]]", "takes a list of three"),
        ("[X, [a], [b]]", "must be a map"),
        ("[[X], [a], {'${X}': {}}]", "the identifier must consist of"),
        ("[X, a, {'N${X}': {}}]", "the collection must be a list"),
        ("[X, [[a]], {'N${X}': {}}]", "the collection must be a list of strings"),
        ("[X, [a, a], {'N${X}': {}}]", "the key 'Na' occurs more than once"),
        ("[X, [a], {Net: {}}]", "the key must be different in each copy"),
        ("[X, [a], {'Fn::ForEach::L': [Y, [b], {'N${Y}': {}}]}]", "a loop needs a unique name"),
        ("[X, !Ref Nobody, {'N${X}': {}}]", "no resource 'Nobody'"),
        ("[X, !If [Nope, [a], [b]], {'N${X}': {}}]", "no condition 'Nope'"),
    ],
)
def test_wrong_loops(loop: str, words: str) -> None:
    assert words in invalid(f"{TRANSFORM}Resources: {{'Fn::ForEach::L': {loop}}}").message


def test_loops_need_the_transform_and_a_good_name() -> None:
    loop = "[X, [a], {'N${X}': {Type: Test::Net}}]"
    assert "add Transform" in invalid(f"{HEAD}Resources: {{'Fn::ForEach::L': {loop}}}").message
    within = f"{HEAD}Resources: {{N: {{Type: Test::Group, Properties: {{'Fn::ForEach::L': {loop}}}}}}}"
    assert "add Transform" in invalid(within).message
    assert "a loop needs a unique name" in invalid(f"{TRANSFORM}Resources: {{'Fn::ForEach::a-b': {loop}}}").message


def test_a_loop_over_a_parameter_without_value() -> None:
    text = TRANSFORM + "Parameters: {Zones: {Type: CommaDelimitedList}}\nResources:\n  'Fn::ForEach::L':\n"
    template = Template.load(text + "  - X\n  - !Ref Zones\n  - 'N${X}': {Type: Test::Net}\n")
    assert list(bind(template, missing_ok=True).resources) == []
    assert list(bind(template, {"Zones": "a,b"}).resources) == ["Na", "Nb"]
    assert warnings(bind(template, missing_ok=True), lambda name, _: TYPES.get(name)) == []


def test_format_version_is_optional_in_cloudformation() -> None:
    template = load("Resources: {a: {Type: T, Properties: {name: !Sub 'x-${AWS::StackName}'}}}\n")
    assert (template.version.key, template.version.value) == ("AWSTemplateFormatVersion", "2010-09-09")
    assert template.uses("Fn::Sub")
    assert Template.load({"Resources": {}}).version is template.version


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("'{{resolve:ssm:word:1}}'", "Properties.name: {{resolve:ssm:…}} is not supported; AWS's parameter store"),
        ("'a-{{resolve:ssm-secure:word}}'", "Properties.name: {{resolve:ssm-secure:…}} is not supported"),
        (
            "!Sub 'x{{resolve:secretsmanager:s:SecretString:p}}'",
            "Properties.name.Fn::Sub: {{resolve:secretsmanager:…}}",
        ),
        ("!Join ['', [a, '{{resolve:ssm:word}}']]", "{{resolve:ssm:…}} is not supported"),
    ],
)
def test_dynamic_references_to_unsupported_stores_are_rejected(value: str, words: str) -> None:
    error = invalid(HEAD + f"Resources: {{a: {{Type: 'Test::Net', Properties: {{name: {value}}}}}}}")
    assert words in error.message
    assert len(error.diagnostics) == 1


def test_dynamic_references_are_plain_strings_in_other_formats() -> None:
    text = "{heat_template_version: 2021-04-16, resources: {a: {type: T, properties: {name: '{{resolve:ssm:word}}'}}}}"
    assert load(text).resources["a"].properties == {"name": "{{resolve:ssm:word}}"}
    load(HEAD + "Resources: {a: {Type: T, Properties: {name: '{{resolve:other}}'}}}")
