"""`stoker lint` on files: what it finds, where, and how it ends."""

from __future__ import annotations

import json

import pytest

from stoker.authoring.rules import RULES
from tests.authoring.support import Desk, diagnostics

GOOD = """
    heat_template_version: 2018-08-31
    resources:
      word:
        type: OS::Heat::RandomString
        properties:
          length: 8
    outputs:
      word: {value: {get_attr: [word, value]}}
"""
BAD = """
    heat_template_version: 2018-08-31
    resources:
      word:
        type: OS::Heat::RandomString
        properties:
          lenght: 8
      other:
        type: OS::Heat::Value
        properties:
          value: {get_attr: [wrod, value]}
"""


def test_a_sound_template_is_accepted(desk: Desk) -> None:
    result = desk.stoker("lint", desk.write("good.yaml", GOOD))
    assert (result.exit_code, result.stdout) == (0, "no problems in 1 file\n")


def test_every_mistake_is_reported_with_its_place(desk: Desk) -> None:
    desk.write("bad.yaml", BAD)
    result = desk.stoker("lint", "--format", "json", "bad.yaml")
    assert result.exit_code == 1
    found = [(item["rule"], item["position"], item["hint"]) for item in diagnostics(result)]
    assert found == [
        ("unknown-property", {"line": 6, "column": 7}, "did you mean 'length'?"),
        ("unknown-resource", {"line": 10, "column": 15}, "did you mean 'word'?"),
    ]


def test_a_directory_stands_for_its_templates(desk: Desk) -> None:
    desk.write("templates/a/bad.yaml", BAD)
    desk.write("templates/good.template", GOOD)
    desk.write("templates/notes.yaml", "just: notes")
    desk.write("templates/script.sh", "heat_template_version: 2018-08-31")
    answer = json.loads(desk.stoker("lint", "-f", "json", "templates").stdout)
    assert answer["summary"] == {"files": 2, "errors": 2, "warnings": 0}
    assert {item["source"] for item in answer["diagnostics"]} == {"templates/a/bad.yaml"}


def test_a_file_that_is_named_is_looked_at_whatever_it_holds(desk: Desk) -> None:
    assert desk.complaints(desk.write("notes.txt", "just: notes")) == [("version", "notes.txt", 1)]
    assert desk.complaints(desk.write("broken.yaml", "resources: {")) == [("syntax", "broken.yaml", 2)]
    (desk.folder / "binary.yaml").write_bytes(b"\xff\xfe")
    assert desk.complaints("binary.yaml") == [("unreadable", "binary.yaml", None)]


def test_a_template_that_is_too_large_does_not_stop_the_others(desk: Desk) -> None:
    many = "".join(f"  r{number}: {{type: OS::Heat::Value}}\n" for number in range(1001))
    desk.write("many.yaml", f"heat_template_version: 2018-08-31\nresources:\n{many}")
    desk.write("long.yaml", f"heat_template_version: 2018-08-31\ndescription: {'x' * 600_000}\n")
    desk.write("bad.yaml", BAD)
    found = desk.complaints("many.yaml", "long.yaml", "bad.yaml")
    assert [(rule, source) for rule, source, _ in found] == [
        ("unknown-property", "bad.yaml"),
        ("unknown-resource", "bad.yaml"),
        ("limit", "long.yaml"),
        ("limit", "many.yaml"),
    ]


def test_cloudformation_templates_too(desk: Desk) -> None:
    desk.write(
        "stack.template",
        """
        {"HeatTemplateFormatVersion": "2012-12-12",
         "Resources": {"word": {"Type": "OS::Heat::RandomString",
                                "Properties": {"lenght": 8}}}}
        """,
    )
    assert desk.complaints("stack.template") == [("unknown-property", "stack.template", 3)]


def test_values_are_checked_for_their_form(desk: Desk) -> None:
    desk.write(
        "a.yaml",
        """
        heat_template_version: 2018-08-31
        parameters:
          range: {type: string, default: 10.0.0.0/8, constraints: [{custom_constraint: net_cidr}]}
          secret: {type: string, hidden: true, default: letmein, constraints: [{custom_constraint: ip_addr}]}
          name: {type: string, default: any, constraints: [{custom_constraint: nova.flavor}]}
        resources:
          net: {type: OS::Neutron::Net}
          subnet:
            type: OS::Neutron::Subnet
            properties: {network: {get_resource: net}, cidr: 10.0.0.0/99, name: {get_param: name}}
        outputs:
          a: {value: [{get_param: range}]}
        """,
    )
    words = ("a.yaml", "--ignore", "unused-parameter")
    assert desk.complaints(*words) == [("parameter-constraint", "a.yaml", 4), ("constraint", "a.yaml", 10)]
    assert "letmein" not in desk.stoker("lint", "-f", "json", *words).stdout
    assert ("parameter-constraint", "-P range", None) in desk.complaints(*words, "-P", "range=10.0.0.0/77")


