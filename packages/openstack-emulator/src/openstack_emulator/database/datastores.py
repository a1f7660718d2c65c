"""Datastores: kinds of database servers, their versions, and the parameters that can be set in each version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component, using
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.database.http import check, links, listed, missing

_MYSQL = {
    "autocommit": ("boolean", False, None, None),
    "character_set_server": ("string", False, None, None),
    "collation_server": ("string", False, None, None),
    "connect_timeout": ("integer", False, 2, 31536000),
    "innodb_buffer_pool_size": ("integer", True, 5242880, 18446744073709551615),
    "innodb_flush_log_at_trx_commit": ("integer", False, 0, 2),
    "innodb_log_buffer_size": ("integer", True, 262144, 4294967295),
    "key_buffer_size": ("integer", False, 0, 4294967295),
    "local_infile": ("boolean", False, None, None),
    "max_allowed_packet": ("integer", False, 1024, 1073741824),
    "max_connections": ("integer", False, 1, 100000),
    "wait_timeout": ("integer", False, 1, 31536000),
}
_POSTGRESQL = {
    "log_min_duration_statement": ("integer", False, -1, 2147483647),
    "max_connections": ("integer", True, 1, 262143),
    "shared_buffers": ("string", True, None, None),
    "statement_timeout": ("integer", False, 0, 2147483647),
    "work_mem": ("integer", False, 64, 2147483647),
}
PRESETS: Mapping[str, tuple[tuple[str, ...], Mapping[str, tuple[str, bool, int | None, int | None]]]] = {
    "mysql": (("8.0.29", "5.7.29"), _MYSQL),
    "mariadb": (("10.4.18",), _MYSQL),
    "postgresql": (("12.4",), _POSTGRESQL),
}
"""Datastore → its versions, the default one first, and its parameters: type, whether they need a restart, range."""
DEFAULT = "mysql"
CLUSTERS = {"mariadb": 3}
"""Datastores that can be clustered, and the least number of instances in a new cluster."""
_CHECKS: Mapping[str, fields.Check] = {
    "integer": lambda value: None if isinstance(value, int) and not isinstance(value, bool) else "not an integer",
    "boolean": lambda value: None if value in (0, 1) else "not 0 or 1",
    "string": fields.text(0, 1024),
}
_VERSION_FORMS = {
    "datastore_name": fields.text(1),
    "datastore_manager": fields.text(1),
    "name": fields.text(1),
    "image": fields.nullable(fields.text(1)),
    "image_tags": fields.items(fields.text(1)),
    "packages": fields.items(fields.text(1)),
    "active": fields.boolean,
    "default": fields.boolean,
    "version": fields.nullable(fields.text(1)),
}


class Datastores(Component):
    """The datastores, their versions, and their parameters."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.collection(
            "datastores", ("name",), lambda key: not_found(f"Datastore '{key}' cannot be found.")
        )
        self.versions = records.collection(
            "datastore_versions",
            ("datastore_id", "name"),
            lambda key: bad_request(f"Datastore version '{key}' cannot be found."),
        )

    def seed(self) -> None:
        for name, (versions, _) in PRESETS.items():
            for version in versions:
                self.add_version(name, name, version, default=version == versions[0])

    def add_version(
        self, datastore: str, manager: str, name: str, *, default: bool, active: bool = True, **more: Any
    ) -> Record:
        """Add a version, and its datastore if it is new. Raises ApiError 409."""
        store = self.rows.first(name=datastore)
        if store is None:
            store = self.rows.add({"id": new_id(), "name": datastore, "default_version": None})
        elif self.versions.first(datastore_id=store["id"], name=name) is not None:
            raise conflict(f"A datastore version with the name '{name}' already exists.")
        made = self.versions.add(
            {
                "id": new_id(),
                "datastore_id": store["id"],
                "name": name,
                "manager": manager,
                "active": active,
                "version": name,
                "image": None,
                "image_tags": [],
                "packages": [],
                **more,
            }
        )
        if default:
            self.rows.update(store, default_version=made["id"])
        return made

    def datastore(self, key: str) -> Record:
        """A datastore, by ID or name. Raises ApiError 404."""
        return self.rows.first(name=key) or self.rows.require(key)

    def version(self, store: Record, key: str) -> Record:
        """A version of a datastore, by ID or name. Raises ApiError 400."""
        found = self.versions.first(datastore_id=store["id"], name=key) or self.versions.require(key)
        if found["datastore_id"] != store["id"]:
            raise self.versions.missing(key)
        return found

    def chosen(self, given: Mapping[str, Any] | None) -> Record:
        """The version for a new instance, from `{type, version}`, both optional. Raises ApiError 400 and 404."""
        given = given or {}
        if given.get("type") is None and given.get("version") is not None:
            raise bad_request("Datastore type must be specified with the version.")
        store = self.datastore(given.get("type") or DEFAULT)
        key = given.get("version") or store["default_version"]
        if key is None:
            raise not_found(f"Default version for datastore '{store['name']}' not found.")
        version = self.version(store, key)
        if not version["active"]:
            raise bad_request(f"Datastore version '{version['name']}' is not active.")
        return version

    def shown(self, version_id: str) -> dict[str, str]:
        """The datastore and version as instances show them."""
        version = self.versions.require(version_id)
        return {
            "type": self.rows.require(version["datastore_id"])["name"],
            "version": version["name"],
            "version_number": version["version"],
        }

    def name_of(self, version: Record) -> str:
        """The name of a version's datastore."""
        return str(self.rows.require(version["datastore_id"])["name"])

    def parameters(self, version: Record) -> list[dict[str, Any]]:
        """The parameters of a version as the API shows them."""
        known = PRESETS[version["manager"]][1] if version["manager"] in PRESETS else {}
        return [
            {
                "name": name,
                "type": kind,
                "restart_required": restart,
                "datastore_version_id": version["id"],
                **({} if least is None else {"min": least}),
                **({} if most is None else {"max": most}),
            }
            for name, (kind, restart, least, most) in known.items()
        ]

    def check_values(self, version: Record, values: Mapping[str, Any]) -> None:
        """Refuse values of parameters that a version does not accept. Raises ApiError 422."""
        known = {one["name"]: one for one in self.parameters(version)}
        for name, value in values.items():
            if name not in known:
                raise ApiError(
                    422, f"The configuration parameter {name} is not supported for this datastore: {version['name']}."
                )
            rule = known[name]
            if _CHECKS[rule["type"]](value) is not None:
                raise ApiError(
                    422, f"The value provided for the configuration parameter {name} is not of type {rule['type']}."
                )
            if rule["type"] == "integer" and not rule["min"] <= value <= rule["max"]:
                raise ApiError(
                    422,
                    f"The value for the configuration parameter {name} must be from {rule['min']} to {rule['max']}.",
                )

    def need_restart(self, version: Record, names: set[str]) -> bool:
        """Whether a change of one of these parameters needs a restart of the database server."""
        return any(one["restart_required"] for one in self.parameters(version) if one["name"] in names)


