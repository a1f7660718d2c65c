"""`stoker plan` and saved plans, against a running Stoker."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.cli.cli_shell import Shell

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group(__name__)]

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
    assert "\nPlan: 1 to replace.\nCompared with the cloud at " in shown
    coloured = embedded.ok("plan", "shown", "-t", str(template), variables={"NO_COLOR": "", "FORCE_COLOR": "1"}).out
    assert "\x1b[" in coloured
    embedded.ok("delete", "shown", "--yes")


def test_saved_plan_creates_and_updates_stack(embedded: Shell, template: Path, tmp_path: Path) -> None:
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


def test_outdated_plan_is_refused(embedded: Shell, template: Path, tmp_path: Path) -> None:
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


def test_a_file_that_is_not_a_plan_is_reported(embedded: Shell, template: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.plan"
    other.write_text(json.dumps({"kind": "else"}))
    assert "is not a saved plan" in embedded.fails("deploy", str(other))
    assert "cannot be read" in embedded.fails("deploy", "--plan", str(tmp_path / "none.plan"))
    usage = embedded.stoker("deploy", "--plan", str(other), "-t", str(template))
    assert usage.status == 2 and "A saved plan is complete" in usage.err
    usage = embedded.stoker("deploy", "name")
    assert usage.status == 2 and "saved plan" in usage.err


def test_json_plan_is_complete(embedded: Shell, template: Path) -> None:
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


DISK = """\
heat_template_version: 2021-04-16
resources:
  disk: {type: OS::Cinder::Volume, properties: {size: 1}}
  kept: {type: OS::Cinder::Volume, deletion_policy: Retain, properties: {size: 1}}
outputs:
  id: {value: {get_resource: disk}}
