"""The operator's price list: prices per hour, as a YAML or a CSV file.

docs/how-to/costs.md describes both forms. Every mistake is refused at start, with its line.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path

from stoker.base.diagnostics import Diagnostic, Key, Position
from stoker.base.errors import Invalid, TemplateInvalid
from stoker.base.similar import closest
from stoker.plugins.pricing import ITEMS, Item
from stoker.plugins.resource import ResourceType
from stoker.template.document import Document

HOURS_PER_MONTH = Decimal(730)
"""Hours of a month, unless the list says otherwise: a twelfth of a year."""
DEFAULT = "default"
"""The name of the price for all names of an item that have none of their own."""
_TYPES = "types"
_COLUMNS = ("item", "name", "price", "currency")
_SECTIONS = ("currency", "hours_per_month", "prices")
_CURRENCY = re.compile(r"[^\W\d_]{1,16}|[$€£¥]")
_DIGITS = 30
_HIGHEST = Decimal(10) ** 9


@dataclass(frozen=True, slots=True)
class PriceList:
    """Prices per hour and unit.

    `items` are by item and name: "" for an item with one price. `types` are by the names of resource types; those that
    end with `*` are for all types that begin so, the longest first. `places` are where they are in the file.
    """

    currency: str
    hours_per_month: Decimal = HOURS_PER_MONTH
    items: Mapping[Item, Mapping[str, Decimal]] = field(default_factory=dict)
    types: Mapping[str, Decimal] = field(default_factory=dict)
    places: Mapping[str, Position | None] = field(default_factory=dict)

    def of_item(self, item: Item, name: str) -> Decimal | None:
        """Return the price of a unit by a name of its own, or the item's only price; None without one."""
        prices = self.items.get(item, {})
        return prices.get("", prices.get(name) if name else None)

    def otherwise(self, item: Item) -> Decimal | None:
        """Return the price of units whose names have none; None without one."""
        return self.items.get(item, {}).get(DEFAULT)

    def of_type(self, type_name: str) -> Decimal | None:
        """Return the price of an object of a resource type; None without one."""
        prefixes = (name for name in self.types if name.endswith("*") and type_name.startswith(name[:-1]))
        name = type_name if type_name in self.types else next(prefixes, None)
        return self.types[name] if name is not None else None

    def check_types(self, types: Mapping[str, ResourceType], path: str) -> None:
        """Check that each price of a resource type applies to a type. Raises TemplateInvalid.

        `types` are all types by name, `path` is that of the list, which was read before.
        """
        problems = [
            Diagnostic("price-list", message, source=path, position=self.places.get(name))
            for name in self.types
            if (message := self._violation(name, types))
        ]
        if problems:
            raise TemplateInvalid(sorted(problems, key=Diagnostic.sort_key))

    def _violation(self, name: str, types: Mapping[str, ResourceType]) -> str:
        if name.endswith("*"):
            known = any(each.startswith(name[:-1]) for each in types)
            return "" if known else f"no resource type begins with {name[:-1]!r}"
        if name not in types:
            meant = closest(name, types)
            return f"unknown resource type {name!r}" + (f": did you mean {meant!r}?" if meant else "")
        if items := {charge.item.value: None for charge in types[name].charges}:
            return f"{name} is charged by {', '.join(items)}, so a price of the type has no effect"
        return ""

    @classmethod
    def read(cls, path: str) -> PriceList:
        """Read a list: CSV if the name ends with `.csv`, otherwise YAML. Raises Invalid with all mistakes."""
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise Invalid(f"The price list {path} cannot be read: {error}") from error
        return _from_table(text, path) if path.lower().endswith(".csv") else _from_document(text, path)


