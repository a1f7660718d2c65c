"""Programs of this project that forked programs start: forked from the same server, instead of by an interpreter.

`stoker up`, for one, starts an engine, an emulated cloud and a supervisor. The server puts `Popen` of this module in
the place of `subprocess.Popen`; it starts everything else as usual.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, ClassVar

from testing.forked_program import ENGINE_IMPORTS, Running, order_of, sent

PROGRAMS: Mapping[tuple[str, ...], Sequence[str]] = {
    ("openstack_emulator",): ("openstack_emulator.main", "testing.cloud_modules"),
    ("stoker.processes.supervisor",): (),
    ("stoker_foundation.program", "stoker.processes.embedded"): ("stoker.processes.embedded", *ENGINE_IMPORTS),
}
"""How command lines begin after `python -P -m`, and the modules that are imported before the fork."""

_OPTIONS = {"env", "stdin", "stdout", "stderr", "pass_fds", "start_new_session", "umask"}


class Popen(subprocess.Popen[Any]):
    """`subprocess.Popen`, for which the programs above are forked."""

    orders: ClassVar[socket.socket]
    """Where orders go."""
    path: ClassVar[str]
    """PYTHONPATH of the server. A program with another one may find other modules and plug-ins."""

    _running: Running | None = None

    def __init__(self, args: Any, *more: Any, **options: Any) -> None:
        imports = _imports(args)
        if imports is not None and not more and self._is_possible(options):
            with suppress(OSError):  # the server has ended, with the tests
                self._running = self._started(imports, args[3], args[4:], **options)
                self.args, self.pid, self.returncode = args, self._running.pid, None
                self.stdin = self.stdout = self.stderr = None
                return
        super().__init__(args, *more, **options)

    def _is_possible(self, options: Mapping[str, Any]) -> bool:
        """Whether a forked program does all that one does which an interpreter starts."""
        return (
            {"env", "stdin"} <= options.keys() <= _OPTIONS
            and options["stdin"] == subprocess.DEVNULL
            and options["env"].get("PYTHONPATH", "") == self.path
        )

    def _started(
        self,
        imports: Sequence[str],
        module: str,
        arguments: Sequence[str],
        *,
        env: Mapping[str, str],
        stdin: int,
        stdout: int | IO[bytes] = 1,
        stderr: int | IO[bytes] = 2,
        pass_fds: Sequence[int] = (),
        start_new_session: bool = False,
        umask: int = -1,
    ) -> Running:
        order = order_of(
            module,
            ["-m", *arguments],
            imports,
            env,
            descriptors=pass_fds,
            session=start_new_session,
            umask=umask,
        )
        with Path(os.devnull).open() as nothing:
            return Running(*sent(self.orders, order, [nothing, stdout, stderr], pass_fds))

    def poll(self) -> int | None:
        if self._running is None:
            return super().poll()
        self.returncode = self._running.poll()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self._running is None:
            return super().wait(timeout)
        self.returncode = self._running.wait(timeout)
        return self.returncode

    def send_signal(self, sig: int) -> None:
        if self._running is None:
            super().send_signal(sig)
        else:
            self._running.send_signal(sig)


def _imports(args: object) -> Sequence[str] | None:
    """The modules that are imported before a program is forked; None if an interpreter starts it."""
    if isinstance(args, list) and args[:3] == [sys.executable, "-P", "-m"]:
        for beginning, imports in PROGRAMS.items():
            if tuple(args[3 : 3 + len(beginning)]) == beginning:
                return imports
    return None
