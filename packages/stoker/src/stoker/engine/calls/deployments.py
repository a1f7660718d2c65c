"""Software configurations and deployments, and their delivery to servers.

A server applies the configurations of its deployments: the list in its metadata is composed on every read, and is
written to the object store or queue that the server polls whenever it changes.

A deployment belongs to a project, and is delivered only to servers in stacks of that project. For the id of any other
server nothing is delivered, and its owner sees nothing of the deployment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Connection

from stoker.base.errors import RequestLimitExceeded
from stoker.engine.calls.context import RecordingComponents, Runs
from stoker.engine.records.services import EngineServices
from stoker.plugins.agents import AGENT, DEPLOYMENTS
from stoker.plugins.transports import configuration_transports, used
from stoker.store import deployments, queries, software_configs
from stoker.store.journal import Batch, Writer
from stoker.store.records import SoftwareConfig, SoftwareDeployment
from stoker.store.sealing import Sealer
from stoker_foundation.clock import isoformat

_BODY = ("config", "inputs", "outputs", "options", "stacks")
"""The sealed fields; `stacks` are the ids of the stacks whose hidden values they can contain."""


@dataclass(slots=True)
class StoredConfigs:
    """Implements plugins.resource.SoftwareConfigs."""

    services: EngineServices
    project_id: str
    writer: Writer

    async def create(self, identifier: str, body: Mapping[str, Any]) -> None:
        """Store a configuration under an id chosen by the caller; repeating the call has no effect.

        Raises RequestLimitExceeded if the project has reached its limit.
        """
        if await self._row(identifier) is None:
            await self._check_quota()
            row = SoftwareConfig(
                id=identifier,
                project_id=self.project_id,
                name=str(body.get("name") or ""),
                group=str(body.get("group") or "Heat::Ungrouped"),
                body=self.services.sealer.seal({key: body.get(key) for key in _BODY}),
                created_at=self.services.clock.now(),
            )
            await self.writer.commit(Batch().add(row))

    async def _check_quota(self) -> None:
        limit = self.services.settings.max_software_configs_per_tenant
        if limit < 0:
            return
        count = await self.services.database.read(software_configs.count_software_configs, self.project_id, limit)
        if count >= limit:
            raise RequestLimitExceeded(
                f"The project has {limit} software configurations, and more are not allowed "
                "(max_software_configs_per_tenant). Delete configurations that are not used."
            )

    async def get(self, identifier: str) -> Mapping[str, Any] | None:
        """Return the configuration; None if it does not exist or belongs to another project."""
        row = await self._row(identifier)
        if row is None:
            return None
        return {
            "id": row.id,
            "name": row.name,
            "group": row.group,
            "creation_time": row.created_at,
            **self.services.sealer.open(row.body),
        }

    async def delete(self, identifier: str) -> None:
        """Delete the configuration if it exists."""

        def remove(connection: Connection) -> None:
            software_configs.delete_software_config(connection, identifier)

        if await self._row(identifier) is not None:
            await self.writer.commit(Batch().then(remove))

    async def _row(self, identifier: str) -> SoftwareConfig | None:
        row = await self.services.database.read(software_configs.software_config, identifier)
        return row if row is not None and row.project_id == self.project_id else None


_SEALED = ("input_values", "output_values")
_PLAIN = ("config_id", "action", "status", "status_reason")


@dataclass(slots=True)
class StoredDeployments:
    """Implements plugins.resource.SoftwareDeployments."""

    services: EngineServices
    project_id: str
    writer: Writer
    wake: Callable[[str], None] = lambda identifier: None

    async def create(self, identifier: str, body: Mapping[str, Any]) -> None:
        """Store a deployment under an id chosen by the caller; repeating the call has no effect.

        Raises RequestLimitExceeded if the project has reached its limit.
        """
        if await self._row(identifier) is None:
            await self._check_quota()
            row = SoftwareDeployment(
                id=identifier,
                project_id=self.project_id,
                server_id=body["server_id"],
                stack_user_project_id=body.get("stack_user_project_id"),
                config_id=body["config_id"],
                action=body.get("action"),
                status=body.get("status"),
                status_reason=body.get("status_reason"),
                body=self.services.sealer.seal({name: body.get(name) for name in _SEALED}),
                created_at=self.services.clock.now(),
                updated_at=None,
            )
            await self.writer.commit(Batch().add(row))
        await self.push(body["server_id"])

    async def _check_quota(self) -> None:
        limit = self.services.settings.max_software_deployments_per_tenant
        if limit < 0:
            return
        count = await self.services.database.read(deployments.count_in, self.project_id, limit)
        if count >= limit:
            raise RequestLimitExceeded(
                f"The project has {limit} software deployments, and more are not allowed "
                "(max_software_deployments_per_tenant). Delete deployments that are not used."
            )

    async def get(self, identifier: str) -> Mapping[str, Any] | None:
        """Return the deployment; None if it does not exist or belongs to another project."""
        row = await self._row(identifier)
        return None if row is None else deployment_data(row, self.services.sealer)

    async def update(self, identifier: str, values: Mapping[str, object]) -> None:
        """Change the given values, if the deployment exists."""
        row = await self._row(identifier)
        if row is None:
            return
        for name in _PLAIN:
            if name in values:
                setattr(row, name, values[name])
        body = self.services.sealer.open(row.body)
        row.body = self.services.sealer.seal(body | {name: values[name] for name in _SEALED if name in values})
        row.updated_at = self.services.clock.now()
        if "config_id" in values:
            row.delivered_at = None
        await self.writer.commit(Batch().change(row))
        if "config_id" in values:
            await self.push(row.server_id)
        self.wake(identifier)

    async def delete(self, identifier: str) -> None:
        """Delete the deployment if it exists."""
        row = await self._row(identifier)
        if row is not None:
            await self.writer.commit(Batch().then(partial(deployments.remove, identifier=identifier)))
            await self.push(row.server_id)

    async def push(self, server_id: str) -> None:
        """Write a server's recorded metadata to the object or queue that it polls, if any.

        Raises CloudError.
        """
        await _push(self.services, server_id, self.project_id)

    async def _row(self, identifier: str) -> SoftwareDeployment | None:
        row = await self.services.database.read(deployments.by_id, identifier)
        return row if row is not None and row.project_id == self.project_id else None


def deployment_data(row: SoftwareDeployment, sealer: Sealer) -> dict[str, object]:
    """Return a deployment as plain data."""
    plain = {name: value for name, value in row.values().items() if name != "body"}
    return {**plain, **sealer.open(row.body)}


def wake(runs: Runs, identifier: str) -> None:
    """Poll the resource that waits for a deployment; the two have the same id."""
    for run in list(runs.values()):
        if identifier in run.states:
            run.wake(identifier)


async def configs_for(services: EngineServices, server_id: str, project_id: str) -> list[dict[str, object]]:
    """Return the configurations that a project deploys to a server, sorted by name. Times are in seconds."""
    rows: Sequence[SoftwareConfig] = await services.database.read(deployments.configs_for, server_id, project_id)
    return [
        {
            "id": row.id,
            "name": row.name,
            "group": row.group,
            "created_at": row.created_at,
            "project_id": row.project_id,
            **services.sealer.open(row.body),
        }
        for row in rows
    ]


def takes_deployments(metadata: Mapping[str, object], server_id: str | None) -> bool:
    """Return whether a resource with these recorded metadata is a server that receives deployments."""
    return server_id is not None and {AGENT, DEPLOYMENTS} <= metadata.keys()


def with_configs(metadata: Mapping[str, object], configs: Iterable[Mapping[str, object]]) -> dict[str, object]:
    """Return a server's metadata with the configurations that it applies, in the format of the agents."""
    return {**metadata, DEPLOYMENTS: [_for_agent(config) for config in configs]}


