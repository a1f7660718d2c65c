"""What all collections of the bare-metal service have in common over HTTP: errors, microversions, fields, lists."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.cloud import new_id
from openstack_emulator.core.errors import ApiError, bad_request, conflict, forbidden, not_found
from openstack_emulator.core.http import Context, Request, Response, Version
from openstack_emulator.core.paging import ordered, page
from openstack_emulator.core.store import Collection, Record

ADMINISTRATORS = ("baremetal_admin",)
OBSERVERS = (*ADMINISTRATORS, "baremetal_observer")
TIMESTAMP = "%Y-%m-%dT%H:%M:%S+00:00"
BOOLEANS = "'0', '1', 'f', 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'"
LISTED_BY = ("limit", "marker", "sort_key", "sort_dir", "fields", "detail")
_NAME = re.compile(r"[A-Za-z0-9._~-]{1,255}\Z")
_MAC = re.compile(r"([0-9a-f]{2}:){5}[0-9a-f]{2}\Z")


class Whole(str):
    """What is wrong with a value, as the whole message, with `{title}` of the object and `{name}` of the field."""


@dataclass(frozen=True)
class Field:
    """A field of an object.

    since: the microversion that shows it. check: what a request may set it to; without one, requests cannot set it.
    default: its value until a request sets it, and after one removes it. required: it cannot be removed.
    write_only: no answer has it. hidden: a value, and the microversion before which requests see null instead.
    """

    since: Version = (1, 1)
    check: fields.Check | None = None
    default: Any = None
    required: bool = False
    write_only: bool = False
    hidden: tuple[Any, Version] | None = None

    def visible(self, version: Version, value: Any) -> Any:
        """A value of the field as requests of a version see it."""
        return None if self.hidden is not None and value == self.hidden[0] and version < self.hidden[1] else value


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of objects: its collection in URLs, its name in messages, and its fields.

    The last part of the path is the name of lists.

    brief: the fields that lists show unless the request asks for more.
    below: paths below an object that it links to, and the microversions that brought them.
    schema: what messages about values call the object, if not by its title; empty for not at all.
    """

    path: str
    title: str
    fields: Mapping[str, Field]
    brief: tuple[str, ...]
    below: Mapping[str, Version] = dataclass_field(default_factory=dict)
    schema: str | None = None

    @property
    def _schema_error(self) -> str:
        """The beginning of messages about wrong fields."""
        name = self.title if self.schema is None else self.schema
        return f"Schema error for {name}" if name else "Schema error"

    def values(self, request: Request) -> Record:
        """The fields of a new object, defaults included. Raises ApiError 400 and 406."""
        given = request.json
        if not isinstance(given, dict):
            raise bad_request("The request body must be a JSON object.")
        self.check(request.version, given)
        for name, field in self.fields.items():
            if field.required and given.get(name) is None:
                raise bad_request(f"{self._schema_error}: '{name}' is a required property")
        settable = {name: field for name, field in self.fields.items() if field.check is not None}
        return {
            name: copy.deepcopy(field.default) if given.get(name) is None else given[name]
            for name, field in settable.items()
        }

    def check(self, version: Version, given: Mapping[str, Any]) -> None:
        """Refuse fields that do not exist (400), or only in a later version (406), and wrong values (400)."""
        for name, value in given.items():
            field = self.fields.get(name)
            if field is None or (field.check is None and name != "uuid"):
                raise bad_request(
                    f"{self._schema_error}: Additional properties are not allowed ('{name}' was unexpected)"
                )
            if version < field.since:
                raise ApiError(406, "Request not acceptable. The requested API version does not have this field.")
            if value is not None and field.check is not None and (problem := field.check(value)) is not None:
                raise self.refused(name, problem)

    def refused(self, name: str, problem: str) -> ApiError:
        """The 400 for a wrong value of a field."""
        if isinstance(problem, Whole):
            return bad_request(problem.replace("{title}", self.title).replace("{name}", name))
        return bad_request(f"{self._schema_error}: {name}: {problem}")

    def shown(self, request: Request, values: Mapping[str, Any], names: Iterable[str] | None = None) -> dict[str, Any]:
        """The fields that exist in the request's version; only those in `names`, if given, and links."""
        known = [name for name, field in self.fields.items() if field.since <= request.version and not field.write_only]
        chosen = known if names is None else [name for name in known if name in names]
        body = {name: self.fields[name].visible(request.version, values[name]) for name in chosen}
        key = values["uuid"]
        below = {
            name: links(request, self.path, f"{key}/{name}")
            for name, since in self.below.items()
            if names is None and since <= request.version
        }
        return {**body, **below, "links": links(request, self.path, key)}


def links(request: Request, path: str, key: str) -> list[dict[str, str]]:
    """The links of an object."""
    return [
        {"href": f"{request.base}/v1/{path}/{key}", "rel": "self"},
        {"href": f"{request.base}/{path}/{key}", "rel": "bookmark"},
    ]


def chosen_fields(request: Request, kind: Kind, detail: bool) -> Sequence[str] | None:
    """The fields that a request asks for; None for all. Raises ApiError 400 and 406."""
    wanted = [name for value in request.query.all("fields") for name in value.split(",") if name]
    detail = detail or bool(request.query.boolean("detail"))
    if not wanted:
        return None if detail else kind.brief
    if detail:
        raise bad_request("Can't fetch a subset of fields with 'detail' set")
    for name in wanted:
        field = kind.fields.get(name)
        if name != "links" and (field is None or field.write_only):
            raise bad_request(f"Field {name} is not a valid field.")
        if field is not None and field.since > request.version:
            raise ApiError(406, f"Request not acceptable. Field {name} needs a newer API version.")
    return wanted


