"""Compare what a plan needs with the quotas of the project.

A plan needs so much of a quota at least, whatever the order of its steps, and so much at most. A stack makes everything
before it removes anything. At the end of that, all its new objects exist together with those that they replace; only
what a step deletes first, or makes smaller, is gone. A nested stack removes its own old objects at the end of its own
operation, so what it needs is over before the operation of the stack around it ends; and the members of a group may be
replaced a few at a time.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field

from stoker.engine.planning.kinds import StepKind
from stoker.engine.preflight.model import Finding, Item, StackNode
from stoker.plugins.preflight import Allowance, Code, Consumption, Facts, NotRead, Planned, Quota
from stoker.schema.unknown import is_unknown

_MOST_NAMED = 3
_MEMBER = re.compile(r"(?<![^.])\d+(?![^.])")
"""The number of a member of a group, in the path of a resource."""


@dataclass(slots=True, eq=False)
class _QuotaUse:
    """What the resources of a plan take of one quota, named as the service names it."""

    quota: Quota
    name: str
    amounts: dict[Planned, int] = field(default_factory=dict)
    properties: dict[Planned, str] = field(default_factory=dict)
    unclear: list[Planned] = field(default_factory=list)

    def can_exceed(self, need: Need) -> bool:
        """Return whether the quota can be exceeded by a plan that needs so much more of it."""
        return bool(self.unclear or need.least > 0 or need.most > 0 or (self.quota.of_each and self.amounts))


async def quota_findings(root: StackNode, facts: Facts) -> AsyncIterator[Finding]:
    """Yield the findings about the quotas of which the plan's resources take more than before; no others are read."""
    items = list(root.all_items())
    demands, findings = await _quota_uses(items, facts)
    for finding in findings:
        yield finding
    needs = {demand: need_of(root, demand.amounts) for demand in demands}
    exceeding = [demand for demand in demands if demand.can_exceed(needs[demand])]
    allowances = await _allowances(exceeding, facts)
    unread: dict[str, dict[str, None]] = {}
    for demand in exceeding:
        allowance = allowances[demand.quota]
        if isinstance(allowance, NotRead):
            unread.setdefault(allowance.message, {})[demand.quota.label] = None
        elif (limit := allowance.get(demand.name)) is not None and limit.limit >= 0:
            for finding in _compared(demand, limit, needs[demand], items):
                yield finding
    for message, labels in unread.items():
        yield Finding(Code.UNKNOWN, f"not checked: the quotas of {', '.join(labels)}, since {message}")


async def _quota_uses(items: Sequence[Item], facts: Facts) -> tuple[list[_QuotaUse], list[Finding]]:
    """Return what is taken of each quota, and what could not be asked for that."""
    found: dict[tuple[str, str], _QuotaUse] = {}
    failures: dict[str, Finding] = {}
    consumptions = [
        (each, consumption)
        for item in items
        for each in (item.planned, item.former)
        if each is not None
        for consumption in each.type.consumes
    ]
    for each, consumption in consumptions:  # one after the other: nearly all need no question of their own
        answer = await _amount(each, consumption, facts)
        if isinstance(answer, NotRead):
            message = f"what {each.path} takes of the quota of {consumption.quota.label} is not known: {answer.message}"
            failures.setdefault(answer.message, Finding(Code.UNKNOWN, message))
            continue
        name, amount = answer
        demand = found.setdefault((consumption.quota.service, name), _QuotaUse(consumption.quota, name))
        demand.properties[each] = consumption.at
        if amount is None:
            demand.unclear.append(each)
        else:
            demand.amounts[each] = demand.amounts.get(each, 0) + amount
    return list(found.values()), list(failures.values())


async def _amount(each: Planned, consumption: Consumption, facts: Facts) -> tuple[str, int | None] | NotRead:
    name = consumption.quota.name
    try:
        if consumption.variant is not None:
            suffix = await consumption.variant(each, facts)
            if suffix is None:
                return name, 0
            name = f"{name}_{suffix}"
        owner = each.properties.get(consumption.owner)
        if is_unknown(owner):
            return name, None
        if owner not in (None, facts.project_id):
            return name, 0
        return name, 1 if consumption.amount is None else await consumption.amount(each, facts)
    except NotRead as error:
        return error


async def _allowances(demands: Sequence[_QuotaUse], facts: Facts) -> Mapping[Quota, Mapping[str, Allowance] | NotRead]:
    quotas = list({demand.quota: None for demand in demands})

    async def read(quota: Quota) -> Mapping[str, Allowance] | NotRead:
        try:
            return await quota.read(facts)
        except NotRead as error:
            return error

    answers = await asyncio.gather(*map(read, quotas))
    return dict(zip(quotas, answers, strict=True))