# -- what belongs to a template ----------------------------------------------------------------------------------


def test_a_file_is_read_relative_to_the_template(desk: Desk) -> None:
    desk.write("web/scripts/count.txt", "3")
    desk.write("web/length.yaml", GOOD.replace("length: 8", "length: {get_file: scripts/count.txt}"))
    assert desk.complaints("web/length.yaml") == []
    desk.write("web/scripts/count.txt", "many")
    assert desk.complaints("web/length.yaml") == [("wrong-type", "web/length.yaml", 6)]


@pytest.mark.parametrize("name", ["scripts/missing.txt", "https://example.org/count.txt"])
def test_a_file_that_is_not_there_is_a_warning(desk: Desk, name: str) -> None:
    result = desk.stoker("lint", "-f", "json", desk.write("a.yaml", GOOD.replace("8\n", f"{{get_file: '{name}'}}\n")))
    assert [(item["rule"], item["severity"]) for item in diagnostics(result)] == [("missing-file", "warning")]
    assert result.exit_code == 0


def test_nested_templates_are_checked_with_the_values_they_get(desk: Desk) -> None:
    desk.write(
        "parts/word.yaml",
        """
        heat_template_version: 2018-08-31
        parameters:
          size: {type: number, constraints: [{range: {max: 9}}]}
        resources:
          word: {type: OS::Heat::RandomString, properties: {length: {get_param: size}}}
        """,
    )
    desk.write(
        "top.yaml",
        """
        heat_template_version: 2018-08-31
        resources:
          good: {type: parts/word.yaml, properties: {size: 8}}
          large: {type: parts/word.yaml, properties: {size: 80}}
          without: {type: parts/word.yaml}
          more:
            type: OS::Heat::ResourceGroup
            properties: {count: 2, resource_def: {type: parts/word.yaml, properties: {sise: 8}}}
          absent: {type: parts/wrod.yaml}
        """,
    )
    found = desk.complaints("top.yaml")
    assert ("unknown-type", "top.yaml", 9) in found
    assert ("constraint", "top.yaml", 4) in found
    assert ("required-property", "top.yaml", 5) in found
    assert ("unknown-property", "top.yaml", 6) in found
    assert {(source, line) for _, source, line in found} == {
        ("top.yaml", 4),
        ("top.yaml", 5),
        ("top.yaml", 6),
        ("top.yaml", 9),
    }


def test_a_broken_nested_template_is_reported_once(desk: Desk) -> None:
    desk.write("part.yaml", "heat_template_version: 2018-08-31\nresorces: {}\n")
    desk.write(
        "top.yaml",
        """
        heat_template_version: 2018-08-31
        resources: {a: {type: part.yaml}, b: {type: part.yaml}}
        """,
    )
    assert desk.complaints("top.yaml", "part.yaml") == [("section", "part.yaml", 2)]


def test_a_template_that_uses_itself_comes_to_an_end(desk: Desk) -> None:
    desk.write("loop.yaml", "heat_template_version: 2018-08-31\nresources: {again: {type: loop.yaml}}\n")
    assert desk.complaints("loop.yaml") == [("nesting", "loop.yaml", 2)]


def test_a_template_from_the_network_is_not_fetched(desk: Desk) -> None:
    desk.write("a.yaml", "heat_template_version: 2018-08-31\nresources: {far: {type: 'http://example.org/a.yaml'}}\n")
    assert desk.complaints("a.yaml") == [("missing-file", "a.yaml", 2)]


def test_environments_say_what_types_and_parameters_mean(desk: Desk) -> None:
    desk.write("lib/word.yaml", GOOD)
    desk.write("environments/types.yaml", "resource_registry:\n  My::Word: ../lib/word.yaml\n")
    desk.write(
        "app/top.yaml",
        """
        heat_template_version: 2018-08-31
        parameters:
          size: {type: number}
        resources:
          word: {type: My::Word}
        outputs:
          size: {value: {get_param: size}}
        """,
    )
    assert desk.complaints("app/top.yaml") == [("unknown-type", "app/top.yaml", 5)]
    assert desk.complaints("app/top.yaml", "-e", "environments/types.yaml") == []
    desk.write("environments/large.yaml", "parameters: {size: large}\n")
    words = ("app/top.yaml", "-e", "environments/types.yaml", "-e", "environments/large.yaml")
    assert desk.complaints(*words) == [("parameter-value", "environments/large.yaml", 1)]
    assert desk.complaints(*words, "-P", "size=3") == []


