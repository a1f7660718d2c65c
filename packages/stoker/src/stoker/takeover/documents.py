"""Write the stacks that were taken over as adopt data, with which a Heat can adopt their objects again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from stoker.engine.inspection.export import export
from stoker.engine.records.services import EngineServices
from stoker.store import tables
from stoker.store.records import COMPLETE, FAILED, Stack
from stoker.takeover.recorded import recorded_trees
from stoker.takeover.writing import MARK

_PAGE = 100
_NOT_CREATED = {("INIT", COMPLETE), ("CREATE", FAILED)}
_NOT_ADOPTED = {
    "OS::Heat::AutoScalingGroup": "Heat adopts no resources of this type",
    "OS::Heat::ResourceChain": "Heat adopts no resources of this type",
}
"""Types that a Heat 27 does not adopt, not even from its own documents, and why."""


@dataclass(frozen=True, slots=True)
class Exported:
    """The document of a stack in full, with its secrets. `changed`: it is not as it was taken over any more."""

    stack: Stack
    document: dict[str, Any]
    changed: bool

    @property
    def environment(self) -> dict[str, Any]:
        """The part of the environment that Heat does not read from the document: it must be given besides."""
        environment = self.document["environment"]
        return {
            name: environment[name] for name in ("resource_registry", "parameter_defaults") if environment.get(name)
        }

    def obstacles(self) -> Iterator[str]:
        """Yield the resources because of which no Heat adopts the stack, with the reasons."""
        yield from _obstacles(self.document, "")


async def documents(services: EngineServices, project: str | None) -> AsyncIterator[Exported]:
    """Yield the documents of all stacks that were taken over and exist, oldest first."""
    after = ""
    while page := await services.database.read(_taken_over, project, after):
        trees = await services.database.read(recorded_trees, [stack.id for stack in page])
        for stack in page:
            document = (await export(services, stack)).whole()
            _identify(document)
            yield Exported(stack, document, trees[stack.id].changed)
        after = page[-1].id


def _identify(document: Mapping[str, Any]) -> None:
    """Name the resources that have no object and therefore no ID: Heat adopts no resource without one."""
    for name, entry in document["resources"].items():
        if entry["resource_id"] is None and (entry["action"], entry["status"]) not in _NOT_CREATED:
            entry["resource_id"] = name
        if "resources" in entry:
            _identify(entry)


def _obstacles(document: Mapping[str, Any], above: str) -> Iterator[str]:
    for name, entry in document["resources"].items():
        if entry["resource_id"] is None:
            yield f"{above}{name}: it was not created"
        elif entry["type"] in _NOT_ADOPTED:
            yield f"{above}{name} ({entry['type']}): {_NOT_ADOPTED[entry['type']]}"
        elif "resources" in entry:
            yield from _obstacles(entry, f"{above}{name}.")


def _taken_over(connection: Connection, project: str | None, after: str) -> list[Stack]:
    """Return a page of root stacks that a takeover has recorded."""
    stacks, operations = tables.stacks, tables.operations
    taken = select(operations.c.stack_id).where(operations.c.request_id.startswith(MARK, autoescape=True))
    query = (
        select(stacks)
        .where(stacks.c.parent_id.is_(None), stacks.c.deleted_at.is_(None), stacks.c.id > after)
        .where(stacks.c.id.in_(taken))
    )
    if project is not None:
        query = query.where(stacks.c.project_id == project)
    return [Stack.of(row) for row in connection.execute(query.order_by(stacks.c.id).limit(_PAGE))]
