"""Rows of a Heat database for a stack that exists in a world: its objects are in the emulated cloud, as Heat left them.

The keys of resources' data are those of Heat's; what only Stoker keeps is left out.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime

from stoker.engine.inspection.export import Document
from stoker.engine.records.stack_view import view_of
from stoker.store import queries, snapshots
from testing.harness import World
from tests.takeover.heat_database import Rows

_OURS = ("signal_transport", "stack_user_domain_id", "stack_user_project_id", "volume_snapshots", "stack_name")


async def rows_of(world: World, name: str, rows: Rows) -> Rows:
    """Return the tables of `rows` with nothing but a stack without nested ones, and its snapshots."""
    engine = world.engine
    shown = await world.call("stack_show", ref={"name": name, "id": None})
    stack = await engine.services.database.read(queries.stack_by_id, shown["id"])
    assert stack is not None
    inputs, view = await engine.services.loader.load(stack.inputs), await view_of(engine.services, stack)
    made: Rows = {table: [] for table in rows}
    made["alembic_version"] = rows["alembic_version"]
    trust = json.loads(stack.credential or "{}").get("id")
    owner = {"trustor_user_id": stack.user_id, "tenant_id": stack.project_id, "decrypt_method": ""}
    made["user_creds"] = [{"id": 1, "trust_id": trust, **owner}]
    template = json.dumps(inputs.template.document.data)
    made["raw_template"] = [{"id": 1, "template": template, "environment": "{}", "files": None, "files_id": None}]
    made["stack"] = [
        {
            "id": stack.id, "name": name, "tenant": stack.project_id, "username": stack.user_name, "action": "CREATE",
            "status": "COMPLETE", "status_reason": "", "raw_template_id": 1, "created_at": _time(stack.created_at),
            "disable_rollback": 1, "convergence": 1, "backup": 0, "stack_user_project_id": stack.user_project_id,
            "timeout": 60, "user_creds_id": 1,
        }
    ]  # fmt: skip
    for number, state in enumerate(view.current.values(), 1):
        made["resource"].append(
            {
                "id": number, "uuid": state.row.uuid, "stack_id": stack.id, "name": state.row.name, "action": "CREATE",
                "status": "COMPLETE", "status_reason": "", "nova_instance": state.row.physical_id,
                "created_at": _time(state.row.created_at), "rsrc_metadata": json.dumps(dict(state.stored.metadata)),
                "rsrc_prop_data_id": number, "current_template_id": 1, "requires": "[]", "atomic_key": 1,
            }
        )  # fmt: skip
        properties = json.dumps(dict(state.properties))
        made["resource_properties_data"].append({"id": number, "data": properties, "encrypted": 0})
        data = {key: value for key, value in state.stored.data.items() if key not in _OURS}
        if "swift_signal_url" in data:
            data["swift_signal_object_name"] = state.physical_name
        for key, value in data.items():
            row = {"resource_id": number, "key": key, "value": value, "redact": 0, "decrypt_method": ""}
            made["resource_data"].append({"id": len(made["resource_data"]) + 1, **row})
    for snapshot in await engine.services.database.read(snapshots.snapshots_of, stack.id):
        assert snapshot.body is not None
        opened = engine.services.sealer.open(snapshot.body)
        data = Document(opened["document"], opened["hidden"]).whole()
        made["snapshot"].append(
            {
                "id": snapshot.id, "stack_id": stack.id, "name": snapshot.name, "status": "COMPLETE",
                "action": "CREATE", "status_reason": "", "data": json.dumps(data), "tenant": stack.project_id,
                "created_at": _time(snapshot.created_at),
            }
        )  # fmt: skip
    return made


def _time(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).replace(tzinfo=None).isoformat(sep=" ")
