"""What authors write who know another version, the other language, or templates that include each other."""

from __future__ import annotations

import json

import pytest

from tests.authoring.support import WorkingDirectory, diagnostics


def rules_and_hints(workdir: WorkingDirectory, *words: str) -> list[tuple[str, str]]:
    """The rule and the hint of each problem."""
    return [
        (item["rule"], item.get("hint") or "") for item in diagnostics(workdir.stoker("lint", "-f", "json", *words))
    ]


# -- several templates -------------------------------------------------------------------------------------------------

INTERFACE = """
    heat_template_version: 2018-08-31
    parameters:
      extra: {type: string, default: ''}
    resources:
      v: {type: OS::Heat::RandomString}
"""


@pytest.mark.parametrize(
    "resource",
    [
        "{type: part.yaml, properties: {extra: x}}",
        "{type: OS::Heat::ResourceGroup, properties: {resource_def: {type: part.yaml, properties: {extra: x}}}}",
        "{type: Our::Part, properties: {extra: x}}",
    ],
)
def test_parameter_passed_by_parent_is_not_unused(workdir: WorkingDirectory, resource: str) -> None:
    workdir.write("part.yaml", INTERFACE)
    workdir.write("env.yaml", "resource_registry: {'Our::Part': part.yaml}")
    workdir.write("top.yaml", f"heat_template_version: 2018-08-31\nresources:\n  n: {resource}\n")
    assert rules_and_hints(workdir, "part.yaml") == [("unused-parameter", "remove it")]
    assert rules_and_hints(workdir, "part.yaml", "top.yaml", "-e", "env.yaml") == []
    assert rules_and_hints(workdir, "top.yaml", "part.yaml", "-e", "env.yaml") == []


def test_parameter_passed_to_unknown_type_is_not_unused(workdir: WorkingDirectory) -> None:
    workdir.write("part.yaml", INTERFACE)
    workdir.write(
        "top.yaml", "heat_template_version: 2018-08-31\nresources:\n  n: {type: Our::P, properties: {extra: x}}"
    )
    assert [rule for rule, _ in rules_and_hints(workdir, "part.yaml", "top.yaml")] == ["unknown-type"]


def test_mistakes_in_packaged_templates_are_reported_at_the_resource(workdir: WorkingDirectory) -> None:
    workdir.write(
        "a.yaml",
        """
        AWSTemplateFormatVersion: '2010-09-09'
        Resources:
          d:
            Type: AWS::RDS::DBInstance
            DeletionPolicy: Snapshot
            Properties: {AllocatedStorage: '5', DBInstanceClass: db.m1.small, Engine: MySQL, DBName: a}
        """,
    )
    result = workdir.stoker("lint", "-f", "json", "a.yaml")
    assert "stoker:///" not in result.stdout
    assert [(item["rule"], item["position"]["line"]) for item in diagnostics(result)] == [
        ("deletion-policy", 5),
        ("required-property", 6),
        ("required-property", 6),
    ]


def test_missing_output_of_nested_template_is_a_warning(workdir: WorkingDirectory) -> None:
    workdir.write("part.yaml", "heat_template_version: 2018-08-31\noutputs: {word: {value: x}}\n")
    workdir.write(
        "top.yaml",
        """
        heat_template_version: 2018-08-31
        resources:
          n: {type: part.yaml}
        outputs:
          o: {value: {get_attr: [n, wrod]}}
        """,
    )
    assert rules_and_hints(workdir, "top.yaml") == [("null-output", "did you mean 'word'?")]


# -- hints that lead somewhere -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["resource_registry: {'Our::Part': part.yaml}\n", "parameters: {size: 2}\nparameter_defaults: {name: a}\n"],
)
@pytest.mark.parametrize("command", [("lint",), ("graph",), ("convert", "--to", "hot")])
def test_an_environment_that_is_given_as_a_template_is_recognized(
    workdir: WorkingDirectory, command: tuple[str, ...], text: str
) -> None:
    workdir.write("env.yaml", text)
    result = workdir.stoker(*command, "env.yaml")
    assert result.exit_code == 1
    assert "this seems to be an environment: give it beside a template, as with -e" in result.output
    assert "heat_template_version" not in result.output


