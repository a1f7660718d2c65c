"""`stoker up -f`: the stacks of a project are deployed as soon as Stoker is ready."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.cli.cli_shell import ANY_PORTS, Shell

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cli-local")]

NET = {"heat_template_version": "2021-04-16", "resources": {"net": {"type": "OS::Neutron::Net"}}}
STACKS = {
    "web": {"template": "web.yaml", "parameters": {"network": {"from": {"stack": "net", "output": "network"}}}},
    "net": {"template": "net.yaml"},
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of two stacks; what `web` does can be chosen with a parameter."""
    net = {**NET, "outputs": {"network": {"value": {"get_resource": "net"}}}}
    acts = {"fail": {"get_param": "fail"}, "action_wait_secs": {"create": {"get_param": "seconds"}}}
    action = {"type": "OS::Heat::TestResource", "properties": acts}
    web = {
        "heat_template_version": "2021-04-16",
        "parameters": {
            "network": {"type": "string"},
            "fail": {"type": "boolean", "default": False},
            "seconds": {"type": "number", "default": 0},
        },
        "resources": {
            "port": {"type": "OS::Neutron::Port", "properties": {"network": {"get_param": "network"}}},
            "action": action,
        },
    }
    for name, content in (("net", net), ("web", web)):
        (tmp_path / f"{name}.yaml").write_text(json.dumps(content))
    path = tmp_path / "project.yaml"
    path.write_text(json.dumps({"stacks": STACKS, "stages": {"test": {}, "live": {"cloud": "elsewhere"}}}))
    return path


def listed(shell: Shell) -> dict[str, str]:
    rows = shell.ok("stack", "list", "-f", "json").json
    return {row["stack_name"]: row["stack_status"] for row in rows}


def test_the_stacks_are_deployed_in_order_when_everything_is_ready(shell: Shell, project: Path) -> None:
    elsewhere = shell.fails("up", "--detach", *ANY_PORTS, "-f", str(project), "--stage", "live", "--yes")
    assert "are in the cloud elsewhere, but this Stoker uses an emulated cloud" in elsewhere
    wrong = shell.fails("up", "--detach", *ANY_PORTS, "-f", str(project), "--stage", "tset", "--yes")
    assert "tset" in wrong
    assert "for a project" in shell.stoker("up", "--detach", "--stage", "test").err
    assert "STACK.PARAMETER" in shell.stoker("up", "-f", str(project), "--stage", "test", "-P", "fail=1").err
    assert not (shell.directory / "engine.pid").exists(), "nothing was started"

    test = ("up", "--detach", *ANY_PORTS, "-f", str(project), "--stage", "test")
    made = shell.ok(*test, "--yes").out
    assert made.index("net-test: CREATE_COMPLETE") < made.index("web-test: ✓ port")
    assert listed(shell) == {"net-test": "CREATE_COMPLETE", "web-test": "CREATE_COMPLETE"}
    assert "2 unchanged" in shell.ok("up", "-f", str(project), "--stage", "test").out
    asked = shell.fails("up", "-f", str(project), "--stage", "test", "-P", "web.fail=true")
    assert "Use --yes to confirm" in asked
    failed = shell.stoker("up", "-f", str(project), "--stage", "test", "-P", "web.fail=true", "--yes")
    assert (failed.status, "✗ web-test  failed" in failed.out) == (1, True)
    assert shell.stoker("status").status == 0, "Stoker keeps running"


@pytest.mark.parametrize("seconds", [0, 600])
def test_foreground_mode_continues_after_deployment_until_ctrl_c(shell: Shell, project: Path, seconds: int) -> None:
    """A stack fails, and Stoker keeps running until Ctrl-C; or Ctrl-C comes while a stack is being made."""
    given = ("-P", f"web.fail={seconds == 0}", "-P", f"web.seconds={seconds}")
    awaited = "web-test: ✓ port" if seconds else "Stoker keeps running"
    with shell.start("up", *ANY_PORTS, "-f", str(project), "--stage", "test", "--yes", *given) as foreground:
        shown = []
        for line in foreground.stdout:
            shown.append(line)
            if awaited in line:
                break
        if not seconds:
            assert shell.stoker("status").status == 0
        foreground.send_signal(signal.SIGINT)
        rest, errors = foreground.communicate(timeout=120)
    assert foreground.returncode == 1, (shown, rest, errors)
    assert "Stopping." in rest
    assert "Traceback" not in errors
    assert shell.stoker("status").status == 1
