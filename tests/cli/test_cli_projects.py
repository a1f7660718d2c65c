"""Projects: sets of stacks that are planned, deployed and deleted together, against a running Stoker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from testing.servers import wait_until
from tests.cli.cli_shell import Shell, shell_in

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group(__name__)]

Data = dict[str, Any]


def hot(parameters: Data, value: Any, kind: str = "OS::Heat::TestResource") -> Data:
    """A template with one resource and its value as the output `out`."""
    return {
        "heat_template_version": "2021-04-16",
        "parameters": {name: {"type": "string", "default": default} for name, default in parameters.items()},
        "resources": {"it": {"type": kind, "properties": {"value": value}}},
        "outputs": {"out": {"value": {"get_attr": ["it", "output"]}}},
    }


def taking(name: str = "given", default: str = "none") -> Data:
    return hot({name: default}, {"get_param": name})


def out_of(stack: str) -> Data:
    return {"from": {"stack": stack, "output": "out"}}


class Folder:
    """A folder with a project and its templates."""

    def __init__(self, path: Path, **stacks: Data) -> None:
        self.path = path
        self.file = str(path / "project.yaml")
        self.write(**stacks)

    def write(self, stages: Data | None = None, **stacks: Data) -> None:
        """Write the project; the key `content` of a stack is its template."""
        for name, stack in stacks.items():
            (self.path / f"{name}.yaml").write_text(yaml.safe_dump(stack.pop("content")))
            stack["template"] = f"{name}.yaml"
        project = {"stacks": stacks, **({"stages": stages} if stages else {})}
        Path(self.file).write_text(yaml.safe_dump(project, sort_keys=False))


def chain(path: Path) -> Folder:
    """Three stacks of which each takes the output of the one before, and one of its own."""
    return Folder(
        path,
        c={"content": taking(), "parameters": {"given": out_of("b")}},
        b={"content": taking(), "parameters": {"given": out_of("a")}},
        a={"content": taking(default="first")},
        alone={"content": taking(default="alone")},
    )


def operations(shell: Shell, name: str) -> list[str]:
    return [row["action"] for row in shell.ok("stack", "history", name, "-f", "json").json]


def outcomes(text: str) -> dict[str, str]:
    """The outcomes by stack of the summary, the last line of JSON lines."""
    last = json.loads(text.splitlines()[-1])
    assert last["type"] == "summary"
    return {row["stack"]: row["outcome"] for row in last["stacks"]}


def test_a_project_is_planned_deployed_changed_and_deleted(embedded: Shell, tmp_path: Path) -> None:
    project = chain(tmp_path)
    planned = embedded.ok("plan", "-f", project.file).out
    assert "(known after apply)" in planned
    assert "c comes after b." in planned
    assert "Project: 4 to create, 0 to update, 0 unchanged." in planned
    assert "not a terminal" in embedded.fails("deploy", "-f", project.file)
    made = embedded.ok("deploy", "-f", project.file, "--yes").out
    assert "a: ✓ it  CREATE_COMPLETE" in made
    assert made.index("a: CREATE_COMPLETE") < made.index("b: CREATE_COMPLETE") < made.index("c: CREATE_COMPLETE")
    assert embedded.ok("outputs", "c", "out").out == "first\n"

    assert embedded.stoker("plan", "-f", project.file, "--detailed-exitcode").status == 0
    again = embedded.ok("deploy", "-f", project.file)  # nothing to ask
    assert "4 unchanged." in again.out
    assert operations(embedded, "a") == ["CREATE"]

    changed = ("-P", "a.given=second")
    found = embedded.ok("plan", "-f", project.file, *changed, "-f", "json").json
    plans = {each["stack"]: each for each in found["stacks"]}
    assert [plans[name]["unchanged"] for name in ("a", "b", "c", "alone")] == [False, False, False, True]
    assert embedded.stoker("plan", "-f", project.file, *changed, "--detailed-exitcode").status == 2
    lines = embedded.ok("deploy", "-f", project.file, *changed, "--yes", "-f", "json").out
    assert outcomes(lines) == {"a": "done", "b": "done", "c": "done", "alone": "unchanged"}
    assert embedded.ok("outputs", "c", "out").out == "second\n"

    assert "delete" in embedded.ok("plan", "-f", project.file, "--destroy", "-f", "json").out
    gone = embedded.ok("delete", "-f", project.file, "--yes").out
    assert gone.index("c: DELETE_COMPLETE") < gone.index("b: DELETE_COMPLETE") < gone.index("a: DELETE_COMPLETE")
    assert "no stacks." in embedded.ok("delete", "-f", project.file, "--yes").out


def test_a_failure_stops_only_the_stacks_that_need_the_failed_one(embedded: Shell, tmp_path: Path) -> None:
    project = chain(tmp_path)
    failing = taking()
    failing["resources"]["it"]["properties"]["fail"] = True
    project.write(
        a={"content": taking(default="first")},
        b={"content": failing, "parameters": {"given": out_of("a")}},
        c={"content": taking(), "parameters": {"given": out_of("b")}},
        alone={"content": taking(default="alone")},
    )
    result = embedded.stoker("deploy", "-f", project.file, "--yes", "-f", "json")
    assert result.status == 1
    assert outcomes(result.out) == {"a": "done", "b": "failed", "c": "skipped", "alone": "done"}
    reported = embedded.stoker("deploy", "-f", project.file, "--yes")
    assert "- c  skipped, since it needs b" in reported.out
    assert "2 unchanged, 1 failed, 1 skipped." in reported.out
    assert "stoker logs b --failed" in reported.err

    chain(tmp_path)
    assert outcomes(embedded.ok("deploy", "-f", project.file, "--yes", "-f", "json").out) == {
        "a": "unchanged", "b": "done", "c": "done", "alone": "unchanged",
    }  # fmt: skip
    embedded.ok("delete", "-f", project.file, "--yes")


def test_killed_project_deployment_is_resumed(embedded: Shell, tmp_path: Path) -> None:
    project = chain(tmp_path)
    hook = {"resource_registry": {"resources": {"it": {"hooks": "pre-create"}}}}
    (tmp_path / "hook.yaml").write_text(yaml.safe_dump(hook))
    data = yaml.safe_load(Path(project.file).read_text())
    data["stacks"]["b"]["environments"] = ["hook.yaml"]
    Path(project.file).write_text(yaml.safe_dump(data, sort_keys=False))

    command = ("deploy", "-f", project.file, "--yes")

    def paused() -> bool:
        return bool(embedded.stoker("stack", "hooks", "b", "-f", "json").out.count("pre-create"))

    with embedded.start(*command) as first:
        wait_until(paused, "b waits at its hook")
        assert first.poll() is None
    with embedded.start(*command) as second:
        assert any("Waiting on b for the CREATE operation" in line for line in second.stdout)
        embedded.ok("stack", "clear-hook", "b", "it", "pre-create")
        rest, _ = second.communicate(timeout=120)
    assert second.returncode == 0
    assert "c: CREATE_COMPLETE" in rest
    assert {name: operations(embedded, name) for name in "abc"} == {name: ["CREATE"] for name in "abc"}
    embedded.ok("delete", "-f", project.file, "--yes")


def cfn(exports: Data, imports: list[str], extra: Data | None = None) -> Data:
    """A CloudFormation template with exports by name, and a resource for each import."""
    resources: Data = {
        f"i{number}": {"Type": "OS::Heat::TestResource", "Properties": {"value": {"Fn::ImportValue": name}}}
        for number, name in enumerate(imports)
    }
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Parameters": extra or {},
        "Resources": resources or {"none": {"Type": "OS::Heat::None"}},
        "Outputs": {
            f"o{number}": {"Value": value, "Export": {"Name": name}}
            for number, (name, value) in enumerate(exports.items())
        }
        or {"nothing": {"Value": "x"}},
    }


def test_project_exports_are_deployed_in_order_and_released_before_deletion(embedded: Shell, tmp_path: Path) -> None:
    project = Folder(
        tmp_path, user={"content": cfn({}, ["p-one"])}, net={"content": cfn({"p-one": "1", "p-two": "2"}, [])}
    )
    assert "user comes after net." in embedded.ok("plan", "-f", project.file).out
    embedded.ok("deploy", "-f", project.file, "--yes")

    plan = embedded.ok("plan", "net", "-t", str(tmp_path / "net.yaml")).out
    assert "No changes" in plan
    (tmp_path / "net.yaml").write_text(yaml.safe_dump(cfn({"p-one": "changed"}, [])))
    assert (
        "fails while it is in use. Imported by: user."
        in embedded.ok("plan", "net", "-t", str(tmp_path / "net.yaml")).out
    )
    assert "p-one of net cannot change while user imports it" in embedded.fails("plan", "-f", project.file)

    project.write(user={"content": cfn({}, ["p-two"])}, net={"content": cfn({"p-two": "2"}, [])})
    embedded.ok("deploy", "-f", project.file, "--yes")

    project.write(user={"content": cfn({}, ["p-three"])}, net={"content": cfn({"p-three": "3"}, [])})
    assert "net keeps the exports p-two until nobody imports them." in embedded.ok("plan", "-f", project.file).out
    embedded.ok("deploy", "-f", project.file, "--yes")  # each needs the other to come first
    assert embedded.ok("plan", "-f", project.file, "--detailed-exitcode").status == 0
    assert operations(embedded, "net").count("UPDATE") >= 4  # with the export kept, and without it
    assert "p-two" not in json.dumps(embedded.ok("stack", "template", "net", "-f", "json").json)

    gone = embedded.ok("delete", "-f", project.file, "--yes").out
    assert gone.index("user: DELETE_COMPLETE") < gone.index("net: DELETE_COMPLETE")


def test_stages_have_their_own_stacks_and_values(embedded: Shell, tmp_path: Path) -> None:
    project = Folder(tmp_path, a={"content": taking(default="common")})
    data = yaml.safe_load(Path(project.file).read_text())
    data["stages"] = {"test": {}, "live": {"stacks": {"a": {"parameters": {"given": "live"}, "tags": ["paid"]}}}}
    Path(project.file).write_text(yaml.safe_dump(data, sort_keys=False))
    assert "choose one with --stage (test, live)" in embedded.fails("plan", "-f", project.file)
    assert "has no stage 'other'" in embedded.fails("plan", "-f", project.file, "--stage", "other")
    embedded.ok("deploy", "-f", project.file, "--stage", "test", "--yes")
    embedded.ok("deploy", "-f", project.file, "--stage", "live", "--yes")
    assert [embedded.ok("outputs", name, "out").out for name in ("a-test", "a-live")] == ["common\n", "live\n"]
    assert "1 unchanged." in embedded.ok("deploy", "-f", project.file, "--stage", "live", "--yes").out
    for stage in ("test", "live"):
        embedded.ok("delete", "--project", project.file, "--stage", stage, "--yes")


def test_stages_are_in_the_clouds_that_the_file_names(embedded: Shell, tmp_path: Path) -> None:
    """Also where the user has no Stoker; and nothing but the file or the same name chooses the cloud."""
    project = Folder(tmp_path, a={"content": taking()})
    data = yaml.safe_load(Path(project.file).read_text())
    stages = {"test": {}, "live": {"cloud": "stoker-admin"}, "lost": {"cloud": "elsewhere"}}
    Path(project.file).write_text(yaml.safe_dump({"cloud": "stoker", **data, "stages": stages}, sort_keys=False))
    user = shell_in(tmp_path)
    clouds = {"OS_CLIENT_CONFIG_FILE": str(embedded.directory / "clouds.yaml")}
    user.ok("deploy", "-f", project.file, "--stage", "test", "--yes", variables=clouds)
    user.ok("deploy", "-f", project.file, "--stage", "live", "--yes", variables=clouds)
    listed = ("stack", "list", "-f", "json")
    assert "a-test" in [row["stack_name"] for row in embedded.ok(*listed).json]
    assert [row["stack_name"] for row in user.ok(*listed, "--os-cloud", "stoker-admin", variables=clouds).json] == [
        "a-live"
    ]
    assert "elsewhere" in user.fails("plan", "-f", project.file, "--stage", "lost", variables=clouds)
    other = {**clouds, "OS_CLOUD": "stoker"}
    for command in (("plan",), ("deploy", "--yes"), ("delete", "--yes")):
        reported = user.fails(*command, "-f", project.file, "--stage", "live", variables=other)
        assert "are in the cloud stoker-admin, but --os-cloud or OS_CLOUD is stoker. Nothing was done." in reported
    sync = ("sync", str(tmp_path), "--once", "--stage", "live")
    assert "the command has no --os-cloud stoker-admin" in embedded.fails(*sync)
    assert user.ok(*sync, "--os-cloud", "stoker-admin", variables=clouds).status == 0
    user.ok("delete", "-f", project.file, "--stage", "test", "--yes", variables=other)
    user.ok("delete", "-f", project.file, "--stage", "live", "--yes", variables=clouds)


def test_mistakes_are_reported_with_their_places_before_anything_is_done(embedded: Shell, tmp_path: Path) -> None:
    project = Folder(
        tmp_path,
        a={"content": taking(), "parameters": {"given": out_of("b")}},
        b={"content": taking(), "depends_on": ["a"]},
    )
    reported = embedded.fails("deploy", "-f", project.file, "--yes")
    assert "the stacks depend on each other: " in reported
    assert "project.yaml:4:7" in reported
    assert embedded.stoker("deploy", "a", "-f", project.file).status == 2
    assert embedded.stoker("plan", "-f", project.file, "-t", "x.yaml").status == 2
    assert embedded.stoker("plan").status == 2
    assert embedded.stoker("plan", "a", "-f", "xml").status == 2
    assert embedded.stoker("plan", "-f", project.file, "-P", "given=1").status in (1, 2)