def _compared(demand: _QuotaUse, allowance: Allowance, need: Need, items: Sequence[Item]) -> list[Finding]:
    quota, limit, used = demand.quota, allowance.limit, allowance.used
    if quota.of_each:
        return [
            Finding(
                Code.OBJECT_LIMIT,
                f"{quota.label}: {amount} is more than the limit of the project, {limit}",
                each,
                _place(demand, each),
            )
            for each, amount in demand.amounts.items()
            if amount > limit and _is_new(each, items)
        ]
    total = f"{used} in use and {{}} for this change are {{}}, and the quota of the project is {limit}"
    where = _first_beyond(demand, allowance, items)
    makers = _consumers(demand, items)
    if need.least > 0 and used + need.least > limit:
        words = total.format(need.least, used + need.least)
        beyond = used + need.least - limit
        otherwise = f"free {beyond}" if beyond <= used else f"take {beyond} less"
        hint = f"{otherwise}, or ask the operator of the cloud for a larger quota of {demand.name} ({quota.service})"
        return [Finding(Code.QUOTA, f"{quota.label}: {words}; {makers}", where, _place(demand, where), hint)]
    if need.most > 0 and used + need.most > limit:
        words = total.format(f"up to {need.most}", used + need.most)
        message = f"{quota.label}: {words}; it fits only if old objects go before new ones are made"
        return [Finding(Code.QUOTA_ORDER, message, where, _place(demand, where))]
    if unclear := [each for each in demand.unclear if _is_new(each, items)]:
        message = f"{quota.label}: not known before the change: {_named([each.path for each in unclear])}"
        return [Finding(Code.UNKNOWN, message, unclear[0], _place(demand, unclear[0]))]
    return []


def _is_new(each: Planned, items: Sequence[Item]) -> bool:
    return any(item.planned is each for item in items)


def _place(demand: _QuotaUse, each: Planned | None) -> tuple[str | int, ...]:
    name = demand.properties.get(each, "") if each is not None else ""
    return (name,) if name else ()


def _first_beyond(demand: _QuotaUse, allowance: Allowance, items: Sequence[Item]) -> Planned | None:
    """Return the resource with which the quota is exceeded, in the order of the plan."""
    sum_, last = allowance.used, None
    for item in items:
        if item.planned is None or not demand.amounts.get(item.planned):
            continue
        former = demand.amounts.get(item.former, 0) if item.former is not None and not item.planned.makes else 0
        sum_, last = sum_ + demand.amounts[item.planned] - former, item.planned
        if sum_ > allowance.limit:
            break
    return last


def _consumers(demand: _QuotaUse, items: Sequence[Item]) -> str:
    """Return which resources take how much: `counted: servers.* (10), volume (2) and 3 more resources`."""
    totals: Counter[str] = Counter()
    for item in items:
        if item.planned is not None and (amount := demand.amounts.get(item.planned)):
            totals[_MEMBER.sub("*", item.planned.path)] += amount
    shown = [f"{path} ({amount})" for path, amount in totals.most_common(_MOST_NAMED)]
    rest = len(totals) - len(shown)
    return "counted: " + ", ".join(shown) + (f" and {rest} more" if rest > 0 else "")


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


Amounts = Mapping[Planned, int]
"""How much of a quota each resource takes."""


@dataclass(frozen=True, slots=True)
class Need:
    """What a plan needs of a quota in addition to what is in use: `least` in any case, `most` in the worst order."""

    least: int
    most: int


@dataclass(frozen=True, slots=True)
class _Sum:
    """Of one stack: the change when all is made (`growth`), when all is done (`after`), the most in the worst order,
    what may become free on the way (`freed`), and the largest certain need of a stack in it with what is freed there.
    """

    growth: int = 0
    after: int = 0
    most: int = 0
    freed: int = 0
    inner: tuple[tuple[int, int], ...] = ()


def need_of(root: StackNode, amounts: Amounts) -> Need:
    """Return what a plan needs of a quota of which its resources take these amounts."""
    whole = _sum(root, amounts)
    freed_before_removals = whole.freed - sum(_removed(item, amounts) for item in root.items)
    least = max([whole.growth, *(growth - (freed_before_removals - freed) for growth, freed in whole.inner)])
    return Need(least, whole.most)


def _sum(node: StackNode, amounts: Amounts) -> _Sum:
    if node.removed:
        gone = sum(_former(item, amounts) for item in node.all_items())
        return _Sum(after=-gone, freed=gone)
    growth = most = freed = removed = 0
    for item in node.items:
        new, old = _new(item, amounts), _former(item, amounts)
        match item.step.kind:
            case _ if item.uncertain:  # what is in use may contain it
                most += new
            case StepKind.DELETE if item.goes_first:
                growth, freed = growth - old, freed + old
            case StepKind.REPLACE if not item.step.deletes_first:
                growth, most = growth + new, most + new
            case StepKind.CREATE | StepKind.REPLACE | StepKind.UPDATE:
                growth, most, freed = growth + new - old, most + max(new - old, 0), freed + max(old - new, 0)
        removed += _removed(item, amounts)
    below = [(_sum(child, amounts), child) for child in node.children]
    inner = []
    for child_sum, child in below:
        growth += 0 if child.removed else child_sum.after
        most += child_sum.most
        freed += child_sum.freed
        if not (child.removed or child.in_batches):
            inner += [(child_sum.growth, child_sum.freed), *child_sum.inner]
    gone = sum(child_sum.after for child_sum, child in below if child.removed)
    return _Sum(growth, growth - removed + gone, most, freed + removed, tuple(inner))


def _new(item: Item, amounts: Amounts) -> int:
    return amounts.get(item.planned, 0) if item.planned is not None else 0


def _former(item: Item, amounts: Amounts) -> int:
    return amounts.get(item.former, 0) if item.former is not None else 0


def _removed(item: Item, amounts: Amounts) -> int:
    """Return what a removal frees, which comes after everything has been made."""
    return _former(item, amounts) if item.step.kind is StepKind.DELETE and not item.goes_first else 0