# -- routes -----------------------------------------------------------------------------------------------------


def version_view(request: Request, datastores: Datastores, version: Record) -> dict[str, Any]:
    """A version as clients see it; only administrators see where it comes from."""
    store = version["datastore_id"]
    managed = {name: version[name] for name in ("active", "image", "image_tags")}
    return {
        "id": version["id"],
        "name": version["name"],
        "datastore": store,
        "version": version["version"],
        "links": links(request, "datastores/versions", version["id"]),
        **({**managed, "packages": ",".join(version["packages"])} if request.context.is_admin else {}),
    }


def _datastore_view(datastores: Datastores, request: Request, store: Record) -> dict[str, Any]:
    default = store["default_version"]
    return {
        "id": store["id"],
        "name": store["name"],
        "versions": [version_view(request, datastores, one) for one in _visible_versions(datastores, request, store)],
        "links": links(request, "datastores", store["id"]),
        **({} if default is None else {"default_version": default}),
    }


def _visible_versions(datastores: Datastores, request: Request, store: Record) -> list[Record]:
    found = datastores.versions.select(datastore_id=store["id"])
    return [one for one in found if one["active"] or request.context.is_admin]


def index(datastores: Datastores, request: Request) -> Response:
    return listed(request, "datastores", list(datastores.rows), lambda row: _datastore_view(datastores, request, row))


def show(datastores: Datastores, request: Request) -> Response:
    store = datastores.datastore(request.vars["datastore"])
    return Response({"datastore": _datastore_view(datastores, request, store)})


def delete(datastores: Datastores, request: Request) -> Response:
    request.context.require()
    store = datastores.datastore(request.vars["datastore"])
    if datastores.versions.first(datastore_id=store["id"]) is not None:
        raise bad_request(f"Datastore {store['name']} has versions and cannot be deleted.")
    datastores.rows.remove(store)
    return Response(status=202)


