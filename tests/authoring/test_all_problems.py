"""All mistakes of a template are reported in one pass, each once, with its place and a hint, and none that follows."""

from __future__ import annotations

import pytest

from tests.authoring.support import WorkingDirectory, diagnostics

HOT = """
    heat_template_version: 2018-08-31
    parameters:
      size: {type: number, defalt: 3}
      color: {type: strng}
      net: {type: string}
    conditions:
      loop: {not: loop}
    resources:
      web:
        type: OS::Neutron::Network
        condition: loop
        properties: {name: {get_param: color}}
      sg:
        type: OS::Neutron::SecurityGroup
        properties:
          rules: [{protocol: tpc}]
      list: [1]
      server:
        type: OS::Nova::Server
        depends_on: [nothere, web, list]
        properties:
          flavor: m1.small
          networks: [{network: {get_resource: net}}]
          image: {get_param: img}
          metadata: {count: {get_param: size}}
      pw:
        type: OS::Heat::RandomString
      properties:
        length: 5
    outputs:
      a: {value: {get_attr: [server, frist_address]}}
      b: {value: {get_attr: [missing, x]}}
"""
CFN = """
    AWSTemplateFormatVersion: 2010-09-09
    Parameters:
      Key: {Type: Strin}
    Mappings:
      M: {a: {b: 1}}
    Resources:
      A:
        Type: AWS::EC2::Instanc
        Properties:
          ImageId: !FindInMap [Missing, a, b]
      B:
        Type: AWS::EC2::Instance
        Properties:
          InstanceTyp: m1
          ImageId: {Ref: Kee}
          UserData: {Ref: Key}
"""


def _lines(workdir: WorkingDirectory, text: str) -> list[tuple[str, str, str]]:
    """Return line:column, rule and hint of each diagnostic."""
    found = diagnostics(workdir.stoker("lint", "--format", "json", workdir.write("bad.yaml", text)))
    return [(f"{item['position']['line']}:{item['position']['column']}", item["rule"], item["hint"]) for item in found]


def test_a_hot_template_with_mistakes_in_every_section(workdir: WorkingDirectory) -> None:
    assert _lines(workdir, HOT) == [
        ("3:24", "parameter-schema", "did you mean 'default'?"),
        ("4:17", "parameter-schema", "did you mean 'string'?"),
        ("7:3", "condition-cycle", ""),
        ("10:11", "unknown-type", "did you mean 'OS::Neutron::Net'?"),
        ("16:26", "constraint", "did you mean 'tcp'?"),
        ("17:3", "resource", ""),
        ("20:18", "unknown-resource", "use one of list, pw, server, sg, web"),
        ("23:43", "unknown-resource", "'net' is a parameter: use get_param"),
        (
            "24:26",
            "function",
            "use one of OS::project_id, OS::region, OS::stack_id, OS::stack_name, color, net, size",
        ),
        ("28:3", "resource", "indent it to make it a part of the resource above it"),
        ("31:15", "unknown-attribute", "did you mean 'first_address'?"),
        ("32:15", "unknown-resource", "use one of list, pw, server, sg, web"),
    ]


def test_a_cloudformation_template(workdir: WorkingDirectory) -> None:
    assert _lines(workdir, CFN) == [
        ("3:15", "parameter-schema", "did you mean 'String'?"),
        ("8:11", "unknown-type", "did you mean 'AWS::EC2::Instance'?"),
        ("10:28", "function", "use one of M"),
        ("13:5", "required-property", ""),
        ("14:7", "unknown-property", "did you mean 'InstanceType'?"),
        ("15:22", "unknown-resource", "did you mean 'Key'?"),
    ]


def test_an_invalid_nested_template_is_reported_with_the_mistakes_of_its_parent(workdir: WorkingDirectory) -> None:
    workdir.write("child.yaml", "heat_template_version: 2018-08-31\nparameters: {p: {type: strin}}\noutputs: {o: 1}\n")
    workdir.write(
        "parent.yaml",
        "heat_template_version: 2018-08-31\nresources:\n  c: {type: child.yaml, properties: {q: 1}, deps: x}\n",
    )
    assert workdir.problems("parent.yaml") == [
        ("parameter-schema", "child.yaml", 2),
        ("output", "child.yaml", 3),
        ("unknown-property", "parent.yaml", 3),
        ("resource-key", "parent.yaml", 3),
    ]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("OS::Nova::Instance", "OS::Nova::Server"),
        ("os::nova::server", "OS::Nova::Server"),
        ("OS::Neutron::Prot", "OS::Neutron::Port"),
        ("OS::Neutron::Gateway", "OS::Neutron::RouterGateway"),
    ],
)
def test_wrong_type_names_have_a_hint(workdir: WorkingDirectory, written: str, meant: str) -> None:
    text = f"heat_template_version: 2018-08-31\nresources: {{r: {{type: '{written}'}}}}\n"
    assert _lines(workdir, text) == [("2:23", "unknown-type", f"did you mean {meant!r}?")]


