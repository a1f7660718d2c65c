"""Queues: which there are, and their metadata."""

from __future__ import annotations

import re
from collections.abc import Mapping

from openstack_emulator.core import json_patch
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import ApiError, bad_request, conflict
from openstack_emulator.core.json_patch import PatchProblem
from openstack_emulator.core.rules import Rules
from openstack_emulator.messaging.records import Queue
from openstack_emulator.messaging.rules.checks import INVALID_BODY
from openstack_emulator.messaging.rules.settings import RESERVED, check_reserved, metadata_of

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def _misplaced(body: object, index: int) -> ApiError:
    return bad_request("Each operation needs a path below /metadata.")


PATCHES = json_patch.Dialect(
    {
        PatchProblem.BODY: lambda body, index: bad_request(
            "The request body must be a list of operations.", INVALID_BODY
        ),
        PatchProblem.OPERATION: _misplaced,
        PatchProblem.OP: lambda body, index: bad_request(
            f"Operations are add, replace and remove, not {body[index].get('op')!r}."
        ),
        PatchProblem.PATH: _misplaced,
        PatchProblem.VALUE: lambda body, index: bad_request(f"The operation {body[index].get('op')} needs a value."),
    },
    path=re.compile("/metadata/[^/]+"),
    empty=True,
)


class Queues(Rules):
    """Queues, each of which is made when it is first needed. rows: their table."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table("queues", Queue, "project_id")

    def find(self, project_id: str, name: str) -> Queue | None:
        return self.rows.get(place(project_id, name))

    def make(self, project_id: str, name: str, metadata: Mapping[str, object]) -> bool:
        """Create the queue or replace its metadata; whether it is new. Raises ApiError 400."""
        check_name(name)
        check_reserved(metadata)
        known = self.find(project_id, name)
        if known is None:
            self.rows.add(Queue(id=place(project_id, name), project_id=project_id, name=name, metadata=dict(metadata)))
            return True
        if metadata:
            known.metadata = dict(metadata)
            self.rows.save(known)
        return False

    def patch(self, queue: Queue, body: object) -> None:
        """Apply a JSON patch to the metadata, completely or not at all. Raises ApiError: 400, or 409 for a place that
        the metadata do not have."""
        metadata = metadata_of(queue)
        for operation in json_patch.operations(body, PATCHES):
            try:
                json_patch.apply({"metadata": metadata}, operation)
            except json_patch.PathNotFound:
                raise conflict(f"Can't {operation.op} non-existent object {operation.pointer[-1]}.") from None
        check_reserved(metadata)
        queue.metadata = {key: value for key, value in metadata.items() if value != RESERVED.get(key, ...)}
        self.rows.save(queue)


def place(project_id: str, name: str) -> str:
    """Where a queue is: the id of its record."""
    return f"{project_id}/{name}"


def check_name(name: str) -> None:
    """400 for a name that no queue may have."""
    if not _NAME.fullmatch(name):
        message = "The format of the submitted queue name or project id is not valid."
        raise bad_request(message, "Invalid queue identification")
