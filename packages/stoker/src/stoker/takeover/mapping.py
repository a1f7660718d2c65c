"""Make the records of one tree of stacks from Heat's rows.

The rows say what each resource is: its object, its data, the property values it was given. The definition besides the
properties, and the types, come from the template that the resource was last converged with. Where the template and the
rows agree, a following update with the same template changes nothing.
"""

from __future__ import annotations

import orjson

from stoker.engine.records.beginnings import Holder, Requester, new_stack
from stoker.engine.records.loader import Prepared
from stoker.engine.records.services import EngineServices
from stoker.store.records import COMPLETE, FAILED, IN_PROGRESS, Stack
from stoker.takeover.decoding import Decoder
from stoker.takeover.definitions import Definitions
from stoker.takeover.heat import HeatStack, Row, parsed, seconds
from stoker.takeover.mapped import MappedStack, MappedTree, NotTransferable, record_id
from stoker.takeover.resources import ResourceMapper
from stoker.takeover.snapshots import SnapshotMapper
from stoker.template.expressions import Facade

INTERRUPTED = "was interrupted by the takeover from Heat; update or delete the stack to continue"
_DEFINING = ("CREATE", "UPDATE", "ROLLBACK", "ADOPT", "RESTORE")


class Mapper:
    """Maps trees of stacks with the types, limits and keys of an engine; `now` is in seconds since the epoch."""

    def __init__(self, services: EngineServices, decoder: Decoder, now: float) -> None:
        self._services = services
        self._decoder = decoder
        self._now = now
        self._definitions = Definitions(services, decoder)
        self._resources = ResourceMapper(services, decoder, self._definitions, now)
        self._snapshots = SnapshotMapper(services, self._definitions, now)

    def tree(self, root: HeatStack) -> MappedTree:
        """Return the records of a whole tree. Raises StokerError with the reason when it cannot be taken over."""
        mapped = MappedTree(root, self.digest(root))
        self._add_stack(mapped, root, None, None)
        mapped.stacks.sort(key=lambda mapped_stack: mapped_stack.stack.depth)
        return mapped

    def digest(self, root: HeatStack) -> str:
        """Return the digest of the state of a tree in Heat, which differs after any change."""
        state: list[object] = []
        for stack in root.tree():
            row = stack.row
            state.append([row["id"], row["name"], row["action"], row["status"], seconds(row["updated_at"])])
            state.append([row["raw_template_id"], stack.tags, len(stack.snapshots)])
            for resource in stack.resources:
                moment = seconds(resource["updated_at"])
                state.append([resource["id"], resource["action"], resource["status"], moment, resource["atomic_key"]])
        return self._services.sealer.digest(state)[:40]

    # -- stacks ----------------------------------------------------------------------------------------------

    def _add_stack(
        self, tree: MappedTree, source: HeatStack, parent: Stack | None, container: Row | None
    ) -> MappedStack:
        """Add a stack to the tree, with its resources and snapshots and the stacks inside.

        `container` is the row of the resource of `parent` that contains the stack; both None for the root.
        """
        _require_no_backups(source)
        mapped = self._mapped_stack(tree, source, parent, container)
        tree.stacks.append(mapped)
        self._resources.add(tree, mapped, self._children(tree, mapped))
        self._snapshots.add(tree, mapped)
        self._set_good_inputs(mapped)
        return mapped

    def _mapped_stack(
        self, tree: MappedTree, source: HeatStack, parent: Stack | None, container: Row | None
    ) -> MappedStack:
        """Return a stack with its present inputs, without anything that is inside. An unfinished action has failed."""
        prepared = self._definitions.prepared(source, source.row["raw_template_id"])
        stack = self._stack_row(tree, source, parent, container, prepared)
        if stack.status == IN_PROGRESS:
            stack.status, stack.reason = FAILED, f"{stack.action} {INTERRUPTED}"
            tree.notes.append(f"{stack.name}: {stack.action} is in progress, and is recorded as failed")
        mapped = MappedStack(source, stack, prepared, self._definitions.desired_state(stack, prepared.loaded))
        mapped.scope.parent = _facade(container)
        return mapped

    def _set_good_inputs(self, mapped: MappedStack) -> None:
        """Set the inputs to which a rollback returns: the present ones if they are complete, else the former ones."""
        source, stack = mapped.source, mapped.stack
        former = source.row["prev_raw_template_id"]
        if stack.action in _DEFINING and stack.status == COMPLETE:
            stack.good_inputs = mapped.inputs.row.id
        elif former is not None and former in source.templates:
            mapped.earlier_inputs.append(self._definitions.prepared(source, former))
            stack.good_inputs = mapped.earlier_inputs[-1].row.id

    def _children(self, tree: MappedTree, mapped: MappedStack) -> dict[int, MappedStack]:
        """Map the nested stacks; return them by the ID of the resource in Heat that contains each."""
        rows = mapped.source.resources
        nested: dict[int, MappedStack] = {}
        for child in mapped.source.children:
            containers = [row for row in rows if row["nova_instance"] == child.id] or [
                row for row in rows if row["name"] == child.row["parent_resource_name"]
            ]
            if not containers:
                raise NotTransferable(
                    f"stack {child.row['name']}: the resource of {mapped.stack.name} that contains it is not recorded"
                )
            container = containers[-1]
            nested[container["id"]] = self._add_stack(tree, child, mapped.stack, container)
        return nested

    def _stack_row(
        self, tree: MappedTree, source: HeatStack, parent: Stack | None, container: Row | None, prepared: Prepared
    ) -> Stack:
        row = source.row
        credential, owner = self._credential(tree, source) if parent is None else (parent.credential, parent.user_id)
        stack = new_stack(
            row["name"],
            row["action"],
            row["tenant"],
            Requester(owner, row["username"]),
            seconds(row["created_at"]) or self._now,
            identifier=source.id,
            timeout_minutes=row["timeout"],
            disable_rollback=bool(row["disable_rollback"]),
            prepared=prepared,
            holder=Holder(parent, container["uuid"], container["name"])
            if parent is not None and container is not None
            else None,
        )
        stack.status, stack.reason = row["status"], row["status_reason"] or ""
        stack.updated_at, stack.operation = seconds(row["updated_at"]), record_id(source, "operation")
        stack.credential, stack.user_project_id = credential, row["stack_user_project_id"]
        return stack

    def _credential(self, tree: MappedTree, source: HeatStack) -> tuple[str | None, str | None]:
        """Return the stack's trust as a credential, and the user whose it is."""
        row = source.credentials
        trust = row["trust_id"] if row is not None else None
        if row is None or not trust:
            tree.notes.append(
                f"{source.row['name']}: Heat has no trust of its owner; the owner's next request creates one"
            )
            return None, None
        plain = self._decoder.plain(row["decrypt_method"], trust)
        text = orjson.dumps({"kind": "trust", "id": plain}).decode()
        tree.credentials[text] = (row["trustor_user_id"] or "", row["tenant_id"] or source.row["tenant"])
        return text, row["trustor_user_id"]


def _require_no_backups(source: HeatStack) -> None:
    """Raise NotTransferable for a stack whose update, by a release without convergence, has not finished."""
    if any(backup.resources for backup in source.backups):
        raise NotTransferable(
            f"stack {source.row['name']}: an update of a release without convergence has not finished (there is a "
            "backup stack); finish it in Heat first"
        )


def _facade(container: Row | None) -> Facade | None:
    if container is None:
        return None
    return Facade(parsed(container["rsrc_metadata"]) or {}, "Delete", {})
