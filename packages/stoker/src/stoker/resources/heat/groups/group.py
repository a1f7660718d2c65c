"""Base of groups of members: a nested stack whose members change in batches.

A group determines the names and definitions of its members, and the batches of an update (`plan`). The base carries the
batches out: one request to the nested stack for each, with pauses between them. The batches are planned once, when the
action begins, and kept in `call.progress`; which members each one changes follows from their current definitions.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping
from typing import Any, ClassVar, NamedTuple

from stoker.base.portions import portions_of
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.resource import AttributeKey, Call, ChildRequest, Member
from stoker.resources.base import value_at
from stoker.resources.declare import between
from stoker.resources.heat.groups.batching import Batch, RollingUpdate
from stoker.resources.heat.nested_stacks.nested import NestedStackResource, read_members
from stoker.resources.heat.pause import seconds_left
from stoker.schema.property import Property, Type

_BATCHES, _FINISHED, _PREPARED, _PAUSED_FROM = "batches", "finished", "prepared", "paused_from"


class Form(NamedTuple):
    """The keys of a nested template."""

    version: tuple[str, str]
    resources: str = "resources"
    properties: str = "properties"
    type: str = "type"

    def template(self, members: Mapping[str, object]) -> dict[str, Any]:
        """Return the template that contains the members."""
        return {self.version[0]: self.version[1], self.resources: dict(members)}


HOT = Form(("heat_template_version", "2015-04-30"))
CFN = Form(("HeatTemplateFormatVersion", "2012-12-12"), "Resources", "Properties", "Type")


class GroupResource(NestedStackResource):
    """A nested stack of members."""

    form: ClassVar[Form] = HOT
    registry: ClassVar[Mapping[str, str]] = {}

    # -- for subclasses --------------------------------------------------------------------

    @abstractmethod
    async def plan(self, call: Call) -> Iterable[Batch]:
        """Return the batches of the action; none for a group that has no members and should have none."""

    @abstractmethod
    async def members_after(self, call: Call, batch: Batch) -> dict[str, object]:
        """Return the members' definitions after a batch."""

    async def batch_begins(self, call: Call, members: Mapping[str, object]) -> None:
        """Prepare for a batch, after which `members` are the members' definitions. May be called again for it."""

    async def batch_done(self, call: Call) -> None:
        """Make use of the members after a batch. May be called again for it."""

    async def completed(self, call: Call) -> None:
        """Record what is needed later, when all batches are done."""

    # -- actions ------------------------------------------------------------------------------------------------

    async def create(self, call: Call) -> Outcome:
        return await self._act(call, "CREATE")

    async def update(self, call: Call) -> Outcome:
        return await self._act(call, "UPDATE")

    async def _act(self, call: Call, action: str) -> Outcome:
        if _BATCHES not in call.progress:
            return _begin(call, list(await self.plan(call)))
        number: int = call.progress[_FINISHED]
        planned = [Batch(*entry) for entry in call.progress[_BATCHES]]
        if number and (left := seconds_left(call, planned[number].pause, _PAUSED_FROM)):
            return InProgress(after=left)
        if number:
            action = "UPDATE"
        outcome = await call.engine.child.outcome_of(action, number)
        if outcome is None:
            members = await self.members_after(call, planned[number])
            if call.progress.get(_PREPARED) != number:
                await self.batch_begins(call, members)
                call.progress[_PREPARED] = number
            outcome = await call.engine.child.run(action, self.request(members, number))
        if not isinstance(outcome, Done):
            return outcome
        await self.batch_done(call)
        if number + 1 < len(planned):
            call.progress[_FINISHED], call.progress[_PAUSED_FROM] = number + 1, call.elapsed
            return InProgress(after=planned[number + 1].pause, physical_id=outcome.physical_id)
        await self.completed(call)
        return outcome

    def request(self, members: Mapping[str, object], number: int = 0) -> ChildRequest:
        """Return the request for the nested stack with these members, the `number`th of the action."""
        return ChildRequest(self.form.template(members), round=number, registry=self.registry)

    async def definitions(self, call: Call) -> dict[str, object]:
        """Return the members' current definitions by name, in creation order.

        The properties that a member was created or updated with count, not those of the nested stack's last template:
        a request that was superseded or that failed has not reached all members. Members that were moved into the
        group, or got other names, are not in that template.
        """
        template = await call.engine.child.template() or {}
        entries = template.get(self.form.resources) or {}
        members = await call.engine.child.members()
        moved = {member.name: {self.form.type: member.type} for member in members if member.is_moved}
        entries = {**moved, **entries}
        return {
            member.name: _present(self.form, entries[member.name], member)
            for member in members
            if member.name in entries
        }


def _present(form: Form, entry: Mapping[str, object], member: Member) -> Mapping[str, object]:
    """Return the definition of a member, which the template has as `entry`, with the properties that it has now."""
    requested = entry.get(form.properties) or {}
    return entry if requested == member.properties else {**entry, form.properties: dict(member.properties)}


def _begin(call: Call, planned: list[Batch]) -> Outcome:
    """Keep the batches as planned once: the state that the plan depends on may change with the first of them."""
    pauses = sum(batch.pause for batch in planned)
    if call.stack.deadline is not None and pauses and call.now + pauses >= call.stack.deadline:
        return Failed(
            f"the pauses between batches, {pauses:g} seconds in all, exceed the stack's timeout", "ValueError"
        )
    call.progress[_BATCHES], call.progress[_FINISHED] = [list(batch) for batch in planned or [Batch(0, 0)]], 0
    return InProgress(after=0.0)


# -- attributes that several kinds of group have ----------------------------------------------------------------


async def read_by_member(call: Call, members: Iterable[str], key: AttributeKey) -> dict[str, object]:
    """Return an attribute of each of the members."""
    return {name: await call.engine.child.member_attribute(name, key) async for name in portions_of(members)}


async def read_group(
    call: Call, members: Mapping[str, Member], keys: Collection[AttributeKey]
) -> dict[AttributeKey, object]:
    """Return attributes of groups with named members: those of one member, `refs`, `refs_map`, `attributes`.

    Any other attribute is a list of every member's value.
    """
    found = await read_members(call, keys)
    for key in keys - found.keys():
        name, path = key[0], key[1:]
        if name == "refs":
            found[key] = value_at([member.reference_id for member in members.values()], path)
        elif name == "refs_map":
            found[key] = value_at({member.name: member.reference_id for member in members.values()}, path)
        elif name == "attributes":
            found[key] = await read_by_member(call, members, path) if path else None
        elif name == "show":
            found[key] = None
        else:
            found[key] = list((await read_by_member(call, members, key)).values())
    return found


# -- declarations that several kinds of group share -------------------------------------------------------------

BATCH_SIZE = Property(
    Type.INTEGER, "Maximum number of members that change at a time.", default=1, constraints=between(1)
)
IN_SERVICE = Property(
    Type.INTEGER, "Minimum number of members in service at any time.", default=0, constraints=between(0)
)
PAUSE = Property(Type.NUMBER, "Seconds between batches.", default=0, constraints=between(0))


def rolling_of(policy: Mapping[str, Any]) -> RollingUpdate:
    """Return the settings of a policy with HOT's keys."""
    return RollingUpdate(policy["max_batch_size"], policy.get("min_in_service", 0), policy["pause_time"])