class _Reading:
    """A list while it is read. Mistakes are collected; `place` says where one is."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._problems: list[Diagnostic] = []
        self._currency: str | None = None
        self.hours = HOURS_PER_MONTH
        self._items: dict[Item, dict[str, Decimal]] = {}
        self._types: dict[str, Decimal] = {}
        self._places: dict[str, Position | None] = {}

    def refuse(self, message: str, place: Position | None, hint: str = "") -> None:
        self._problems.append(Diagnostic("price-list", message, source=self._source, position=place, hint=hint))

    def refuse_unknown(self, what: str, name: str, known: Iterable[str], place: Position | None) -> None:
        names = list(known)
        meant = closest(name, names)
        hint = f"did you mean {meant!r}?" if meant else f"known are {', '.join(names)}"
        self.refuse(f"unknown {what} {name!r}", place, hint)

    def number(self, value: object, what: str, place: Position | None) -> Decimal | None:
        """Return a number that is not negative; None after a mistake was noted."""
        text = str(value).strip()
        if isinstance(value, bool) or not isinstance(value, int | float | str) or len(text) > _DIGITS:
            number = None
        else:
            try:
                number = Decimal(text)
            except InvalidOperation:
                number = None
        if number is None or not number.is_finite():
            self.refuse(f"{what} must be a number, not {text[:_DIGITS]!r}", place)
            return None
        if not 0 <= number <= _HIGHEST:
            self.refuse(f"{what} must be between 0 and {_HIGHEST:,}, not {text}", place)
            return None
        return number

    def currency(self, value: object, place: Position | None) -> None:
        if not isinstance(value, str) or _CURRENCY.fullmatch(value.strip()) is None:
            self.refuse(f"the currency must be a code or a sign such as EUR, not {str(value)[:_DIGITS]!r}", place)
        elif self._currency not in (None, value.strip()):
            self.refuse(f"the list has two currencies, {self._currency} and {value.strip()}", place)
        else:
            self._currency = value.strip()

    def price(self, item: str, name: str, value: object, place: Position | None) -> None:
        """Add a price; `name` is that of a kind of the item, or of a resource type."""
        if item != _TYPES and item not in set(Item):
            self.refuse_unknown("item", item, [*(each.value for each in Item), _TYPES], place)
            return
        if item == _TYPES and not name:
            self.refuse("the price of a resource type needs the name of the type", place)
            return
        if item != _TYPES and name not in ("", DEFAULT) and not ITEMS[Item(item)].names:
            self.refuse(f"{item} has one price, without names", place)
            return
        if item == _TYPES and "*" in name[:-1]:
            self.refuse(f"{name!r} is no resource type: a * can only be the last character", place)
            return
        known = self._types if item == _TYPES else self._items.setdefault(Item(item), {})
        if name in known:
            self.refuse(f"the price of {' '.join(filter(None, (item, name)))} is given twice", place)
            return
        if known and item != _TYPES and (not name or "" in known):
            self.refuse(f"{item} has a price without a name, and prices with names", place)
            return
        number = self.number(value, f"the price of {' '.join(filter(None, (item, name)))}", place)
        if number is not None:
            known[name] = number
            self._places |= {name: place} if item == _TYPES else {}

    def price_list(self) -> PriceList:
        if self._currency is None and not self._problems:
            self.refuse("the currency is missing", None)
        if not (self._items or self._types or self._problems):
            self.refuse("the list has no prices", None)
        if self._problems:
            raise TemplateInvalid(self._problems)
        assert self._currency is not None
        types = sorted(self._types.items(), key=lambda entry: (-len(entry[0]), entry[0]))
        return PriceList(self._currency, self.hours, self._items, dict(types), self._places)


def _from_document(text: str, source: str) -> PriceList:
    document = Document.parse(text, source=source)
    reading = _Reading(source)

    def position_of(*path: str) -> Position | None:
        return document.locate((*path[:-1], Key(path[-1])))

    for section, value in document.data.items():
        match section:
            case "currency":
                reading.currency(value, position_of(section))
            case "hours_per_month":
                hours = reading.number(value, section, position_of(section))
                if hours == 0:
                    reading.refuse(f"{section} must be more than 0", position_of(section))
                reading.hours = hours or HOURS_PER_MONTH
            case "prices" if isinstance(value, Mapping):
                _read_prices(value, reading, position_of)
            case "prices":
                reading.refuse("prices must be a map", position_of(section))
            case _:
                reading.refuse_unknown("section", str(section), _SECTIONS, position_of(section))
    return reading.price_list()


def _read_prices(prices: Mapping[str, object], reading: _Reading, position_of: Callable[..., Position | None]) -> None:
    for item, value in prices.items():
        if not isinstance(value, Mapping):
            reading.price(item, "", value, position_of("prices", item))
            continue
        for name, price in value.items():
            reading.price(item, name, price, position_of("prices", item, name))


def _from_table(text: str, source: str) -> PriceList:
    reading = _Reading(source)
    for line, row in _rows(text, reading):
        place = Position(line, 1)
        reading.currency(row["currency"], place)
        reading.price(row["item"], row["name"], row["price"], place)
    return reading.price_list()


def _rows(text: str, reading: _Reading) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a table with the numbers of their lines."""
    rows = csv.reader(text.splitlines(), strict=True)
    try:
        columns = [name.strip() for name in next(rows, [])]
        if sorted(columns) != sorted(_COLUMNS):
            reading.refuse(f"the first line must name the columns {', '.join(_COLUMNS)}", Position(1, 1))
            return
        for row in rows:
            if not any(cell.strip() for cell in row) or row[0].startswith("#"):
                continue
            if len(row) != len(columns):
                reading.refuse(f"the line has {len(row)} values, not {len(columns)}", Position(rows.line_num, 1))
                continue
            yield rows.line_num, {name: cell.strip() for name, cell in zip(columns, row, strict=True)}
    except csv.Error as error:
        reading.refuse(f"not a table: {error}", Position(rows.line_num, 1))
