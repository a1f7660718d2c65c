"""Databases, users and the superuser of an instance over HTTP."""

from __future__ import annotations

import secrets

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.database.records import Instance, User
from openstack_emulator.database.routes.bodies import only_object
from openstack_emulator.database.routes.instances import reach, standalone_instance
from openstack_emulator.database.routes.lists import list_response
from openstack_emulator.database.rules.composition import DatabaseService
from openstack_emulator.database.rules.contents import (
    changed_user,
    database_names,
    missing_database,
    new_databases,
    new_passwords,
    new_users,
    user_in,
    with_databases,
    with_user,
    without_database,
)
from openstack_emulator.database.rules.validation import check, password
from openstack_emulator.database.views import databases_of, user_view

PASSWORD = "password"  # noqa: S105  the name of a field


def _user(service: DatabaseService, request: Request) -> tuple[Instance, User]:
    """The instance in the path and the user on it."""
    instance = standalone_instance(service, request)
    return instance, user_in(instance, request.vars["user"])


def _database(request: Request) -> str:
    return request.vars["database"]


def list_databases(service: DatabaseService, request: Request) -> Response:
    rows = [{"name": database.name} for database in standalone_instance(service, request).databases]
    return list_response(request, "databases", rows, dict, "name")


def create_databases(service: DatabaseService, request: Request) -> Response:
    instance = standalone_instance(service, request)
    instance.databases = [
        *instance.databases,
        *new_databases(_required(request, "databases"), instance.databases),
    ]
    service.instances.rows.save(instance)
    return Response(status=202)


def delete_database(service: DatabaseService, request: Request) -> Response:
    instance = standalone_instance(service, request)
    instance.databases, instance.users = without_database(instance, _database(request))
    service.instances.rows.save(instance)
    return Response(status=202)


def list_users(service: DatabaseService, request: Request) -> Response:
    users = {f"{user.name}@{user.host}": user for user in standalone_instance(service, request).users}
    rows = [{"key": key} for key in users]
    return list_response(request, "users", rows, lambda row: user_view(users[row.get("key", "")]), "key")


def create_users(service: DatabaseService, request: Request) -> Response:
    instance = standalone_instance(service, request)
    return _set_users(service, instance, [*instance.users, *new_users(_required(request, "users"), instance.users)])


def change_passwords(service: DatabaseService, request: Request) -> Response:
    """Change the passwords of several users."""
    instance = standalone_instance(service, request)
    return _set_users(service, instance, new_passwords(instance, _required(request, "users")))


def show_user(service: DatabaseService, request: Request) -> Response:
    return Response({"user": user_view(_user(service, request)[1])})


def change_user(service: DatabaseService, request: Request) -> Response:
    instance, user = _user(service, request)
    after = changed_user(instance, user, request.object("user"))
    return _set_users(service, instance, with_user(instance, user, after))


def delete_user(service: DatabaseService, request: Request) -> Response:
    instance, gone = _user(service, request)
    return _set_users(service, instance, [user for user in instance.users if user is not gone])


def list_access(service: DatabaseService, request: Request) -> Response:
    return Response({"databases": databases_of(_user(service, request)[1])})


def grant_access(service: DatabaseService, request: Request) -> Response:
    instance, user = _user(service, request)
    names = database_names(_required(request, "databases"))
    known = {database.name for database in instance.databases}
    for name in names:
        if name not in known:
            raise missing_database(name)
    after = with_databases(user, [*user.databases, *names])
    return _set_users(service, instance, with_user(instance, user, after))


def revoke_access(service: DatabaseService, request: Request) -> Response:
    instance, user = _user(service, request)
    name = _database(request)
    if name not in user.databases:
        raise missing_database(name)
    after = with_databases(user, [database for database in user.databases if database != name])
    return _set_users(service, instance, with_user(instance, user, after))


def _set_users(service: DatabaseService, instance: Instance, users: list[User]) -> Response:
    instance.users = users
    service.instances.rows.save(instance)
    return Response(status=202)


def _required(request: Request, name: str) -> list[object]:
    value = only_object(request).get(name)
    if not isinstance(value, list) or not value:
        raise bad_request(f"Validation error: body '{name}' must be a list that is not empty")
    return value


# -- the superuser ------------------------------------------------------------------------------------------------


def show_root(service: DatabaseService, request: Request) -> Response:
    return Response({"rootEnabled": reach(service, request).root_enabled})


def enable_root(service: DatabaseService, request: Request) -> Response:
    """Enable the superuser, with the password of the request or a new one."""
    instance = standalone_instance(service, request)
    user = superuser(request)
    service.instances.rows.update(instance, root_enabled=True)
    return Response({"user": user})


def superuser(request: Request) -> dict[str, str]:
    """The superuser with its password, which is shown only here. Raises ApiError 400."""
    body = request.json if request.body.strip() else None
    values = {} if body is None else check("root", body, {PASSWORD: password})
    return {"name": "root", PASSWORD: values.get(PASSWORD) or secrets.token_urlsafe(24)}


def disable_root(service: DatabaseService, request: Request) -> Response:
    instance = standalone_instance(service, request)
    if not instance.root_enabled:
        raise bad_request(f"Root is not enabled on instance {instance.id}.")
    service.instances.rows.update(instance, root_enabled=False)
    return Response(status=204)