def test_types_of_the_default_environment_are_known(desk: Desk) -> None:
    desk.write(
        "a.yaml",
        """
        heat_template_version: 2021-04-16
        resources:
          net: {type: "OS::Quantum::Net"}
          alarm:
            type: AWS::CloudWatch::Alarm
            properties: {MetricName: cpu_util, Statistic: Mean, Threshold: 5}
        """,
    )
    found = diagnostics(desk.stoker("lint", "-f", "json", "a.yaml"))
    assert [(item["rule"], item["source"]) for item in found] == [
        *[("required-property", "a.yaml")] * 3,
        ("constraint", "a.yaml"),
    ]
    assert not [item for item in found if "stoker:" in item["message"]]


def test_a_wrong_environment_is_reported_with_its_place(desk: Desk) -> None:
    desk.write("good.yaml", GOOD)
    desk.write("environment.yaml", "parameters: {}\nparameter_default: {}\n")
    assert desk.complaints("good.yaml", "-e", "environment.yaml") == [("environment-section", "environment.yaml", 2)]


# -- choosing rules ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "rules", "status"),
    [
        (("--rule", "unknown-resource"), ["unknown-resource"], 1),
        (("--ignore", "unknown-resource"), ["unknown-property"], 1),
        (("--ignore", "unknown-resource", "--ignore", "unknown-property"), [], 0),
    ],
)
def test_rules_can_be_chosen(desk: Desk, words: tuple[str, ...], rules: list[str], status: int) -> None:
    desk.write("bad.yaml", BAD)
    result = desk.stoker("lint", "-f", "json", "bad.yaml", *words)
    assert [item["rule"] for item in diagnostics(result)] == rules
    assert result.exit_code == status


def test_wrong_usage_is_distinguished(desk: Desk) -> None:
    desk.write("good.yaml", GOOD)
    for words in (
        ("lint",),
        ("lint", "good.yaml", "--rule", "no-such-rule"),
        ("lint", "good.yaml", "-P", "size"),
        ("lint", "good.yaml", "--format", "xml"),
    ):
        assert desk.stoker(*words).exit_code == 2, words
    assert desk.stoker("lint", "nowhere.yaml").exit_code == 1


def test_the_rules_are_listed(desk: Desk) -> None:
    lines = desk.stoker("lint", "--list-rules").stdout.splitlines()
    assert [line.split()[:2] for line in lines] == [[rule.name, rule.severity] for rule in RULES.values()]


@pytest.mark.parametrize(
    "commented",
    [
        BAD.replace("lenght: 8", "lenght: 8  # stoker: ignore[unknown-property]"),
        BAD.replace("      lenght: 8", "      # stoker: ignore[unknown-property]\n          lenght: 8"),
        BAD.replace(
            "      lenght: 8", "      # stoker:ignore[wrong-type, unknown-property]\n          # x\n          lenght: 8"
        ),
    ],
    ids=["behind", "above", "two-rules"],
)
def test_a_comment_takes_a_complaint_back(desk: Desk, commented: str) -> None:
    desk.write("bad.yaml", commented)
    assert [rule for rule, _, _ in desk.complaints("bad.yaml", "--ignore", "unused-ignore")] == ["unknown-resource"]


def test_a_comment_that_ignores_nothing_is_a_warning(desk: Desk) -> None:
    desk.write("good.yaml", GOOD.replace("length: 8", "length: 8  # stoker: ignore[constraint]"))
    assert desk.complaints("good.yaml") == [("unused-ignore", "good.yaml", 6)]
    assert desk.stoker("lint", "good.yaml").exit_code == 0


def test_a_string_that_looks_like_such_a_comment_is_none(desk: Desk) -> None:
    desk.write("good.yaml", GOOD + "    # see the manual on stoker: ignore[...]\n")
    assert desk.complaints("good.yaml") == []


