"""`stoker types` and `stoker functions`, and hints for commands that do not exist."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from stoker.authoring.reference import matching_types, type_details
from stoker.cli.main import cli
from stoker.cli.terminal.formats import show_record, show_rows
from stoker.plugins.registry import Registry
from stoker.template.versions import VERSIONS


def run(*words: str) -> Result:
    return CliRunner(env={"COLUMNS": "100"}).invoke(cli, words, prog_name="stoker")


def test_types_are_listed_and_filtered() -> None:
    found = json.loads(run("types", "subNET", "-f", "json").stdout)
    assert {"OS::Neutron::Subnet", "AWS::EC2::Subnet"} <= {row["type"] for row in found}
    assert all("subnet" in row["type"].lower() and row["description"] for row in found)
    every = run("types", "-f", "value").stdout
    assert "OS::Heat::ResourceGroup" in every
    assert "OS::Heat::HARestarter" not in every, "it is hidden"


def test_a_type_is_shown_with_properties_and_attributes() -> None:
    details = json.loads(run("types", "os::neutron::subnet", "-f", "json").stdout)
    properties = details["properties"]
    assert properties["network"]["required"] and properties["network"]["change"] == "replacement"
    assert properties["network"]["constraints"] == ["must be an existing network"]
    assert properties["ip_version"]["constraints"] == ["must be one of 4, 6"]
    start = properties["allocation_pools"]["properties"]["start"]
    assert (start["change"], start["constraints"]) == ("update", ["must be an IP address"])
    assert details["attributes"]["gateway_ip"]["type"] == "string"
    page = run("types", "OS::Neutron::Subnet").stdout
    assert "  network  string, required, change: replacement\n      The network, by name or ID." in page
    assert "          First address of the range. Must be an IP address." in page
    assert "\n\nAttributes\n" in page


def test_every_type_can_be_shown() -> None:
    registry = Registry.from_entry_points()
    names = matching_types(registry, "")
    assert len(names) > 150
    for name in names:
        details = type_details(name, registry.types[name])
        assert details["description"], name
        assert json.loads(json.dumps(details)) == details


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("types", "OS::Nova::Servr"), "There is no resource type OS::Nova::Servr; did you mean 'OS::Nova::Server'?"),
        (("types", "OS::Neutron::Network"), "did you mean OS::Neutron::Net?"),
        (("types", "nope"), "No resource type has nope in its name; `stoker types` lists all."),
        (("lint", "nofile"), "Path 'nofile' does not exist."),
        (("graph", "nofile"), "File 'nofile' does not exist."),
        (("fmt", "nofile"), "nofile: cannot be read: no such file or directory"),
        (("functions", "fn::sbu"), "There is no function fn::sbu; did you mean Fn::Sub?"),
        (("functions", "xyz"), "`stoker functions` lists all."),
        (("dploy",), "There is no command 'dploy'; did you mean `stoker deploy`?"),
        (("list",), "did you mean `stoker stack list`?"),
        (("stack", "sho"), "did you mean `stoker stack show`"),
        (("xyzzy",), "There is no command 'xyzzy'."),
    ],
)
def test_names_that_do_not_exist(words: tuple[str, ...], message: str) -> None:
    assert message in run(*words).output


def test_functions_are_listed_and_shown() -> None:
    listed = {row["function"] for row in json.loads(run("functions", "-f", "json").stdout)}
    assert listed >= {name for version in VERSIONS for name in version.functions}
    (row,) = [row for row in json.loads(run("functions", "-f", "json").stdout) if row["function"] == "Ref"]
    assert row["description"].startswith("A resource's reference ID or a parameter's value")
    first, second = json.loads(run("functions", "list_join", "-f", "json").stdout)
    assert "2013-05-23" in first["versions"]["values"] and "2013-05-23" not in second["versions"]["values"]
    page = run("functions", "fn::equals").stdout
    assert "Whether two values are equal" in page
    assert "In conditions: AWSTemplateFormatVersion 2010-09-09" in page


def test_sizes_have_a_unit_in_tables(capsys: pytest.CaptureFixture[str]) -> None:
    show_rows([{"name": "a", "size": 317130240}, {"name": "b", "size": 900}], ("name", "size"), "table")
    assert [line.split() for line in capsys.readouterr().out.splitlines()[2:]] == [["a", "317", "MB"], ["b", "900"]]
    show_rows([{"name": "a", "size": 317130240}], ("name", "size"), "value")
    assert capsys.readouterr().out == "a 317130240\n"


def test_scripts_and_templates_are_printed_as_blocks(capsys: pytest.CaptureFixture[str]) -> None:
    show_record({"start.sh": "#!/bin/sh\necho 'a: \"b\"'\n", "name": "web"}, "yaml")
    shown = capsys.readouterr().out
    assert shown == "start.sh: |\n  #!/bin/sh\n  echo 'a: \"b\"'\nname: web\n"
