"""Processes beside an embedded engine that carry out the operations which record nothing, while many are requested.

Python runs one thread of a process at a time. HTTP, tokens, limits and policy stay in the engine's process, so that
each of them applies once; what a request computes and reads can be done elsewhere. A reader is a process of
`stoker.processes.reader`, with the operations of `READING` and connections to the same database. What a request has
committed before it was answered is visible to all connections: a reader's answers are as fresh as the engine's.

Readers are started when requests wait for each other, and end when they do not any more. A request whose reader ends
is repeated in the engine's process.
"""

from __future__ import annotations

import logging
import os
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from stoker.base.context import RequestContext
from stoker.contract.request import Answer, Request
from stoker.rpc.contract import EngineClient
from stoker.rpc.pipes import OtherRelease, PipeClient, ProcessEnded, ProcessNotResponding
from stoker_foundation.interpreter import python_command, python_environment

_log = logging.getLogger(__name__)

_ENOUGH = 3.0
"""Seconds of calls that share a process with others, less the time that has passed, after which one more is started."""

_IDLE_SECONDS = 60.0
"""Time without two calls at once after which readers end."""

_PAUSE = 30.0
"""Time after a reader has failed in which none is started."""

_START_SECONDS = 120.0
_LOOK_SECONDS = 1.0
_SEND_SECONDS = 10
_LONG_REPLY = 1024 * 1024
"""Bytes that a reader may send before they are received, as far as the system allows it."""

_END_SECONDS = 5.0

_WEIGHT_OF_ENGINE = 3
"""How much more a call in the engine's process counts: that process has operations and all HTTP besides."""


class Load:
    """How much calls wait for each other, from the times of calls; `now` is in seconds.

    A call is crowded if each process had another one when it began. The seconds of crowded calls add up, and each
    second that passes takes one of them away: a single client reaches no level at all, eight clients reach it soon.
    """

    def __init__(self, now: float) -> None:
        self._level = 0.0
        self._at = now
        self.shared_at = now

    def ended(self, began: float, now: float, *, crowded: bool, shared: bool) -> bool:
        """Record a call. Returns whether one more process would help."""
        if shared:
            self.shared_at = now
        self._level = max(0.0, self._level - (now - self._at)) + (now - began if crowded else 0.0)
        self._at = now
        return crowded and self._level >= _ENOUGH

    def forget(self) -> None:
        """Begin again, after a process was started."""
        self._level = 0.0


class ReaderState(StrEnum):
    """What a reader does: it starts, takes calls, or ends, since it is not needed any more or does not reply."""

    STARTING = "starting"
    RUNNING = "running"
    ENDING = "ending"


@dataclass(frozen=True, slots=True)
class ReaderStatus:
    """A reader, with the calls that it carries out at the moment, and its `age` in seconds."""

    pid: int
    state: ReaderState
    calls: int
    age: float