def test_template_without_version_is_not_taken_for_environment(workdir: WorkingDirectory) -> None:
    workdir.write("a.yaml", "parameters: {}\nresources: {}\n")
    assert rules_and_hints(workdir, "a.yaml") == [("version", "begin it with heat_template_version: 2021-04-16")]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Heat::SoftwareAgentConfig", "give the environment whose resource_registry maps it"),
        ("NovaNet::Server", "give the environment whose resource_registry maps it"),
        ("My::Nova::Server", "give the environment whose resource_registry maps it"),
        ("OSS::Nova::Server", "did you mean 'OS::Nova::Server'?"),
        ("OS::Nova::Sever", "did you mean 'OS::Nova::Server'?"),
        ("OS::Nuetron::Ruter", "did you mean 'OS::Neutron::Router'?"),
        ("OS::Octavia::Member", "did you mean 'OS::Octavia::PoolMember'?"),
        ("OS::Compute::Server", "did you mean 'OS::Nova::Server'?"),
        ("OS::Network::Port", "did you mean 'OS::Neutron::Port'?"),
        ("OS::Trove::Volume", "did you mean 'OS::Cinder::Volume'?"),
        ("AWS::AutoScaling::Group", "did you mean 'AWS::AutoScaling::AutoScalingGroup'?"),
        ("Nova::Server", "did you mean 'OS::Nova::Server'?"),
    ],
)
def test_custom_types_are_not_reported_as_misspelt(workdir: WorkingDirectory, name: str, hint: str) -> None:
    workdir.write("a.yaml", f"heat_template_version: 2018-08-31\nresources: {{r: {{type: '{name}'}}}}\n")
    ((rule, given),) = rules_and_hints(workdir, "a.yaml")
    assert rule == "unknown-type" and given.startswith(hint)
    workdir.stoker("lint", "--fix", "a.yaml")
    assert (f"'{name}'" in (workdir.folder / "a.yaml").read_text()) == ("did you mean" not in hint)


@pytest.mark.parametrize("name", ["OS::Neutron::Sprocket", "OS::Gizmo::Widget", "AWS::EC2::Widget", "OS::Nova"])
def test_unrelated_type_name_has_no_suggestion(workdir: WorkingDirectory, name: str) -> None:
    workdir.write("a.yaml", f"heat_template_version: 2018-08-31\nresources: {{r: {{type: '{name}'}}}}\n")
    assert rules_and_hints(workdir, "a.yaml") == [("unknown-type", "")]


def test_properties_in_use_are_not_suggested(workdir: WorkingDirectory) -> None:
    def template(*more: str) -> str:
        given = ", ".join(("lengths: 3", *more))
        return (
            "heat_template_version: 2018-08-31\n"
            f"resources: {{r: {{type: 'OS::Heat::RandomString', properties: {{{given}}}}}}}\n"
        )

    workdir.write("one.yaml", template())
    assert rules_and_hints(workdir, "one.yaml") == [("unknown-property", "did you mean 'length'?")]
    workdir.write("both.yaml", template("length: 8"))
    ((rule, hint),) = rules_and_hints(workdir, "both.yaml")
    assert rule == "unknown-property" and hint.startswith("known properties: ")
    workdir.stoker("lint", "--fix", "both.yaml")
    assert (workdir.folder / "both.yaml").read_text() == template("length: 8")


def test_old_property_names_suggest_new_ones(workdir: WorkingDirectory) -> None:
    workdir.write(
        "a.yaml",
        """
        heat_template_version: 2018-08-31
        resources:
          net: {type: OS::Neutron::Net}
          port:
            type: OS::Neutron::Port
            properties: {network_id: {get_resource: net}}
          alarm:
            type: OS::Ceilometer::Alarm
            properties: {meter_name: cpu, threshold: 1}
        """,
    )
    found = {item["rule"]: item for item in diagnostics(workdir.stoker("lint", "-f", "json", "a.yaml"))}
    assert found["deprecated-property"]["hint"] == "use 'network' instead"
    assert "OS::Ceilometer::Alarm" in found["deprecated-type"]["message"]


