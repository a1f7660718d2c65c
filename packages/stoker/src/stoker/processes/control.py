"""Starts, finds and stops the programs of an embedded Stoker.

A program holds a lock on its PID file as long as it runs: the starter locks the file and the program inherits the open
file. This shows at once that a process was killed, and a reused process ID is never mistaken for the program.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import random
import select
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

from stoker.base.errors import Conflict, StokerError
from stoker.processes.directory import NO_GUESTS, PRIVATE_UMASK, DataDirectory, SetUp, private
from stoker_foundation.interpreter import python_command, python_environment
from stoker_foundation.readiness import READY_PATH

HOST = "127.0.0.1"
CLOUD, ENGINE = "cloud", "engine"

_SERVER_PORTS = range(20_000, 32_768)
"""Where free ports are looked for: Linux gives those from 32768 on to outgoing connections (ip_local_port_range)."""

_IDLE_SECONDS = 120.0
"""Seconds without any progress after which a program that starts is given up: it neither computes, reads nor writes."""
_SAY_SECONDS = 10.0
_STOP_SECONDS = 30.0
_LOCK_SECONDS = 1.0
_EXIT_SECONDS = 1.0
_POLL_SECONDS = 0.05
_LOG_LINES = 12
_ANSWER_SECONDS = 2.0


class StartFailed(StokerError):
    """A program ended during start, or did not answer in time; the message contains the end of its log."""


class Stopped(StokerError):
    """A program was stopped before it was ready."""


@dataclass(frozen=True, slots=True)
class Program:
    """One process: the interpreter's `arguments`, the `ports` it listens on, and the `url` at which it answers.

    Its command has the option `--ready-fd`, an open file that gets a line once it answers.
    """

    name: str
    title: str
    arguments: tuple[str, ...]
    ports: tuple[int, ...]
    url: str


def programs_of(directory: DataDirectory, set_up: SetUp) -> list[Program]:
    """Return the programs of `set_up`, in the order of starting."""
    from stoker.processes.embedded_options import Options  # most commands start no program

    rest, cfn = port_of(set_up.rest), port_of(set_up.cfn)
    options = Options(directory, rest, cfn, set_up.identity, set_up.cloud, set_up.config_files)
    engine = Program(ENGINE, "engine and API", tuple(options.arguments()), (rest, cfn), f"http://{HOST}:{rest}/")
    return [engine] if set_up.cloud else [_emulator(directory, set_up), engine]


def _emulator(directory: DataDirectory, set_up: SetUp) -> Program:
    port = port_of(set_up.identity)
    arguments = ("-m", "openstack_emulator", "up", "--port", str(port), "--state", str(directory.cloud_state))
    endpoints = (f"orchestration={set_up.rest}/%(project_id)s", f"cloudformation={set_up.cfn}")
    extra = tuple(word for endpoint in endpoints for word in ("--extra-endpoint", endpoint))
    chosen = ("--services", ",".join(set_up.services)) if set_up.services else ()
    names = ("--dns-port", str(set_up.dns_port)) if set_up.dns_port else ()
    pace = ("--pace", f"{set_up.pace:g}") if set_up.pace != 1.0 else ()
    rules = [word for value in set_up.guests for word in ("--guests", value)]
    guests = [] if set_up.guests == NO_GUESTS else [*rules, "--guest-image", set_up.guest_image]
    guests += ["--password-file", str(directory.cloud_passwords)] if set_up.passwords else []
    guests += [word for place in set_up.permitted for word in ("--allow-requests-to", place)]
    ports = (port, set_up.dns_port) if set_up.dns_port else (port,)
    return Program(
        CLOUD, "emulated cloud", (*arguments, *extra, *chosen, *names, *pace, *guests), ports, set_up.identity
    )


def port_of(url: str) -> int:
    """Return the port of one of Stoker's own URLs, which always contain it."""
    return int(url.split("/")[2].rpartition(":")[2])


