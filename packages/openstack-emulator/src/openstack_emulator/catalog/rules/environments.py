"""Environments, the sessions in which they are configured, and their deployments.

A session works on a copy of the applications of an environment. The first session that is deployed makes a new version
of the environment; all other sessions of the former version are then invalid.
"""

from __future__ import annotations

import copy

from openstack_emulator.catalog.records import Applications, Deployment, Environment, Report, Session
from openstack_emulator.catalog.rules.object_model import class_of, identifier_of
from openstack_emulator.catalog.rules.packages import Packages
from openstack_emulator.core.cloud import Records, new_hex_id
from openstack_emulator.core.errors import conflict, forbidden, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules

DEPLOYMENT_SECONDS = 10.0
DELETION_SECONDS = 3.0
STAMP = "%Y-%m-%dT%H:%M:%S"
OPEN, DEPLOYING, DEPLOYED = "open", "deploying", "deployed"
READY, PENDING, FAILED = "ready", "pending", "deploy failure"
DELETING, DELETION_FAILED = "deleting", "delete failure"


class Environments(Rules):
    """Environments with their sessions and deployments."""

    def __init__(self, records: Records, packages: Packages) -> None:
        super().__init__(records)
        self._packages = packages
        self.rows = records.table("environments", Environment, "project_id")
        # Clients cannot list sessions: those that are never deployed exist until their environment is deleted.
        self.sessions = records.table("sessions", Session, "environment_id", internal=True)
        self.deployments = records.table("deployments", Deployment, "environment_id", internal=True)
        records.deferrable(self.finish_deployment, self.finish_deletion)

    # -- environments ----------------------------------------------------------------------------------------------

    def find(self, context: Context, key: str) -> Environment:
        """Return an environment of the caller's project. Raises ApiError: 404, or 403 for one of another project."""
        row = self.rows.require(key)
        if not context.may_see(row):
            raise forbidden("User is not authorized to access these tenant resources")
        return row

    def create(
        self, context: Context, name: str, region: object, default_networks: dict[str, object] | None
    ) -> Environment:
        """Create an environment without applications."""
        now = self.records.timestamp(STAMP)
        return self.rows.add(
            Environment(
                id=new_hex_id(),
                name=name,
                project_id=context.project,
                created=now,
                updated=now,
                version=0,
                region=region,
                default_networks=default_networks,
                services=[],
                outcome=READY,
            )
        )

    def rename(self, row: Environment, name: str) -> None:
        """Rename an environment."""
        row.name, row.updated = name, self.records.timestamp(STAMP)
        self.rows.save(row)

    def require_free_name(self, project_id: str, name: str, own: Environment | None = None) -> None:
        """Raise ApiError 409 for a name that another environment of the project has."""
        if any(row is not own for row in self.rows.select(project_id=project_id, name=name)):
            raise conflict("Environment with specified name already exists")

    def status(self, row: Environment) -> str:
        """Return the status: that of the deletion or the deployment; `pending` if a session has changes."""
        if row.outcome in (DELETING, DELETION_FAILED):
            return row.outcome
        sessions = self.sessions.select(environment_id=row.id)
        if any(session.state == DEPLOYING for session in sessions):
            return DEPLOYING
        drafts = (session for session in sessions if session.state == OPEN)
        if any(session.changed and self._is_valid(row, session) for session in drafts):
            return PENDING
        return row.outcome

    def delete(self, row: Environment, abandon: bool) -> None:
        """Delete an environment, at once if nothing is deployed or it is abandoned.

        Raises: ApiError 403 while it is being deployed.
        """
        status = self.status(row)
        if abandon:
            self._remove(row)
        elif status == DEPLOYING:
            raise forbidden("Environment is in deploying state and could not be deleted")
        elif not row.services:
            self._remove(row)
        elif status != DELETING:
            row.take_fault()
            row.outcome, row.updated = DELETING, self.records.timestamp(STAMP)
            self.rows.save(row)
            self.after(DELETION_SECONDS, self.finish_deletion, row.id)

    def finish_deletion(self, key: str) -> None:
        """Remove an environment whose applications have been deleted."""
        row = self.rows.get(key)
        if row is None or row.outcome != DELETING:
            return
        if row.take_fault() is None:
            self._remove(row)
        else:
            row.outcome = DELETION_FAILED
            self.rows.save(row)

    def _remove(self, row: Environment) -> None:
        for session in self.sessions.select(environment_id=row.id):
            self.sessions.remove(session)
        for deployment in self.deployments.select(environment_id=row.id):
            self.deployments.remove(deployment)
        self.rows.remove(row)

    # -- sessions --------------------------------------------------------------------------------------------------

    def configure(self, context: Context, row: Environment) -> Session:
        """Open a session. Raises ApiError 403 while the environment is being deployed or deleted."""
        status = self.status(row)
        if status in (DEPLOYING, DELETING):
            raise forbidden(f"Could not open session for environment {row.id}: it has the status {status}")
        now = self.records.timestamp(STAMP)
        return self.sessions.add(
            Session(
                id=new_hex_id(),
                environment_id=row.id,
                user_id=context.user_id,
                created=now,
                updated=now,
                version=row.version,
                state=OPEN,
                services=copy.deepcopy(row.services),
                changed=False,
            )
        )

    def session(self, row: Environment, key: str) -> Session:
        """Return a session of the environment. Raises ApiError: 404, or 403 if it is invalid."""
        found = self.sessions.get(key)
        if found is None or found.environment_id != row.id:
            raise not_found(f"Session <SessionId {key}> is not found")
        if not self._is_valid(row, found):
            raise forbidden(f"Session <SessionId {key}> is invalid: the environment has been deployed since")
        return found

    def _is_valid(self, row: Environment, session: Session) -> bool:
        return session.state != OPEN or session.version == row.version

    def draft(self, row: Environment, key: str) -> Session:
        """Return a session whose applications can be changed. Raises ApiError: 404, or 403."""
        session = self.session(row, key)
        if session.state != OPEN:
            raise forbidden(f"Session <SessionId {key}> is in {session.state} state and could not be updated")
        return session

    def set_services(self, session: Session, services: Applications) -> None:
        """Replace the applications of a session."""
        session.services, session.changed, session.updated = services, True, self.records.timestamp(STAMP)
        self.sessions.save(session)

    def close(self, session: Session) -> None:
        """Delete a session. Raises ApiError 403 while it is being deployed."""
        if session.state == DEPLOYING:
            raise forbidden(f"Session <SessionId: {session.id}> is in deploying state and could not be deleted")
        self.sessions.remove(session)

    # -- deployments -----------------------------------------------------------------------------------------------

    def deploy(self, row: Environment, session: Session) -> None:
        """Begin to deploy a session. Raises ApiError 403 if that has been done, or another one is being deployed."""
        if session.state != OPEN or self.status(row) in (DEPLOYING, DELETING):
            raise forbidden(f"Session <SessionId {session.id}> is already deployed or deployment is in progress")
        now = self.records.timestamp(STAMP)
        session.take_fault()
        session.state, session.updated = DEPLOYING, now
        self.sessions.save(session)
        self.deployments.add(
            Deployment(
                id=new_hex_id(),
                environment_id=row.id,
                session_id=session.id,
                created=now,
                updated=now,
                started=now,
                finished=None,
                state="running",
                description={
                    "name": row.name,
                    "services": copy.deepcopy(session.services),
                    "?": {"id": row.id, "type": "io.murano.Environment"},
                },
                reports=[],
            )
        )
        self.after(DEPLOYMENT_SECONDS, self.finish_deployment, session.id)

    def finish_deployment(self, key: str) -> None:
        """Make the applications of a session those of the environment; an unknown class makes the deployment fail."""
        session = self.sessions.get(key)
        row = None if session is None else self.rows.get(session.environment_id)
        if session is None or row is None or session.state != DEPLOYING:
            return
        now = self.records.timestamp(STAMP)
        fault = session.take_fault()
        problems = self._problems(row, session)
        if fault is not None:
            problems.append((row.id, fault))
        failed = bool(problems)
        reports = [("error", *problem) for problem in problems] or [("info", row.id, "Deployment finished")]
        [deployment] = [
            deployment for deployment in self.deployments.select(environment_id=row.id) if deployment.session_id == key
        ]
        deployment.state = "completed_w_errors" if failed else "success"
        deployment.finished = deployment.updated = now
        deployment.reports = [
            Report(id=new_hex_id(), level=level, entity_id=entity, text=text, created=now, updated=now)
            for level, entity, text in reports
        ]
        self.deployments.save(deployment)
        session.state, session.updated = FAILED if failed else DEPLOYED, now
        self.sessions.save(session)
        row.services, row.version, row.updated = session.services, row.version + 1, now
        row.outcome = FAILED if failed else READY
        self.rows.save(row)

    def _problems(self, row: Environment, session: Session) -> list[tuple[str, str]]:
        """Return what is wrong with the applications of a session: their IDs, and what to report."""
        found = []
        for service in session.services:
            name = class_of(service)
            if not self._packages.provides(row.project_id, name):
                found.append((identifier_of(service), f"Package for class {name} is not found"))
        return found