# -- the other language ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "call", "hint"),
    [
        ("2013-05-23", "{'Fn::GetAtt': [r, value]}", "use get_attr"),
        ("2018-08-31", "{'Fn::GetAtt': [r, value]}", "use get_attr"),
        ("2018-08-31", "{'Fn::If': [c, a, b]}", "use if"),
        ("2015-04-30", "{'Fn::If': [c, a, b]}", "use if, which exists from heat_template_version: 2016-10-14 on"),
        ("2018-08-31", "{'Fn::FindInMap': [a, b, c]}", "declare a parameter of type json"),
        ("2018-08-31", "{get_atr: [r, value]}", "did you mean the function 'get_attr'?"),
    ],
)
def test_functions_of_cloudformation_in_hot(workdir: WorkingDirectory, version: str, call: str, hint: str) -> None:
    workdir.write(
        "a.yaml",
        f"""
        heat_template_version: {version}
        resources: {{r: {{type: OS::Heat::RandomString}}}}
        outputs: {{o: {{value: {call}}}}}
        """,
    )
    ((rule, output),) = rules_and_hints(workdir, "a.yaml")
    assert rule == "misspelt-function"
    assert hint in output


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        ("{get_param: p}", "use Ref"),
        ("{get_attr: [r, value]}", "use Fn::GetAtt"),
        ("{list_join: [a, [b]]}", "use Fn::Join"),
        ("{get_file: a}", "CloudFormation has no such function"),
        ("{'Fn::GetAttr': [r, value]}", "did you mean the function 'Fn::GetAtt'?"),
    ],
)
def test_functions_of_hot_in_cloudformation(workdir: WorkingDirectory, call: str, hint: str) -> None:
    workdir.write(
        "a.yaml",
        f"""
        AWSTemplateFormatVersion: '2010-09-09'
        Resources: {{r: {{Type: OS::Heat::RandomString}}}}
        Outputs: {{o: {{Value: {call}}}}}
        """,
    )
    ((rule, output),) = rules_and_hints(workdir, "a.yaml")
    assert rule == "misspelt-function"
    assert hint in output


def test_hints_use_the_syntax_of_the_template(workdir: WorkingDirectory) -> None:
    workdir.write(
        "a.yaml",
        """
        AWSTemplateFormatVersion: '2010-09-09'
        Parameters:
          P: {Type: String}
          Q: {Type: Number, AllowedPattern: '[0-9]'}
        Resources:
          r: {Type: 'OS::Heat::Value', Properties: {value: {'Fn::GetAtt': [P, value]}}}
        """,
    )
    text = workdir.stoker("lint", "a.yaml").stdout
    assert "use Ref" in text
    assert "AllowedPattern does not fit the type Number" in text
    assert "get_param" not in text
    assert "allowed_pattern" not in text


# -- conditions and rules ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "rule", "hint"),
    [
        ("{equal: [a, b]}", "condition", "did you mean the function 'equals'?"),
        ("{not: {Equals: [a, b]}}", "condition", "did you mean the function 'equals'?"),
        ("{'Fn::Equals': [a, b]}", "condition", "use equals"),
        ("{equals: [{get_parm: p}, b]}", "misspelt-function", "did you mean the function 'get_param'?"),
        ("{and: [true, {equals: [{Ref: p}, b]}]}", "function-in-condition", "use one of and, "),
        ("{equals: [{get_attr: [r, value]}, b]}", "function-in-condition", "use one of and, "),
    ],
)
def test_misspelt_functions_in_conditions(workdir: WorkingDirectory, condition: str, rule: str, hint: str) -> None:
    workdir.write(
        "a.yaml",
        f"""
        heat_template_version: 2018-08-31
        conditions: {{c: {condition}}}
        resources: {{r: {{type: OS::Heat::RandomString, condition: c}}}}
        """,
    )
    found = rules_and_hints(workdir, "a.yaml")
    assert any(output == rule and hint in words for output, words in found), found


@pytest.mark.parametrize("place", ["metadata: {a: {get_parm: p}}", "update_policy: {a: {get_parm: p}}"])
def test_misspelt_functions_elsewhere(workdir: WorkingDirectory, place: str) -> None:
    workdir.write(
        "a.yaml", f"heat_template_version: 2018-08-31\nresources:\n  r:\n    type: OS::Heat::None\n    {place}\n"
    )
    assert ("misspelt-function", "did you mean the function 'get_param'?") in rules_and_hints(workdir, "a.yaml")


