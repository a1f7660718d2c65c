"""The options of `openstack stack …`: what is asked for, in which order, how much, and in which form.

The operator of this Stoker has let administrators see the stacks of all projects, which nobody may otherwise.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.cli_shell import ANY_PORTS, OpenStack, Shell, openstack, shell_in

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cli-options")]

FILES = Path(__file__).with_name("options")
SOURCES = f"-t {FILES}/stack.yaml -e {FILES}/environment.yaml"
JSON = "-f json"
TRIES = 600


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    home = tmp_path_factory.mktemp("options")
    (home / "policy.yaml").write_text('"stacks:global_index": "role:admin"\n')
    (home / "heat.conf").write_text(f"[oslo_policy]\npolicy_file = {home}/policy.yaml\n")
    user = shell_in(home)
    user.ok("up", "--detach", "--pace", "0.1", "--config-file", str(home / "heat.conf"), *ANY_PORTS)
    yield user
    user.ok("down")


@pytest.fixture(scope="module")
def client(shell: Shell) -> Iterator[OpenStack]:
    with OpenStack(shell) as running:
        yield running


LOOKS = {
    "shown": f"stack show options {JSON}",
    "unresolved": f"stack show --no-resolve-outputs options {JSON}",
    "outputs": f"stack output show --all options {JSON}",
    "nested": f"stack list --nested {JSON}",
    "last of two": f"stack list --tags blue --sort stack_name:desc --limit 1 {JSON}",
    "both tags": f"stack list --tags blue,green {JSON}",
    "either tag": f"stack list --tags green,other --tag-mode any {JSON}",
    "not the tag": f"stack list --tags blue --tag-mode not {JSON}",
    "neither tag": f"stack list --tags green,other --tag-mode not-any {JSON}",
    "short": f"stack list --property name=options --short {JSON}",
    "complete": f"stack list --property status=COMPLETE --hidden --sort stack_name:asc {JSON}",
    "deep": f"stack resource list -n 2 options {JSON}",
    "typed": f"stack resource list --filter type=OS::Heat::TestResource options {JSON}",
    "long": f"stack resource list --long options {JSON}",
    "picture": "stack resource list -n 2 options -f dot",
    "attribute": f"stack resource show --with-attr output options thing {JSON}",
    "deep events": f"stack event list --nested-depth 2 --sort event_time:asc options {JSON}",
    "first event": f"stack event list --sort event_time:asc --limit 1 options {JSON}",
    "filtered events": f"stack event list --filter resource_status=COMPLETE --resource thing options {JSON}",
    "log": "stack event list options",
}
Looks = dict[str, Any]


@pytest.fixture(scope="module")
def looks(client: OpenStack) -> Looks:
    """What each of the commands prints, with two stacks: one made with most of the options, and a plain one."""
    client(
        f"stack create {SOURCES} -e {FILES}/word.yaml --parameter-file word={FILES}/word.txt --timeout 7 "
        "--enable-rollback --tags blue,green --wait --poll 1 options"
    )
    client(f"stack create {SOURCES} --tags blue --wait --poll 1 plain")
    return {name: client(command) for name, command in LOOKS.items()}


def names(rows: list[dict[str, Any]], column: str = "Stack Name") -> list[str]:
    return [row[column] for row in rows]


def test_options_of_stack_creation(looks: Looks) -> None:
    shown = looks["shown"]
    assert (shown["timeout_mins"], shown["disable_rollback"], shown["tags"]) == (7, False, ["blue", "green"])
    assert shown["parameters"]["word"] == "fromfile"
    assert "outputs" not in looks["unresolved"] and len(shown["outputs"]) == 2
    assert {output["output_value"] for output in looks["outputs"].values()} == {"fromfile"}


def test_lists_of_stacks(looks: Looks) -> None:
    below = [row for row in looks["nested"] if row["Stack Name"].startswith("options-")]
    assert names(below, "Parent") == [looks["shown"]["id"]]
    assert names(looks["last of two"]) == ["plain"]
    assert names(looks["both tags"]) == names(looks["either tag"]) == ["options"]
    assert names(looks["not the tag"]) == [] and names(looks["neither tag"]) == ["plain"]
    assert "Creation Time" not in looks["short"][0]
    assert names(looks["complete"]) == ["options", "plain"]


def test_lists_of_resources(looks: Looks) -> None:
    of_the_stack = {row["resource_name"]: row["stack_name"] == "options" for row in looks["deep"]}
    assert of_the_stack == {"thing": True, "child": True, "handle": True, "leaf": False}
    assert names(looks["typed"], "resource_name") == ["thing"]
    assert {row["stack_name"] for row in looks["long"]} == {"options"}
    assert looks["picture"].startswith("digraph G {") and "leaf" in looks["picture"]
    assert looks["attribute"]["attributes"]["output"] == "fromfile"


def test_lists_of_events(looks: Looks) -> None:
    assert "leaf" in names(looks["deep events"], "resource_name")
    assert names(looks["first event"], "resource_status_reason") == ["Stack CREATE started"]
    assert names(looks["filtered events"], "resource_status") == ["CREATE_COMPLETE"]
    assert "[options.thing]: CREATE_COMPLETE  state changed" in looks["log"]


def test_next_pages(client: OpenStack, looks: Looks) -> None:
    event, newest = looks["first event"][0]["id"], looks["last of two"][0]["ID"]
    assert names(client(f"stack list --sort stack_name:desc --marker {newest} {JSON}")) == ["options"]
    events = client(
        f"stack event list --sort event_time:asc --marker {event} --limit 2 --nested-depth 2 options {JSON}"
    )
    assert names(events, "id") == names(looks["deep events"], "id")[1:3]


def test_stacks_of_all_projects_are_for_administrators(shell: Shell, looks: Looks) -> None:
    everywhere, long, there, own = openstack(
        shell,
        f"stack list --all-projects --property name=options {JSON}",
        f"stack list --property name=options --long {JSON}",
        f"stack list --all-projects --project demo --project-domain default --tags green {JSON}",
        f"stack list {JSON}",
        cloud="stoker-admin",
    )
    assert names(everywhere, "ID") == names(there, "ID") == [looks["shown"]["id"]]
    assert names(long, "Stack Owner") == ["demo"]
    assert own == []


def test_signals_and_marks(client: OpenStack, looks: Looks, tmp_path: Path) -> None:
    (tmp_path / "signal.json").write_text(json.dumps({"status": "SUCCESS", "id": "me", "data": "from a file"}))
    client(f"stack resource signal --data-file {tmp_path}/signal.json plain handle")
    assert client(f"stack resource metadata plain handle {JSON}")["me"]["data"] == "from a file"
    client("stack resource mark unhealthy plain thing why")
    marked = client(f"stack resource show plain thing {JSON}")
    assert (marked["resource_status"], marked["resource_status_reason"]) == ("CHECK_FAILED", "why")
    client("stack resource mark unhealthy plain thing --reset")
    assert client(f"stack resource show plain thing {JSON}")["resource_status"] == "CHECK_COMPLETE"


def test_updates(client: OpenStack, looks: Looks) -> None:
    update = f"stack update {SOURCES} --parameter word=new"
    assert "leaf" in json.dumps(client(f"{update} --dry-run --show-nested options {JSON}"))
    client(f"{update} --rollback disabled --tags red --timeout 9 --converge options")
    shown = until(client, "options", "UPDATE_COMPLETE")
    assert (shown["timeout_mins"], shown["disable_rollback"], shown["tags"]) == (9, True, ["red"])
    assert shown["parameters"]["word"] == "new"
    client(f"stack update {SOURCES} --parameter broken=true options")
    until(client, "options", "UPDATE_FAILED")
    failures = client("stack failures list --long options")
    assert "options.child.leaf:" in failures and "OS::Heat::TestResource" in failures


def test_paused_updates_are_continued_or_cancelled(client: OpenStack, looks: Looks) -> None:
    hold(client, "plain", "held")
    client("stack hook clear --pre-update plain thing")
    until(client, "plain", "UPDATE_COMPLETE")
    hold(client, "plain", "called-off")
    client("stack cancel --no-rollback plain")
    until(client, "plain", "UPDATE_FAILED")


def test_templates_in_a_container(client: OpenStack, tmp_path: Path) -> None:
    (tmp_path / "environment.yaml").write_text('resource_registry: {"Options::Child": child.yaml}\n')
    client("container create templates")
    client(f"object create --name child.yaml templates {FILES}/child.yaml")
    client(f"object create --name environment.yaml templates {tmp_path}/environment.yaml")
    client(
        f"stack create -s templates -t {FILES}/stack.yaml -e environment.yaml --parameter word=kept --wait "
        "--poll 1 contained"
    )
    outputs = client(f"stack show contained {JSON}")["outputs"]
    assert {output["output_value"] for output in outputs} == {"kept"}


def hold(client: OpenStack, stack: str, word: str) -> None:
    """Start an update that stops at a hook, and wait until it stands there."""
    client(f"stack update --existing --parameter word={word} --pre-update thing {stack}")
    for _ in range(TRIES):
        if polled := client(f"stack hook poll --nested-depth 1 {stack} {JSON}"):
            assert names(polled, "Resource Name") == ["thing"]
            return
        time.sleep(0.1)
    raise AssertionError(f"the update of {stack} was never held")


def until(client: OpenStack, stack: str, status: str) -> dict[str, Any]:
    """What `show` says, once a stack has come to a status."""
    for _ in range(TRIES):
        shown: dict[str, Any] = client(f"stack show {stack} {JSON}")
        if shown["stack_status"] == status:
            return shown
        time.sleep(0.1)
    raise AssertionError(f"{stack} is {shown['stack_status']}, and not {status}")