def listed(
    request: Request,
    kind: Kind,
    rows: Iterable[Mapping[str, Any]],
    *,
    detail: bool = False,
) -> Response:
    """A page of objects, which are given as the API shows them in full, with a link to the next page."""
    names = chosen_fields(request, kind, detail)
    key = request.query.get("sort_key")
    if key is not None and key not in kind.fields:
        raise bad_request(f'The sort_key value "{key}" is an invalid field for sorting')
    if (limit := request.query.get("limit")) is not None and not limit.lstrip("-").isdecimal():
        raise bad_request(f"Expected an integer for limit: {limit}")
    if limit is not None and int(limit) < 0:
        raise bad_request("Limit must be positive")
    direction = request.query.get("sort_dir", "asc")
    if direction not in ("asc", "desc"):
        raise bad_request(f"Invalid sort direction: {direction}. Acceptable values are 'asc' or 'desc'")

    def no_marker(marker: str) -> ApiError:
        return not_found(f"{kind.title.capitalize()} {marker} could not be found.")

    found = page(ordered([dict(row) for row in rows], request.query), request.query, key="uuid", missing=no_marker)
    body: dict[str, Any] = {kind.path.rpartition("/")[2]: [kind.shown(request, row, names) for row in found.rows]}
    if found.truncated and found.next_marker is not None:
        body["next"] = request.next_url(found.next_marker)
    return Response(body)


def single(request: Request, kind: Kind, values: Mapping[str, Any], status: int = 200) -> Response:
    """One object, or those fields of it that the request asks for."""
    names = chosen_fields(request, kind, detail="fields" not in request.query)
    headers = {"Location": f"{request.base}/v1/{kind.path}/{values['uuid']}"} if status == 201 else {}
    return Response(kind.shown(request, values, names), status, headers)


def new_key(request: Request, *present: Collection) -> str:
    """The UUID of a new object: that of the request, or a new one. Raises ApiError 400, and 409 for one in use."""
    given = request.json.get("uuid")
    if given is None:
        return new_id()
    if fields.identifier(given) is not None:
        raise bad_request(f"Expected UUID for uuid: {given}")
    if any(given in rows for rows in present):
        raise conflict(f"An object with UUID {given} already exists.")
    return str(given)


def needs(request: Request, version: Version) -> None:
    """Raise ApiError 404 in a version that does not have the path yet."""
    if request.version < version:
        raise ApiError(404, "The resource could not be found.")


def offered(request: Request, version: Version) -> None:
    """Raise ApiError in a version that does not have the collection yet: 404 for reads, 405 for changes."""
    if request.version < version and request.method != "GET":
        raise ApiError(405, "The API version does not allow this method.")
    needs(request, version)


def offered_below_node(request: Request, version: Version) -> None:
    """Raise ApiError in a version that does not know a path below a node yet: 406 for reads, since it takes the last
    part for a field, 404 for deletions, and 405 for other changes."""
    if request.version < version and request.method == "GET":
        raise ApiError(406, "Request not acceptable. The path needs a newer API version.")
    if request.method == "DELETE":
        needs(request, version)
    offered(request, version)


def observes(caller: Context) -> bool:
    """Whether the caller sees everything: administrators, observers, and readers of the system."""
    return caller.is_admin or bool(caller.roles.intersection(OBSERVERS)) or (caller.system and "reader" in caller.roles)


def require(request: Request, policy: str, *roles: str) -> None:
    """Raise ApiError 403 for a caller without one of the roles (an administrator has all)."""
    if roles == OBSERVERS and observes(request.context):
        return
    if not request.context.is_admin and not request.context.roles.intersection(roles):
        raise forbidden(f"Access was denied to the following resource: {policy}")


def require_system(request: Request, policy: str, role: str) -> None:
    """Raise ApiError 403 for a caller without a role on the whole system: Ironic's policy of what no project owns."""
    caller = request.context
    if not caller.system or not (caller.is_admin or role in caller.roles):
        raise forbidden(f"Access was denied to the following resource: {policy}")


def not_a_trait(title: str, value: Any) -> str:
    """What is wrong with a name that is no trait."""
    return (
        f"Schema error for {title}: {value!r} is not valid under any of the given schemas. Possible root cause: "
        f"{value!r} does not match '^CUSTOM_[A-Z0-9_]+$'"
    )


def is_reference(key: str) -> bool:
    """Whether a key in a path can be that of an object: a UUID or a logical name."""
    return fields.identifier(key) is None or name_form(key) is None


def name_form(value: Any) -> str | None:
    """A logical name: a host name."""
    good = isinstance(value, str) and _NAME.match(value) is not None and fields.identifier(value) is not None
    return None if good else Whole(f"Cannot create {{title}} with invalid name '{value}'")


def mac_form(value: Any) -> str | None:
    """A MAC address, in either case."""
    good = isinstance(value, str) and _MAC.match(value.lower()) is not None
    return None if good else Whole(f"Expected valid MAC address for {{name}}: {value}")


def object_form(value: Any) -> str | None:
    """A JSON object."""
    return (
        None
        if isinstance(value, dict)
        else Whole(f"Schema error for {{title}}: {value!r} is not of type 'object', 'null'")
    )


def boolean_form(value: Any) -> str | None:
    """A boolean, or a word for one."""
    if fields.boolean(value) is None:
        return None
    return Whole(f"Invalid {{name}}: Unrecognized value '{value}', acceptable values are: {BOOLEANS}")