RULES = """
    AWSTemplateFormatVersion: '2010-09-09'
    Parameters:
      Key: {Type: String, Default: ''}
      Vpc: {Type: 'AWS::EC2::VPC::Id'}
    Rules:
      key: {Assertions: [{Assert: {'Fn::Not': [{'Fn::Equals': [{Ref: Key}, '']}]}, AssertDescription: give a key}]}
      vpc: {Assertions: [{Assert: {'Fn::Equals': [{'Fn::ValueOf': [Vpc, Tags.Department]}, IT]}}]}
    Resources:
      r: {Type: 'OS::Heat::Value', Properties: {value: {'Fn::Join': ['', [{Ref: Key}, {Ref: Vpc}]]}}}
"""


def test_rules_ignore_parameter_defaults(workdir: WorkingDirectory) -> None:
    workdir.write("a.yaml", RULES)
    assert rules_and_hints(workdir, "a.yaml") == []
    assert rules_and_hints(workdir, "a.yaml", "-P", "Key=a") == []
    ((rule, _),) = rules_and_hints(workdir, "a.yaml", "-P", "Key=")
    assert rule == "rule-assertion"


# -- everything at once, nothing in silence ----------------------------------------------------------------------------


def test_all_mistakes_are_reported_in_one_run(workdir: WorkingDirectory) -> None:
    workdir.write(
        "part.yaml", "heat_template_version: 2018-08-31\nparameters: {a: {type: string}, b: {type: number}}\n"
    )
    workdir.write(
        "top.yaml",
        """
        heat_template_version: 2018-08-31
        parameters:
          color: {type: strng}
        resources:
          n: {type: part.yaml, properties: {b: many}}
          g:
            type: OS::Heat::ResourceGroup
            properties: {count: many, resource_def: {type: part.yaml, properties: {a: x}}}
          s: {type: OS::Nova::Server, properties: {networks: [{}], name: [a]}}
        outputs:
          o: {value: {'Fn::GetAtt': [n, x]}}
        """,
    )
    found = diagnostics(workdir.stoker("lint", "-f", "json", "top.yaml"))
    assert sorted((item["rule"], item["position"]["line"]) for item in found) == [
        ("misspelt-function", 11),
        ("parameter-schema", 3),
        ("properties", 9),
        ("properties", 9),
        ("required-property", 5),
        ("required-property", 6),
        ("required-property", 9),
        ("wrong-type", 5),
        ("wrong-type", 8),
        ("wrong-type", 9),
    ]


def test_skipped_files_are_named(workdir: WorkingDirectory) -> None:
    workdir.write("all/good.yaml", "heat_template_version: 2018-08-31\nresources: {}\n")
    workdir.write("all/env.yaml", "parameters: {a: b}\n")
    workdir.write("all/compose.yml", "services: {}\n")
    workdir.write("all/role.yaml.j2", "heat_template_version: rocky\nresources: {{ roles }}\n")
    workdir.write("all/notes.txt", "no template\n")
    result = workdir.stoker("lint", "all")
    assert result.exit_code == 0
    assert "all/env.yaml: it is an environment" in result.stdout
    answer = json.loads(workdir.stoker("lint", "-f", "json", "all").stdout)
    assert {item["source"] for item in answer["skipped"]} == {"all/env.yaml", "all/compose.yml", "all/role.yaml.j2"}
    sarif = json.loads(workdir.stoker("lint", "-f", "sarif", "all").stdout)
    assert len(sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"]) == 3


def test_a_file_that_cannot_be_read_is_an_error(workdir: WorkingDirectory) -> None:
    (workdir.folder / "all").mkdir()
    (workdir.folder / "all/latin.yaml").write_bytes(b"heat_template_version: 2018-08-31\ndescription: caf\xe9\n")
    assert workdir.problems("all") == [("unreadable", "all/latin.yaml", None)]


def test_a_directory_without_templates_is_an_error(workdir: WorkingDirectory) -> None:
    (workdir.folder / "empty").mkdir()
    result = workdir.stoker("lint", "empty")
    assert result.exit_code == 1
    assert "There are no templates below empty." in result.stderr
    workdir.write("others/env.yaml", "parameters: {a: b}\n")
    result = workdir.stoker("lint", "others")
    assert result.exit_code == 1
    assert "others/env.yaml: it is an environment" in result.stderr
