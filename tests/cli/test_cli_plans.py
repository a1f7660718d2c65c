"""`stoker plan` and saved plans, against a running Stoker."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tests.cli.cli_shell import Shell

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cli-embedded")]

TEMPLATE = """\
heat_template_version: 2021-04-16
parameters:
  password: {type: string, hidden: true, default: open-sesame}
resources:
  word: {type: OS::Heat::RandomString, properties: {length: LENGTH}}
  user: {type: OS::Heat::TestResource, properties: {value: {get_param: password}}}
outputs:
  length: {value: LENGTH}
"""


@pytest.fixture
def template(tmp_path: Path) -> Path:
    """A template for words of eight characters."""
    path = tmp_path / "word.yaml"
    path.write_text(TEMPLATE.replace("LENGTH", "8"))
    return path


def longer(template: Path, length: int = 12) -> None:
    template.write_text(TEMPLATE.replace("LENGTH", str(length)))


def test_a_plan_shows_signs_values_and_what_forces_a_replacement(embedded: Shell, template: Path) -> None:
    shown = embedded.ok("plan", "shown", "-t", str(template)).out
    assert "  + word  OS::Heat::RandomString\n      + length = 8\n" in shown
    assert "      + value = (hidden)\n" in shown
    assert shown.endswith("Plan: 2 to create.\n")
    assert "open-sesame" not in shown and "\x1b" not in shown
    embedded.ok("deploy", "shown", "-t", str(template), "--yes")
    longer(template)
    shown = embedded.ok("plan", "shown", "-t", str(template)).out
    assert "-/+ word  OS::Heat::RandomString\n      ~ length = 8 -> 12  # forces replacement\n" in shown
    assert shown.endswith("Plan: 1 to replace.\n")
    coloured = embedded.ok("plan", "shown", "-t", str(template), variables={"NO_COLOR": "", "FORCE_COLOR": "1"}).out
    assert "\x1b[" in coloured
    embedded.ok("delete", "shown", "--yes")


def test_a_saved_plan_makes_a_stack_and_then_changes_it(embedded: Shell, template: Path, tmp_path: Path) -> None:
    plan = tmp_path / "saved.plan"
    result = embedded.stoker("plan", "saved", "-t", str(template), "-o", str(plan), "--detailed-exitcode")
    assert result.status == 2
    assert f"stoker deploy --plan {plan}" in result.out
    assert stat.S_IMODE(plan.stat().st_mode) == 0o600
    template.unlink()  # the plan has all that it needs
    assert "length = 8" in embedded.ok("deploy", "--plan", str(plan)).out
    longer(template)
    embedded.ok("plan", "saved", "-t", str(template), "--out", str(plan))
    assert "length = 12" in embedded.ok("deploy", str(plan)).out
    assert "has changed since the plan was made" in embedded.fails("deploy", str(plan))
    embedded.ok("delete", "saved", "--yes")
    assert "no longer exists" in embedded.fails("deploy", str(plan))


def test_a_plan_is_refused_when_the_stack_has_moved_on(embedded: Shell, template: Path, tmp_path: Path) -> None:
    plan = tmp_path / "late.plan"
    embedded.ok("deploy", "late", "-t", str(template), "--yes")
    longer(template)
    embedded.ok("plan", "late", "-t", str(template), "-o", str(plan))
    longer(template, 20)
    embedded.ok("deploy", "late", "-t", str(template), "--yes")
    assert "has changed since the plan was made" in embedded.fails("deploy", str(plan))
    assert "length = 20" in embedded.ok("deploy", "late", "-t", str(template), "--yes").out
    embedded.ok("delete", "late", "--yes")


def test_hidden_parameters_are_given_once_more_and_must_be_the_same(
    embedded: Shell, template: Path, tmp_path: Path
) -> None:
    plan = tmp_path / "hidden.plan"
    embedded.ok("plan", "hidden", "-t", str(template), "-P", "password=s3cr3t-w0rd", "-o", str(plan))
    assert "s3cr3t-w0rd" not in plan.read_text()
    assert "-P password=" in embedded.fails("deploy", str(plan))
    assert "differ from those of the plan" in embedded.fails("deploy", str(plan), "-P", "password=wrong-w0rd")
    embedded.ok("deploy", str(plan), "-P", "password=s3cr3t-w0rd")
    embedded.ok("delete", "hidden", "--yes")


def test_what_is_no_plan_is_told(embedded: Shell, template: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.plan"
    other.write_text(json.dumps({"kind": "else"}))
    assert "is not a saved plan" in embedded.fails("deploy", str(other))
    assert "cannot be read" in embedded.fails("deploy", "--plan", str(tmp_path / "none.plan"))
    usage = embedded.stoker("deploy", "--plan", str(other), "-t", str(template))
    assert usage.status == 2 and "A saved plan is complete" in usage.err
    usage = embedded.stoker("deploy", "name")
    assert usage.status == 2 and "saved plan" in usage.err


def test_a_plan_for_programs_has_everything(embedded: Shell, template: Path) -> None:
    plan = embedded.ok("plan", "data", "-t", str(template), "-f", "json").json
    assert plan["summary"] == {"create": 2}
    assert plan["hidden_parameters"] == ["password"]
    assert plan["digest"].count(".") == 2
    word = next(step for step in plan["steps"] if step["path"] == "word")
    assert word["changes"] == [
        {
            "property": "length",
            "effect": "create",
            "path": [],
            "before": None,
            "after": 8,
            "known": True,
            "hidden": False,
        }
    ]
