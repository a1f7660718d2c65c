"""Read a Heat database, tree by tree, with any of the tables of the releases from Queens to 27.

The rows of a tree are read together, a batch of trees at a time, so that the memory needed does not depend on the
number of stacks. Columns that a release does not have are read as None.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import orjson
from sqlalchemy import Connection, Engine, MetaData, Select, Table, create_engine, func, inspect, make_url, null, select
from sqlalchemy.exc import ArgumentError, DBAPIError

from stoker.base.errors import Invalid

Row = Mapping[str, Any]

_TABLES: Mapping[str, tuple[str, ...]] = {
    "stack": (
        "id", "name", "tenant", "username", "owner_id", "parent_resource_name", "action", "status", "status_reason",
        "created_at", "updated_at", "deleted_at", "timeout", "disable_rollback", "raw_template_id",
        "prev_raw_template_id", "user_creds_id", "stack_user_project_id", "backup", "convergence",
    ),
    "raw_template": ("id", "template", "environment", "files", "files_id"),
    "raw_template_files": ("id", "files"),
    "resource": (
        "id", "uuid", "stack_id", "name", "action", "status", "status_reason", "created_at", "updated_at",
        "nova_instance", "rsrc_metadata", "properties_data", "properties_data_encrypted", "rsrc_prop_data_id",
        "attr_data_id", "current_template_id", "requires", "replaced_by", "atomic_key",
    ),
    "resource_data": ("resource_id", "key", "value", "decrypt_method"),
    "resource_properties_data": ("id", "data", "encrypted"),
    "event": (
        "id", "uuid", "stack_id", "resource_name", "resource_type", "resource_action", "resource_status",
        "resource_status_reason", "physical_resource_id", "rsrc_prop_data_id", "created_at",
    ),
    "stack_tag": ("id", "stack_id", "tag"),
    "user_creds": ("id", "trust_id", "trustor_user_id", "tenant_id", "decrypt_method"),
    "snapshot": ("id", "stack_id", "name", "action", "status", "status_reason", "data", "created_at"),
    "resource_snapshot": ("snapshot_id", "resource_name", "data"),
    "software_config": ("id", "tenant", "name", "group", "config", "created_at"),
    "software_deployment": (
        "id", "tenant", "server_id", "config_id", "stack_user_project_id", "action", "status", "status_reason",
        "input_values", "output_values", "created_at", "updated_at",
    ),
}  # fmt: skip
"""The tables, and the columns that are read. Columns that a release does not have are read as null."""

_REQUIRED = frozenset(_TABLES) - {"resource_properties_data", "resource_snapshot"}
_PAGE = 500
_NO_URL = "--from: this is not the URL of a database, such as mysql+pymysql://heat:PASSWORD@db/heat"
_REVISIONS = ("alembic_version", "version_num"), ("migrate_version", "version")


@dataclass(slots=True)
class HeatStack:
    """A stack's row with everything that belongs to it. Times are datetimes in UTC without a zone, as stored.

    `templates` are those of the stack and of its resources, by ID; `resources` in the order of their IDs; `data` are
    the rows of resource data by the resource's ID; `values` are property and attribute values by ID;
    `saved` are the resources in snapshots, by the snapshot's ID, which later releases store apart from the snapshot.
    """

    row: Row
    templates: dict[int, Row] = field(default_factory=dict)
    resources: list[Row] = field(default_factory=list)
    data: dict[int, list[Row]] = field(default_factory=dict)
    values: dict[int, Row] = field(default_factory=dict)
    events: list[Row] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    credentials: Row | None = None
    snapshots: list[Row] = field(default_factory=list)
    saved: dict[str, dict[str, object]] = field(default_factory=dict)
    children: list[HeatStack] = field(default_factory=list)
    backups: list[HeatStack] = field(default_factory=list)

    @property
    def id(self) -> str:
        """Its ID."""
        return str(self.row["id"])

    def tree(self) -> Iterator[HeatStack]:
        """Yield this stack, and all stacks below it."""
        yield self
        for child in self.children:
            yield from child.tree()


class HeatDatabase:
    """A Heat database by its URL, as in heat.conf. Raises Invalid for a URL or database that is not one of Heat.

    It is only read; where the database supports it, all reads see the same state.
    """

    def __init__(self, url: str) -> None:
        try:
            parsed = make_url(url)
        except ArgumentError:
            raise Invalid(_NO_URL) from None
        self.shown = parsed.render_as_string(hide_password=True)
        drivers = {"mysql": "mysql+pymysql", "mariadb": "mysql+pymysql", "postgresql": "postgresql+psycopg"}
        backend = parsed.get_backend_name()
        parsed = parsed.set(drivername=drivers.get(backend, parsed.drivername))
        if backend in ("mysql", "mariadb") and parsed.query.get("charset") in (None, "utf8"):
            parsed = parsed.update_query_dict({"charset": "utf8mb4"})
        if backend == "sqlite" and parsed.database:  # a file that does not exist is not created
            file = f"file:{quote(parsed.database)}"
            parsed = parsed.set(database=file).update_query_dict({"mode": "ro", "uri": "true"})
        try:
            self._engine: Engine = create_engine(parsed, pool_pre_ping=True)
            self._tables = _reflected(self._engine)
        except ImportError as error:
            raise Invalid(f"--from: the driver of {parsed.drivername} is missing ({error})") from error
        except ArgumentError:
            raise Invalid(_NO_URL) from None
        except DBAPIError as error:
            why = error.orig.args[-1] if error.orig is not None and error.orig.args else error.orig
            raise Invalid(f"--from: the database {self.shown} cannot be read: {why}") from error

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def connect(self) -> Connection:
        """Open a connection."""
        return self._engine.connect()

    def revision(self, connection: Connection) -> str:
        """Return the revision of Heat's tables, or `unknown`."""
        names = set(inspect(connection).get_table_names())
        for table, column in _REVISIONS:
            if table in names:
                revision = connection.exec_driver_sql(f"SELECT {column} FROM {table}").scalar()  # noqa: S608  constants
                return str(revision)
        return "unknown"

    def living_engines(self, connection: Connection, since: datetime) -> list[str]:
        """Return the hosts of Heat's engines that have reported since a time."""
        names = set(inspect(connection).get_table_names())
        if "service" not in names:
            return []
        table = Table("service", MetaData(), autoload_with=connection)
        moment = func.coalesce(table.c.updated_at, table.c.created_at)
        hosts = connection.execute(select(table.c.host).where(moment >= since, table.c.deleted_at.is_(None)))
        return sorted(set(hosts.scalars()))

    # -- trees -----------------------------------------------------------------------------------------------

    def roots(self, connection: Connection, project: str | None) -> list[str]:
        """Return the IDs of the stacks that are not nested and not deleted, oldest first."""
        stack = self._tables["stack"].c
        query = select(stack.id).where(stack.owner_id.is_(None), stack.deleted_at.is_(None))
        if project is not None:
            query = query.where(stack.tenant == project)
        return [str(stack_id) for stack_id in connection.execute(query.order_by(stack.created_at, stack.id)).scalars()]

    def deleted(self, connection: Connection, project: str | None) -> int:
        """Count the stacks that are deleted, and whose rows Heat has not purged yet."""
        stack = self._tables["stack"].c
        query = select(func.count()).where(stack.owner_id.is_(None), stack.deleted_at.is_not(None))
        if project is not None:
            query = query.where(stack.tenant == project)
        return int(connection.execute(query).scalar_one())

    def trees(self, connection: Connection, roots: Sequence[str], *, events: bool = True) -> list[HeatStack]:
        """Return the whole trees of the given root stacks, without events if these are not requested."""
        stacks = {str(row["id"]): HeatStack(row) for row in self._rows(connection, "stack", "id", roots)}
        trees = [stacks[root] for root in roots if root in stacks]
        level = list(trees)
        while level:
            below = self._rows(connection, "stack", "owner_id", [stack.id for stack in level])
            level = []
            for row in below:
                if row["deleted_at"] is None:
                    child = stacks[str(row["id"])] = HeatStack(row)
                    above = stacks[str(row["owner_id"])]
                    (above.backups if row["backup"] else above.children).append(child)
                    level.append(child)
        self._fill(connection, stacks, events)
        return trees

    def _fill(self, connection: Connection, stacks: Mapping[str, HeatStack], events: bool) -> None:
        by_resource: dict[int, HeatStack] = {}
        for row in self._rows(connection, "resource", "stack_id", stacks, order="id"):
            if (row["action"], row["status"]) != ("DELETE", "COMPLETE"):
                stacks[row["stack_id"]].resources.append(row)
                by_resource[row["id"]] = stacks[row["stack_id"]]
        for row in self._rows(connection, "resource_data", "resource_id", by_resource):
            by_resource[row["resource_id"]].data.setdefault(row["resource_id"], []).append(row)
        for row in self._rows(connection, "stack_tag", "stack_id", stacks, order="id"):
            stacks[row["stack_id"]].tags.append(row["tag"])
        for row in self._rows(connection, "snapshot", "stack_id", stacks, order="created_at"):
            stacks[row["stack_id"]].snapshots.append(row)
        of_snapshots = {row["id"]: stack for stack in stacks.values() for row in stack.snapshots}
        for row in self._rows(connection, "resource_snapshot", "snapshot_id", of_snapshots):
            saved = of_snapshots[row["snapshot_id"]].saved.setdefault(row["snapshot_id"], {})
            saved[row["resource_name"]] = parsed(row["data"])
        if events:
            for row in self._rows(connection, "event", "stack_id", stacks, order="id"):
                stacks[row["stack_id"]].events.append(row)
        self._fill_values(connection, stacks.values())
        self._fill_templates(connection, stacks.values())
        credential_ids = {
            row["user_creds_id"] for row in (stack.row for stack in stacks.values()) if row["user_creds_id"]
        }
        credentials = {row["id"]: row for row in self._rows(connection, "user_creds", "id", credential_ids)}
        for stack in stacks.values():
            stack.credentials = credentials.get(stack.row["user_creds_id"])

    def _fill_values(self, connection: Connection, stacks: Iterable[HeatStack]) -> None:
        users: dict[int, list[HeatStack]] = {}
        for stack in stacks:
            for row in (*stack.resources, *stack.events):
                for name in ("rsrc_prop_data_id", "attr_data_id"):
                    if row.get(name) is not None:
                        users.setdefault(row[name], []).append(stack)
        for row in self._rows(connection, "resource_properties_data", "id", users):
            for stack in users[row["id"]]:
                stack.values[row["id"]] = row

    def _fill_templates(self, connection: Connection, stacks: Iterable[HeatStack]) -> None:
        users: dict[int, list[HeatStack]] = {}
        for stack in stacks:
            template_ids = {stack.row["raw_template_id"], stack.row["prev_raw_template_id"]}
            template_ids.update(row["current_template_id"] for row in stack.resources)
            for identifier in template_ids - {None}:
                users.setdefault(identifier, []).append(stack)
        rows = self._rows(connection, "raw_template", "id", users)
        files_of = {row["files_id"] for row in rows if row["files_id"] is not None}
        files = {row["id"]: row["files"] for row in self._rows(connection, "raw_template_files", "id", files_of)}
        for row in rows:
            whole = {
                "template": row["template"],
                "environment": row["environment"],
                "files": files.get(row["files_id"]) or row["files"],
            }
            for stack in users[row["id"]]:
                stack.templates[row["id"]] = whole

    # -- rows without a stack ----------------------------------------------------------------------------------

    def software(self, connection: Connection, table: str, project: str | None) -> Iterator[list[Row]]:
        """Yield pages of `software_config` or `software_deployment` rows."""
        columns = self._tables[table].c
        last = ""
        while True:
            query = self._read(table).where(columns.id > last).order_by(columns.id).limit(_PAGE)
            if project is not None:
                query = query.where(columns.tenant == project)
            page: list[Row] = [dict(row._mapping) for row in connection.execute(query)]
            if not page:
                return
            yield page
            last = page[-1]["id"]

    def _read(self, name: str) -> Select[Any]:
        columns = self._tables[name].c
        return select(*(columns[column] if column in columns else null().label(column) for column in _TABLES[name]))

    def _rows(
        self, connection: Connection, name: str, column: str, among: Iterable[Any], *, order: str | None = None
    ) -> list[Row]:
        table = self._tables.get(name)
        if table is None:
            return []
        values = sorted(set(among))
        rows: list[Row] = []
        for start in range(0, len(values), _PAGE):
            query = self._read(name).where(table.c[column].in_(values[start : start + _PAGE]))
            if order is not None:
                query = query.order_by(table.c[order])
            rows += [dict(row._mapping) for row in connection.execute(query)]
        return rows


def _reflected(engine: Engine) -> dict[str, Table]:
    """Return Heat's tables as they are in the database. Raises Invalid if it is not one of a Heat."""
    with engine.connect() as connection:
        present = set(inspect(connection).get_table_names())
        missing = sorted(_REQUIRED - present)
        if missing:
            raise Invalid(f"--from: this is not the database of a Heat (it has no table {missing[0]})")
        metadata = MetaData()
        metadata.reflect(connection, only=[name for name in _TABLES if name in present], resolve_fks=False)
    tables = dict(metadata.tables)
    if "convergence" not in tables["stack"].c:
        raise Invalid("--from: the tables are of a release before Queens; upgrade Heat's database first")
    return tables


def seconds(moment: Any) -> float | None:
    """Return a stored time in seconds since the epoch."""
    if moment is None:
        return None
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment)
    return float(moment.replace(tzinfo=UTC).timestamp())


def parsed(stored: object) -> Any:
    """Return a column with JSON as data; None for an empty one."""
    if stored is None or stored == "":
        return None
    if isinstance(stored, str | bytes):
        return orjson.loads(stored)
    return stored
