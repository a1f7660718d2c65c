"""Evaluate policies in helper processes, within limits of time, memory and size.

Helpers are started on demand and reused. The kernel ends a helper that computes for too long on one policy; another one
evaluates the remaining policies. After `_MOST_ENDED` such policies of a plan, the rest counts as not evaluated.
"""

from __future__ import annotations

import atexit
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from stoker.engine.plan_policies.policy import Policy, Scope, Source
from stoker_foundation.interpreter import python_command, python_environment
from stoker_foundation.json_process import JsonProcess

SECONDS = 0.5
"""Limit of the processor time that one policy may take for all steps of a plan, in seconds."""

SECONDS_OF_SOURCE: Mapping[Source, float] = {Source.PROJECT: 2.0, Source.STACK: 2.0}
"""Limits of the processor time that all policies of a source may take for a plan, in seconds."""

_MEMORY = 768 * 1024 * 1024
_TIMEOUT_SECONDS = 20.0
_LONGEST_ANSWER = 16 * 1024 * 1024
_MOST_ENDED = 3
_MOST_IDLE = 2

_NAME = re.compile(r"\w+")

TOO_COSTLY = f"it needs more than {SECONDS:g} seconds of processor time, or too much memory"
NOT_REACHED = "it was not evaluated, since policies before it were too costly"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a policy says of the step with this index, None for the whole plan.

    `holds` is None if it could not be evaluated; `message` then says why, otherwise it is that of the policy's own
    expression, if it has one. `deferred` says that values which the expression names are not known yet.
    """

    policy: Policy
    index: int | None
    holds: bool | None
    message: str
    deferred: bool = False


_idle: list[JsonProcess] = []


def _stop_idle() -> None:
    while _idle:
        _idle.pop().stop()


atexit.register(_stop_idle)


def _taken() -> JsonProcess:
    try:
        return _idle.pop()
    except IndexError:
        return _started()


def _started() -> JsonProcess:
    worker = Path(__file__).with_name("worker.py")
    return JsonProcess(
        python_command(str(worker), str(SECONDS), str(_MEMORY)),
        python_environment(),
        timeout=_TIMEOUT_SECONDS,
        longest_answer=_LONGEST_ANSWER,
    )


class Helper(AbstractContextManager["Helper"]):
    """A helper process for questions about one plan: it is taken or started for the first one, and replaced if it ends.

    Afterwards it waits for another plan.
    """

    def __init__(self, plan: Mapping[str, object]) -> None:
        self._plan = plan
        self._process: JsonProcess | None = None
        self._ended = 0

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None and self._process is not None and len(_idle) < _MOST_IDLE:
            _idle.append(self._process)
            self._process = None
        self._stop()

    def _stop(self) -> None:
        if self._process is not None:
            self._process.stop()
            self._process = None

    def evaluate(self, question: Mapping[str, object]) -> dict[str, Any]:
        """Return the answer of `worker`, with the key `error` if there is none."""
        if self._ended >= _MOST_ENDED:
            return {"error": NOT_REACHED}
        try:
            if self._process is None:
                self._process = _taken()
                self._process.ask({"plan": self._plan})
            return self._process.ask(question)
        except (EOFError, TimeoutError):
            self._ended += 1
            self._stop()
            return {"error": TOO_COSTLY}


def compile_errors(expressions: Sequence[tuple[Scope, str]]) -> list[str | None]:
    """Return what is wrong with the form of each expression of a policy with this scope; None for nothing."""
    with Helper({}) as helper:
        return [_wrong(scope, helper.evaluate({"compile": expression})) for scope, expression in expressions]


def _wrong(scope: Scope, answer: Mapping[str, Any]) -> str | None:
    if "error" in answer:
        return str(answer["error"])
    missing, instead = ("plan", "step") if scope is Scope.RESOURCE else ("step", "plan")
    if missing in answer["variables"]:
        what = "each resource" if scope is Scope.RESOURCE else "the plan"
        return f"there is no {missing} in a policy for {what}: use {instead}"
    return None


def evaluated(policies: Sequence[Policy], plan: Mapping[str, Any]) -> Iterator[Outcome]:
    """Yield what policies that concern the plan's action say of a plan's `document`; blocks for their time."""
    steps = plan["steps"]
    spent = dict.fromkeys(Source, 0.0)
    with Helper(plan) as helper:
        for policy in policies:
            if policy.webhook:
                continue
            applicable = [index for index, step in enumerate(steps) if policy.applies(step)]
            if policy.scope is Scope.RESOURCE and not applicable:
                continue
            if spent[policy.source] >= SECONDS_OF_SOURCE.get(policy.source, math.inf):
                yield Outcome(policy, None, None, NOT_REACHED)
                continue
            indexes = applicable if policy.scope is Scope.RESOURCE else None
            answer = helper.evaluate(
                {
                    "ask": policy.expression,
                    "says": policy.message_expression,
                    "parameters": dict(policy.parameters),
                    "steps": indexes,
                }
            )
            spent[policy.source] += answer.get("seconds", SECONDS)
            if "error" in answer:
                yield Outcome(policy, None, None, answer["error"])
                continue
            for index, holds, message in answer["answers"]:
                deferred = not holds and index is not None and _depends_on_unknown(policy, steps[index])
                yield Outcome(policy, index, holds, message, deferred)


def _depends_on_unknown(policy: Policy, step: Mapping[str, Any]) -> bool:
    """Return whether an expression names a property whose value is not known, or none of the step's properties at all
    while some are not known.
    """
    if not (unknown := set(step["unknown"])):
        return False
    named = set(_NAME.findall(policy.expression))
    return bool(named & unknown) or named.isdisjoint(step["properties"])