def free_ports(count: int) -> list[int]:
    """Return different ports that are not in use. Raises Conflict when there are not as many.

    They are none of those that the kernel gives to outgoing connections: such a port may be in use a moment later.
    """
    candidates = random.sample(_SERVER_PORTS, len(_SERVER_PORTS))
    found = list(islice(filter(_is_free, candidates), count))
    if len(found) < count:
        raise Conflict(f"There are no {count} free ports between {_SERVER_PORTS[0]} and {_SERVER_PORTS[-1]}.")
    return found


def _is_free(port: int) -> bool:
    try:
        socket.create_server((HOST, port)).close()
    except OSError:
        return False
    return True


def running(directory: DataDirectory, name: str) -> int | None:
    """Return the program's process ID; None when it does not run."""
    path = directory.pid_file(name)
    try:
        with path.open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return int(file.read() or 0) or None
    except FileNotFoundError:
        pass
    return None


def readiness(program: Program) -> dict[str, Any]:
    """Return what the engine says at `/readyz`; an empty map if it does not answer."""
    import http.client  # takes a third of the time of all imports of a supervisor, which asks no engine

    connection = http.client.HTTPConnection(HOST, port_of(program.url), timeout=_ANSWER_SECONDS)
    try:
        connection.request("GET", READY_PATH)
        found = json.loads(connection.getresponse().read())
    except (OSError, http.client.HTTPException, ValueError):
        return {}
    finally:
        connection.close()
    return found if isinstance(found, dict) else {}


def taken_over(program: Program) -> tuple[int, int] | None:
    """Return how many operations the engine has taken over, and of how many; None if none are left, or it does not
    answer.
    """
    return takeover_of(readiness(program))


