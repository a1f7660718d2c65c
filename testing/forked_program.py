"""Programs of this project that are forked from a process which has imported them: most of their time is their start.

A test of how a program starts, of what it imports, or of the interpreter's own variables starts an interpreter instead.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Self

ROOT = Path(__file__).parents[1]

LONGEST_ORDER = 200_000
"""Bytes of a message to the server; what a Unix socket takes at once is a little more."""

STOKER = "stoker"

_SERVER = "testing.fork_server"

ENGINE_IMPORTS = ("testing.engine_modules",)
"""Most of what an engine imports, plug-ins above all."""


@dataclass(frozen=True)
class Server:
    """Where orders go: over a socket of this process, or over a connection to an address."""

    orders: socket.socket
    address: str


@cache
def _server(distribution: str, hash_seed: str, path: str) -> Server:
    """Start a process that forks programs of a distribution, and ends with this one.

    The programs have its PYTHONHASHSEED and PYTHONPATH.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    directory = tempfile.mkdtemp(prefix="stoker-fork-")
    listening.bind(f"{directory}/orders")
    listening.listen()
    with theirs, listening:
        numbers = [theirs.fileno(), listening.fileno()]
        command = [sys.executable, "-m", _SERVER, *map(str, numbers)]
        variables = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": path}
        server = subprocess.Popen(command, cwd=ROOT, env=variables, pass_fds=numbers, stdin=subprocess.DEVNULL)
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    atexit.register(server.wait)
    atexit.register(ours.close)
    return Server(ours, f"{directory}/orders")


def server_for(distribution: str, variables: Mapping[str, str]) -> Server:
    """Return the server that forks programs of a distribution with these environment variables."""
    return _server(distribution, variables.get("PYTHONHASHSEED", "random"), variables.get("PYTHONPATH", ""))


class Running:
    """A program that runs, used as `subprocess.Popen`: `pid`, `poll`, `wait`, `send_signal`, `returncode`.

    `reports` are the lines of the server: the ID of the process, and its status. `poll` and `wait` raise
    ChildProcessError if they end without a status, because the process that forked the program was killed.
    """

    def __init__(self, pid: int, reports: IO[bytes]) -> None:
        self.pid = pid
        self._reports = reports
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None and self._is_reported(0):
            self._end()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The status; raises TimeoutExpired after `timeout` seconds."""
        if self.returncode is None:
            if not self._is_reported(timeout):
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            self._end()
        assert self.returncode is not None
        return self.returncode

    def _is_reported(self, timeout: float | None) -> bool:
        return self._reports.closed or bool(select.select([self._reports], [], [], timeout)[0])

    def _end(self) -> None:
        status = b"" if self._reports.closed else self._reports.readline()
        self._reports.close()
        if not status:
            raise ChildProcessError(f"the status of process {self.pid} is lost: its parent was killed")
        self.returncode = int(status)

    def send_signal(self, number: int) -> None:
        """Send a signal if the program has not ended, or if nobody knows."""
        with suppress(ChildProcessError):
            self.poll()
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


def order_of(
    program: str,
    arguments: Sequence[str],
    imports: Sequence[str],
    environment: Mapping[str, str],
    directory: Path | None = None,
    *,
    descriptors: Sequence[int] = (),
    session: bool = False,
    umask: int = -1,
) -> dict[str, object]:
    """Return an order as the server reads it (`testing/fork_server.py`); the directory is this process's by default."""
    return {
        "program": program,
        "imports": list(imports),
        "arguments": list(arguments),
        "environment": dict(environment),
        "directory": str(directory or Path.cwd()),
        "descriptors": list(descriptors),
        "session": session,
        "umask": umask,
    }


def sent(
    orders: socket.socket,
    order: Mapping[str, object],
    streams: Sequence[IO[str] | IO[bytes] | int],
    descriptors: Sequence[int] = (),
) -> tuple[int, IO[bytes]]:
    """Send an order to the server; return the ID of the process, which runs, and where its status will be reported.

    Raises OSError if the server has ended.
    """
    reading, writing = os.pipe()
    reports = os.fdopen(reading, "rb", buffering=0)
    with os.fdopen(writing, "wb") as written:
        numbers = [each if isinstance(each, int) else each.fileno() for each in streams]
        message = json.dumps(order).encode()
        assert len(message) < LONGEST_ORDER
        socket.send_fds(orders, [message], [*numbers, written.fileno(), *descriptors])
    first = reports.readline()
    if not first:
        reports.close()
        raise ChildProcessError(f"{order['program']} was not started")
    return int(first), reports


class ForkedProgram(Running):
    """A program that runs at once.

    `program` is a function `module:name`, or a module that runs as with `python -m`; `arguments` begin with the name of
    the program, and `imports` are modules that are imported before the fork. The streams are open files of the caller.
    Programs of another `distribution` share no process with those of Stoker, nor the imports.
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
        distribution: str = STOKER,
    ) -> None:
        variables = dict(os.environ if environment is None else environment)
        orders = server_for(distribution, variables).orders
        order = order_of(program, arguments, imports, variables, directory)
        with Path(os.devnull).open() as nothing:
            super().__init__(*sent(orders, order, [stdin or nothing, stdout, stderr]))


class PipedProgram(ForkedProgram):
    """A program whose output is read while it runs, as that of `subprocess.Popen` with pipes. To be used in a `with`.

    The program is killed at the end if it has not ended before. The arguments are those of ForkedProgram.
    """

    def __init__(
        self,
        program: str,
        arguments: Sequence[str],
        *,
        imports: Sequence[str],
        environment: Mapping[str, str],
        directory: Path | None = None,
    ) -> None:
        (out, writing), (errors, reporting) = os.pipe(), os.pipe()
        self.stdout, self.stderr = os.fdopen(out), os.fdopen(errors)
        with os.fdopen(writing, "w") as stdout, os.fdopen(reporting, "w") as stderr:
            super().__init__(
                program,
                arguments,
                imports=imports,
                stdout=stdout,
                stderr=stderr,
                environment=environment,
                directory=directory,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.wait()
        self.stdout.close()
        self.stderr.close()

    def communicate(self, timeout: float) -> tuple[str, str]:
        """What both streams still have, when the program has ended; raises TimeoutExpired after `timeout` seconds."""
        with ThreadPoolExecutor() as readers:
            rest = [readers.submit(stream.read) for stream in (self.stdout, self.stderr)]
            try:
                self.wait(timeout)
            finally:
                self.kill()
        return rest[0].result(), rest[1].result()


def run(
    program: str,
    arguments: Sequence[str],
    *,
    imports: Sequence[str],
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
    distribution: str = STOKER,
    timeout: float,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, as `subprocess.run` does with captured output; arguments are those of ForkedProgram.

    Raises TimeoutExpired after `timeout` seconds, when the program has been killed.
    """
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:

        def outputs() -> tuple[str, str]:
            for file in (out, err):
                file.seek(0)
            return out.read(), err.read()

        forked = ForkedProgram(
            program,
            arguments,
            imports=imports,
            stdout=out,
            stderr=err,
            environment=environment,
            directory=directory,
            distribution=distribution,
        )
        try:
            status = forked.wait(timeout)
        except subprocess.TimeoutExpired:
            forked.kill()
            forked.wait()
            raise subprocess.TimeoutExpired([*arguments], timeout, *outputs()) from None
        return subprocess.CompletedProcess([*arguments], status, *outputs())
