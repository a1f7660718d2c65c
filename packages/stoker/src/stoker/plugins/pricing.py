"""What resource types declare for the costs of a plan: which items of a price list their objects take, and how much.

A type says with `charges` what its objects are charged for. The amounts come from property values alone, so that the
costs of a plan need no question to a service; only names that the list does not have are looked up.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from stoker.plugins.preflight import Facts
from stoker.schema.unknown import is_unknown


class Item(StrEnum):
    """What a price list has prices for, besides resource types."""

    FLAVOR = "flavor"
    VOLUME = "volume"
    SHARE = "share"
    FLOATING_IP = "floating_ip"
    LOAD_BALANCER = "load_balancer"
    ROUTER = "router"
    DATABASE_FLAVOR = "database_flavor"
    DATABASE_VOLUME = "database_volume"


@dataclass(frozen=True, slots=True)
class ItemText:
    """A row of the table of items: what one unit is, and what the names of its prices are; "" for one price only."""

    unit: str
    names: str


ITEMS: Mapping[Item, ItemText] = {
    Item.FLAVOR: ItemText("one server", "flavors, by name or ID"),
    Item.VOLUME: ItemText("1 GiB of a volume", "volume types, by name or ID"),
    Item.SHARE: ItemText("1 GiB of a share", "share types, by name or ID"),
    Item.FLOATING_IP: ItemText("one floating IP", ""),
    Item.LOAD_BALANCER: ItemText("one load balancer", "flavors of the load balancer service, by name or ID"),
    Item.ROUTER: ItemText("one router", ""),
    Item.DATABASE_FLAVOR: ItemText("one database instance", "flavors of the database service, by name or ID"),
    Item.DATABASE_VOLUME: ItemText("1 GiB of a database's volume", ""),
}


class Use(NamedTuple):
    """How many units of an item an object takes, and by which name the template chooses the price.

    The amount is None if it is known only later, the name "" if the template leaves the choice to the service, and None
    if it is known only later.
    """

    amount: int | None = 1
    name: str | None = ""


ONE = Use()
"""One unit whose price has no name."""

Uses = Callable[[Mapping[str, Any]], Iterable[Use]]
"""Returns what an object with these property values takes; values can be unknown."""

Names = Callable[[Facts], Awaitable[Mapping[str, str]]]
"""Returns the other name of a kind by each of its names and IDs, and by "" that of the default. Raises NotRead."""


def one_each(properties: Mapping[str, object]) -> Iterable[Use]:
    """Return one unit, whatever the properties are."""
    return (ONE,)


@dataclass(frozen=True, slots=True)
class Charge:
    """One item that the objects of a type take. `names` looks up names that the price list does not have."""

    item: Item
    uses: Uses = one_each
    names: Names | None = None


def known_text(value: object) -> str | None:
    """Return a value as the name of a price: "" if none is given, None if it is unknown."""
    return None if is_unknown(value) else "" if value is None else str(value)


def known_amount(value: Any) -> int | None:
    """Return a value as an amount; None if it is unknown or not given, since something else decides about it then."""
    return None if value is None or is_unknown(value) else int(value)


def of_properties(amount: str | None = None, name: str | None = None) -> Uses:
    """Return the use that the properties `amount` and `name` say; one unit and no name without them."""

    def uses(properties: Mapping[str, object]) -> Iterable[Use]:
        units = 1 if amount is None else known_amount(properties.get(amount))
        yield Use(units, "" if name is None else known_text(properties.get(name)))

    return uses
