"""`stoker lint --fix`: what is corrected, and what is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from stoker.authoring.fixes import fix_of, fixed
from stoker.base.diagnostics import Diagnostic, Position
from stoker.base.similar import Suggestion
from stoker.cli.main import cli

WRONG = """\
heat_template_version: 2021-04-16
parameters:
  flavour: {type: strin, default: m1}
resources:
  server:
    type: OS::Nova::Servr
    properties:
      image: cirros
      flavr: {get_param: flavor}   # not this flavr
      networks: [{network: {get_resource: nett}}]
  net: {type: OS::Neutron::Net, properties: {nam: x}}
  kept: {type: "OS::Cinder::Volum", deletion_polic: Retain, properties: {size: 1}}
outputs:
  ip: {value: {get_att: [server, first_adress]}}
"""
RIGHT = """\
heat_template_version: 2021-04-16
parameters:
  flavour: {type: string, default: m1}
resources:
  server:
    type: OS::Nova::Server
    properties:
      image: cirros
      flavor: {get_param: flavour}   # not this flavr
      networks: [{network: {get_resource: net}}]
  net: {type: OS::Neutron::Net, properties: {name: x}}
  kept: {type: "OS::Cinder::Volume", deletion_policy: Retain, properties: {size: 1}}
outputs:
  ip: {value: {get_attr: [server, first_address]}}
"""


def lint(*words: str | Path) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["lint", *map(str, words)])
    return done.exit_code, done.output


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_misspelt_names_are_corrected_in_the_file(tmp_path: Path, ends: str) -> None:
    path = tmp_path / "web.yaml"
    path.write_bytes(WRONG.replace("\n", ends).encode())
    status, output = lint(path, "--fix")
    assert (status, path.read_bytes()) == (0, RIGHT.replace("\n", ends).encode()), output
    assert "names corrected" in output and output.endswith("no problems in 1 file\n")
    status, output = lint(path, "--fix")
    assert status == 0 and "corrected" not in output


def test_uncertain_fixes_are_reported_only(tmp_path: Path) -> None:
    path = tmp_path / "web.yaml"
    unclear = "heat_template_version: 2021-04-16\nresources:\n  a: {type: OS::Heat::Valu, properties: {value: 1}}\n"
    path.write_text(unclear)
    assert lint(path, "--fix", "--ignore", "unknown-type") == (0, "no problems in 1 file\n")
    assert path.read_text() == unclear
    path.write_text("heat_template_version: 2021-04-16\nresources:\n  a: {type: Nothing::Like::This}\n")
    status, output = lint(path, "--fix")
    assert status == 1 and "corrected" not in output
    done = CliRunner().invoke(cli, ["lint", "--fix", "-"], input=WRONG)
    assert done.exit_code == 2 and "standard input cannot be changed" in done.output


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    link = tmp_path / "web.yaml"
    link.write_text(WRONG)
    environment = tmp_path / "environment.yaml"
    environment.write_text("parameters: {flavour: small}\n")
    assert lint(link, "-e", environment, "--fix")[0] == 0
    assert environment.read_text() == "parameters: {flavour: small}\n"


def problem(wrong: str, line: int, column: int, meant: str = "right") -> Diagnostic:
    return Diagnostic("r", "m", position=Position(line, column), hint=Suggestion(wrong, meant))


def test_only_whole_names_after_the_position_are_replaced() -> None:
    assert fixed("a: wrong\n", [problem("wrong", 1, 4)]) == ("a: right\n", 1)
    assert fixed("a: wrongs\n", [problem("wrong", 1, 4)]) == ("a: wrongs\n", 0)
    assert fixed("wrong: [x-wrong, wrong]\n", [problem("wrong", 1, 8)]) == ("wrong: [x-wrong, right]\n", 1)
    assert fixed("a: [wrong, wrong]\n", [problem("wrong", 1, 1)])[1] == 0  # which one?
    assert fixed("a: |\n  wrong\n", [problem("wrong", 1, 4)])[1] == 0
    assert fix_of("a: wrong\n", problem("wrong", 9, 4)) is None
    assert fix_of("a: wrong\n", Diagnostic("r", "m", position=Position(1, 4), hint="did you mean 'right'?")) is None


@given(text=st.text(), line=st.integers(1, 5), column=st.integers(1, 9), wrong=st.text(min_size=1, max_size=3))
def test_fixes_at_random_positions_are_safe(text: str, line: int, column: int, wrong: str) -> None:
    after, number = fixed(text, [problem(wrong, line, column, "")])
    assert len(after) == len(text) - number * len(wrong)


def test_suggestion_is_plain_data() -> None:
    data = problem("wrong", 1, 1).to_dict()
    assert data["hint"] == "did you mean 'right'?" and type(data["hint"]) is str
    assert Diagnostic.from_dict(data).replacement is None
