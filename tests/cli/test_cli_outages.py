"""Commands that follow an operation while the service is restarted, or does not come back."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from keystoneauth1 import adapter, exceptions, session, token_endpoint

from stoker.cli.client.outages import NotAnswering, Outages
from stoker.cli.client.refusals import Refused
from stoker.cli.client.stack_client import Stack, StackClient
from stoker.cli.terminal.errors import FollowingFailed
from stoker.cli.views.follow import continued
from stoker.processes.control import running
from stoker.processes.directory import DataDirectory
from stoker.processes.supervisor import NAME
from tests.cli.cli_shell import ANY_PORTS, Shell

WAITING = """
heat_template_version: 2021-04-16
resources:
  handle: {type: OS::Heat::WaitConditionHandle}
  wait: {type: OS::Heat::WaitCondition, properties: {handle: {get_resource: handle}, timeout: 300}}
"""


@pytest.mark.slow
@pytest.mark.xdist_group("cli-local")
def test_a_deployment_is_followed_across_a_restart_of_the_service(shell: Shell, tmp_path: Path) -> None:
    shell.ok("up", "--detach", *ANY_PORTS)
    template = tmp_path / "waiting.yaml"
    template.write_text(WAITING)
    with shell.start("deploy", "web", "-t", str(template), "--yes") as deploy:
        read_until(deploy.stdout, "handle  CREATE_COMPLETE")
        with engine_away(shell):
            read_until(deploy.stdout, "The service does not answer; next attempt in 1 s.")
            assert "To start it: stoker up" in shell.fails("stack", "watch", "web")
        read_until(deploy.stdout, "The service answers again.")
        shell.ok("stack", "signal", "web", "handle", "--data", '{"status": "SUCCESS", "id": "1"}')
        out, err = deploy.communicate(timeout=60)
    assert (deploy.returncode, err) == (0, "")
    assert out.endswith("web: CREATE_COMPLETE\n")
    shown = shell.ok("stack", "watch", "web").out
    assert shown.endswith("web: CREATE_COMPLETE\n")
    shell.ok("stack", "suspend", "web")
    shown = shell.ok("stack", "watch", "web").out
    assert shown.endswith("web: SUSPEND_COMPLETE\n") and "CREATE" not in shown


@contextmanager
def engine_away(shell: Shell) -> Iterator[None]:
    """Kill the engine, and keep the process that starts it again from doing so during the body."""
    supervisor = running(DataDirectory(shell.directory), NAME)
    assert supervisor is not None
    os.kill(supervisor, signal.SIGSTOP)
    try:
        os.kill(shell.endpoints()["pids"]["engine"], signal.SIGKILL)
        yield
    finally:
        os.kill(supervisor, signal.SIGCONT)


def read_until(lines: Iterator[str], text: str) -> None:
    read = []
    for line in lines:
        read.append(line)
        if text in line:
            return
    raise AssertionError(f"{text!r} is not in {read}")


FACTS = {"stack_name": "web", "id": "1", "stack_status": "UPDATE_IN_PROGRESS"}


class Failing:
    """A service that answers with `statuses` one after the other, and then always with the last one."""

    def __init__(self) -> None:
        self.statuses = [200]
        self.requests = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.do_PUT()

            def do_PUT(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                outer.requests += 1
                status = outer.statuses.pop(0) if len(outer.statuses) > 1 else outer.statuses[0]
                body = b'{"stack": {"stack_name": "web", "id": "1", "stack_status": "CREATE_COMPLETE"}}'
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: Any) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def failing() -> Iterator[Failing]:
    service = Failing()
    yield service
    service.stop()


class Time:
    """Passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.pauses: list[float] = []

    def now(self) -> float:
        return sum(self.pauses)


def service_at(url: str, passed: Time) -> StackClient:
    opened = session.Session(auth=token_endpoint.Token(url, "token"))
    outages = Outages(passed.pauses.append, passed.now)
    return StackClient(adapter.Adapter(opened, endpoint_override=url, raise_exc=False), 30.0, outages)


def test_reads_are_repeated_until_the_service_answers(failing: Failing, capsys: pytest.CaptureFixture[str]) -> None:
    passed = Time()
    service = service_at(failing.url, passed)
    service.stack("web")
    failing.statuses = [503, 502, 504, 200]
    assert service.stack("web").state == "CREATE_COMPLETE"
    assert passed.pauses == [1, 2, 4]
    assert capsys.readouterr().err.splitlines() == [
        *(f"The service does not answer; next attempt in {pause} s." for pause in (1, 2, 4)),
        "The service answers again.",
    ]


def test_neither_a_change_nor_the_first_request_is_repeated(failing: Failing) -> None:
    passed = Time()
    failing.statuses = [503]
    service = service_at(failing.url, passed)
    stack = Stack(service, FACTS)
    with pytest.raises(Refused):
        stack.update({})
    assert failing.requests == 1
    with pytest.raises(Refused):
        service_at(failing.url, passed).stack("web")
    assert failing.requests == 2
    failing.stop()
    with pytest.raises(exceptions.ConnectFailure):
        service_at(failing.url, passed).stack("web")
    with pytest.raises(exceptions.ConnectFailure):
        stack.update({})
    assert passed.pauses == []


def test_unavailable_service_ends_command_with_follow_up_command(
    failing: Failing, capsys: pytest.CaptureFixture[str]
) -> None:
    passed = Time()
    stack = service_at(failing.url, passed).stack("web")
    failing.stop()
    with pytest.raises(FollowingFailed) as caught, continued(stack):
        stack.reload()
    assert 285 <= passed.now() <= 300
    assert set(passed.pauses) == {1, 2, 4, 8, 15}
    assert caught.value.message.startswith("The service has not answered for 5 minutes (Unable to establish connection")
    assert "\n  stoker stack watch web " in caught.value.message
    assert caught.value.exit_code == 1
    assert "answers again" not in capsys.readouterr().err
    assert isinstance(caught.value.__cause__, NotAnswering)
