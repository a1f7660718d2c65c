"""Consecutive numbers for records that have one beside their id."""

from __future__ import annotations

from openstack_emulator.compute.records import Counter
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.rules import Rules


class Counters(Rules):
    """The last number of each kind."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table("counters", Counter, internal=True)

    def next(self, name: str) -> int:
        """The next number of a counter, from 1."""
        row = self.rows.get(name) or self.rows.add(Counter(id=name, last=0))
        row.last += 1
        self.rows.save(row)
        return row.last
