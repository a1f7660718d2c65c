"""A session with every verb of `openstack stack`, and the same with `stoker stack`, against an embedded Stoker.

Snapshots, and stacks that are handed over from one service to another, have sessions of their own.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.cli_shell import OpenStack, Shell

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group(__name__)]

TEMPLATE = str(Path(__file__).parent / "session.yaml")
WAIT = ("--wait",)
OF_OTHER_SESSIONS = {
    "stack snapshot create", "stack snapshot delete", "stack snapshot list", "stack snapshot restore",
    "stack snapshot show", "stack abandon", "stack adopt", "stack export",
}  # fmt: skip


class Client:
    """`openstack stack …`, remembering which of its commands have been used."""

    def __init__(self, client: OpenStack) -> None:
        self._client = client
        self.used: set[str] = set()

    def __call__(self, command: str, *arguments: str) -> Any:
        self.used.add(f"stack {command}")
        return self._client.run("stack", *command.split(), *arguments)

    def json(self, command: str, *arguments: str) -> Any:
        return self(command, *arguments, "-f", "json")

    def state(self, name: str) -> str:
        return str(self.json("show", name)["stack_status"])


def test_openstack_client_stack_commands(embedded: Shell) -> None:
    with OpenStack(embedded) as client:
        use_every_verb(client)


def use_every_verb(client: OpenStack) -> None:
    stack = Client(client)
    preview = stack("create", "-t", TEMPLATE, "--dry-run", "every")
    assert "thing" in preview
    stack("create", "-t", TEMPLATE, "--parameter", "word=one", "--tags", "blue", *WAIT, "every")
    assert [row["Stack Name"] for row in stack.json("list", "--tags", "blue")] == ["every"]
    read_everything(stack)
    change(stack)
    repair(stack)
    pause_and_continue(stack)
    cancel_update(stack)
    stack("delete", "--yes", *WAIT, "every")
    assert [row["Stack Name"] for row in stack.json("list", "--deleted", "--property", "name=every")] == ["every"]
    assert known_commands(client) - stack.used == OF_OTHER_SESSIONS


def known_commands(client: OpenStack) -> set[str]:
    listed = client("command list --group openstack.orchestration.v1 -f json")
    commands = {command for group in listed for command in group["Commands"]}
    return {command for command in commands if command.startswith("stack ")}


def read_everything(stack: Client) -> None:
    """Everything that only looks."""
    assert stack.json("show", "every")["parameters"]["word"] == "one"
    assert stack.json("output show", "every", "said")["output_value"] == "one"
    assert [row["output_key"] for row in stack.json("output list", "every")] == ["said"]
    assert {row["resource_name"] for row in stack.json("resource list", "every")} == {"thing", "net", "handle"}
    assert stack.json("resource show", "every", "net")["resource_type"] == "OS::Neutron::Net"
    assert stack.json("resource metadata", "every", "net") == {"purpose": "session"}
    assert "word" in stack.json("template show", "every")["parameters"]
    assert stack.json("environment show", "every")["parameters"] == {"word": "one"}
    assert "{}" in stack("file list", "every")
    events = stack.json("event list", "every")
    about = next(event for event in events if event["resource_name"] == "thing")
    assert stack.json("event show", "every", "thing", about["id"])["resource_type"] == "OS::Heat::TestResource"


def change(stack: Client) -> None:
    """Updates, what failed in them, suspending and resuming."""
    assert "thing" in stack("update", "--existing", "--parameter", "word=two", "--dry-run", "every")
    stack("update", "--existing", "--parameter", "word=two", *WAIT, "every")
    assert stack.json("output show", "every", "said")["output_value"] == "two"
    stack("update", "--existing", "--parameter", "word=three", "--parameter", "broken=true", "every")
    until(stack, "every", "UPDATE_FAILED")
    assert "thing" in stack("failures list", "every")
    stack("update", "--existing", "--clear-parameter", "broken", *WAIT, "every")
    stack("suspend", *WAIT, "every")
    assert stack.state("every") == "SUSPEND_COMPLETE"
    stack("resume", *WAIT, "every")
    assert stack.state("every") == "RESUME_COMPLETE"


def repair(stack: Client) -> None:
    """Checks, signals, and what is marked to be replaced."""
    stack("check", *WAIT, "every")
    assert stack.state("every") == "CHECK_COMPLETE"
    data = json.dumps({"status": "SUCCESS", "data": "hello", "id": "me"})
    stack("resource signal", "--data", data, "every", "handle")
    assert stack.json("resource metadata", "every", "handle")["me"]["data"] == "hello"
    before = stack.json("resource show", "every", "net")["physical_resource_id"]
    stack("resource mark unhealthy", "every", "net", "it does not answer")
    stack("update", "--existing", *WAIT, "every")
    assert stack.json("resource show", "every", "net")["physical_resource_id"] != before


def pause_and_continue(stack: Client) -> None:
    """Hooks: a stack waits until the hook is cleared."""
    stack("create", "-t", TEMPLATE, "--pre-create", "net", "held")
    until_held(stack, "held", "net")
    assert "pre-create" in stack("hook poll", "held")
    stack("hook clear", "--pre-create", "held", "net")
    until(stack, "held", "CREATE_COMPLETE")
    stack("delete", "--yes", *WAIT, "held")


def cancel_update(stack: Client) -> None:
    """An update that waits at a hook is cancelled."""
    stack("update", "--existing", "--parameter", "word=four", "--pre-update", "thing", "every")
    until_held(stack, "every", "thing")
    stack("cancel", *WAIT, "every")
    assert stack.state("every") == "ROLLBACK_COMPLETE"


def until(stack: Client, name: str, state: str) -> None:
    for _ in range(600):
        if stack.state(name) == state:
            return
    raise AssertionError(f"{name} is {stack.state(name)}, and not {state}")


def until_held(stack: Client, name: str, resource: str) -> None:
    for _ in range(600):
        reasons = [event["resource_status_reason"] for event in stack.json("event list", "--resource", resource, name)]
        if any("paused until Hook" in reason for reason in reasons):
            return
    raise AssertionError(f"{resource} was never held")


# -- the same with Stoker's own command --------------------------------------------------------------------------


def test_stoker_stack_commands(embedded: Shell) -> None:
    def rows(*arguments: str) -> Any:
        return embedded.ok("stack", *arguments, "-f", "json").json

    def value(*arguments: str) -> str:
        return embedded.ok("stack", *arguments, "-f", "value").out.strip()

    embedded.ok("deploy", "own", "-t", TEMPLATE, "--yes")
    assert rows("resource", "own", "net")["resource_type"] == "OS::Neutron::Net"
    assert rows("metadata", "own", "net") == {"purpose": "session"}
    assert rows("environment", "own")["parameters"] == {}
    assert rows("files", "own") == {}
    assert embedded.stoker("deploy", "own", "-t", TEMPLATE, "-P", "word=new", "-P", "broken=true", "--yes").status == 1
    assert [row["resource_name"] for row in rows("failures", "own")] == ["thing"]
    assert "UPDATE_FAILED" in embedded.fails("stack", "retry", "own") + value("show", "own", "-c", "stack_status")
    embedded.ok("stack", "rollback", "own", "--yes")
    assert value("show", "own", "-c", "stack_status") == "ROLLBACK_COMPLETE"
    for verb, state in (("suspend", "SUSPEND"), ("resume", "RESUME"), ("check", "CHECK")):
        embedded.ok("stack", verb, "own")
        assert value("show", "own", "-c", "stack_status") == f"{state}_COMPLETE"
    embedded.ok("stack", "signal", "own", "handle", "--data", '{"id": "me", "data": "hello"}')
    assert rows("metadata", "own", "handle")["me"]["data"] == "hello"
    embedded.ok("stack", "mark-unhealthy", "own", "net", "--reason", "it does not answer")
    assert [row["resource_name"] for row in rows("failures", "own")] == ["net"]
    embedded.ok("stack", "mark-unhealthy", "own", "net", "--reset")
    assert "CHECK_COMPLETE" in embedded.fails("stack", "cancel", "own")
    assert rows("hooks", "own") == []
    history(embedded, rows)
    embedded.ok("delete", "own", "--yes")


def history(shell: Shell, rows: Any) -> None:
    entries = rows("history", "own")
    assert [entry["action"] for entry in entries] == [
        "CHECK", "RESUME", "SUSPEND", "ROLLBACK", "UPDATE", "UPDATE", "CREATE",
    ]  # fmt: skip
    failed = entries[4]
    assert failed["status"] == "FAILED" and failed["user_name"]
    assert "thing" in shell.ok("stack", "history", "own", failed["id"]).out
    assert rows("history", "own", failed["id"])["plan"]["action"] == "UPDATE"
    assert shell.ok("stack", "history", "own", "--limit", "1", "-f", "value", "-c", "action").out == "CHECK\n"
    assert "UPDATE" in shell.ok("stack", "history", "own", "-f", "yaml").out