def test_a_key_that_is_given_twice_is_an_error_with_both_places(desk: Desk) -> None:
    desk.write(
        "a.yaml",
        """
        heat_template_version: 2018-08-31
        parameters:
          size: {type: number, default: 1, "default": 2}
        resources:
          web:
            type: OS::Heat::Value
            properties: &shared {value: {get_param: size}}
          web:
            <<: {type: OS::Heat::Value}
            <<: {properties: *shared}
        """,
    )
    desk.write("b.json", '{"heat_template_version": "2018-08-31",\n "resources": {"a\\u0062": [{}, "x"], "ab":\n 1}}')
    desk.write("e.yaml", "parameter_defaults:\n  x: 1\n  x: 2\n")
    result = desk.stoker("lint", "a.yaml", "b.json", "-e", "e.yaml", "--format", "json", "--rule", "duplicate-key")
    assert result.exit_code == 1
    found = [
        (item["source"], item["position"]["line"], item["position"]["column"], item["severity"], item["message"])
        for item in diagnostics(result)
    ]
    message = "the mapping has the key {!r} twice, so its value at {} is ignored"
    assert found == [
        ("a.yaml", 3, 36, "error", message.format("default", "a.yaml:3:24")),
        ("a.yaml", 8, 3, "error", message.format("web", "a.yaml:5:3")),
        ("b.json", 2, 38, "error", message.format("ab", "b.json:2:16")),
        ("e.yaml", 3, 3, "error", message.format("x", "e.yaml:2:3")),
    ]


def test_a_directory_has_only_its_templates_checked(desk: Desk) -> None:
    template = "heat_template_version: 2018-08-31\nresources: {a: {type: OS::Heat::None}}\n"
    desk.write("web.yaml", template)
    desk.write("commented.yaml", f"# About.\n---\n'heat_template_version': 2018-08-31\n{template.splitlines()[1]}\n")
    desk.write("small.json", '{"resources": {}, "heat_template_version": "2018-08-31"}')
    desk.write("broken.yaml", "heat_template_version: 2018-08-31\nresources: {a: [\n")
    desk.write("values.yaml", "stacks:\n  heat_template_version: 2018-08-31\n  resources: {}\n")
    desk.write("request.json", '{"stack_name": "x",\n"template": {\n"heat_template_version": "2018-08-31"}}')
    desk.write(
        "chart/templates/map.yaml",
        "{{- if .Values.x }}\nkind: ConfigMap\ndata:\n  a: |\n    heat_template_version: 1\n",
    )
    desk.write("chart/templates/stack.yaml", "heat_template_version: 1\nresources:\n{{ toYaml .Values.resources }}\n")
    desk.write("stack.j2.yaml", "heat_template_version: 1\nresources:\n{% for a in b %}\n  x: y\n{% endfor %}\n")
    desk.write("prose.yaml", 'text: |\n  {"heat_template_version": 1}\n')
    answer = json.loads(desk.stoker("lint", ".", "--format", "json").stdout)
    assert answer["summary"]["files"] == 4
    assert {item["source"] for item in answer["diagnostics"]} == {"broken.yaml"}


# -- values of parameters, misspelt functions, mappings, ports -------------------------------------------------------


def told(desk: Desk, *words: str, given: str | None = None) -> list[tuple[str, str, tuple[int, int] | None, str]]:
    """Rule, source, place and hint of each complaint."""
    found = json.loads(desk.stoker("lint", "--format", "json", *words, given=given).stdout)["diagnostics"]
    places = [(item["position"]["line"], item["position"]["column"]) if item["position"] else None for item in found]
    return [(item["rule"], item["source"], place, item["hint"]) for item, place in zip(found, places, strict=True)]


NUMBERS = """
heat_template_version: 2021-04-16
parameters:
  n: {type: number}
  m: {type: number, constraints: [{range: {max: 3}}]}
  o: {type: number, default: 5}
outputs:
  sum: {value: [{get_param: n}, {get_param: m}, {get_param: o}]}
"""


def test_a_wrong_value_is_placed_where_it_was_given(desk: Desk) -> None:
    desk.write("web.yaml", NUMBERS)
    desk.write("base.yaml", "parameter_defaults:\n  m: 2\n  o: none\nparameters: {n: 1}\n")
    desk.write("e.yaml", "parameters:\n  nn: 1\n  m: 7\n")
    words = ("-e", "base.yaml", "-e", "e.yaml", "-P", "n=many", "-P", "x=1", "-P", "y=1")
    expected = [
        ("parameter-value", "-P n", None, ""),
        ("unknown-parameter", "-P x", None, "use one of m, n, o"),
        ("unknown-parameter", "-P y", None, "use one of m, n, o"),
        ("parameter-value", "base.yaml", (3, 6), ""),
        ("unknown-parameter", "e.yaml", (2, 3), "did you mean 'n'?"),
        ("parameter-constraint", "e.yaml", (3, 6), ""),
    ]
    assert told(desk, "web.yaml", *words) == expected
    assert told(desk, "-", *words, given=NUMBERS) == expected
    shown = desk.stoker("lint", "web.yaml", *words).stdout
    assert " --> e.yaml:3:6  parameters.m\n2 |   nn: 1\n3 |   m: 7\n  |      ^\n" in shown


