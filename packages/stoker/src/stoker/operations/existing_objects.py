"""Find the existing objects that have the names of resources which a change set would create."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue
from stoker.cloud.session import Cloud
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.plan import Plan, Step, Subject
from stoker.engine.records.object_owners import claim_of
from stoker.engine.records.services import EngineServices
from stoker.plugins.listing import CollectionLocation
from stoker.store.ownership import holder_of, holders

_Named = Mapping[str, list[str]]
"""The IDs of the objects of a list, by name."""


async def existing_objects(services: EngineServices, context: RequestContext, plan: Plan) -> list[dict[str, object]]:
    """Return the entries `imports` for resources of the stack itself that the plan creates.

    These are resources whose name is that of an object in the caller's project which no resource owns. Raises BadValue
    for a name that several such objects have, or that is that of two resources.
    """
    named = list(_named_resources(plan))
    if not named:
        return []
    cloud = await services.credentials.of_caller(context)
    lists = list(dict.fromkeys(listing for _, listing, _ in named if cloud.has_service(listing.service)))
    read = await asyncio.gather(*(_read(cloud, listing, context.project_id) for listing in lists))
    by_list = dict(zip(lists, read, strict=True))
    candidates = [(step, subject, by_list.get(each, {}).get(name, [])) for (step, subject), each, name in named]
    taken = await _taken(services, context, ((subject, ids) for _, subject, ids in candidates))
    entries: dict[str, str] = {}
    for step, subject, ids in candidates:
        free = [each for each in ids if (subject.type.type_name, each) not in taken]
        if len(free) > 1:
            raise BadValue(
                f"{len(free)} existing objects have the name of the resource {step.name} ({', '.join(sorted(free))}): "
                "import one of them with a change set of the type IMPORT, or choose another name."
            )
        if free and free[0] in entries:
            raise BadValue(
                f"The resources {entries[free[0]]} and {step.name} have the name of the same existing object {free[0]}."
            )
        entries.update((each, step.name) for each in free)
    return [{"to": name, "id": identifier} for identifier, name in entries.items()]


def _named_resources(plan: Plan) -> Iterator[tuple[tuple[Step, Subject], CollectionLocation, str]]:
    """Yield the resources to create whose template gives them a name, each with the list of its type and the name."""
    for step in plan.steps:
        subject = step.subject
        if step.depth or step.kind is not StepKind.CREATE or subject is None or subject.state is not None:
            continue
        listing = subject.type.listed
        if listing is None or listing.name_field is None:
            continue
        declared = subject.type.properties.items()
        key = next((key for key, prop in declared if (prop.wire or key) == listing.name_field), None)
        name = (subject.properties or {}).get(key) if key is not None else None
        if isinstance(name, str) and name:
            yield (step, subject), listing, name


async def _read(cloud: Cloud, listing: CollectionLocation, project_id: str) -> _Named:
    owner = {listing.owner: project_id} if listing.owner is not None else None
    found: defaultdict[str, list[str]] = defaultdict(list)
    for item in await cloud.list(listing.service, listing.path, listing.members, owner):
        if (parts := listing.parts(item)) is not None:
            found[parts[1]].append(parts[0])
    return found


async def _taken(
    services: EngineServices, context: RequestContext, candidates: Iterable[tuple[Subject, list[str]]]
) -> set[tuple[str, str]]:
    """Return the types and IDs of the objects that resources own."""
    claims = {
        (subject.type.type_name, each): claim
        for subject, ids in candidates
        for each in ids
        if (claim := claim_of(subject.type, each, context.project_id, context.user_id)) is not None
    }
    known = await services.database.read(lambda connection: list(holders(connection, (each for _, each in claims))))
    return {key for key, claim in claims.items() if holder_of(claim, known) is not None}
