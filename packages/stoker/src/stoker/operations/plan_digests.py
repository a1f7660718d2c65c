"""What a plan was when a user looked at it, and whether it is the same when it is carried out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from stoker.base.errors import BadValue, PlanOutdated
from stoker.engine.records.services import EngineServices
from stoker.store import fingerprints
from stoker.store.records import IN_PROGRESS, Stack

if TYPE_CHECKING:
    pass


_LENGTH = 32


@dataclass(frozen=True, slots=True)
class PlanDigest:
    """Identifies a plan; as a string, the three fingerprints separated by dots."""

    record: str
    inputs: str
    steps: str

    def __str__(self) -> str:
        return f"{self.record}.{self.inputs}.{self.steps}"

    @classmethod
    def parse(cls, text: str) -> PlanDigest:
        """Parse a digest. Raises BadValue for an invalid one."""
        parts = text.split(".")
        if len(parts) != 3 or not all(len(part) == _LENGTH and part.isalnum() for part in parts):
            raise BadValue(f"Invalid plan_digest {text!r}: it must be the digest of a plan from a preview.")
        return cls(*parts)


def fingerprint(services: EngineServices, content: object) -> str:
    """Return one of the three fingerprints of a digest, for JSON data."""
    return services.sealer.digest(content)[:_LENGTH]


def refuse_outdated(stack: Stack, digest: str, now: PlanDigest | None) -> None:
    """Raise PlanOutdated unless the plan with this digest is still the one that is made now; BadValue if it is none."""
    saved = PlanDigest.parse(digest)
    if now is None:
        raise PlanOutdated(f"The stack {stack.name} has an operation in progress; apply the plan when it has finished.")
    for part, problem in _REFUSALS.items():
        if getattr(saved, part) != getattr(now, part):
            raise PlanOutdated(problem.format(name=stack.name))


_REFUSALS: Mapping[str, str] = {
    "record": "The stack {name} has changed since the plan was made. Make a new plan.",
    "inputs": "The template, files, environment or parameters differ from those of the plan. Make a new plan.",
    "steps": "The service would now change the stack {name} in another way than the plan says: objects in the cloud "
    "have changed, or the service was upgraded. Make a new plan.",
}


def check_record(services: EngineServices, stack: Stack, saved: PlanDigest, connection: Connection) -> None:
    """Raise PlanOutdated if the stack has changed since a plan was made; nothing changes it in this transaction."""
    recorded = fingerprints.locked_tree(connection, stack.root_id)
    if fingerprint(services, recorded) != saved.record:
        raise PlanOutdated(_REFUSALS["record"].format(name=stack.name))


def records_of(connection: Connection, services: EngineServices, root_ids: Collection[str]) -> dict[str, str]:
    """Return the part `record` of the digests of plans that are made now for these trees of stacks, by the root."""
    trees = fingerprints.trees(connection, root_ids)
    return {root_id: fingerprint(services, rows) for root_id, rows in trees.items()}


async def digest_of_action(services: EngineServices, stack: Stack, action: object) -> PlanDigest | None:
    """Return the digest of what has no plan, such as a suspension; `action` is JSON data that is equal for equal ones.

    It is None while an operation runs on one of the stacks.
    """
    rows = await services.database.read(fingerprints.tree, stack.root_id)
    if any(row[2] == IN_PROGRESS for row in rows):
        return None
    return PlanDigest(*(fingerprint(services, content) for content in (rows, [stack.id, action], [])))
