"""How many nested stacks of a tree are in progress at once, while calls of the cloud wait; in virtual time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stoker.testing.sandbox import Sandbox

MEMBERS = 60
NETWORKS = 3
HEADER = {"heat_template_version": "2021-04-16"}


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as made:
        made.cloud.limit("network", {"network": -1})
        yield made


def limited(sandbox: Sandbox) -> None:
    """Let the network service take ten calls in a second, each of which takes a fifth of it."""
    sandbox.cloud.add_fault("* /network/*", "rate_limit", seconds=1, allowed=10)
    sandbox.cloud.add_fault("* /network/*", "delay", seconds=0.2)


def networks(directory: Path) -> Path:
    path = directory / "networks.yaml"
    resources = {f"net{number}": {"type": "OS::Neutron::Net"} for number in range(NETWORKS)}
    path.write_text(json.dumps({**HEADER, "resources": resources}))
    return path


def tree(directory: Path, member: str) -> Path:
    """A template of a group of nested stacks."""
    path = directory / "tree.yaml"
    properties = {"count": MEMBERS, "resource_def": {"type": member}}
    group = {"type": "OS::Heat::ResourceGroup", "properties": properties}
    path.write_text(json.dumps({**HEADER, "resources": {"members": group}}))
    return path


class Watch:
    """Looks ten times in a second at how many operations have a plan and have not ended."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self.most = 0
        self._look()

    def _look(self) -> None:
        self.most = max(self.most, sum(run.has_plan for run in self._sandbox.engine.runs.values()))
        self._sandbox.clock.call_later(0.1, self._look)


def test_few_nested_stacks_run_while_calls_are_queued(sandbox: Sandbox, tmp_path: Path) -> None:
    limited(sandbox)
    networks(tmp_path)
    watch, began = Watch(sandbox), sandbox.clock.now()
    stack = sandbox.deploy("tree", tree(tmp_path, "networks.yaml"))
    assert stack.state == "CREATE_COMPLETE", stack.reason
    assert 20 <= watch.most < 40  # twenty, some that began before calls waited, and two stacks above
    assert sandbox.clock.now() - began < 1.5 * MEMBERS * NETWORKS / 10
    sandbox.delete("tree")
    assert not sandbox.engine.runs


def test_all_nested_stacks_run_while_calls_are_slow(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.cloud.add_fault("* /network/*", "delay", seconds=20.0)
    networks(tmp_path)
    watch, began = Watch(sandbox), sandbox.clock.now()
    assert sandbox.deploy("tree", tree(tmp_path, "networks.yaml")).state == "CREATE_COMPLETE"
    assert watch.most == MEMBERS + 2
    assert sandbox.clock.now() - began < 100.0


def test_waiting_parents_do_not_block_their_nested_stacks(sandbox: Sandbox, tmp_path: Path) -> None:
    limited(sandbox)
    networks(tmp_path)
    (tmp_path / "between.yaml").write_text(json.dumps({**HEADER, "resources": {"inner": {"type": "networks.yaml"}}}))
    assert sandbox.deploy("tree", tree(tmp_path, "between.yaml")).state == "CREATE_COMPLETE"


@pytest.mark.parametrize("action", ["delete", "cancel"])
def test_nested_stacks_that_have_not_begun_end_with_their_tree(sandbox: Sandbox, tmp_path: Path, action: str) -> None:
    """A deletion follows the creation, which it ends; a cancellation lets no more nested stacks begin."""
    limited(sandbox)
    path, template = networks(tmp_path), json.loads(tree(tmp_path, "networks.yaml").read_text())
    files = {"networks.yaml": path.read_text()}
    ref: dict[str, Any] = {"name": "tree", "id": None}
    sandbox.call("stack_create", name="tree", template=template, files=files)
    sandbox.advance(3.0)
    assert len(sandbox.engine.runs) > 40
    if action == "delete":
        sandbox.delete("tree")
        assert not sandbox.engine.runs
        return
    sandbox.call("stack_action", ref=ref, action="cancel_without_rollback")
    sandbox.advance(30.0)
    assert not sandbox.engine.runs
    assert len(sandbox.calls) < MEMBERS * NETWORKS
    assert sandbox.stack("tree").state == "CREATE_FAILED"
