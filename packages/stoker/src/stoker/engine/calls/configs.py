"""Software configurations, for resource types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from stoker.base.errors import RequestLimitExceeded
from stoker.engine.records.services import EngineServices
from stoker.store import queries
from stoker.store.journal import Batch, Writer
from stoker.store.records import SoftwareConfig

_BODY = ("config", "inputs", "outputs", "options", "stacks")
"""The sealed fields; `stacks` are the ids of the stacks whose hidden values they can contain."""


class StoredConfigs:
    """Implements plugins.resource.SoftwareConfigs."""

    def __init__(self, services: EngineServices, project_id: str, writer: Writer) -> None:
        self._services = services
        self._writer = writer
        self._project_id = project_id

    async def create(self, identifier: str, body: Mapping[str, Any]) -> None:
        """Store a configuration under an id chosen by the caller; repeating the call has no effect.

        Raises RequestLimitExceeded if the project has reached its limit.
        """
        if await self._row(identifier) is None:
            await self._check_quota()
            row = SoftwareConfig(
                id=identifier,
                project_id=self._project_id,
                name=str(body.get("name") or ""),
                group=str(body.get("group") or "Heat::Ungrouped"),
                body=self._services.sealer.seal({key: body.get(key) for key in _BODY}),
                created_at=self._services.clock.now(),
            )
            await self._writer.commit(Batch().add(row))

    async def _check_quota(self) -> None:
        limit = self._services.settings.max_software_configs_per_tenant
        if limit < 0:
            return
        count = await self._services.database.read(queries.count_software_configs, self._project_id)
        if count >= limit:
            raise RequestLimitExceeded(
                f"The project has {count} software configurations; at most {limit} are allowed "
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
            **self._services.sealer.open(row.body),
        }

    async def delete(self, identifier: str) -> None:
        """Delete the configuration if it exists."""

        def remove(connection: Connection) -> None:
            queries.delete_software_config(connection, identifier)

        if await self._row(identifier) is not None:
            await self._writer.commit(Batch().then(remove))

    async def _row(self, identifier: str) -> SoftwareConfig | None:
        row = await self._services.database.read(queries.software_config, identifier)
        return row if row is not None and row.project_id == self._project_id else None
