"""The plan that a checked request leads to, and what it takes to apply exactly that plan later.

A plan is identified by three fingerprints: of the record that it starts from, of the inputs that it works towards, and
of its steps. Whoever sends them along with a request has it refused when one of them is another by then. They
are made with the service's key, so that nothing can be learnt from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue, PlanOutdated
from stoker.engine.core import Engine
from stoker.engine.planning.nested import Inside
from stoker.engine.planning.plan import Plan
from stoker.engine.planning.planner import Forward, Wanted
from stoker.engine.planning.restoring import Restoring
from stoker.engine.records.recorded import Recorded
from stoker.engine.records.scope import RecordedScope
from stoker.engine.records.stack_view import available_zones
from stoker.engine.running.exports import exported_values, refuse_changes
from stoker.operations.requests import CheckedRequest
from stoker.store import fingerprints
from stoker.store.records import IN_PROGRESS, Stack
from stoker.template.expressions import UNDETERMINED

Result = TypeVar("Result")

_LENGTH = 32


@dataclass(frozen=True, slots=True)
class PlanDigest:
    """What identifies a plan; as text, one after the other with dots between."""

    record: str
    inputs: str
    steps: str

    def __str__(self) -> str:
        return f"{self.record}.{self.inputs}.{self.steps}"

    @classmethod
    def parse(cls, text: str) -> PlanDigest:
        """Raises BadValue for a text that is no such digest."""
        parts = text.split(".")
        if len(parts) != 3 or not all(len(part) == _LENGTH and part.isalnum() for part in parts):
            raise BadValue(f"plan_digest {text!r} is not what a preview has answered.")
        return cls(*parts)


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan with all nested stacks, and its digest: None while something runs on one of the stacks.

    `hidden` are the names of the parameters whose values must not be kept with it.
    """

    plan: Plan
    digest: PlanDigest | None
    hidden: frozenset[str] = frozenset()

    def to_data(self) -> dict[str, Any]:
        """Plain JSON data."""
        digest = str(self.digest) if self.digest is not None else None
        return {**self.plan.to_data(), "digest": digest, "hidden_parameters": sorted(self.hidden)}


async def make_plan(engine: Engine, stack: Stack, checked: CheckedRequest, action: str) -> Plan:
    """The plan that the operation would run: the stack's own steps."""

    def on(connection: Connection) -> Plan:
        return _forward(engine, connection, stack, checked, action).plan()

    return await _planned(engine, stack, on)


async def plan_tree(
    engine: Engine,
    context: RequestContext,
    stack: Stack,
    checked: CheckedRequest,
    action: str,
    *,
    with_kept: bool = False,
) -> Planned:
    """The plan with what it means for all nested stacks; `with_kept` lists also those that stay as they are."""
    inputs = checked.prepared.loaded
    zones: Any = UNDETERMINED
    if inputs.template.uses("Fn::GetAZs") or any("GetAZs" in text for text in inputs.files.values()):
        zones = await available_zones(await engine.credentials.of_caller(context))
    exports = await engine.loader.exports(stack.project_id, inputs.template)

    def on(connection: Connection) -> Planned:
        recorded = fingerprints.tree(connection, stack.root_id) if stack.inputs else [["new", stack.name]]
        inside = Inside(engine, connection, stack, inputs, exports, stack.depth, zones, with_kept)
        plan = _forward(engine, connection, stack, checked, action, inside).plan()
        busy = any(row[2] == IN_PROGRESS for row in recorded if stack.inputs)
        digest = None if busy else _digest(engine, stack, checked, plan, recorded)
        return Planned(plan, digest, checked.definition.parameters.hidden)

    return await _planned(engine, stack, on)


async def _planned(engine: Engine, stack: Stack, on: Callable[[Connection], Result]) -> Result:
    """What a query answers that plans: reading and planning are one piece of work on a thread of the project's."""
    return await engine.database.read_on(partial(engine.evaluator.apart, stack.project_id), on)


def _forward(
    engine: Engine,
    connection: Connection,
    stack: Stack,
    checked: CheckedRequest,
    action: str,
    inside: Inside | None = None,
) -> Forward:
    recorded = Recorded.of(engine, connection, stack)
    wanted, former = checked.wanted, None
    if recorded.inputs is None:
        wanted = _unborn(engine, stack, checked)
    else:
        wanted.restore = Restoring(recorded.current)
        former = engine.loader.bind(stack, recorded.inputs, strict=False)
    scope = RecordedScope(recorded.current.get, zones=inside.zones if inside is not None else UNDETERMINED)
    return Forward(action, wanted, list(recorded.states.values()), scope, former, nested=inside)


def _unborn(engine: Engine, stack: Stack, checked: CheckedRequest) -> Wanted:
    """A new stack has no id yet: the one that it was checked with is not the one that it will get."""
    definition, inputs = checked.definition, checked.prepared.loaded
    bound = engine.loader.bind_unborn(stack.project_id, inputs, name=stack.name, exports=definition.known_exports)
    return Wanted.of(engine, bound, inputs)


def _digest(engine: Engine, stack: Stack, checked: CheckedRequest, plan: Plan, recorded: list[list[Any]]) -> PlanDigest:
    inputs, row = checked.prepared.loaded, checked.prepared.row
    towards = [stack.project_id, row.template, inputs.environment_digest, row.files, inputs.parameters]
    digests = (engine.sealer.digest(content)[:_LENGTH] for content in (recorded, towards, plan.identity()))
    return PlanDigest(*digests)


async def check_exported_values(engine: Engine, stack: Stack, checked: CheckedRequest) -> None:
    """Refuse to change what another stack imports, where that is known already; the operation looks at the rest.

    Raises StackValidationFailed.
    """
    if not checked.definition.exports():
        return

    def on(connection: Connection) -> None:
        forward = _forward(engine, connection, stack, checked, "UPDATE")
        forward.plan()
        refuse_changes(connection, engine, stack, exported_values(checked.definition, forward.scope))

    await _planned(engine, stack, on)


# -- applying a plan ----------------------------------------------------------------------------------------------


async def check_plan(
    engine: Engine, context: RequestContext, stack: Stack, checked: CheckedRequest, action: str, digest: str | None
) -> Callable[[Connection], None] | None:
    """See that a request does what the plan of `digest` says; None, where no plan was sent, is all right.

    Answers what is still to be asked in the transaction that records the operation. Raises PlanOutdated or BadValue.
    """
    if digest is None:
        return None
    saved = PlanDigest.parse(digest)
    now = (await plan_tree(engine, context, stack, checked, action)).digest
    if now is None:
        raise PlanOutdated(f"Something runs on the stack {stack.name}: a plan is applied only to a stack at rest.")
    for part, complaint in _COMPLAINTS.items():
        if getattr(saved, part) != getattr(now, part):
            raise PlanOutdated(complaint.format(name=stack.name))
    return partial(_check_record, engine, stack, saved) if stack.inputs else None


_COMPLAINTS: Mapping[str, str] = {
    "record": "The stack {name} is not as it was when the plan was made: something has been done to it since. "
    "Make a new plan.",
    "inputs": "The template, files, environment or parameters are not those that the plan was made for. "
    "Make a new plan.",
    "steps": "What would be done to the stack {name} now is not what the plan says: the service has changed since. "
    "Make a new plan.",
}


def _check_record(engine: Engine, stack: Stack, saved: PlanDigest, connection: Connection) -> None:
    recorded = fingerprints.locked_tree(connection, stack.root_id)
    if engine.sealer.digest(recorded)[:_LENGTH] != saved.record:
        raise PlanOutdated(_COMPLAINTS["record"].format(name=stack.name))
