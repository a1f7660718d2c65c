"""OS::Murano::Environment"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote
from uuid import NAMESPACE_OID, uuid5

from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call, Waiter
from stoker.resources.base import Collection, found_well, value_at
from stoker.resources.declare import length, matching
from stoker.resources.unique_names import UniquelyNamed
from stoker.resources.wire import NOT_SENT, without_nulls
from stoker.schema.live import LISTED, never, same
from stoker.schema.property import Attribute, Change, Property, Type
from stoker.schema.unknown import has_unknown, is_unknown

SERVICE = "murano"
SESSION_HEADER = "X-Configuration-Session"
_SESSION = "session"
"""In `call.progress`: the ID of the session in which the applications are changed."""
_WAITS = Waiter.until("ready", "pending", pending=("deploying",), failed=("deploy failure",))
_GONE = Waiter.until(pending=("ready", "pending", "deploy failure", "deleting"), failed=("delete failure",))
_HEADER = "?"
"""The key of an application with its type, its ID, and its status."""


class Environment(UniquelyNamed):
    """An environment. Its applications are changed in a session, which is then deployed.

    The ID of an application that the template does not give is derived from that of the resource, so that a repeated
    request describes the same applications. The session is recorded before it is used.
    """

    type_name = "OS::Murano::Environment"
    description = "An environment of the application catalog (Murano), with its applications. Heat has no such type."
    content = "the applications of the environment, with their data"
    collection = Collection(
        SERVICE, "/environments", members="environments", created_field="created", owner=None, filters_names=False
    )
    waits = _WAITS
    deleting = _GONE
    kept_after_failure = True
    recovery = Recovery(
        RecoveryMethod.NAME,
        "The name is unique in the project. An environment with the name must also have been created since the action "
        "began.",
    )

    properties = {
        "name": Property(
            description="Name of the environment; unique in the project.",
            change=Change.UPDATE,
            constraints=length(1, 255) + matching(r"(?s).*\S.*"),
        ),
        "region": Property(
            description="Region in which the applications are deployed.",
            live=never("the service shows it in its own form"),
        ),
        "default_networks": Property(
            Type.MAP,
            "The networks of the applications, as Murano's object model has them: `environment` and `flat`.",
            wire="defaultNetworks",
        ),
        "applications": Property(
            Type.LIST,
            "The applications, as Murano's object model has them. A change is deployed; without applications, nothing "
            "is.",
            default=[],
            change=Change.UPDATE,
            wire=NOT_SENT,
            live=LISTED,
            items=Property(
                Type.MAP,
                "An application: its properties, and under the key `?` its class (`type`) and optionally its `id`.",
            ),
        ),
    }
    attributes = {
        "name": Attribute("Name of the environment.", Type.STRING),
        "status": Attribute("Status: ready, pending, deploying, or the failure of a deployment.", Type.STRING),
        "version": Attribute("The number of deployments.", Type.INTEGER),
        "applications": Attribute(
            "The deployed applications, with their IDs and statuses.", Type.LIST, path="services"
        ),
        "tenant_id": Attribute("ID of the project that the environment belongs to.", Type.STRING),
        "created": Attribute("When the environment was created.", Type.STRING),
        "updated": Attribute("When the environment was last changed.", Type.STRING),
    }

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        seen: set[str] = set()
        applications = properties["applications"]
        for at, application in enumerate([] if is_unknown(applications) else applications or ()):
            if has_unknown(application):
                continue
            header = application.get(_HEADER) if isinstance(application, Mapping) else None
            if not isinstance(header, Mapping) or not isinstance(header.get("type"), str):
                yield f"applications[{at}]: the key '?' must be a map with the class of the application as its type"
                continue
            identifier = header.get("id")
            if identifier is not None and (not isinstance(identifier, str) or not identifier):
                yield f"applications[{at}]: the ID of an application must be a string that is not empty"
            elif identifier in seen:
                yield f"applications[{at}]: another application has the ID {identifier}"
            elif identifier is not None:
                seen.add(identifier)

    # -- creating and updating -------------------------------------------------------------------------------------

    def status_outcome(self, call: Call, shown: Mapping[str, object] | None) -> Outcome:
        """Evaluate the environment's status; a new one has no status in the response."""
        return super().status_outcome(call, shown if shown is None else {"status": "ready", **shown})

    def needs_extras(self, call: Call) -> bool:
        return bool(call.properties["applications"])

    async def create(self, call: Call) -> Outcome:
        if call.physical_id is None or not self.needs_extras(call):
            return await super().create(call)
        return await self._deployed(call)

    async def update(self, call: Call) -> Outcome:
        if "name" in call.changed and not call.progress.get("renamed"):
            await self.rename(call, str(call.physical_id), call.properties["name"] or call.physical_name)
            call.progress["renamed"] = True
        if _SESSION in call.progress or await self._differs(call):
            return await self._deployed(call)
        return Done()

    async def _differs(self, call: Call) -> bool:
        """Return whether the applications are not deployed, or not as the template has them."""
        shown = await self.show(call)
        return shown is None or shown["status"] in _WAITS.failed or not same(_applications(call), shown["services"])

    async def _deployed(self, call: Call) -> Outcome:
        """Deploy the applications, one request after the other."""
        if call.progress.get("deploying"):
            return await self._looked_at(call)
        path = self.member_path(call)
        if _SESSION not in call.progress:
            shown = await self.show(call)
            if shown is None or shown["status"] == "deploying":
                return self.status_outcome(call, shown)
            session = await call.cloud.post(SERVICE, f"{path}/configure", None)
            call.progress[_SESSION] = session["id"]
            return InProgress(after=0.0)
        session = quote(str(call.progress[_SESSION]), safe="")
        state = await call.cloud.get(SERVICE, f"{path}/sessions/{session}", ok=(403, 404))
        if value_at(state, ("state",)) == "open":
            headers = {SESSION_HEADER: session}
            await call.cloud.put(SERVICE, f"{path}/services", _applications(call), headers=headers)
            await call.cloud.post(SERVICE, f"{path}/sessions/{session}/deploy", None)
        elif value_at(state, ("state",)) is None:
            # Somebody else has deployed the environment meanwhile, which makes the session invalid.
            del call.progress[_SESSION]
            return InProgress(after=0.0)
        call.progress["deploying"] = True
        return InProgress(after=_WAITS.pause(call.elapsed))

    async def _looked_at(self, call: Call) -> Outcome:
        """Wait until the environment is deployed. A failure has the reports of the deployment as its reason."""
        shown = await self.show(call)
        outcome = self.status_outcome(call, shown)
        if isinstance(outcome, Failed) and shown is not None:
            outcome = self.status_outcome(call, {**shown, self.collection.reason_field: await self._reports(call)})
        # A deployment is not repeated: it may have created something already.
        return replace(outcome, in_error=False) if isinstance(outcome, Failed) else outcome

    async def _reports(self, call: Call) -> str:
        """Return what the last deployment has reported as errors."""
        path = f"{self.member_path(call)}/deployments"
        listed = (await call.cloud.get(SERVICE, path))["deployments"]
        latest = max(listed, key=lambda one: (str(one["started"]), one is listed[0]), default=None)
        if latest is None:
            return ""
        reports = (await call.cloud.get(SERVICE, f"{path}/{quote(latest['id'], safe='')}"))["reports"]
        return "; ".join(str(one["text"]) for one in reports if one["level"] == "error")

    # -- replacing -------------------------------------------------------------------------------------------------

    async def rename(self, call: Call, identifier: str, name: str) -> None:
        path = f"{self.collection.path}/{quote(identifier, safe='')}"
        await call.cloud.request("PUT", SERVICE, path, json={"name": name}, ok=(404,))

    async def prepare_for_replacement(self, call: Call) -> Outcome:
        """Rename the environment, unless its name is unique anyway."""
        return await super().prepare_for_replacement(call) if call.properties["name"] else Done()

    async def revert_replacement(self, call: Call) -> Outcome:
        return await super().revert_replacement(call) if call.properties["name"] else Done()

    # -- deleting and reading --------------------------------------------------------------------------------------

    async def delete(self, call: Call) -> Outcome:
        """Delete the environment. Murano refuses this while it is being deployed."""
        if call.physical_id is not None and not call.progress.get("sent"):
            shown = await self.show(call)
            if shown is not None and shown["status"] == "deploying":
                return InProgress(after=_GONE.pause(call.elapsed))
        return await super().delete(call)

    async def check(self, call: Call) -> Outcome:
        return await found_well(self, call)

    def differences(self, call: Call, shown: Mapping[str, object]) -> dict[str, object]:
        found = super().differences(call, {name: value for name, value in shown.items() if name != "region"})
        call.report.compared.add("applications")
        if not same(_applications(call), shown["services"]):
            found["applications"] = None
        return found


def _applications(call: Call) -> list[dict[str, object]]:
    """Return the applications as they are sent: each has an ID."""
    made = []
    for at, application in enumerate(call.properties["applications"] or ()):
        header = without_nulls(application[_HEADER])
        identifier = header.get("id") or uuid5(NAMESPACE_OID, f"{call.resource.uuid}/{at}").hex
        made.append({**application, _HEADER: {**header, "id": identifier}})
    return made
