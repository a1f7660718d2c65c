"""Typed records: how they are stored, found, and read by name."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from pathlib import Path

import orjson
import pytest

from openstack_emulator.core.store import Store, Table
from openstack_emulator.core.typed import Part, TypedRecord, named, to_bytes
from openstack_emulator.core.upgrades import StateUnusable


@dataclass(slots=True, kw_only=True, eq=False)
class Lid(Part):
    """A part of a box."""

    color: str


@dataclass(slots=True, kw_only=True, eq=False)
class Box(TypedRecord):
    """A record."""

    name: str
    size: int
    lid: Lid | None
    labels: list[Lid]
    spares: dict[str, Lid]
    spoiled: list[Lid] | None
    key: str = field(metadata=named("_key"))


def box(key: str, size: int = 1, lid: Lid | None = None) -> Box:
    labels, spares = [Lid(color="gray")], {"s": Lid(color="tan")}
    spoiled = None if lid is None else [lid]
    return Box(id=key, name=key.upper(), size=size, lid=lid, labels=labels, spares=spares, spoiled=spoiled, key="k")


def boxes(store: Store) -> Table[Box]:
    return store.table(Box, "shelf", "boxes", ("size",))


def test_typed_record_round_trips(tmp_path: Path) -> None:
    store = Store(tmp_path / "state.db")
    boxes(store).add(box("a", lid=Lid(color="red")))
    boxes(store).add(box("b"))
    store.close()

    store = Store(tmp_path / "state.db")
    found = boxes(store)
    a, b = found.require("a"), found.require("b")
    store.close()

    assert orjson.loads(to_bytes(a)) == {
        "id": "a", "name": "A", "size": 1, "lid": {"color": "red"}, "labels": [{"color": "gray"}],
        "spares": {"s": {"color": "tan"}}, "spoiled": [{"color": "red"}], "_key": "k",
    }  # fmt: skip
    assert a.spoiled is not None and [lid.color for lid in a.spoiled] == ["red"] and b.spoiled is None
    assert a.lid is not None and a.lid.color == "red"
    assert [label.color for label in a.labels] == ["gray"]
    assert a.spares["s"].color == "tan"
    assert (b.lid, b.key, b.fault) == (None, "k", None)


def test_a_fault_is_stored_until_it_is_taken(tmp_path: Path) -> None:
    store = Store(tmp_path / "state.db")
    rows = boxes(store)
    store.stamp = ("shelf", "because")
    rows.add(box("a"))
    store.stamp = None
    store.close()

    store = Store(tmp_path / "state.db")
    rows = boxes(store)
    a = rows.require("a")
    assert rows.to_json(a)["_fault"] == a.get("_fault") == "because"
    assert (a.take_fault(), a.take_fault()) == ("because", None)
    assert "_fault" not in rows.to_json(a)
    store.close()


def test_selections_follow_changes_made_in_place() -> None:
    rows = boxes(Store())
    a, b = rows.add(box("a", 1)), rows.add(box("b", 2))
    a.size = 2
    rows.save(a)
    assert rows.select(size=2) == [a, b]
    assert (rows.select(size=1), rows.first(size=2, name="A")) == ([], a)


def test_selections_are_in_order_of_creation() -> None:
    rows = boxes(Store())
    a, b, c = (rows.add(box(key)) for key in "abc")
    rows.save(a)
    assert rows.select(size=1) == [a, b, c]
    for size in (2, 1):
        rows.update(b, size=size)
        rows.update(c, size=size)
    assert (rows.select(size=1), rows.select(size=2)) == ([a, b, c], [])
    rows.remove(a)
    rows.add(a)
    assert rows.select(size=1) == [b, c, a]


def test_fields_are_read_by_their_stored_names() -> None:
    a = box("a")
    assert (a.get("name"), a.get("_key"), a.get("key"), a.get("weight")) == ("A", "k", None, None)


def test_a_field_that_the_class_lacks_cannot_be_set_or_selected() -> None:
    rows = boxes(Store())
    a = rows.add(box("a"))
    with pytest.raises(AttributeError):
        rows.update(a, weight=1)
    with pytest.raises(AttributeError):
        rows.select(weight=1)


def stored(path: Path, **data: object) -> Path:
    """A state file with one box."""
    Store(path).close()
    with sqlite3.connect(path) as database:
        row = ("shelf", "boxes", data["id"], orjson.dumps(data))
        database.execute("INSERT INTO record (service, collection, id, data) VALUES (?, ?, ?, ?)", row)
    database.close()
    return path


def test_missing_stored_field_is_refused_and_extra_field_ignored(tmp_path: Path) -> None:
    whole = {"name": "A", "size": 1, "lid": None, "labels": [], "spares": {}, "spoiled": None}
    store = Store(stored(tmp_path / "more.db", id="a", **whole, _key="k", weight=5))
    rows = boxes(store)
    assert "weight" not in rows.to_json(rows.require("a"))
    store.close()

    store = Store(stored(tmp_path / "less.db", id="b", **whole))
    with pytest.raises(StateUnusable, match="b of shelf/boxes without the field '_key'"):
        boxes(store)
    store.close()
