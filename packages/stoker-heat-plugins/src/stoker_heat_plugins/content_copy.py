"""What a plug-in's `handle_snapshot` makes: a copy of the object's content, which belongs to the snapshot.

What the handler records with `data_set` is recorded with the copy. `handle_restore` is called when the copy is
complete, on a worker thread, since restoring must not wait for plug-ins; the properties that it changes are recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from heat.common import exception
from heat.engine.resources.stack_resource import StackResource
from heat.engine.rsrc_defn import PROPERTIES
from stoker.plugins.outcome import Done, Failed, Outcome
from stoker.plugins.resource import Call, ContentCopy, Snapshot
from stoker_heat_plugins.names import MANUAL
from stoker_heat_plugins.performance import Performance
from stoker_heat_plugins.record import OWN, Record
from stoker_heat_plugins.resource_type import HeatResourceType, failed
from stoker_heat_plugins.schema import defines
from stoker_heat_plugins.workers import WORKERS

HANDLERS = ("handle_snapshot", "handle_restore", "handle_delete_snapshot")
_BEGUN = f"{OWN}begun"
_CHANGED, _REMOVED = f"{OWN}restored", f"{OWN}removed"
"""Keys of the copy's data: the properties that `handle_restore` has set, and those that it has removed."""


class HeatContentCopy(HeatResourceType, ContentCopy):
    """Runs the handlers for snapshots of `plugin`; its properties are what is known of the copied resource."""

    any_properties = True
    noted_as = f"{OWN}snapshot"

    def of(self, resource: Snapshot) -> Mapping[str, object]:
        return {
            "id": Record.of_snapshot(resource).resource_id,
            "name": resource.physical_name,
            "data": dict(resource.data),
            "properties": dict(resource.properties),
        }

    def restored(self, properties: Mapping[str, object], copy: Snapshot) -> Mapping[str, Any]:
        removed = copy.data.get(_REMOVED) or ()
        kept = {name: value for name, value in properties.items() if name not in removed}
        return {**kept, **(copy.data.get(_CHANGED) or {})}

    async def create(self, call: Call) -> Outcome:
        if not call.progress and call.data.get(_BEGUN):
            return self._interrupted(call, "snapshot")
        call.data[_BEGUN] = True  # unlike the progress, the data of a copy is kept when the engine stops
        outcome = await self._act(call, "snapshot")
        if isinstance(outcome, Done) and defines(self.plugin, "handle_restore"):
            return await self._restoring(call, outcome)
        return outcome

    async def delete(self, call: Call) -> Outcome:
        record = self._record(call)
        snapshot = {"resource_id": record.resource_id, "resource_data": record.all_data()}
        if not defines(self.plugin, "handle_delete_snapshot"):
            return Done()
        return await self._act(call, "delete_snapshot", lambda _resource: (snapshot,))

    async def _restoring(self, call: Call, outcome: Done) -> Outcome:
        """Record what `handle_restore` changes in the properties."""
        properties, record = dict(call.properties["properties"]), self._record(call)
        make, known = self._maker(call, call.properties), dict[str, Any]()

        def restored() -> Mapping[str, Any]:
            resource = make(record)
            definition = resource.t.freeze(properties=deepcopy(properties))
            entry = {
                "name": call.resource.name,
                "type": call.resource.type,
                "resource_id": record.resource_id,
                "resource_data": record.all_data(),
            }
            known.update({name: resource.properties.get(name) for name in self.plugin.properties_schema}, **properties)
            return dict(resource.handle_restore(definition, entry)[PROPERTIES])

        try:
            restored_properties = await WORKERS.run(restored)
        except Exception as error:
            return failed(self.type_name, "restore", error)
        call.data[_CHANGED] = {name: value for name, value in restored_properties.items() if known.get(name) != value}
        call.data[_REMOVED] = sorted(properties.keys() - restored_properties.keys())
        return outcome

    def _record(self, call: Call) -> Record:
        """Return the record of the copied resource, with what the handler has recorded for the copy."""
        source = Record.of_snapshot(
            Snapshot(call.resource.name, call.properties["name"], call.properties["id"], call.properties["data"], {})
        )
        own = Record.of(call)
        own.resource_id, own.physical_name, own.action = source.resource_id, source.physical_name, "SNAPSHOT"
        own.data, own.secrets = {**source.data, **own.data}, {**source.secrets, **own.secrets}
        return own

    def _maker(self, call: Call, values: Mapping[str, Any]) -> Any:
        make = super()._maker(call, values["properties"])

        def made(record: Record) -> Any:
            resource = make(record)
            if isinstance(resource, StackResource):
                resource.child = _Unreadable()
            return resource

        return made

    async def _ended(self, call: Call, action: str, running: Performance) -> Outcome:
        return Done(physical_id=call.physical_id or call.physical_name)

    def _interrupted(self, call: Call, action: str) -> Outcome:
        return Failed(
            f"{self.type_name}: the engine stopped before handle_{action} of the plug-in, or its check, had ended. It "
            "is not repeated, since that could make a second copy. Delete the snapshot, and make another one.",
            "Interrupted",
        )


class _Unreadable:
    """Replaces the reader of a nested stack: a copy is a resource of the snapshot, without a nested stack."""

    def __getattr__(self, name: str) -> object:
        raise exception.NotSupported(feature=f"Reading the nested stack in a handler for snapshots ({MANUAL})")


def made_copy(name: str, plugin: Any) -> HeatContentCopy:
    """Return the type of the copies of a plug-in's objects."""
    kind: type[HeatContentCopy] = type(
        f"{plugin.__name__}Copy", (HeatContentCopy,), {"type_name": name, "plugin": plugin}
    )
    return kind()
