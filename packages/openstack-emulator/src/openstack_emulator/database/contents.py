"""What is in the database server of an instance: databases, and users with access to some of them.

A record has them as lists: `databases` of `{name, character_set, collate}`, and `users` of
`{name, host, password, databases: [name]}`. A user is identified by name and host; `%` means any host.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from openstack_emulator.core import fields
from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.store import Record
from openstack_emulator.database.http import check, objects, password

ANY_HOST = "%"
_RESERVED_DATABASES = frozenset({"information_schema", "lost+found", "mysql", "performance_schema", "sys"})
_RESERVED_USERS = frozenset({"os_admin", "root"})
_NAME = fields.text(1, 64)
_DATABASE_FORMS = {
    "name": _NAME,
    "character_set": fields.nullable(fields.text(1)),
    "collate": fields.nullable(fields.text(1)),
}
_USER_FORMS = {
    "name": fields.text(1, 32),
    "password": password,
    "host": fields.nullable(fields.text(1, 255)),
    "databases": lambda value: None if isinstance(value, list) else "is not a list",
}


def new_databases(given: Any, present: list[dict[str, Any]], where: str = "databases") -> list[dict[str, Any]]:
    """The databases of a request, none of which may be in `present`. Raises ApiError 400."""
    names = {one["name"] for one in present}
    made = []
    for one in objects(where, given, _DATABASE_FORMS, ("name",)):
        if one["name"] in _RESERVED_DATABASES:
            raise bad_request(f"Database name '{one['name']}' is reserved.")
        if one["name"] in names:
            raise bad_request(f'A database with the name "{one["name"]}" already exists.')
        names.add(one["name"])
        made.append(
            {
                "name": one["name"],
                "character_set": one.get("character_set") or "utf8",
                "collate": one.get("collate") or "utf8_general_ci",
            }
        )
    return made


def initial_databases(given: Any) -> list[dict[str, Any]]:
    """The databases of a new instance. Raises ApiError 400."""
    listed = [one.get("name") for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    if any(name in listed[:at] for at, name in enumerate(listed)):
        raise bad_request(
            "Two or more databases share the same name in the initial databases list. Please correct the names or "
            "remove the duplicate entries."
        )
    return new_databases(given, [], "instance['databases']")


def initial_users(given: Any, databases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The users of a new instance, who have access to its databases only. Raises ApiError 400."""
    users, known = new_users(given, [], "instance['users']"), {one["name"] for one in databases}
    for user in users:
        for name in user["databases"]:
            if name not in known:
                raise bad_request(
                    f"The request indicates that user {user['name']} should have access to database {name}, but "
                    f"database {name} is not included in the initial databases list."
                )
    return users


def new_users(given: Any, present: list[dict[str, Any]], where: str = "users") -> list[dict[str, Any]]:
    """The users of a request, none of which may be in `present`. Raises ApiError 400."""
    known = {(one["name"], one["host"]) for one in present}
    made = []
    for one in objects(where, given, _USER_FORMS, ("name", "password")):
        host = one.get("host") or ANY_HOST
        _check_name(one["name"])
        if (one["name"], host) in known:
            raise bad_request(f'A user with the name "{one["name"]}" already exists.')
        known.add((one["name"], host))
        made.append(
            {
                "name": one["name"],
                "host": host,
                "password": one["password"],
                "databases": granted(one.get("databases")),
            }
        )
    return made


def _check_name(name: str) -> None:
    if name in _RESERVED_USERS:
        raise bad_request(f"User name '{name}' is reserved.")


def granted(given: Any) -> list[str]:
    """The names in a list of `{name}`, without repeats. Raises ApiError 400."""
    forms = {**_DATABASE_FORMS}
    return list(dict.fromkeys(one["name"] for one in objects("databases", given, forms, ("name",))))


def user_in(instance: Record, reference: str) -> dict[str, Any]:
    """The user that a URL names: `name` or `name@host`, in which a dot may be encoded twice. Raises ApiError 404."""
    reference = unquote(reference)
    found = _user(instance, reference, ANY_HOST)
    if found is None and "@" in reference:
        name, _, host = reference.rpartition("@")
        found = _user(instance, name, host)
    if found is None:
        raise not_found(f'User "{reference}" cannot be found on the instance.')
    return found


def _user(instance: Record, name: str, host: str) -> dict[str, Any] | None:
    return next((one for one in instance["users"] if (one["name"], one["host"]) == (name, host)), None)


def changed_user(instance: Record, user: Mapping[str, Any], given: Any) -> dict[str, Any]:
    """A user after a request to change its name, host or password. Raises ApiError 400."""
    wanted = check("user", given, {name: form for name, form in _USER_FORMS.items() if name != "databases"})
    after = {**user, **{name: value for name, value in wanted.items() if value is not None}}
    _check_name(after["name"])
    other = _user(instance, after["name"], after["host"])
    if other is not None and other is not user:
        raise bad_request(f'A user with the name "{after["name"]}" already exists.')
    return after


def database_in(instance: Record, name: str) -> dict[str, Any]:
    """The database that a URL names. Raises ApiError 404."""
    databases: list[dict[str, Any]] = instance["databases"]
    found = next((one for one in databases if one["name"] == name), None)
    if found is None:
        raise missing_database(name)
    return found


def missing_database(name: str) -> ApiError:
    return not_found(f'Database "{name}" cannot be found on the instance.')


def user_view(user: Mapping[str, Any]) -> dict[str, Any]:
    """A user as clients see it."""
    shown = [{"name": name} for name in user["databases"]]
    return {"name": user["name"], "host": user["host"], "databases": shown}