def _for_agent(config: Mapping[str, Any]) -> dict[str, object]:
    shown = {key: config[key] for key in ("id", "name", "group", "config", "inputs", "outputs", "options")}
    return shown | {"creation_time": isoformat(config["created_at"])}


async def agent_metadata(
    services: EngineServices, metadata: Mapping[str, object], server_id: str | None, project_id: str
) -> dict[str, object]:
    """Return a resource's metadata for its own agent, without redaction."""
    if server_id is None or not takes_deployments(metadata, server_id):
        return dict(metadata)
    return with_configs(metadata, await configs_for(services, server_id, project_id))


async def note_delivery(components: RecordingComponents, server_id: str, project_id: str) -> None:
    """Record that the agent on a server has requested its configurations, so that deployments say what they wait for.

    Only the first request after a change of a deployment writes to the database.
    """
    services = components.services
    waiting = await services.database.read(deployments.undelivered, server_id, project_id)
    if not waiting:
        return
    now = services.clock.now()
    await services.journal.commit(Batch().then(partial(deployments.set_delivered, identifiers=waiting, now=now)))
    for identifier in waiting:
        wake(components.runs, identifier)


async def _push(services: EngineServices, server_id: str, project_id: str) -> None:
    """Write the metadata of the project's server to the object or queue that its agent polls. Raises CloudError."""
    for row in await services.database.read(deployments.server_resources, server_id, project_id):
        state = services.sealer.open(row.state) if row.state else {}
        data = state.get("data") or {}
        transports = used(configuration_transports(), data)
        stack = await services.database.read(queries.stack_by_id, row.stack_id) if transports else None
        if stack is None:
            continue
        cloud = await services.credentials.cloud_of(stack)
        async with services.metadata_lock:  # the older of two simultaneous writes must not be last
            shown = await agent_metadata(services, state.get("metadata") or {}, server_id, stack.project_id)
            for transport in transports:
                await transport.send(cloud, data, stack.user_project_id or "", shown)