@dataclass(frozen=True, slots=True)
class ReadersStatus:
    """The readers, at most `most`; how many have failed so far (`restarts`), and the reason of the last failure."""

    most: int
    restarts: int
    reason: str
    processes: Sequence[ReaderStatus]

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data."""
        processes = [{"pid": each.pid, "state": each.state.value, "calls": each.calls} for each in self.processes]
        return {"most": self.most, "restarts": self.restarts, "reason": self.reason, "processes": processes}


@dataclass(eq=False, slots=True)
class _Destination:
    """Where calls are carried out, and how many are at the moment."""

    client: EngineClient
    weight: int = 1
    calls: int = 0
    process: subprocess.Popen[bytes] | None = None
    began: float = 0.0
    state: ReaderState = ReaderState.STARTING


class Readers:
    """An `EngineClient` that has readers carry out `methods`, and the engine (`engine`) everything else.

    At most `most` processes run. `arguments` of the interpreter start one; the number of the open file that it has in
    common with this process is added. Threads may share it.
    """

    def __init__(
        self,
        engine: EngineClient,
        methods: Collection[str],
        arguments: Sequence[str],
        most: int,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._engine = _Destination(engine, _WEIGHT_OF_ENGINE)
        self._methods = methods
        self._arguments = tuple(arguments)
        self._most = most
        self._now = now
        self._lock = threading.Lock()
        self._running: list[_Destination] = []
        self._processes: list[_Destination] = []
        self._restarts = 0
        self._reason = ""
        self._threads: set[threading.Thread] = set()
        self._load = Load(now())
        self._not_before = now()
        self._stopped = False

    def call(self, context: RequestContext, request: Request[Answer], timeout: float = 60.0) -> Answer:
        """See `EngineClient.call`."""
        if request.method not in self._methods:
            return self._engine.client.call(context, request, timeout)
        began = self._now()
        with self._lock:
            places = [*self._running, self._engine]
            place = min(places, key=lambda place: (place.calls + 1) * place.weight)
            others = sum(each.calls for each in places)
            place.calls += 1
        try:
            return place.client.call(context, request, timeout)
        except ProcessEnded:
            left = timeout - (self._now() - began)
        except ProcessNotResponding:
            self._abandon(place)
            raise
        finally:
            self._ended(place, began, crowded=others >= len(places), shared=others > 0)
        return self._engine.client.call(context, request, max(left, _LOOK_SECONDS))

    def values(self) -> dict[str, int]:
        """Return the calls in progress in each process, for reports."""
        with self._lock:
            engine = {f"process {os.getpid()} (engine)": self._engine.calls}
            return engine | {f"process {_id_of(place)}": place.calls for place in self._running}

    def status(self) -> ReadersStatus:
        """Return which readers there are, and why one has failed last."""
        with self._lock:
            now = self._now()
            processes = [
                ReaderStatus(_id_of(place), place.state, place.calls, now - place.began) for place in self._processes
            ]
            return ReadersStatus(self._most, self._restarts, self._reason, processes)

    def stop(self) -> None:
        """End all readers; calls in progress are repeated by the engine. None is started any more."""
        with self._lock:
            self._stopped = True
            threads = list(self._threads)
        for thread in threads:
            thread.join(2 * _END_SECONDS)

    # -- processes -------------------------------------------------------------------------------------------------

    def _ended(self, place: _Destination, began: float, *, crowded: bool, shared: bool) -> None:
        now = self._now()
        with self._lock:
            place.calls -= 1
            needs_another = self._load.ended(began, now, crowded=crowded, shared=shared)
            if not needs_another or self._stopped or len(self._threads) >= self._most or now < self._not_before:
                return
            self._load.forget()
            thread = threading.Thread(target=self._run, name="reader", daemon=True)
            self._threads.add(thread)
            thread.start()

    def _run(self) -> None:
        """Start a reader, and receive its replies until it has ended."""
        try:
            if not self._serve():
                self._not_before = self._now() + _PAUSE
        except Exception as error:
            _log.exception("A process that serves reads cannot be used")
            self._failed(f"it cannot be used: {error}")
            self._not_before = self._now() + _PAUSE
        finally:
            with self._lock:
                self._threads.discard(threading.current_thread())

    def _serve(self) -> bool:
        """Return whether the reader has ended because it was not needed any more."""
        connection, process = _started(self._arguments)
        place = _Destination(client := PipeClient(connection), process=process, began=self._now())
        with self._lock:
            self._processes.append(place)
        over = False

        def given_up() -> bool:
            nonlocal over
            with self._lock:
                over = over or self._stopped or self._now() - self._load.shared_at >= _IDLE_SECONDS
                if over:
                    self._leave(place)  # it gets no more calls
                return self._stopped or (over and not place.calls)

        try:
            client.await_ready(_START_SECONDS)
            with self._lock:
                self._running.append(place)
                place.state = ReaderState.RUNNING
            _log.info("Reads are served by the process %d, too", process.pid)
            client.receive(given_up, _LOOK_SECONDS)
        except OtherRelease as other:
            self._most = 0  # until this process is restarted
            self._reason = f"release {other} was installed meanwhile: restart the engine"
            _log.warning("Reads are served by one process only: release %s was installed meanwhile", other)
        except ProcessEnded:
            pass
        finally:
            with self._lock:
                self._leave(place)
            connection.close()
            status = _end(process)
            with self._lock:
                self._processes.remove(place)
        if not over:
            _log.warning("The process %d, which served reads, has ended with status %d", process.pid, status)
            if self._most:
                self._failed(f"the process {process.pid} has ended with status {status}")
        return over

    def _failed(self, reason: str) -> None:
        with self._lock:
            self._restarts += 1
            self._reason = reason

    def _leave(self, place: _Destination) -> None:
        place.state = ReaderState.ENDING
        if place in self._running:
            self._running.remove(place)

    def _abandon(self, place: _Destination) -> None:
        if place.process is not None:
            _log.warning("The process %d, which serves reads, does not reply, and is killed", place.process.pid)
            place.process.kill()


def _started(arguments: Sequence[str]) -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """Start a reader; return the connection to it, and the process."""
    ours, theirs = socket.socketpair()
    with theirs:
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", _SEND_SECONDS, 0))
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LONG_REPLY)
        descriptor = theirs.fileno()
        try:
            process = subprocess.Popen(  # noqa: S603  this interpreter and Stoker's modules
                python_command(*arguments, str(descriptor)),
                env=python_environment(),
                stdin=subprocess.DEVNULL,
                pass_fds=[descriptor],
            )
        except BaseException:
            ours.close()
            raise
    return ours, process


def _end(process: subprocess.Popen[bytes]) -> int:
    """Wait for the end of a process whose connection was closed; kill it if that takes long. Return its status."""
    try:
        return process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _id_of(place: _Destination) -> int:
    return place.process.pid if place.process is not None else os.getpid()
