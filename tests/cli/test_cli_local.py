"""`stoker up`, `down`, `status`: real processes, killed and brought back."""

from __future__ import annotations

import os
import signal
import socket
import time
from pathlib import Path

import pytest

from tests.cli.cli_shell import ANY_PORTS, EXAMPLES, Shell

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cli-local")]

HELLO = str(EXAMPLES / "hello.yaml")


def states(shell: Shell) -> list[str]:
    return [row["state"] for row in shell.stoker("status", "-f", "json").json]


def test_stoker_survives_being_killed_and_being_stopped(shell: Shell) -> None:
    assert "stoker up" in shell.fails("status")
    shell.ok("up", "--detach", *ANY_PORTS)
    before = shell.endpoints()
    assert states(shell) == ["running", "running"]
    assert "already running" in shell.ok("up", "--detach").out
    assert "other ports" in shell.fails("up", "--detach", "--api-port", "1")
    shell.ok("deploy", "hello", "-t", HELLO, "--yes")
    outputs = shell.ok("stack", "outputs", "hello", "-f", "json").json

    killed = before["pids"]["engine"]
    shell.kill("engine")
    wait_for(lambda: shell.endpoints()["pids"].get("engine", killed) != killed)
    assert states(shell) == ["running", "running"]
    assert "ended unexpectedly" in shell.ok("status").out

    shell.kill("supervisor")
    shell.kill("engine")
    assert shell.stoker("status").status == 1
    assert states(shell) == ["running", "stopped"]
    assert "stoker up" in shell.fails("stack", "list")
    assert "Restarting: engine and API." in shell.ok("up", "--detach").out

    shell.kill("supervisor", "cloud", "engine")
    shell.ok("up", "--detach")
    after = shell.endpoints()
    assert [after[name] for name in ("rest", "cfn", "identity")] == [
        before[name] for name in ("rest", "cfn", "identity")
    ]

    down = shell.ok("down").out
    assert "engine and API" in down
    assert "emulated cloud" in down
    assert "not running" in shell.ok("down").out
    shell.ok("up", "--detach")
    assert shell.ok("stack", "outputs", "hello", "-f", "json").json == outputs
    shell.ok("delete", "hello", "--yes")


