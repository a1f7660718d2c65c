"""Workflows, workbooks and ad-hoc actions: their definitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.workflow.records import (
    ActionSpec,
    AdhocAction,
    Definition,
    Spec,
    Workbook,
    WorkbookSpec,
    Workflow,
    WorkflowSpec,
)
from openstack_emulator.workflow.rules.actions import ACTIONS
from openstack_emulator.workflow.rules.language import actions_of, workbook_of, workflows_of
from openstack_emulator.workflow.rules.sharing import SECONDS_FORM, WorkflowSharing

_ENTITIES = {"workflows": "WorkflowDefinition", "workbooks": "WorkbookDefinition", "actions": "Action"}
"""What messages about duplicates call the definitions, by collection."""
D = TypeVar("D", bound=Definition)
S = TypeVar("S", WorkflowSpec, ActionSpec)


class Definitions(Rules):
    """Definitions.

    triggers: those that start workflows, by kind; a workflow is not deleted while one of them has its ID.
    """

    def __init__(self, records: Records, sharing: WorkflowSharing, triggers: Mapping[str, Table[Any]]) -> None:
        super().__init__(records)
        self.sharing = sharing
        self.workflows = records.table("workflows", Workflow, "name", missing=missing_workflow)
        self.actions = records.table("actions", AdhocAction, "name", missing=missing_action)
        self.workbooks = records.table("workbooks", Workbook, "name", missing=missing_workbook)
        self._triggers = triggers

    # -- reading -------------------------------------------------------------------------------------------------

    def workflow(self, context: Context, key: str, namespace: str = "") -> Workflow:
        """Return a workflow by its ID, or by its name. Raises ApiError 404."""
        found = self.workflows.get(key)
        if found is not None and self.sharing.is_visible(context, found):
            return found
        return self._named(self.workflows, context, key, namespace)

    def find_workflow(self, project: str, name: str, namespace: str) -> Workflow | None:
        """Return the workflow that a name means in a project, also from the default namespace."""
        for space in dict.fromkeys((namespace, "")):
            found = [
                row
                for row in self.workflows.select(name=name, namespace=space)
                if row.project_id == project or row.scope == "public" or self._is_member(row, project)
            ]
            if found:
                return min(found, key=lambda row: row.project_id != project)
        return None

    def _is_member(self, row: Definition, project: str) -> bool:
        return self.sharing.members.first(resource_id=row.id, member_id=project, status="accepted") is not None

    def find_action(self, project: str, name: str) -> AdhocAction | None:
        """Return the ad-hoc action that a name means in a project."""
        found = [row for row in self.actions.select(name=name) if project == row.project_id or row.scope == "public"]
        return min(found, key=lambda row: row.project_id != project, default=None)

    def action(self, context: Context, key: str) -> AdhocAction:
        """Return an ad-hoc action by its ID or name. Raises ApiError 404."""
        found = self._action(context, key)
        if found is None:
            raise missing_action(key)
        return found

    def _action(self, context: Context, key: str) -> AdhocAction | None:
        found = self.actions.get(key)
        seen = found is not None and self.sharing.is_visible(context, found)
        return found if seen else self._visible(self.actions, context, key, "")

    def workbook(self, context: Context, name: str) -> Workbook:
        """Return a workbook by its name. Raises ApiError 404."""
        return self._named(self.workbooks, context, name, "")

    def _named(self, rows: Table[D], context: Context, name: str, namespace: str) -> D:
        found = self._visible(rows, context, name, namespace)
        if found is None:
            raise rows.missing(name)
        return found

    def _visible(self, rows: Table[D], context: Context, name: str, namespace: str) -> D | None:
        """Return the definition that a name means for the caller: one of the caller's project comes first."""
        named = [row for row in rows.select(name=name, namespace=namespace) if self.sharing.is_visible(context, row)]
        return min(named, key=lambda row: row.project_id != context.project_id, default=None)

    # -- writing -------------------------------------------------------------------------------------------------

    def create_workflows(self, context: Context, text: str, scope: str, namespace: str) -> list[Workflow]:
        """Create the workflows of a definition. Raises ApiError 400, 409."""
        specs = workflows_of(text)
        self._require_free(self.workflows, context, specs, namespace)
        return [self._add(self.workflows, Workflow, context, spec, text, scope, namespace) for spec in specs.values()]

    def update_workflows(
        self, context: Context, text: str, scope: str | None, namespace: str, key: str | None
    ) -> list[Workflow]:
        """Replace or create the workflows of a definition; with `key`, replace the one with this ID or name."""
        specs = workflows_of(text)
        if key is not None:
            if len(specs) != 1:
                raise bad_request("More than one workflows are not supported for update with identifier.")
            row = self._own(self.workflow(context, key, namespace), context)
            return [self._change(self.workflows, row, next(iter(specs.values())), text, scope)]
        known = {name: self._visible(self.workflows, context, name, namespace) for name in specs}
        own = {name: self._own(row, context) for name, row in known.items() if row is not None}
        new = {
            name: self._add(self.workflows, Workflow, context, spec, text, scope or "private", namespace)
            for name, spec in specs.items()
            if name not in own
        }
        rows = {**own, **new}
        return [self._change(self.workflows, rows[name], spec, text, scope) for name, spec in specs.items()]

    def remove_workflow(self, context: Context, key: str, namespace: str) -> None:
        """Delete a workflow. Raises ApiError: 404, or 400 while a trigger needs it."""
        row = self._own(self.workflow(context, key, namespace), context)
        for kind, rows in self._triggers.items():
            if found := ", ".join(trigger.id for trigger in rows.select(workflow_id=row.id)):
                raise bad_request(
                    f"Can't delete workflow that has {kind} triggers associated. "
                    f"[workflow_identifier={key}, namespace={namespace}], [{kind}_trigger_id(s)={found}]"
                )
        self.workflows.remove(row)
        self.sharing.forget(row.id)

    def create_actions(self, context: Context, text: str, scope: str) -> list[AdhocAction]:
        """Create the ad-hoc actions of a definition. Raises ApiError 400, 409."""
        specs = actions_of(text)
        self._check_actions(specs)
        self._require_free(self.actions, context, specs, "")
        return [self._add(self.actions, AdhocAction, context, spec, text, scope, "") for spec in specs.values()]

    def update_actions(self, context: Context, text: str, scope: str | None) -> list[AdhocAction]:
        """Replace the definitions of existing ad-hoc actions."""
        specs = actions_of(text)
        self._check_actions(specs)
        rows = [self._own(self.action(context, name), context) for name in specs]
        return [
            self._change(self.actions, row, spec, text, scope) for row, spec in zip(rows, specs.values(), strict=True)
        ]

    def remove_action(self, context: Context, key: str) -> None:
        """Delete an ad-hoc action; for those of the service, there is no definition. Raises ApiError 403, 404."""
        found = self._action(context, key)
        if found is None:
            raise not_found(f"Action definition not found [action_name={key}, namespace=]")
        self.actions.remove(self._own(found, context))

    def create_workbook(self, context: Context, text: str, scope: str, namespace: str) -> Workbook:
        """Create a workbook; create or replace its workflows and actions. Raises ApiError 400, 409."""
        book, workflows, actions = self._read_workbook(text)
        self._require_unused(self.workbooks, context.project, book.name, namespace)
        row = self._add(self.workbooks, Workbook, context, book, text, scope, namespace)
        self._set_parts(context, row, workflows, actions)
        return row

    def update_workbook(self, context: Context, text: str, scope: str | None) -> Workbook:
        """Replace a workbook; create or replace its workflows and actions."""
        book, workflows, actions = self._read_workbook(text)
        row = self._own(self.workbook(context, book.name), context)
        self._change(self.workbooks, row, book, text, scope)
        self._set_parts(context, row, workflows, actions)
        return row

    def remove_workbook(self, context: Context, name: str) -> None:
        """Delete a workbook; its workflows and actions stay. Raises ApiError."""
        found = self._visible(self.workbooks, context, name, "")
        if found is None:
            raise not_found(f"Workbook not found [workbook_name={name}, namespace=]")
        self.workbooks.remove(self._own(found, context))

    def _read_workbook(self, text: str) -> tuple[WorkbookSpec, dict[str, WorkflowSpec], dict[str, ActionSpec]]:
        """Return a workbook, and its workflows and actions by their full names, `<workbook>.<name>`."""
        book, workflows, actions = workbook_of(text)
        self._check_actions(actions)
        return book, _within(book, workflows), _within(book, actions)

    def _check_actions(self, specs: Mapping[str, ActionSpec]) -> None:
        """Refuse ad-hoc actions that are not based on an action of the service."""
        for name, spec in specs.items():
            if name in ACTIONS:
                raise conflict(f"Duplicate entry for ActionDefinition: {name} is a system action")
            if spec.base not in ACTIONS:
                raise bad_request(f"The base of action {name} must be an action of the service, not {spec.base}.")

    def _set_parts(
        self, context: Context, book: Workbook, workflows: Mapping[str, Spec], actions: Mapping[str, Spec]
    ) -> None:
        for spec in workflows.values():
            self._set_part(context, book, self.workflows, Workflow, spec, book.namespace)
        for spec in actions.values():
            self._set_part(context, book, self.actions, AdhocAction, spec, "")

    def _set_part(
        self, context: Context, book: Workbook, rows: Table[D], kind: type[D], spec: Spec, namespace: str
    ) -> None:
        known = rows.first(name=spec.name, project_id=book.project_id, namespace=namespace)
        if known is not None:
            self._change(rows, known, spec, book.definition, book.scope)
        else:
            self._add(rows, kind, context, spec, book.definition, book.scope, namespace)

    def _add(
        self,
        rows: Table[D],
        kind: type[D],
        context: Context,
        spec: Spec,
        text: str,
        scope: str,
        namespace: str,
    ) -> D:
        return rows.add(
            kind(
                id=new_id(),
                name=spec.name,
                namespace=namespace,
                project_id=context.project,
                scope=scope,
                description=spec.description,
                tags=spec.tags or [],
                definition=text,
                created_at=self.records.timestamp(SECONDS_FORM),
                updated_at=None,
                spec=spec,
            )
        )

    def _change(self, rows: Table[D], row: D, spec: Spec, text: str, scope: str | None) -> D:
        if spec.name != row.name:
            self._require_unused(rows, row.project_id, spec.name, row.namespace)
        row.name = spec.name
        row.scope = scope or row.scope
        row.description = spec.description
        row.tags = spec.tags or []
        row.definition = text
        row.updated_at = self.records.timestamp(SECONDS_FORM)
        row.spec = spec
        rows.save(row)
        return row

    def _require_free(self, rows: Table[D], context: Context, names: Mapping[str, Any], namespace: str) -> None:
        for name in names:
            self._require_unused(rows, context.project, name, namespace)

    def _require_unused(self, rows: Table[D], project: str, name: str, namespace: str) -> None:
        if rows.first(name=name, project_id=project, namespace=namespace) is not None:
            keys = "['name', 'namespace', 'project_id']"
            raise conflict(f"Duplicate entry for {_ENTITIES[rows.name]} {keys}: {name}, {namespace}, None")

    def _own(self, row: D, context: Context) -> D:
        """Return a definition that the caller may change. Raises ApiError 403."""
        if not context.may_see(row):
            raise ApiError(403, f"The definition {row.name} belongs to another project.")
        return row


def _within(book: WorkbookSpec, specs: Mapping[str, S]) -> dict[str, S]:
    """Return definitions of a workbook by their full names."""
    named = [replace(spec, name=f"{book.name}.{name}") for name, spec in specs.items()]
    return {spec.name: spec for spec in named}


def missing_workflow(key: str) -> ApiError:
    """Return the 404 for a workflow."""
    return not_found(f"Workflow not found [workflow_identifier={key}, namespace=]")


def missing_action(key: str) -> ApiError:
    """Return the 404 for an action."""
    return not_found(f"Action not found [name={key}, namespace=]")


def missing_workbook(key: str) -> ApiError:
    """Return the 404 for a workbook."""
    return not_found(f"Workbook not found [name={key}, namespace=]")