def test_the_standard_input_is_a_template_of_the_working_directory(desk: Desk) -> None:
    desk.write("inner.yaml", "heat_template_version: 2021-04-16\nparameters: {size: {type: number}}\n")
    text = "heat_template_version: 2021-04-16\nresources:\n  a: {type: inner.yaml, properties: {sise: 1}}\n"
    found = told(desk, "-", given=text)
    assert ("unknown-property", "-", (3, 38), "did you mean 'size'?") in found


def test_a_misspelt_function_is_suggested(desk: Desk) -> None:
    desk.write(
        "web.yaml",
        """
        heat_template_version: 2016-10-14
        parameters:
          p: {type: string, default: x}
        resources:
          sg:
            type: OS::Neutron::SecurityGroup
            properties:
              name: {get_parm: p}
              description: {list_concat: [[a], [b]]}
              rules: [{get_paramm: p}]
          word: {type: OS::Heat::Value, properties: {type: json, value: {filters: [a], str_split: [b]}}}
        outputs:
          a: {value: {deep: [{get_atr: [sg, name]}]}}
          b: {value: [{get_param: p}, {config: x}, {filters: []}]}
        """,
    )
    assert told(desk, "web.yaml") == [
        ("wrong-type", "web.yaml", (8, 7), "did you mean the function 'get_param'?"),
        ("wrong-type", "web.yaml", (9, 7), "list_concat is a function from heat_template_version: 2017-09-01 on"),
        ("unknown-property", "web.yaml", (10, 16), "did you mean the function 'get_param'?"),
        ("misspelt-function", "web.yaml", (13, 23), "did you mean the function 'get_attr'?"),
    ]


def test_a_mapping_and_its_keys_must_exist(desk: Desk) -> None:
    desk.write(
        "cfn.yaml",
        """
        AWSTemplateFormatVersion: 2010-09-09
        Parameters:
          Where: {Type: String}
        Mappings:
          Zones: {east: {image: a}, west: {image: b, size: c}}
        Resources:
          A: {Type: OS::Heat::Value, Properties: {value: !FindInMap [Zonse, !Ref Where, image]}}
          B: {Type: OS::Heat::Value, Properties: {value: !FindInMap [Zones, !Ref Where, imagee]}}
          C: {Type: OS::Heat::Value, Properties: {value: !FindInMap [Zones, eats, image]}}
          D: {Type: OS::Heat::Value, Properties: {value: !FindInMap [Zones, east, !Ref Where]}}
          E: {Type: OS::Heat::Value, Properties: {value: !FindInMap [Zones, !Ref Where, size]}}
          F: {Type: OS::Heat::Value, Properties: {value: !FindInMap [Zones, east, size]}}
        """,
    )
    assert told(desk, "cfn.yaml") == [
        ("function", "cfn.yaml", (7, 62), "did you mean 'Zones'?"),
        ("function", "cfn.yaml", (8, 81), "did you mean 'image'?"),
        ("function", "cfn.yaml", (9, 69), "did you mean 'east'?"),
        ("function", "cfn.yaml", (12, 75), "use one of image"),
    ]


def test_a_range_of_ports_must_not_end_before_it_begins(desk: Desk) -> None:
    desk.write(
        "cfn.yaml",
        """
        AWSTemplateFormatVersion: 2010-09-09
        Resources:
          A:
            Type: AWS::EC2::SecurityGroup
            Properties:
              GroupDescription: x
              SecurityGroupIngress:
                - {IpProtocol: icmp, FromPort: 8, ToPort: 0, CidrIp: 0.0.0.0/0}
                - {IpProtocol: tcp, FromPort: 22, ToPort: 22, CidrIp: 0.0.0.0/0}
          B:
            Type: AWS::EC2::SecurityGroup
            Properties:
              GroupDescription: x
              SecurityGroupIngress: [{IpProtocol: tcp, FromPort: 90, ToPort: 80, CidrIp: 0.0.0.0/0}]
        """,
    )
    (found,) = diagnostics(desk.stoker("lint", "-f", "json", "cfn.yaml"))
    assert (found["message"], found["path"][1]) == ("SecurityGroupIngress: ToPort 80 is less than FromPort 90", "B")


def test_types_of_plugin_dirs_need_their_package(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write("web.yaml", NUMBERS)
    monkeypatch.setattr("stoker.cli.commands.lint.find_spec", lambda name: None)
    result = desk.stoker("lint", "--plugin-dir", ".", "web.yaml")
    assert (result.exit_code, "stoker-heat-plugins" in result.output) == (1, True)