"""


def lines(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_a_deletion_and_a_restoration_show_their_plan_first(embedded: Shell, tmp_path: Path) -> None:
    template = tmp_path / "disk.yaml"
    template.write_text(DISK)
    embedded.ok("deploy", "gone", "-t", str(template), "--yes")
    embedded.ok("snapshot", "create", "gone", "before")
    restored = embedded.ok("snapshot", "restore", "gone", "before", "--dry-run").out
    assert "  ~ disk  OS::Cinder::Volume\n      ! data loss: the data on the volume since the backup\n" in restored
    shown = embedded.ok("delete", "gone", "--dry-run").out
    assert (
        "  - disk  OS::Cinder::Volume\n      # the stack is deleted\n      ! data loss: the data on the volume\n"
        in shown
    )
    assert "its object is retained (deletion policy Retain)\n" in shown
    assert "Plan: 2 to remove.\nData is lost with: disk.\n" in shown
    assert "Retained in the cloud: kept.\nCompared with the cloud at " in shown
    assert shown.endswith("\nSnapshots that are deleted with the stack: before.\n")
    refused = embedded.stoker("delete", "gone")
    assert refused.status == 1 and "--yes" in refused.err and "data loss" in refused.out
    assert "What will be done to the stack gone:" in embedded.ok("snapshot", "restore", "gone", "before", "--yes").out
    assert "! data loss" in embedded.ok("delete", "gone", "--yes").out


def test_the_plan_of_a_deletion_is_shown_without_deleting(embedded: Shell, tmp_path: Path) -> None:
    template = tmp_path / "disk.yaml"
    template.write_text(DISK)
    embedded.ok("deploy", "doomed", "-t", str(template), "--yes")
    shown = embedded.ok("plan", "doomed", "--destroy", "--no-refresh").out
    assert shown == embedded.ok("delete", "doomed", "--dry-run", "--no-refresh").out
    assert shown.endswith("Data is lost with: disk.\nRetained in the cloud: kept.\nThe cloud was not asked.\n")
    looking = embedded.ok("delete", "doomed", "--dry-run").out.splitlines()[-1]
    assert looking.startswith("Compared with the cloud at ") and looking.endswith(": 2 in sync.")
    assert embedded.stoker("plan", "doomed", "--destroy", "--detailed-exitcode").status == 2
    plan = json.loads(embedded.ok("plan", "doomed", "--destroy", "--retain", "disk", "-f", "json").out)
    codes = {step["path"]: [reason["code"] for reason in step["reasons"]] for step in plan["steps"]}
    assert codes["disk"] == ["stack-deleted", "retained-by-request"]
    assert plan["action"] == "DELETE" and plan["snapshots"] == []
    for wrong in (["--destroy", "-t", str(template)], ["--force"], ["--destroy", "-o", "x.plan"], []):
        refused = embedded.stoker("plan", "doomed", *wrong)
        assert refused.status == 2 and ("--destroy" in refused.err or "A deletion has no definition" in refused.err)
    unknown = embedded.stoker("delete", "doomed", "--yes", "--retain", "dusk")
    assert unknown.status == 1 and "did you mean 'disk'?" in unknown.err
    gone = embedded.ok("delete", "doomed", "--yes", "--retain", "disk", "--force").out
    assert "Retained in the cloud: disk, kept." in gone or "Retained in the cloud: kept, disk." in gone
    assert embedded.stoker("plan", "doomed", "--destroy").status == 1


def test_a_rollback_shows_its_plan_first(embedded: Shell, tmp_path: Path) -> None:
    template = tmp_path / "disk.yaml"
    template.write_text(DISK)
    embedded.ok("deploy", "worse", "-t", str(template), "--yes")
    failing = "  bad: {type: OS::Heat::TestResource, properties: {fail: true}}\noutputs:"
    template.write_text(DISK.replace("outputs:", failing))
    embedded.fails("deploy", "worse", "-t", str(template), "--yes")
    shown = embedded.ok("stack", "rollback", "worse", "--dry-run").out
    assert "  - bad  OS::Heat::TestResource\n      # it is no longer in the template\n" in shown
    planned, looked, _ = shown.partition("\nCompared with the cloud at ")
    assert looked
    recorded = embedded.ok("stack", "rollback", "worse", "--dry-run", "--no-refresh").out
    assert recorded == f"{planned}\nThe cloud was not asked: --refresh=all asks it.\n"
    done = embedded.ok("stack", "rollback", "worse", "--yes").out
    assert done.startswith(planned + looked) and done.endswith("worse: ROLLBACK_COMPLETE\n")
    assert "No changes" not in done
    embedded.ok("delete", "worse", "--yes")


def test_progress_is_written_as_lines_of_json(embedded: Shell, tmp_path: Path) -> None:
    template = tmp_path / "disk.yaml"
    template.write_text(DISK)
    asked = embedded.stoker("deploy", "lines", "-t", str(template), "-f", "json")
    assert asked.status == 1 and "--yes" in asked.err
    assert [line["type"] for line in lines(asked.out)] == ["plan", "error"]
    made = lines(embedded.ok("deploy", "lines", "-t", str(template), "--yes", "-f", "json").out)
    assert (made[0]["type"], made[0]["summary"]) == ("plan", "2 to create")
    ended = {line["resource"]: line["status"] for line in made if line["type"] == "event"}
    assert ended == {"disk": "CREATE_COMPLETE", "kept": "CREATE_COMPLETE", None: "CREATE_COMPLETE"}
    assert made[-2]["type"] == "end" and made[-2]["succeeded"] is True
    assert made[-1]["type"] == "outputs" and set(made[-1]["outputs"]) == {"id"}
    template.write_text(DISK.replace("size: 1}}\n  kept", "sise: 1}}\n  kept"))
    wrong = embedded.stoker("deploy", "lines", "-t", str(template), "--yes", "-f", "json")
    (error,) = lines(wrong.out)
    assert (
        wrong.status == 1
        and error["type"] == "error"
        and any("sise" in item["message"] for item in error["diagnostics"])
    )
    gone = lines(embedded.ok("delete", "lines", "--yes", "-f", "json").out)
    assert gone[0]["type"] == "plan" and gone[-1] == {**gone[-1], "type": "end", "status": "DELETE_COMPLETE"}
    missing = embedded.stoker("delete", "lines", "--yes", "-f", "json")
    assert missing.status == 1 and lines(missing.out)[0]["message"] == "There is no stack lines."


def test_a_saved_plan_is_shown_without_a_service(embedded: Shell, template: Path, tmp_path: Path) -> None:
    plan = tmp_path / "read.plan"
    planned = embedded.ok("plan", "read", "-t", str(template), "-P", "password=abcd", "-o", str(plan)).out
    nowhere = {"STOKER_DATA_DIR": str(tmp_path / "none")}
    shown = embedded.ok("show", str(plan), variables=nowhere).out
    head, _, rest = shown.partition("To apply it")
    assert planned.startswith(head) and "Plan: 2 to create.\n" in head and "password" in rest
    data = json.loads(embedded.ok("show", str(plan), "-f", "json", variables=nowhere).out)
    assert data["stack_name"] == "read" and data["summary"] == {"create": 2}
    other = embedded.stoker("show", "read")
    assert other.status == 2 and "stoker stack show read" in other.err


def test_the_same_missing_flavor_is_reported_once_with_all_places(embedded: Shell, tmp_path: Path) -> None:
    template = tmp_path / "servers.yaml"
    server = (
        "{type: OS::Nova::Server, properties: {image: cirros, flavor: m1.nope, networks: [{allocate_network: none}]}}"
    )
    servers = "".join(f"  {name}: {server}\n" for name in ("one", "two", "three"))
    template.write_text(f"heat_template_version: 2021-04-16\nresources:\n{servers}")
    message = embedded.fails("plan", "same", "-t", str(template))
    assert message.count("there is no flavor 'm1.nope'") == 1, message
    column = servers.index("m1.nope") + 1
    assert f"servers.yaml:3:{column}" in message and f"servers.yaml:4:{column}" in message
    assert f"servers.yaml:5:{servers.splitlines()[2].index('m1.nope') + 1}" in message