def takeover_of(found: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return the same from the engine's answer."""
    try:
        done, total = int(found["taking_over"]["done"]), int(found["taking_over"]["total"])
    except (ValueError, KeyError, TypeError):
        return None
    return (done, total) if done < total else None


@dataclass(frozen=True, slots=True)
class Launched:
    """A program whose process runs and has not reported yet that it is ready.

    `ready` is the file on which it reports; its log begins at `log_start`, in bytes.
    """

    directory: DataDirectory
    program: Program
    process: subprocess.Popen[bytes]
    ready: IO[bytes]
    log_start: int

    def wait(
        self, stopped: threading.Event | None = None, report: Callable[[str], None] = lambda line: None
    ) -> subprocess.Popen[bytes]:
        """Wait until the program is ready, or until `stopped` is set.

        However long that takes, a program that makes progress is left alone; `report` receives a line about it now and
        then. Raises Stopped when it was stopped in the meantime, StartFailed when it does not become ready.
        """
        with self.ready:
            if not _reported(self, stopped or threading.Event(), report):
                raise StartFailed(_failure(self))
        return self.process

    def abort(self) -> None:
        """Stop the program, and wait for it no longer."""
        self.ready.close()
        stop(self.directory, self.program.name)


def start(
    directory: DataDirectory,
    program: Program,
    stopped: threading.Event | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> subprocess.Popen[bytes]:
    """Start a program that does not run, and wait until it is ready. Raises as `launch` and `Launched.wait`."""
    return launch(directory, program).wait(stopped, report)


def launch(directory: DataDirectory, program: Program) -> Launched:
    """Start a program that does not run; the caller waits for it, or gives it up.

    Raises Conflict when one of its ports is in use or another process is starting it.
    """
    for port in program.ports:
        _require_free(port, program)
    pid_file, log_file = directory.pid_file(program.name), directory.log_file(program.name)
    reader, writer = os.pipe()
    with ExitStack() as failed:
        ready = failed.enter_context(os.fdopen(reader, "rb"))
        with (
            os.fdopen(writer, "wb") as reported,
            open(pid_file, "a+", opener=private) as lock,
            open(log_file, "ab", opener=private) as log,
        ):
            if not _locked(lock):
                raise Conflict(f"The {program.title} is already being started on {directory.path}.")
            began = log.tell()
            process = subprocess.Popen(  # noqa: S603  this interpreter and Stoker's modules
                python_command(*program.arguments, "--ready-fd", str(reported.fileno())),
                env=python_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[lock.fileno(), reported.fileno()],
                start_new_session=True,
                umask=PRIVATE_UMASK,
            )
            lock.truncate(0)
            lock.write(str(process.pid))
        failed.pop_all()
    return Launched(directory, program, process, ready, began)


def _locked(file: IO[str]) -> bool:
    """Lock a PID file for a program. `running` also locks it for an instant, which is waited for."""
    end = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                return False
            time.sleep(_POLL_SECONDS)
        else:
            return True


def _require_free(port: int, program: Program) -> None:
    try:
        socket.create_server((HOST, port)).close()
    except OSError as error:
        raise Conflict(
            f"The port {port} for the {program.title} is not available: {error.strerror}. Choose another one with "
            "--api-port, --cfn-port, --cloud-port or --dns-port; 0 selects a free one."
        ) from None


def _reported(launched: Launched, stopped: threading.Event, report: Callable[[str], None]) -> bool:
    """Wait until the process reports that it is ready; return False when it ends before that, or makes no progress.

    Its own report counts, not that its address answers: another program may have taken the port in the meantime.
    """
    process, title = launched.process, launched.program.title
    began = moved_at = said_at = time.monotonic()
    before = _activity(process.pid)
    while (now := time.monotonic()) < moved_at + _IDLE_SECONDS:
        if select.select([launched.ready], [], [], _POLL_SECONDS)[0]:
            return bool(launched.ready.readline())
        if stopped.is_set():
            _end(launched.directory, process)
            raise Stopped(f"The {title} was stopped before it was ready.")
        if now > said_at + _SAY_SECONDS:
            said_at = now
            report(f"The {title} has been starting for {now - began:.0f} seconds.")
        if (activity := _activity(process.pid)) is None or activity != before:
            before, moved_at = activity, now
    return False


def _activity(process: int) -> tuple[int, ...] | None:
    """Return the processor time and the input and output of a process so far; None where the system does not tell."""
    try:
        times = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
        counts = [line.split()[1] for line in Path(f"/proc/{process}/io").read_text().splitlines()]
    except OSError:
        return None
    return tuple(map(int, (*times, *counts)))


def _failure(launched: Launched) -> str:
    """End a process that did not become ready, and return the message about it."""
    process, log_file = launched.process, launched.directory.log_file(launched.program.name)
    try:
        what = f"ended with status {process.wait(_EXIT_SECONDS)}"
    except subprocess.TimeoutExpired:
        what = f"has neither answered nor made any progress for {_IDLE_SECONDS:g} seconds"
        _kill(launched.directory, process)
    log_end = log_file.read_bytes()[launched.log_start :].decode(errors="replace").splitlines()[-_LOG_LINES:]
    return "\n".join([f"The {launched.program.title} {what}. The end of its log ({log_file}):", *log_end])


def _end(directory: DataDirectory, process: subprocess.Popen[bytes]) -> None:
    """Terminate a process; kill it if it does not end in time."""
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        _kill(directory, process)


def _kill(directory: DataDirectory, process: subprocess.Popen[bytes]) -> None:
    directory.note_killed(process.pid)
    process.kill()
    process.wait()


def stop(directory: DataDirectory, name: str) -> bool:
    """Terminate a program, or kill it if it does not end in time; return False when it did not run."""
    pid = running(directory, name)
    if pid is None:
        return False
    os.kill(pid, signal.SIGTERM)
    end = time.monotonic() + _STOP_SECONDS
    while running(directory, name) is not None:
        if time.monotonic() > end:
            directory.note_killed(pid)
            os.kill(pid, signal.SIGKILL)
            end = math.inf
        time.sleep(_POLL_SECONDS)
    return True
