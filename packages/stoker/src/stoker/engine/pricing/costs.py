"""The monthly costs of a plan, and what could not be counted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from enum import StrEnum
from typing import Any

from stoker.base.errors import StokerError
from stoker.base.redaction import Redactor
from stoker.cloud.session import Cloud
from stoker.engine.preflight.model import Reader
from stoker.engine.price_list import PriceList
from stoker.engine.pricing.usage import ResourceUsage, Usage
from stoker.plugins.preflight import Facts, NotRead
from stoker.plugins.pricing import Charge
from stoker_foundation.clock import Clock

_CENT = Decimal("0.01")
_MOST_NAMED = 5

OpenCloud = Callable[[], Awaitable[Cloud]]


class Uncounted(StrEnum):
    """Why something of a resource is not part of the sums."""

    NO_PRICE = "no-price"
    """The price list has no price for it."""
    NOT_KNOWN = "not-known"
    """The amount, or which price it is, is known only when the change is made."""
    NOT_READ = "not-read"
    """The list has no price by this name, and the service did not tell the other names."""


@dataclass(slots=True)
class Group:
    """Resources of one type of which something is not counted for one reason. `item` is "" for the type as such."""

    why: Uncounted
    type: str
    item: str
    name: str
    paths: dict[str, None] = field(default_factory=dict)

    def to_data(self, redactor: Redactor) -> dict[str, Any]:
        """Return plain JSON data, with some of the paths."""
        return {
            "why": self.why.value,
            "type": self.type,
            "item": self.item,
            "name": redactor.redact(self.name),
            "resources": len(self.paths),
            "paths": redactor.redact(list(self.paths)[:_MOST_NAMED]),
        }


@dataclass(frozen=True, slots=True)
class Costs:
    """Sums per month, in the currency of the price list. `changes` are the sums of resources that change theirs."""

    currency: str
    before: Decimal
    after: Decimal
    retained: Decimal
    changes: Mapping[str, tuple[Decimal, Decimal]]
    uncounted: Sequence[Group]

    def to_data(self, secrets: Iterable[str]) -> dict[str, Any]:
        """Return plain JSON data; sums are strings, rounded to hundredths."""
        redactor = Redactor(frozenset(secrets))
        return {
            "currency": self.currency,
            "before": _rounded(self.before),
            "after": _rounded(self.after),
            "change": f"{Decimal(_rounded(self.after)) - Decimal(_rounded(self.before)):.2f}",
            "retained": _rounded(self.retained),
            "resources": [
                {"path": redactor.redact(path), "before": _rounded(before), "after": _rounded(after)}
                for path, (before, after) in self.changes.items()
            ],
            "not_counted": {why.value: number for why in Uncounted if (number := self._resources(why))},
            "uncounted": [group.to_data(redactor) for group in self.uncounted],
        }

    def _resources(self, why: Uncounted) -> int:
        return len({path for group in self.uncounted if group.why is why for path in group.paths})


def _rounded(amount: Decimal) -> str:
    return f"{amount.quantize(_CENT, ROUND_HALF_EVEN):f}"


async def costs_of(
    usages: Sequence[Usage], prices: PriceList, open_cloud: OpenCloud, clock: Clock, seconds: float
) -> Costs:
    """Return the costs of resources. Services are asked, for `seconds` at most, only for names without a price."""
    counting = _Counting(prices)
    needed = {
        taken.charge for usage in usages for taken in (*usage.before, *usage.after) if counting.needs_lookup(taken)
    }
    charges = [charge for charge in needed if charge is not None and charge.names is not None]
    if charges:
        try:
            reader = Reader(await open_cloud(), clock, seconds)
        except StokerError:
            counting.names = dict.fromkeys(charges)
        else:
            await reader.within_time(counting.read_names(charges, reader))
    return counting.counted(usages)


class _Counting:
    """Counts with the prices of a list. `names` are the other names of kinds by charge, None if they cannot be read."""

    def __init__(self, prices: PriceList) -> None:
        self._prices = prices
        self.names: dict[Charge, Mapping[str, str] | None] = {}
        self._groups: dict[tuple[str, ...], Group] = {}

    def needs_lookup(self, taken: ResourceUsage) -> bool:
        """Return whether the price may be under another name than the template's."""
        charge, use = taken.charge, taken.use
        if charge is None or charge.item not in self._prices.items or use.name is None:
            return False
        return self._prices.of_item(charge.item, use.name) is None

    async def read_names(self, charges: Iterable[Charge], facts: Facts) -> None:
        for charge in charges:
            assert charge.names is not None
            try:
                self.names[charge] = await charge.names(facts)
            except NotRead:
                self.names[charge] = None

    def counted(self, usages: Iterable[Usage]) -> Costs:
        before = after = retained = Decimal(0)
        changes: dict[str, tuple[Decimal, Decimal]] = {}
        for usage in usages:
            if usage.unforeseen:
                self._leave_out(Uncounted.NOT_KNOWN, usage, "", "")
            old, new = self._sum(usage, usage.before), self._sum(usage, usage.after)
            retained += self._sum(usage, usage.retained)
            before, after = before + old, after + new
            if old != new:
                earlier = changes.get(usage.path, (Decimal(0), Decimal(0)))
                changes[usage.path] = (earlier[0] + old, earlier[1] + new)
        groups = list(self._groups.values())
        return Costs(self._prices.currency, before, after, retained, changes, groups)

    def _sum(self, usage: Usage, taken: Iterable[ResourceUsage]) -> Decimal:
        hourly = sum((self._hourly(usage, each) for each in taken), Decimal(0))
        return hourly * self._prices.hours_per_month

    def _hourly(self, usage: Usage, taken: ResourceUsage) -> Decimal:
        charge, use = taken.charge, taken.use
        if charge is None:
            price = self._prices.of_type(usage.type)
            return price if price is not None else self._leave_out(Uncounted.NO_PRICE, usage, "", "")
        item = charge.item.value
        if charge.item not in self._prices.items:
            return self._leave_out(Uncounted.NO_PRICE, usage, item, "")
        found = self._price(charge, use.name)
        if isinstance(found, Uncounted):
            return self._leave_out(found, usage, item, use.name or "")
        if use.amount is None:
            return self._leave_out(Uncounted.NOT_KNOWN, usage, item, "")
        return found * use.amount

    def _price(self, charge: Charge, name: str | None) -> Decimal | Uncounted:
        item, prices = charge.item, self._prices
        if (own := prices.of_item(item, name or "")) is not None:
            return own
        otherwise = prices.otherwise(item)
        if name is None:
            return Uncounted.NOT_KNOWN
        names = self.names.get(charge, {})
        if names is None:
            return Uncounted.NOT_READ
        # A service names its default; the list may have the ID of what the template names, or the other way around.
        other = names.get(name, "")
        for alias in (other, names.get(other, "")):
            if alias and (price := prices.of_item(item, alias)) is not None:
                return price
        return otherwise if otherwise is not None else Uncounted.NO_PRICE

    def _leave_out(self, why: Uncounted, usage: Usage, item: str, name: str) -> Decimal:
        key = (why.value, usage.type, item, name)
        self._groups.setdefault(key, Group(why, usage.type, item, name)).paths[usage.path] = None
        return Decimal(0)
