"""What is in the database server of an instance: databases, and users with access to some of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from urllib.parse import unquote

from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.validation import fields
from openstack_emulator.database.records import Database, Instance, User
from openstack_emulator.database.rules.validation import any_list, check, objects, password

ANY_HOST = "%"
NAME, PASSWORD = "name", "password"
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
    "databases": any_list,
}
PASSWORD_FORMS = {"name": fields.text(1), "password": password, "host": fields.nullable(fields.text(1))}


def new_databases(entries: object, present: Iterable[Database], where: str = "databases") -> list[Database]:
    """The databases of a request, none of which may be in `present`. Raises ApiError 400."""
    names = {database.name for database in present}
    databases = []
    for entry in objects(where, entries, _DATABASE_FORMS, (NAME,)):
        new = Database(
            name=entry[NAME],
            character_set=entry.get("character_set") or "utf8",
            collate=entry.get("collate") or "utf8_general_ci",
        )
        if new.name in _RESERVED_DATABASES:
            raise bad_request(f"Database name '{new.name}' is reserved.")
        if new.name in names:
            raise bad_request(f'A database with the name "{new.name}" already exists.')
        names.add(new.name)
        databases.append(new)
    return databases


def initial_databases(entries: object) -> list[Database]:
    """The databases of a new instance. Raises ApiError 400."""
    listed = [entry.get("name") for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    if any(name in listed[:index] for index, name in enumerate(listed)):
        raise bad_request(
            "Two or more databases share the same name in the initial databases list. Please correct the names or "
            "remove the duplicate entries."
        )
    return new_databases(entries, [], "instance['databases']")


def initial_users(entries: object, databases: Iterable[Database]) -> list[User]:
    """The users of a new instance, who have access to its databases only. Raises ApiError 400."""
    users, known = new_users(entries, [], "instance['users']"), {database.name for database in databases}
    for user in users:
        for name in user.databases:
            if name not in known:
                raise bad_request(
                    f"The request indicates that user {user.name} should have access to database {name}, but "
                    f"database {name} is not included in the initial databases list."
                )
    return users


def new_users(entries: object, present: Iterable[User], where: str = "users") -> list[User]:
    """The users of a request, none of which may be in `present`. Raises ApiError 400."""
    known = {(user.name, user.host) for user in present}
    users = []
    for entry in objects(where, entries, _USER_FORMS, (NAME, PASSWORD)):
        user = User(name=entry[NAME], host=entry.get("host") or ANY_HOST, password=entry[PASSWORD], databases=[])
        _refuse_reserved(user.name)
        if (user.name, user.host) in known:
            raise bad_request(f'A user with the name "{user.name}" already exists.')
        known.add((user.name, user.host))
        user.databases = database_names(entry.get("databases"))
        users.append(user)
    return users


def _refuse_reserved(name: str) -> None:
    if name in _RESERVED_USERS:
        raise bad_request(f"User name '{name}' is reserved.")


def database_names(entries: object) -> list[str]:
    """The names of the databases in a list of `{name}`, each once. Raises ApiError 400."""
    return list(dict.fromkeys(entry[NAME] for entry in objects("databases", entries, _DATABASE_FORMS, (NAME,))))


def user_in(instance: Instance, reference: str) -> User:
    """The user that a URL names: `name` or `name@host`, in which a dot may be encoded twice. Raises ApiError 404."""
    reference = unquote(reference)
    found = _user(instance, reference, ANY_HOST)
    if found is None and "@" in reference:
        name, _, host = reference.rpartition("@")
        found = _user(instance, name, host)
    if found is None:
        raise not_found(f'User "{reference}" cannot be found on the instance.')
    return found


def _user(instance: Instance, name: str, host: str) -> User | None:
    return next((user for user in instance.users if (user.name, user.host) == (name, host)), None)


def changed_user(instance: Instance, user: User, changes: object) -> User:
    """A user after a request to change its name, host or password. Raises ApiError 400."""
    body = check("user", changes, {name: form for name, form in _USER_FORMS.items() if name != "databases"})
    after = dataclasses.replace(user, **{name: value for name, value in body.items() if value is not None})
    _refuse_reserved(after.name)
    other = _user(instance, after.name, after.host)
    if other is not None and other is not user:
        raise bad_request(f'A user with the name "{after.name}" already exists.')
    return after


def new_passwords(instance: Instance, entries: Iterable[object]) -> list[User]:
    """The users of an instance after a request to change passwords of some. Raises ApiError 400 and 404."""
    changes: dict[int, str] = {}
    for entry in entries:
        body = check("user", entry, PASSWORD_FORMS, (NAME, PASSWORD))
        user = user_in(instance, f"{body[NAME]}@{body.get('host') or ANY_HOST}")
        changes[id(user)] = body[PASSWORD]
    return [dataclasses.replace(user, password=changes.get(id(user), user.password)) for user in instance.users]


def with_user(instance: Instance, user: User, after: User) -> list[User]:
    """The users of an instance, of whom one has changed."""
    return [after if present is user else present for present in instance.users]


def with_databases(user: User, names: Iterable[str]) -> User:
    """A user with access to these databases."""
    return dataclasses.replace(user, databases=list(dict.fromkeys(names)))


def without_database(instance: Instance, name: str) -> tuple[list[Database], list[User]]:
    """The databases and users of an instance without a database. Raises ApiError 404."""
    remaining = [database for database in instance.databases if database.name != name]
    if len(remaining) == len(instance.databases):
        raise missing_database(name)
    users = [
        with_databases(user, (database for database in user.databases if database != name)) for user in instance.users
    ]
    return remaining, users


def missing_database(name: str) -> ApiError:
    """The 404 for a database that an instance does not have."""
    return not_found(f'Database "{name}" cannot be found on the instance.')
