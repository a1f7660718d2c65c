"""Environments, the sessions in which they are configured, and their deployments.

A session works on a copy of the applications of an environment. The first session that is deployed makes a new version
of the environment; all other sessions of the former version are then invalid.
"""

from __future__ import annotations

import copy
from typing import Any

from openstack_emulator.catalog.object_model import class_of, identifier_of
from openstack_emulator.catalog.packages import Packages
from openstack_emulator.core.cloud import Records, new_hex_id
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import bad_request, conflict, forbidden, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Record

DEPLOYMENT_SECONDS = 10.0
DELETION_SECONDS = 3.0
STAMP = "%Y-%m-%dT%H:%M:%S"
OPEN, DEPLOYING, DEPLOYED = "open", "deploying", "deployed"
READY, PENDING, FAILED = "ready", "pending", "deploy failure"
DELETING, DELETION_FAILED = "deleting", "delete failure"
_LONGEST_NAME = 255


class Environments(Component):
    """Environments with their sessions and deployments."""

    def __init__(self, records: Records, packages: Packages) -> None:
        super().__init__(records)
        self._packages = packages
        self.rows = records.table("environments", "project_id")
        # Clients cannot list sessions: those that are never deployed exist until their environment is deleted.
        self.sessions = records.collection("sessions", ("environment_id",), internal=True)
        self.deployments = records.collection("deployments", ("environment_id",), internal=True)
        records.deferrable(self.finish_deployment, self.finish_deletion)

    # -- environments ----------------------------------------------------------------------------------------------

    def find(self, context: Context, key: str) -> Record:
        """Return an environment of the caller's project. Raises ApiError: 404, or 403 for one of another project."""
        row = self.rows.require(key)
        if not context.may_see(row):
            raise forbidden("User is not authorized to access these tenant resources")
        return row

    def create(self, context: Context, given: Any) -> Record:
        """Create an environment without applications. Raises ApiError: 400, or 409 for a name that is in use."""
        name = self._free_name(context.project, given)
        networks = given.get("defaultNetworks")
        if networks is not None and not isinstance(networks, dict):
            raise bad_request("defaultNetworks must be a JSON object")
        now = self.records.timestamp(STAMP)
        return self.rows.add(
            {
                "id": new_hex_id(),
                "name": name,
                "project_id": context.project,
                "created": now,
                "updated": now,
                "version": 0,
                "region": given.get("region"),
                "default_networks": networks,
                "services": [],
                "outcome": READY,
            }
        )

    def rename(self, row: Record, given: Any) -> None:
        """Rename an environment. Raises ApiError: 400, or 409 for a name that is in use."""
        name = self._free_name(row["project_id"], given, row)
        self.rows.update(row, name=name, updated=self.records.timestamp(STAMP))

    def _free_name(self, project_id: str, given: Any, own: Record | None = None) -> str:
        name = given.get("name") if isinstance(given, dict) else None
        if not isinstance(name, str) or not name.strip():
            raise bad_request("Environment name must contain at least one non-white space symbol")
        if len(name) > _LONGEST_NAME:
            raise bad_request("Environment name should be 255 characters maximum")
        if any(row is not own for row in self.rows.select(project_id=project_id, name=name)):
            raise conflict("Environment with specified name already exists")
        return name

    def status(self, row: Record) -> str:
        """Return the status: that of the deletion or the deployment; `pending` if a session has changes."""
        if row["outcome"] in (DELETING, DELETION_FAILED):
            return str(row["outcome"])
        sessions = self.sessions.select(environment_id=row["id"])
        if any(session["state"] == DEPLOYING for session in sessions):
            return DEPLOYING
        drafts = (session for session in sessions if session["state"] == OPEN)
        if any(session["changed"] and self._is_valid(row, session) for session in drafts):
            return PENDING
        return str(row["outcome"])

    def delete(self, row: Record, abandon: bool) -> None:
        """Delete an environment, at once if nothing is deployed or it is abandoned.

        Raises: ApiError 403 while it is being deployed.
        """
        status = self.status(row)
        if abandon:
            self._remove(row)
        elif status == DEPLOYING:
            raise forbidden("Environment is in deploying state and could not be deleted")
        elif not row["services"]:
            self._remove(row)
        elif status != DELETING:
            row.pop("_fault", None)
            self.rows.update(row, outcome=DELETING, updated=self.records.timestamp(STAMP))
            self.after(DELETION_SECONDS, self.finish_deletion, row["id"])

    def finish_deletion(self, key: str) -> None:
        """Remove an environment whose applications have been deleted."""
        row = self.rows.get(key)
        if row is None or row["outcome"] != DELETING:
            return
        if row.pop("_fault", None) is None:
            self._remove(row)
        else:
            self.rows.update(row, outcome=DELETION_FAILED)

    def _remove(self, row: Record) -> None:
        for rows in (self.sessions, self.deployments):
            for one in rows.select(environment_id=row["id"]):
                rows.remove(one)
        self.rows.remove(row)

    # -- sessions --------------------------------------------------------------------------------------------------

    def configure(self, context: Context, row: Record) -> Record:
        """Open a session. Raises ApiError 403 while the environment is being deployed or deleted."""
        status = self.status(row)
        if status in (DEPLOYING, DELETING):
            raise forbidden(f"Could not open session for environment {row['id']}: it has the status {status}")
        now = self.records.timestamp(STAMP)
        return self.sessions.add(
            {
                "id": new_hex_id(),
                "environment_id": row["id"],
                "user_id": context.user_id,
                "created": now,
                "updated": now,
                "version": row["version"],
                "state": OPEN,
                "services": copy.deepcopy(row["services"]),
                "changed": False,
            }
        )

    def session(self, row: Record, key: str) -> Record:
        """Return a session of the environment. Raises ApiError: 404, or 403 if it is invalid."""
        found = self.sessions.get(key)
        if found is None or found["environment_id"] != row["id"]:
            raise not_found(f"Session <SessionId {key}> is not found")
        if not self._is_valid(row, found):
            raise forbidden(f"Session <SessionId {key}> is invalid: the environment has been deployed since")
        return found

    def _is_valid(self, row: Record, session: Record) -> bool:
        return bool(session["state"] != OPEN or session["version"] == row["version"])

    def draft(self, row: Record, key: str) -> Record:
        """Return a session whose applications can be changed. Raises ApiError: 404, or 403."""
        session = self.session(row, key)
        if session["state"] != OPEN:
            raise forbidden(f"Session <SessionId {key}> is in {session['state']} state and could not be updated")
        return session

    def set_services(self, session: Record, services: list[Any]) -> None:
        """Replace the applications of a session."""
        self.sessions.update(session, services=services, changed=True, updated=self.records.timestamp(STAMP))

    def close(self, session: Record) -> None:
        """Delete a session. Raises ApiError 403 while it is being deployed."""
        if session["state"] == DEPLOYING:
            raise forbidden(f"Session <SessionId: {session['id']}> is in deploying state and could not be deleted")
        self.sessions.remove(session)

    # -- deployments -----------------------------------------------------------------------------------------------

    def deploy(self, row: Record, session: Record) -> None:
        """Begin to deploy a session. Raises ApiError 403 if that has been done, or another one is being deployed."""
        if session["state"] != OPEN or self.status(row) in (DEPLOYING, DELETING):
            raise forbidden(f"Session <SessionId {session['id']}> is already deployed or deployment is in progress")
        now = self.records.timestamp(STAMP)
        session.pop("_fault", None)
        self.sessions.update(session, state=DEPLOYING, updated=now)
        self.deployments.add(
            {
                "id": new_hex_id(),
                "environment_id": row["id"],
                "session_id": session["id"],
                "created": now,
                "updated": now,
                "started": now,
                "finished": None,
                "state": "running",
                "description": {
                    "name": row["name"],
                    "services": copy.deepcopy(session["services"]),
                    "?": {"id": row["id"], "type": "io.murano.Environment"},
                },
                "reports": [],
            }
        )
        self.after(DEPLOYMENT_SECONDS, self.finish_deployment, session["id"])

    def finish_deployment(self, key: str) -> None:
        """Make the applications of a session those of the environment; an unknown class makes the deployment fail."""
        session = self.sessions.get(key)
        row = None if session is None else self.rows.get(session["environment_id"])
        if session is None or row is None or session["state"] != DEPLOYING:
            return
        now = self.records.timestamp(STAMP)
        fault = session.pop("_fault", None)
        problems = self._problems(row, session)
        if fault is not None:
            problems.append((row["id"], str(fault)))
        failed = bool(problems)
        reports = [("error", *one) for one in problems] or [("info", row["id"], "Deployment finished")]
        [deployment] = [one for one in self.deployments.select(environment_id=row["id"]) if one["session_id"] == key]
        self.deployments.update(
            deployment,
            state="completed_w_errors" if failed else "success",
            finished=now,
            updated=now,
            reports=[
                {"id": new_hex_id(), "level": level, "entity_id": entity, "text": text, "created": now, "updated": now}
                for level, entity, text in reports
            ],
        )
        self.sessions.update(session, state=FAILED if failed else DEPLOYED, updated=now)
        self.rows.update(
            row,
            services=session["services"],
            version=row["version"] + 1,
            outcome=FAILED if failed else READY,
            updated=now,
        )

    def _problems(self, row: Record, session: Record) -> list[tuple[str, str]]:
        """Return what is wrong with the applications of a session: their IDs, and what to report."""
        found = []
        for service in session["services"]:
            name = class_of(service)
            if not self._packages.provides(row["project_id"], name):
                found.append((identifier_of(service), f"Package for class {name} is not found"))
        return found