def test_a_tab_is_named_in_the_message(workdir: WorkingDirectory) -> None:
    workdir.write("tab.yaml", "heat_template_version: 2018-08-31\nresources:\n\ta:\n\t\ttype: OS::Heat::None\n")
    assert "the line is indented with a tab character; use spaces" in workdir.stoker("lint", "tab.yaml").stdout


def test_mistakes_of_environments_do_not_hide_those_of_the_template(workdir: WorkingDirectory) -> None:
    workdir.write(
        "web.yaml",
        """
        heat_template_version: 2021-04-16
        parameters:
          flag: {type: boolean}
        resources:
          a: {type: My::Net, properties: {anything: 1}}
          b: {type: OS::Neutron::Network}
          c: {type: OS::Neutron::Net, properties: {nam: x}}
        outputs:
          o: {value: {get_param: flag}}
        """,
    )
    workdir.write("first.yaml", "parameter: {}\nparameters: {flag: true}\nresource_registry:\n  My::Net: [net.yaml]\n")
    workdir.write(
        "second.yaml", "parameters: {flag: false}\nparameter_merge_strategies:\n  default: deepmerge\n  flag: merge\n"
    )
    words = ("web.yaml", "-e", "first.yaml", "-e", "second.yaml")
    assert workdir.problems(*words) == [
        ("environment-section", "first.yaml", 1),
        ("registry", "first.yaml", 4),
        ("unknown-merge-strategy", "second.yaml", 3),
        ("merge-strategy", "second.yaml", 4),
        ("unknown-type", "web.yaml", 6),
        ("unknown-property", "web.yaml", 7),
    ]
    workdir.write("first.yaml", "resource_registri: {My::Net: net.yaml}\n")
    assert workdir.problems("web.yaml", "-e", "first.yaml") == [
        ("environment-section", "first.yaml", 1),
        ("unknown-property", "web.yaml", 7),
    ]
    for unreadable in ("a: [\n", "- a\n"):
        workdir.write("first.yaml", unreadable)
        found = workdir.problems("web.yaml", "-e", "first.yaml")
        assert [(rule, source) for rule, source, _ in found][-1] == ("unknown-property", "web.yaml")
        assert {source for _, source, _ in found} == {"first.yaml", "web.yaml"}


def test_functions_that_fail_in_outputs_are_warnings(workdir: WorkingDirectory) -> None:
    workdir.write(
        "web.yaml",
        """
        heat_template_version: 2021-04-16
        parameters:
          map: {type: json, default: {a: 1}}
          later: {type: json}
        conditions:
          never: false
        resources:
          net: {type: OS::Neutron::Net}
        outputs:
          joined: {value: [1, {list_join: [",", {get_param: map}]}]}
          later: {value: {list_join: [",", {get_param: later}]}}
          live: {value: {list_join: [",", {get_attr: [net, subnets]}]}}
          never: {condition: never, value: {list_join: [",", {get_param: map}]}}
          file: {value: {get_file: gone.txt}}
          wrong: {value: {get_attr: [net, nothing]}}
        """,
    )
    assert workdir.problems("web.yaml") == [
        ("failing-output", "web.yaml", 10),
        ("missing-file", "web.yaml", 14),
        ("unknown-attribute", "web.yaml", 15),
    ]


def test_deployments_to_servers_without_software_configuration_are_warnings(workdir: WorkingDirectory) -> None:
    workdir.write(
        "web.yaml",
        """
        heat_template_version: 2021-04-16
        parameters:
          format: {type: string}
        resources:
          plain: {type: OS::Nova::Server, properties: {flavor: small, image: debian}}
          raw: {type: OS::Nova::Server, properties: {flavor: small, image: debian, user_data_format: RAW}}
          good: {type: OS::Nova::Server, properties: {flavor: small, image: debian, user_data_format: SOFTWARE_CONFIG}}
          open: {type: OS::Nova::Server, properties: {flavor: m, image: debian, user_data_format: {get_param: format}}}
          port: {type: OS::Neutron::Port, properties: {network: net}}
          one: {type: OS::Heat::SoftwareDeployment, properties: {server: {get_resource: plain}}}
          two: {type: OS::Heat::StructuredDeployment, properties: {server: {get_resource: good}}}
          three: {type: OS::Heat::SoftwareDeployment, properties: {server: {get_resource: open}}}
          four: {type: OS::Heat::SoftwareDeployment, properties: {server: a, input_values: {id: {get_resource: plain}}}}
          five:
            type: OS::Heat::StructuredDeploymentGroup
            properties:
              servers:
                a: {get_resource: good}
                b: {get_resource: raw}
              input_values: {port: {get_resource: port}}
        """,
    )
    assert workdir.problems("web.yaml") == [
        ("unconfigured-server", "web.yaml", 10),
        ("unconfigured-server", "web.yaml", 19),
    ]