def list_versions(datastores: Datastores, request: Request) -> Response:
    store = datastores.datastore(request.vars["datastore"])
    rows = _visible_versions(datastores, request, store)
    return listed(request, "versions", rows, lambda row: version_view(request, datastores, row))


def show_version(datastores: Datastores, request: Request) -> Response:
    return Response({"version": version_view(request, datastores, _version(datastores, request))})


def _version(datastores: Datastores, request: Request) -> Record:
    key, store = request.vars["version"], request.vars.get("datastore")
    found = datastores.versions.require(key) if store is None else datastores.version(datastores.datastore(store), key)
    if not found["active"] and not request.context.is_admin:
        raise datastores.versions.missing(key)
    return found


def list_parameters(datastores: Datastores, request: Request) -> Response:
    return Response({"configuration-parameters": datastores.parameters(_version(datastores, request))})


def show_parameter(datastores: Datastores, request: Request) -> Response:
    name = request.vars["name"]
    for parameter in datastores.parameters(_version(datastores, request)):
        if parameter["name"] == name:
            return Response(parameter)
    raise missing(name)


def create_version(datastores: Datastores, request: Request) -> Response:
    """Add a version; for administrators."""
    request.context.require()
    given = check("version", request.object("version"), _VERSION_FORMS, ("datastore_name", "datastore_manager", "name"))
    if not given.get("image") and not given.get("image_tags"):
        raise bad_request("Either image or image_tags must be specified.")
    datastores.add_version(
        given["datastore_name"],
        given["datastore_manager"],
        given["name"],
        default=bool(fields.as_boolean(given.get("default", False))),
        active=bool(fields.as_boolean(given.get("active", True))),
        version=given.get("version") or given["name"],
        **{name: given[name] for name in ("image", "image_tags", "packages") if name in given},
    )
    return Response(status=202)


def list_all_versions(datastores: Datastores, request: Request) -> Response:
    request.context.require()
    return listed(request, "versions", list(datastores.versions), lambda row: _managed(datastores, row))


def show_any_version(datastores: Datastores, request: Request) -> Response:
    request.context.require()
    return Response({"version": _managed(datastores, datastores.versions.require(request.vars["version"]))})


def change_version(datastores: Datastores, request: Request) -> Response:
    request.context.require()
    version = datastores.versions.require(request.vars["version"])
    given = check("body", request.json, {**_VERSION_FORMS, "datastore_name": lambda value: "cannot be changed"})
    changes = {name: value for name, value in given.items() if name in version and name != "active"}
    if "active" in given:
        changes["active"] = fields.as_boolean(given["active"])
    if "datastore_manager" in given:
        changes["manager"] = given["datastore_manager"]
    datastores.versions.update(version, **changes)
    store = datastores.rows.require(version["datastore_id"])
    if "default" in given:
        wanted = fields.as_boolean(given["default"])
        default = version["id"] if wanted else store["default_version"]
        datastores.rows.update(store, default_version=None if default == version["id"] and not wanted else default)
    return Response(status=202)


def _managed(datastores: Datastores, version: Record) -> dict[str, Any]:
    store = datastores.rows.require(version["datastore_id"])
    return {
        "id": version["id"],
        "name": version["name"],
        "datastore_id": store["id"],
        "datastore_name": store["name"],
        "datastore_manager": version["manager"],
        "image": version["image"],
        "image_tags": version["image_tags"],
        "packages": version["packages"],
        "active": version["active"],
        "default": store["default_version"] == version["id"],
        "version": version["version"],
    }


_OF_VERSION = {"/parameters": {"GET": list_parameters}, "/parameters/{name}": {"GET": show_parameter}}
DATASTORE_ROUTES = using(
    Datastores,
    {
        "/datastores": {"GET": index},
        "/datastores/{datastore}": {"GET": show, "DELETE": delete},
        "/datastores/{datastore}/versions": {"GET": list_versions},
        "/datastores/{datastore}/versions/{version}": {"GET": show_version},
        "/datastores/versions/{version}": {"GET": show_version},
        **{f"/datastores/{{datastore}}/versions/{{version}}{path}": one for path, one in _OF_VERSION.items()},
        **{f"/datastores/versions/{{version}}{path}": one for path, one in _OF_VERSION.items()},
        "/mgmt/datastore-versions": {"GET": list_all_versions, "POST": create_version},
        "/mgmt/datastore-versions/{version}": {"GET": show_any_version, "PATCH": change_version, "PUT": change_version},
    },
)
