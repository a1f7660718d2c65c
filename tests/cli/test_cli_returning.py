"""`--as-of` and `stack diff`: earlier definitions of a stack."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.cli_shell import Shell

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group(__name__)]

TEMPLATE = """
heat_template_version: 2021-04-16
parameters:
  word: {type: string, default: Hello}
  key: {type: string, hidden: true, default: none}
resources:
  first: {type: OS::Heat::Value, properties: {value: {get_param: word}}}
outputs:
  first: {value: {get_attr: [first, value]}}
"""
SECOND = "resources:\n  second: {type: OS::Heat::None}\n"


def test_a_stack_returns_to_an_operation(embedded: Shell, tmp_path: Path) -> None:
    template, saved = tmp_path / "past.yaml", tmp_path / "back.plan"
    template.write_text(TEMPLATE)
    embedded.ok("deploy", "past", "-t", str(template), "--yes")
    template.write_text(TEMPLATE.replace("resources:\n", SECOND))
    embedded.ok("deploy", "past", "-t", str(template), "-P", "word=Welcome", "-P", "key=horse", "--yes")
    later, created = embedded.ok("stack", "history", "past", "-f", "value", "-c", "id").out.split()

    shown = embedded.ok("stack", "diff", "past", created)
    assert "-parameters: {}" in shown.out and "+  word: Welcome" in shown.out and "+  second:" in shown.out
    assert "horse" not in shown.out
    found = embedded.ok("stack", "diff", "past", created, later, "-f", "json").json
    assert list(found["differences"]) == ["template", "environment"]
    assert embedded.stoker("stack", "diff", "past", created, "--detailed-exitcode").status == 2
    assert embedded.ok("stack", "diff", "past", later, "--detailed-exitcode").out == "The definitions do not differ.\n"
    assert "second" not in embedded.ok("stack", "template", "past", "--operation", created).out

    plan = embedded.stoker("plan", "past", "--as-of", created, "-o", str(saved), "--detailed-exitcode")
    assert plan.status == 2 and "- second" in plan.out
    assert "first = Hello" in embedded.ok("deploy", str(saved)).out
    assert embedded.stoker("plan", "past", "--as-of", created, "--detailed-exitcode").status == 0
    done = embedded.ok("deploy", "past", "--as-of", later, "-P", "word=Goodbye", "--yes")
    assert "second  CREATE_COMPLETE" in done.out and "first = Goodbye" in done.out


def test_return_to_invalid_operation_is_refused(embedded: Shell, tmp_path: Path) -> None:
    template = tmp_path / "refused.yaml"
    template.write_text(TEMPLATE)
    embedded.ok("deploy", "refused", "-t", str(template), "--yes")
    operation = embedded.ok("stack", "history", "refused", "-f", "value", "-c", "id").out.strip()
    assert "could not be found in Stack refused" in embedded.fails("plan", "refused", "--as-of", "unknown")
    assert "could not be found in Stack refused" in embedded.fails("stack", "diff", "refused", "unknown")
    assert "There is no stack nowhere" in embedded.fails("deploy", "nowhere", "--as-of", operation, "--yes")
    both = embedded.stoker("deploy", "refused", "--as-of", operation, "-t", str(template))
    assert both.status == 2 and "only -P may change" in both.err
