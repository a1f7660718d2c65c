"""The helper process that evaluates expressions in CEL; one line of JSON for each question and each answer.

This file imports nothing of Stoker, since it is run by its path: `worker.py SECONDS BYTES`. The kernel ends the process
when one answer takes more than SECONDS of processor time, and refuses to allocate more than BYTES of memory.

Questions are `{"plan"}`, the value for the questions that follow; `{"compile"}`, an expression, which is answered with
the names of its variables; and `{"ask", "says", "parameters", "steps"}`: an expression, one for its message or null,
the policy's parameters, and the indexes of the steps to evaluate it for, null for the plan as a whole.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import cel

_LONGEST_MESSAGE = 500
_LONGEST_ERROR = 300

_plan: dict[str, Any] = {}


def _error(error: BaseException) -> str:
    text = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {text}"[:_LONGEST_ERROR]


def _keep(question: Mapping[str, Any]) -> dict[str, object]:
    _plan.clear()
    _plan.update(question["plan"])
    return {}


def _compiled(question: Mapping[str, Any]) -> dict[str, object]:
    try:
        return {"variables": cel.compile(question["compile"]).variables()}
    except Exception as error:
        return {"error": _error(error)}


def _evaluate(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answers `[index, holds, message]`, or `[index, null, error]`, and the seconds of processor time they
    took; the index of the whole plan is null.
    """
    began = time.process_time()
    condition = cel.compile(question["ask"])
    says = cel.compile(question["says"]) if question["says"] is not None else None
    common = {"parameters": question["parameters"], "stack": _plan["stack"], "action": _plan["action"]}
    context, indexes = cel.Context(common), question["steps"]
    if indexes is None:
        context.add_variable("plan", _plan)
        indexes = [None]
    answers = [_answer(condition, says, context, index) for index in indexes]
    return {"answers": answers, "seconds": time.process_time() - began}


def _answer(condition: cel.Program, says: cel.Program | None, context: cel.Context, index: int | None) -> list[object]:
    if index is not None:
        context.add_variable("step", _plan["steps"][index])
    try:
        holds = condition.execute(context)
    except MemoryError:
        raise
    except Exception as error:
        return [index, None, _error(error)]
    if not isinstance(holds, bool):
        return [index, None, f"the expression is {type(holds).__name__}, not bool"]
    return [index, holds, "" if holds else _message(says, context)]


def _message(says: cel.Program | None, context: cel.Context) -> str:
    """Return the message of the policy's own expression; "" without one, or if it has no value."""
    try:
        return str(says.execute(context))[:_LONGEST_MESSAGE] if says is not None else ""
    except MemoryError:
        raise
    except Exception:
        return ""


_QUESTIONS: Mapping[str, Callable[[Mapping[str, object]], dict[str, object]]] = {
    "plan": _keep,
    "compile": _compiled,
    "ask": _evaluate,
}


def main() -> None:
    """Answer questions until the input ends."""
    seconds, memory = float(sys.argv[1]), int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin.buffer:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        question = json.loads(line)
        answer = json.dumps(_QUESTIONS[next(iter(question))](question))
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
