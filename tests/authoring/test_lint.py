"""`stoker lint` on files: what it finds, where, and how it ends."""

from __future__ import annotations

import json

import pytest

from stoker.authoring.rules import RULES
from tests.authoring.support import WorkingDirectory, diagnostics

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


def test_a_valid_template_is_accepted(workdir: WorkingDirectory) -> None:
    result = workdir.stoker("lint", workdir.write("good.yaml", GOOD))
    assert (result.exit_code, result.stdout) == (0, "no problems in 1 file\n")


def test_every_mistake_is_reported_with_its_place(workdir: WorkingDirectory) -> None:
    workdir.write("bad.yaml", BAD)
    result = workdir.stoker("lint", "--format", "json", "bad.yaml")
    assert result.exit_code == 1
    found = [(item["rule"], item["position"], item["hint"]) for item in diagnostics(result)]
    assert found == [
        ("unknown-property", {"line": 6, "column": 7}, "did you mean 'length'?"),
        ("unknown-resource", {"line": 10, "column": 15}, "did you mean 'word'?"),
    ]


def test_directory_argument_selects_its_templates(workdir: WorkingDirectory) -> None:
    workdir.write("templates/a/bad.yaml", BAD)
    workdir.write("templates/good.template", GOOD)
    workdir.write("templates/notes.yaml", "just: notes")
    workdir.write("templates/script.sh", "heat_template_version: 2018-08-31")
    answer = json.loads(workdir.stoker("lint", "-f", "json", "templates").stdout)
    assert answer["summary"] == {"files": 2, "errors": 2, "warnings": 0}
    assert {item["source"] for item in answer["diagnostics"]} == {"templates/a/bad.yaml"}


def test_named_file_is_checked_whatever_its_content(workdir: WorkingDirectory) -> None:
    assert workdir.problems(workdir.write("notes.txt", "just: notes")) == [("version", "notes.txt", 1)]
    assert workdir.problems(workdir.write("broken.yaml", "resources: {")) == [("syntax", "broken.yaml", 2)]
    (workdir.folder / "binary.yaml").write_bytes(b"\xff\xfe")
    assert workdir.problems("binary.yaml") == [("unreadable", "binary.yaml", None)]


def test_oversized_template_does_not_stop_the_others(workdir: WorkingDirectory) -> None:
    many = "".join(f"  r{number}: {{type: OS::Heat::Value}}\n" for number in range(1001))
    workdir.write("many.yaml", f"heat_template_version: 2018-08-31\nresources:\n{many}")
    workdir.write("long.yaml", f"heat_template_version: 2018-08-31\ndescription: {'x' * 600_000}\n")
    workdir.write("bad.yaml", BAD)
    found = workdir.problems("many.yaml", "long.yaml", "bad.yaml")
    assert [(rule, source) for rule, source, _ in found] == [
        ("unknown-property", "bad.yaml"),
        ("unknown-resource", "bad.yaml"),
        ("limit", "long.yaml"),
        ("limit", "many.yaml"),
    ]


def test_cloudformation_templates_are_linted(workdir: WorkingDirectory) -> None:
    workdir.write(
        "stack.template",
        """
        {"HeatTemplateFormatVersion": "2012-12-12",
         "Resources": {"word": {"Type": "OS::Heat::RandomString",
                                "Properties": {"lenght": 8}}}}
        """,
    )
    assert workdir.problems("stack.template") == [("unknown-property", "stack.template", 3)]


