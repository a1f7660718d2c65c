"""A child process that answers each line of JSON with one line of JSON, within limits that it sets itself."""

from __future__ import annotations

import json
import select
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any


class JsonProcess:
    """A process of a command line, which is one of Stoker's own. Not thread-safe.

    `environment` replaces that of this process, `timeout` is how long to wait for an answer, in seconds, and
    `longest_answer` how many bytes it may have.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        *,
        timeout: float,
        longest_answer: int = -1,
    ) -> None:
        self._timeout = timeout
        self._longest_answer = longest_answer
        self._process = subprocess.Popen(  # noqa: S603  the caller's program is one of Stoker's
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def ask(self, message: object) -> dict[str, Any]:
        """Return the answer to a message of JSON data.

        Raises EOFError when the process has ended or its answer is too long, TimeoutError without an answer in time.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise EOFError from error
        if not select.select([self._process.stdout], [], [], self._timeout)[0]:
            raise TimeoutError
        line = self._process.stdout.readline(self._longest_answer)
        if not line.endswith(b"\n"):
            raise EOFError
        answer: dict[str, object] = json.loads(line)
        return answer

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()