def test_port_in_use_is_reported_and_no_process_remains(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        message = shell.fails("up", "--detach", *ANY_PORTS[2:], "--api-port", str(port))
    assert f"The port {port}" in message
    assert "--api-port" in message
    assert states(shell) == ["stopped", "stopped"]


def test_failed_process_start_shows_its_output(shell: Shell, tmp_path: Path) -> None:
    bad = tmp_path / "bad.conf"
    bad.write_text("[engine]\nheartbeat_seconds = 60\nlease_seconds = 60\n")
    message = shell.fails("up", "--detach", *ANY_PORTS, "--config-file", str(bad))
    assert "[engine] heartbeat_seconds: 60 is too long for a lease of 60 seconds" in message
    assert states(shell) == ["stopped", "stopped"]


def test_all_mistakes_of_a_configuration_are_reported_before_anything_is_started(shell: Shell, tmp_path: Path) -> None:
    bad = tmp_path / "bad.conf"
    bad.write_text("[DEFAULT]\nmax_resources_per_stack = many\n[engine]\nlease_secnds = 60\nheartbeat_seconds = 0\n")
    message = shell.fails("up", "--detach", *ANY_PORTS, "--config-file", str(bad))
    assert message.splitlines() == [
        "stoker: The configuration is invalid: 3 problems:",
        f"  {bad}:2: [DEFAULT] max_resources_per_stack: 'many' is not acceptable: use a whole number of at least -1",
        f"  {bad}:5: [engine] heartbeat_seconds: '0' is not acceptable: use a number of at least 0.1",
        f"  {bad}:4: [engine] lease_secnds: there is no such option; did you mean 'lease_seconds'?",
    ]
    assert "There is no Stoker" in shell.fails("status")


def test_unknown_options_of_a_configuration_are_reported_at_the_terminal(shell: Shell, tmp_path: Path) -> None:
    odd = tmp_path / "odd.conf"
    odd.write_text("[engine]\nlease_secnds = 60\n")
    reported = shell.ok("up", "--detach", *ANY_PORTS, "--config-file", str(odd)).err
    assert reported == (
        f"stoker: warning: {odd}:2: [engine] lease_secnds: there is no such option; did you mean 'lease_seconds'?\n"
    )
    log = (shell.directory / "engine.log").read_text()
    assert "[engine] lease_secnds: there is no such option" in log


def test_foreground_mode_restarts_processes_until_ctrl_c(shell: Shell) -> None:
    with shell.start("up", *ANY_PORTS) as foreground:
        wait_for(lambda: (shell.directory / "endpoints.json").exists() and shell.endpoints()["pids"])
        killed = shell.endpoints()["pids"]["engine"]
        shell.kill("engine")
        wait_for(
            lambda: (
                shell.endpoints()["pids"].get("engine", killed) != killed and states(shell) == ["running", "running"]
            )
        )
        foreground.send_signal(signal.SIGINT)
        out, _ = foreground.communicate(timeout=60)
    assert foreground.returncode == 0
    assert "ended with status -9; restarting it in 1 s" in out
    assert states(shell) == ["stopped", "stopped"]


def test_closed_terminal_stops_foreground_processes(shell: Shell) -> None:
    with shell.start("up", *ANY_PORTS) as foreground:
        wait_for(lambda: (shell.directory / "endpoints.json").exists() and len(shell.endpoints()["pids"]) == 2)
        foreground.send_signal(signal.SIGHUP)
        foreground.communicate(timeout=60)
    assert foreground.returncode == 0
    assert states(shell) == ["stopped", "stopped"]


def test_detached_processes_survive_the_terminal(shell: Shell) -> None:
    """Also while it starts; and SIGHUP to a program itself is logged and has no effect."""
    with shell.start("up", "--detach", *ANY_PORTS) as command:
        wait_for(lambda: (shell.directory / "cloud.pid").exists())
        command.send_signal(signal.SIGHUP)
        assert command.wait(120) == 0
    for program in ("cloud", "engine", "supervisor"):
        os.kill(int((shell.directory / f"{program}.pid").read_text()), signal.SIGHUP)
        wait_for(lambda program=program: "SIGHUP has no effect" in (shell.directory / f"{program}.log").read_text())
    assert states(shell) == ["running", "running"]


def test_signal_makes_engine_write_report(shell: Shell) -> None:
    shell.ok("up", "--detach", *ANY_PORTS)
    os.kill(shell.endpoints()["pids"]["engine"], signal.SIGUSR2)
    log = shell.directory / "engine.log"
    wait_for(lambda: "Guru Meditation" in log.read_text() and "Operations" in log.read_text())
    assert states(shell) == ["running", "running"]


def wait_for(condition: object, seconds: float = 45.0) -> None:
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_commands_say_that_stoker_is_stopped(shell: Shell) -> None:
    shell.ok("up", "--detach", *ANY_PORTS)
    named = {"OS_CLIENT_CONFIG_FILE": str(shell.directory / "clouds.yaml"), "OS_CLOUD": "stoker"}
    assert shell.ok("stack", "list", variables=named).out == ""
    shell.ok("down")
    for variables in ({}, named):
        output = shell.fails("stack", "list", variables=variables)
        assert output.startswith("stoker: Stoker is stopped (emulated cloud and engine and API); its data is kept."), (
            output
        )
        assert f"stoker up --data-dir {shell.directory}" in output
    elsewhere = {"OS_AUTH_URL": "http://127.0.0.1:9/v3", "OS_USERNAME": "u", "OS_PASSWORD": "p", "OS_PROJECT_NAME": "p"}
    assert "http://127.0.0.1:9/v3 cannot be reached" in shell.fails("stack", "list", variables=elsewhere)