def test_value_formats_are_checked(workdir: WorkingDirectory) -> None:
    workdir.write(
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
    assert workdir.problems(*words) == [("parameter-constraint", "a.yaml", 4), ("constraint", "a.yaml", 10)]
    assert "letmein" not in workdir.stoker("lint", "-f", "json", *words).stdout
    assert ("parameter-constraint", "-P range", None) in workdir.problems(*words, "-P", "range=10.0.0.0/77")


# -- what belongs to a template ----------------------------------------------------------------------------------


def test_a_file_is_read_relative_to_the_template(workdir: WorkingDirectory) -> None:
    workdir.write("web/scripts/count.txt", "3")
    workdir.write("web/length.yaml", GOOD.replace("length: 8", "length: {get_file: scripts/count.txt}"))
    assert workdir.problems("web/length.yaml") == []
    workdir.write("web/scripts/count.txt", "many")
    assert workdir.problems("web/length.yaml") == [("wrong-type", "web/length.yaml", 6)]


@pytest.mark.parametrize("name", ["scripts/missing.txt", "https://example.org/count.txt"])
def test_missing_file_is_a_warning(workdir: WorkingDirectory, name: str) -> None:
    result = workdir.stoker(
        "lint", "-f", "json", workdir.write("a.yaml", GOOD.replace("8\n", f"{{get_file: '{name}'}}\n"))
    )
    assert [(item["rule"], item["severity"]) for item in diagnostics(result)] == [("missing-file", "warning")]
    assert result.exit_code == 0


def test_nested_templates_are_checked_with_the_values_they_get(workdir: WorkingDirectory) -> None:
    workdir.write(
        "parts/word.yaml",
        """
        heat_template_version: 2018-08-31
        parameters:
          size: {type: number, constraints: [{range: {max: 9}}]}
        resources:
          word: {type: OS::Heat::RandomString, properties: {length: {get_param: size}}}
        """,
    )
    workdir.write(
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
    found = workdir.problems("top.yaml")
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


def test_a_broken_nested_template_is_reported_once(workdir: WorkingDirectory) -> None:
    workdir.write("part.yaml", "heat_template_version: 2018-08-31\nresorces: {}\n")
    workdir.write(
        "top.yaml",
        """
        heat_template_version: 2018-08-31
        resources: {a: {type: part.yaml}, b: {type: part.yaml}}
        """,
    )
    assert workdir.problems("top.yaml", "part.yaml") == [("section", "part.yaml", 2)]


def test_recursive_template_terminates(workdir: WorkingDirectory) -> None:
    workdir.write("loop.yaml", "heat_template_version: 2018-08-31\nresources: {again: {type: loop.yaml}}\n")
    assert workdir.problems("loop.yaml") == [("nesting", "loop.yaml", 2)]


def test_a_template_from_the_network_is_not_fetched(workdir: WorkingDirectory) -> None:
    workdir.write(
        "a.yaml", "heat_template_version: 2018-08-31\nresources: {far: {type: 'http://example.org/a.yaml'}}\n"
    )
    assert workdir.problems("a.yaml") == [("missing-file", "a.yaml", 2)]


def test_environments_define_types_and_parameters(workdir: WorkingDirectory) -> None:
    workdir.write("lib/word.yaml", GOOD)
    workdir.write("environments/types.yaml", "resource_registry:\n  My::Word: ../lib/word.yaml\n")
    workdir.write(
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
    assert workdir.problems("app/top.yaml") == [("unknown-type", "app/top.yaml", 5)]
    assert workdir.problems("app/top.yaml", "-e", "environments/types.yaml") == []
    workdir.write("environments/large.yaml", "parameters: {size: large}\n")
    words = ("app/top.yaml", "-e", "environments/types.yaml", "-e", "environments/large.yaml")
    assert workdir.problems(*words) == [("parameter-value", "environments/large.yaml", 1)]
    assert workdir.problems(*words, "-P", "size=3") == []


def test_types_of_the_default_environment_are_known(workdir: WorkingDirectory) -> None:
    workdir.write(
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
    found = diagnostics(workdir.stoker("lint", "-f", "json", "a.yaml"))
    assert [(item["rule"], item["source"]) for item in found] == [
        *[("required-property", "a.yaml")] * 3,
        ("constraint", "a.yaml"),
    ]
    assert not [item for item in found if "stoker:" in item["message"]]


def test_a_wrong_environment_is_reported_with_its_place(workdir: WorkingDirectory) -> None:
    workdir.write("good.yaml", GOOD)
    workdir.write("environment.yaml", "parameters: {}\nparameter_default: {}\n")
    assert workdir.problems("good.yaml", "-e", "environment.yaml") == [("environment-section", "environment.yaml", 2)]


# -- choosing rules ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "rules", "status"),
    [
        (("--rule", "unknown-resource"), ["unknown-resource"], 1),
        (("--ignore", "unknown-resource"), ["unknown-property"], 1),
        (("--ignore", "unknown-resource", "--ignore", "unknown-property"), [], 0),
    ],
)
def test_rules_are_selected_by_options(
    workdir: WorkingDirectory, words: tuple[str, ...], rules: list[str], status: int
) -> None:
    workdir.write("bad.yaml", BAD)
    result = workdir.stoker("lint", "-f", "json", "bad.yaml", *words)
    assert [item["rule"] for item in diagnostics(result)] == rules
    assert result.exit_code == status


def test_usage_errors_have_their_own_exit_status(workdir: WorkingDirectory) -> None:
    workdir.write("good.yaml", GOOD)
    for words in (
        ("lint",),
        ("lint", "good.yaml", "--rule", "no-such-rule"),
        ("lint", "good.yaml", "-P", "size"),
        ("lint", "good.yaml", "--format", "xml"),
    ):
        assert workdir.stoker(*words).exit_code == 2, words
    assert workdir.stoker("lint", "nowhere.yaml").exit_code == 1


def test_the_rules_are_listed(workdir: WorkingDirectory) -> None:
    lines = workdir.stoker("lint", "--list-rules").stdout.splitlines()
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
def test_a_comment_suppresses_a_diagnostic(workdir: WorkingDirectory, commented: str) -> None:
    workdir.write("bad.yaml", commented)
    assert [rule for rule, _, _ in workdir.problems("bad.yaml", "--ignore", "unused-ignore")] == ["unknown-resource"]


def test_a_comment_that_ignores_nothing_is_a_warning(workdir: WorkingDirectory) -> None:
    workdir.write("good.yaml", GOOD.replace("length: 8", "length: 8  # stoker: ignore[constraint]"))
    assert workdir.problems("good.yaml") == [("unused-ignore", "good.yaml", 6)]
    assert workdir.stoker("lint", "good.yaml").exit_code == 0


def test_a_string_that_looks_like_a_comment_is_not_a_comment(workdir: WorkingDirectory) -> None:
    workdir.write("good.yaml", GOOD + "    # see the manual on stoker: ignore[...]\n")
    assert workdir.problems("good.yaml") == []


def test_duplicate_key_is_reported_with_both_positions(workdir: WorkingDirectory) -> None:
    workdir.write(
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
    workdir.write(
        "b.json", '{"heat_template_version": "2018-08-31",\n "resources": {"a\\u0062": [{}, "x"], "ab":\n 1}}'
    )
    workdir.write("e.yaml", "parameter_defaults:\n  x: 1\n  x: 2\n")
    result = workdir.stoker("lint", "a.yaml", "b.json", "-e", "e.yaml", "--format", "json", "--rule", "duplicate-key")
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


def test_only_templates_of_a_directory_are_checked(workdir: WorkingDirectory) -> None:
    template = "heat_template_version: 2018-08-31\nresources: {a: {type: OS::Heat::None}}\n"
    workdir.write("web.yaml", template)
    workdir.write("commented.yaml", f"# About.\n---\n'heat_template_version': 2018-08-31\n{template.splitlines()[1]}\n")
    workdir.write("small.json", '{"resources": {}, "heat_template_version": "2018-08-31"}')
    workdir.write("broken.yaml", "heat_template_version: 2018-08-31\nresources: {a: [\n")
    workdir.write("values.yaml", "stacks:\n  heat_template_version: 2018-08-31\n  resources: {}\n")
    workdir.write("request.json", '{"stack_name": "x",\n"template": {\n"heat_template_version": "2018-08-31"}}')
    workdir.write(
        "chart/templates/map.yaml",
        "{{- if .Values.x }}\nkind: ConfigMap\ndata:\n  a: |\n    heat_template_version: 1\n",
    )
    workdir.write(
        "chart/templates/stack.yaml", "heat_template_version: 1\nresources:\n{{ toYaml .Values.resources }}\n"
    )
    workdir.write("stack.j2.yaml", "heat_template_version: 1\nresources:\n{% for a in b %}\n  x: y\n{% endfor %}\n")
    workdir.write("prose.yaml", 'text: |\n  {"heat_template_version": 1}\n')
    answer = json.loads(workdir.stoker("lint", ".", "--format", "json").stdout)
    assert answer["summary"]["files"] == 4
    assert {item["source"] for item in answer["diagnostics"]} == {"broken.yaml"}


# -- values of parameters, misspelt functions, mappings, ports -------------------------------------------------------


def diagnostics_of(
    workdir: WorkingDirectory, *words: str, given: str | None = None
) -> list[tuple[str, str, tuple[int, int] | None, str]]:
    """Rule, source, place and hint of each problem."""
    found = json.loads(workdir.stoker("lint", "--format", "json", *words, given=given).stdout)["diagnostics"]
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


def test_invalid_value_is_reported_at_its_source(workdir: WorkingDirectory) -> None:
    workdir.write("web.yaml", NUMBERS)
    workdir.write("base.yaml", "parameter_defaults:\n  m: 2\n  o: none\nparameters: {n: 1}\n")
    workdir.write("e.yaml", "parameters:\n  nn: 1\n  m: 7\n")
    words = ("-e", "base.yaml", "-e", "e.yaml", "-P", "n=many", "-P", "x=1", "-P", "y=1")
    expected = [
        ("parameter-value", "-P n", None, ""),
        ("unknown-parameter", "-P x", None, "use one of m, n, o"),
        ("unknown-parameter", "-P y", None, "use one of m, n, o"),
        ("parameter-value", "base.yaml", (3, 6), ""),
        ("unknown-parameter", "e.yaml", (2, 3), "did you mean 'n'?"),
        ("parameter-constraint", "e.yaml", (3, 6), ""),
    ]
    assert diagnostics_of(workdir, "web.yaml", *words) == expected
    assert diagnostics_of(workdir, "-", *words, given=NUMBERS) == expected
    shown = workdir.stoker("lint", "web.yaml", *words).stdout
    assert " --> e.yaml:3:6  parameters.m\n2 |   nn: 1\n3 |   m: 7\n  |      ^\n" in shown


def test_the_standard_input_is_a_template_of_the_working_directory(workdir: WorkingDirectory) -> None:
    workdir.write("inner.yaml", "heat_template_version: 2021-04-16\nparameters: {size: {type: number}}\n")
    text = "heat_template_version: 2021-04-16\nresources:\n  a: {type: inner.yaml, properties: {sise: 1}}\n"
    found = diagnostics_of(workdir, "-", given=text)
    assert ("unknown-property", "-", (3, 38), "did you mean 'size'?") in found


def test_a_misspelt_function_is_suggested(workdir: WorkingDirectory) -> None:
    workdir.write(
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
    assert diagnostics_of(workdir, "web.yaml") == [
        ("wrong-type", "web.yaml", (8, 7), "did you mean the function 'get_param'?"),
        ("wrong-type", "web.yaml", (9, 7), "list_concat is a function from heat_template_version: 2017-09-01 on"),
        ("unknown-property", "web.yaml", (10, 16), "did you mean the function 'get_param'?"),
        ("misspelt-function", "web.yaml", (13, 23), "did you mean the function 'get_attr'?"),
    ]


def test_a_mapping_and_its_keys_must_exist(workdir: WorkingDirectory) -> None:
    workdir.write(
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
    assert diagnostics_of(workdir, "cfn.yaml") == [
        ("function", "cfn.yaml", (7, 62), "did you mean 'Zones'?"),
        ("function", "cfn.yaml", (8, 81), "did you mean 'image'?"),
        ("function", "cfn.yaml", (9, 69), "did you mean 'east'?"),
        ("function", "cfn.yaml", (12, 75), "use one of image"),
    ]


def test_reversed_port_range_is_reported(workdir: WorkingDirectory) -> None:
    workdir.write(
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
    (found,) = diagnostics(workdir.stoker("lint", "-f", "json", "cfn.yaml"))
    assert (found["message"], found["path"][1]) == ("SecurityGroupIngress: ToPort 80 is less than FromPort 90", "B")


def test_types_of_plugin_dirs_require_their_package(workdir: WorkingDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    workdir.write("web.yaml", NUMBERS)
    monkeypatch.setattr("stoker.cli.commands.lint.find_spec", lambda name: None)
    result = workdir.stoker("lint", "--plugin-dir", ".", "web.yaml")
    assert (result.exit_code, "stoker-heat-plugins" in result.output) == (1, True)
