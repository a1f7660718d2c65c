"""Programs of this project that are forked from a process which has imported them: most of their time is their start.

A test of how a program starts, of what it imports, or of the interpreter's own variables starts an interpreter instead.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO

from testing import fork_server

ROOT = Path(__file__).parents[1]

_SERVICES = ("aodh", "aws", "barbican", "cinder", "designate", "glance", "heat", "keystone", "neutron", "nova", "zaqar")
ENGINE_IMPORTS = ("stoker.template.functions.builtin", *(f"stoker.resources.{service}" for service in _SERVICES))
"""Most of the plug-ins that an engine imports when it starts."""


@cache
def _orders(hash_seed: str) -> socket.socket:
    """Where orders go, to a process that ends with this one; programs have its PYTHONHASHSEED."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        command = [sys.executable, "-m", fork_server.__name__, str(theirs.fileno())]
        variables = {**os.environ, "PYTHONHASHSEED": hash_seed}
        server = subprocess.Popen(
            command, cwd=ROOT, env=variables, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL
        )
    atexit.register(server.wait)
    atexit.register(ours.close)
    return ours


class ForkedProgram:
    """A program that runs at once, used as `subprocess.Popen`: `pid`, `poll`, `wait`, `send_signal`, `returncode`.

    `program` is a function `module:name`, or a module that runs as with `python -m`; `arguments` begin with the name of
    the program, and `imports` are modules that are imported before the fork. The streams are open files of the caller.
    """

    def __init__(
        self,
        program: str,
        arguments: Sequence[str],
        *,
        imports: Sequence[str],
        stdin: IO[str] | IO[bytes] | int | None = None,
        stdout: IO[str] | IO[bytes] | int,
        stderr: IO[str] | IO[bytes] | int,
        environment: Mapping[str, str] | None = None,
        directory: Path | None = None,
    ) -> None:
        variables = dict(os.environ if environment is None else environment)
        orders = _orders(variables.get("PYTHONHASHSEED", "random"))
        order = {
            "program": program,
            "imports": list(imports),
            "arguments": list(arguments),
            "environment": variables,
            "directory": str(directory or Path.cwd()),
        }
        reading, writing = os.pipe()
        self._reports = os.fdopen(reading, "rb", buffering=0)
        self.returncode: int | None = None
        with Path(os.devnull).open() as nothing, os.fdopen(writing, "wb") as reports:
            streams = [each if isinstance(each, int) else each.fileno() for each in (stdin or nothing, stdout, stderr)]
            socket.send_fds(orders, [json.dumps(order).encode()], [*streams, reports.fileno()])
        first = self._reports.readline()
        assert first, f"{program} was not started"
        self.pid = int(first)

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._reports], [], [], 0)[0]:
            self._end()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The status; raises TimeoutExpired after `timeout` seconds."""
        if self.returncode is None:
            if not select.select([self._reports], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            self._end()
        assert self.returncode is not None
        return self.returncode

    def _end(self) -> None:
        self.returncode = int(self._reports.readline())
        self._reports.close()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


def run(
    program: str,
    arguments: Sequence[str],
    *,
    imports: Sequence[str],
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
    timeout: float,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, as `subprocess.run` does with captured output.

    Raises TimeoutExpired after `timeout` seconds, when the program has been killed.
    """
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:

        def said() -> tuple[str, str]:
            for file in (out, err):
                file.seek(0)
            return out.read(), err.read()

        forked = ForkedProgram(
            program, arguments, imports=imports, stdout=out, stderr=err, environment=environment, directory=directory
        )
        try:
            status = forked.wait(timeout)
        except subprocess.TimeoutExpired:
            forked.kill()
            forked.wait()
            raise subprocess.TimeoutExpired([*arguments], timeout, *said()) from None
        return subprocess.CompletedProcess([*arguments], status, *said())
