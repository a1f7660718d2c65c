"""Jinja expressions of workflows, which a process with limits evaluates: too many filters could fill memory."""

from __future__ import annotations

import atexit
import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

from openstack_emulator.workflow.rules.jinja_worker import LARGEST, environment
from stoker_foundation.interpreter import python_command, python_environment
from stoker_foundation.json_process import JsonProcess

SECONDS = 0.5
"""Processor time of one expression."""
MEMORY = 256 * 1024 * 1024
"""Bytes of memory of the process, its program included."""
_TIMEOUT_SECONDS = 30.0
_LONGEST_LINE = 6 * LARGEST
_WORKER = "openstack_emulator.workflow.rules.jinja_worker"

Function = Callable[..., object]


class JinjaError(Exception):
    """An expression cannot be evaluated."""


def syntax_error(text: str) -> str | None:
    """Return what is wrong with a template; None if it can be parsed."""
    try:
        environment().parse(text)
    except Exception as error:
        # The library reads the user's template; any exception, also a RecursionError, is a mistake in it.
        return str(error) or type(error).__name__
    return None


def _start() -> JsonProcess:
    return JsonProcess(
        python_command("-m", _WORKER, str(SECONDS), str(MEMORY)),
        python_environment(),
        timeout=_TIMEOUT_SECONDS,
        longest_answer=_LONGEST_LINE,
    )


class _Evaluator:
    """Evaluates expressions one after the other, in a process that is started by the first one."""

    def __init__(self) -> None:
        self._process: JsonProcess | None = None
        self._lock = threading.Lock()

    def evaluate(self, text: str, data: Mapping[str, Any], functions: Mapping[str, Function]) -> Any:
        with self._lock:
            if self._process is None:
                self._process = _start()
            try:
                return _answered(self._process, text, data, functions)
            except (EOFError, TimeoutError):
                self._stop()
                raise TimeoutError from None
            except JinjaError:
                raise
            except BaseException:
                self._stop()
                raise

    def stop(self) -> None:
        """End the process."""
        with self._lock:
            self._stop()

    def _stop(self) -> None:
        if self._process is not None:
            self._process.stop()
            self._process = None


def _answered(process: JsonProcess, text: str, data: Mapping[str, object], functions: Mapping[str, Function]) -> object:
    message: Any = [text, data, list(functions)]
    while True:
        answer = process.ask(message)
        if "call" not in answer:
            break
        message = _result(functions[answer["call"]], answer["arguments"])
    if "error" in answer:
        raise JinjaError(answer["error"])
    return answer["value"]


def _result(function: Function, arguments: list[object]) -> dict[str, object]:
    try:
        value = function(*arguments)
        json.dumps(value)
    except Exception as error:
        # The arguments are the user's; any exception is a mistake in the expression.
        return {"error": str(error) or type(error).__name__}
    return {"value": value}


_evaluator = _Evaluator()
atexit.register(_evaluator.stop)


def evaluate(text: str, data: Mapping[str, Any], functions: Mapping[str, Function]) -> Any:
    """Return the value of a template, or of the one expression that it consists of, as JSON data.

    data: JSON data, which is `_` in the expression. functions: those of Mistral, by name; they run in this process.
    Raises: JinjaError, and TimeoutError for one that takes too long.
    """
    return _evaluator.evaluate(text, data, functions)
