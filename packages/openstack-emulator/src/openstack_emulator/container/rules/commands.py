"""What the commands of containers do: a few end by themselves, all others run until they are stopped."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

_SHELLS = frozenset({"sh", "bash", "ash"})
_JOINTS = re.compile(r";|&&")


@dataclass(frozen=True)
class CommandResult:
    """How a command runs: for how many seconds (None: until it is stopped), its exit code and its output."""

    seconds: float | None
    code: int = 0
    output: str = ""


ENDLESS = CommandResult(None)


def _sleep(arguments: Sequence[str]) -> CommandResult:
    try:
        return CommandResult(max(0.0, float(arguments[0])))
    except (IndexError, ValueError):
        return CommandResult(0.0, 1, "sleep: invalid time interval\n")


def _exit(arguments: Sequence[str]) -> CommandResult:
    code = arguments[0] if arguments else "0"
    return CommandResult(0.0, int(code) % 256 if code.isdecimal() else 2)


_KNOWN: Mapping[str, Callable[[Sequence[str]], CommandResult]] = {
    "echo": lambda arguments: CommandResult(0.0, 0, " ".join(arguments) + "\n"),
    "true": lambda arguments: CommandResult(0.0),
    "false": lambda arguments: CommandResult(0.0, 1),
    "sleep": _sleep,
    "exit": _exit,
}


def command_result(words: Sequence[str]) -> CommandResult:
    """Return how a command runs. Shells run the known commands of a simple script, one after the other."""
    if not words:
        return ENDLESS
    name, arguments = words[0].rpartition("/")[2], words[1:]
    if name in _SHELLS and len(arguments) >= 2 and arguments[0] == "-c":
        return _script(arguments[1])
    return _KNOWN[name](arguments) if name in _KNOWN else ENDLESS


def _script(text: str) -> CommandResult:
    seconds, code, output = 0.0, 0, ""
    for part in _JOINTS.split(text):
        try:
            words = shlex.split(part)
        except ValueError:
            return CommandResult(0.0, 2, "sh: syntax error\n")
        if not words:
            continue
        result = command_result(words)
        output += result.output
        if result.seconds is None:
            return CommandResult(None, 0, output)
        seconds, code = seconds + result.seconds, result.code
        if words[0] == "exit":
            break
    return CommandResult(seconds, code, output)


def execution_of(words: Sequence[str]) -> CommandResult:
    """Return how a command runs inside of a running container, where only the known ones exist."""
    found = command_result(words)
    if found.seconds is None:
        return CommandResult(0.0, 127, f"sh: {words[0] if words else ''}: not found\n")
    return found
