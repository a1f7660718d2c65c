"""Databases, users and the superuser of an instance over HTTP."""

from __future__ import annotations

import secrets
from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.component import using
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.database.contents import (
    changed_user,
    database_in,
    granted,
    missing_database,
    new_databases,
    new_users,
    user_in,
    user_view,
)
from openstack_emulator.database.http import check, listed, only_object, password
from openstack_emulator.database.instances import Instances


def _instance(instances: Instances, request: Request) -> Record:
    return instances.alone(request.context, request.vars["id"])


def list_databases(instances: Instances, request: Request) -> Response:
    rows = _instance(instances, request)["databases"]
    return listed(request, "databases", rows, lambda row: {"name": row["name"]}, "name")


def create_databases(instances: Instances, request: Request) -> Response:
    instance = _instance(instances, request)
    made = new_databases(_required(request, "databases"), instance["databases"])
    instances.rows.update(instance, databases=[*instance["databases"], *made])
    return Response(status=202)


def delete_database(instances: Instances, request: Request) -> Response:
    instance = _instance(instances, request)
    gone = database_in(instance, request.vars["database"])
    users = [
        {**user, "databases": [name for name in user["databases"] if name != gone["name"]]}
        for user in instance["users"]
    ]
    kept = [one for one in instance["databases"] if one is not gone]
    instances.rows.update(instance, databases=kept, users=users)
    return Response(status=202)


def list_users(instances: Instances, request: Request) -> Response:
    rows = [{**one, "key": f"{one['name']}@{one['host']}"} for one in _instance(instances, request)["users"]]
    return listed(request, "users", rows, user_view, "key")


def create_users(instances: Instances, request: Request) -> Response:
    instance = _instance(instances, request)
    made = new_users(_required(request, "users"), instance["users"])
    instances.rows.update(instance, users=[*instance["users"], *made])
    return Response(status=202)


def change_passwords(instances: Instances, request: Request) -> Response:
    """Change the passwords of several users."""
    instance = _instance(instances, request)
    wanted = _required(request, "users")
    changes: dict[int, str] = {}
    for one in wanted:
        given = check("user", one, _PASSWORD_FORMS, ("name", "password"))
        user = user_in(instance, f"{given['name']}@{given.get('host') or '%'}")
        changes[id(user)] = given["password"]
    users = [{**user, "password": changes.get(id(user), user["password"])} for user in instance["users"]]
    instances.rows.update(instance, users=users)
    return Response(status=202)


_PASSWORD_FORMS = {
    "name": fields.text(1),
    "password": password,
    "host": fields.nullable(fields.text(1)),
}


def show_user(instances: Instances, request: Request) -> Response:
    return Response({"user": user_view(user_in(_instance(instances, request), request.vars["user"]))})


def change_user(instances: Instances, request: Request) -> Response:
    instance = _instance(instances, request)
    user = user_in(instance, request.vars["user"])
    _replace(instances, instance, user, changed_user(instance, user, request.object("user")))
    return Response(status=202)


def delete_user(instances: Instances, request: Request) -> Response:
    instance = _instance(instances, request)
    gone = user_in(instance, request.vars["user"])
    instances.rows.update(instance, users=[user for user in instance["users"] if user is not gone])
    return Response(status=202)


def list_access(instances: Instances, request: Request) -> Response:
    user = user_in(_instance(instances, request), request.vars["user"])
    return Response({"databases": user_view(user)["databases"]})


def grant_access(instances: Instances, request: Request) -> Response:
    instance = _instance(instances, request)
    user = user_in(instance, request.vars["user"])
    names = granted(_required(request, "databases"))
    known = {one["name"] for one in instance["databases"]}
    for name in names:
        if name not in known:
            raise missing_database(name)
    _replace(instances, instance, user, {**user, "databases": list(dict.fromkeys([*user["databases"], *names]))})
    return Response(status=202)


def revoke_access(instances: Instances, request: Request) -> Response:
    instance = _instance(instances, request)
    user = user_in(instance, request.vars["user"])
    name = request.vars["database"]
    if name not in user["databases"]:
        raise missing_database(name)
    _replace(instances, instance, user, {**user, "databases": [one for one in user["databases"] if one != name]})
    return Response(status=202)


def _replace(instances: Instances, instance: Record, user: dict[str, Any], after: dict[str, Any]) -> None:
    instances.rows.update(instance, users=[after if one is user else one for one in instance["users"]])


def _required(request: Request, name: str) -> list[Any]:
    given = only_object(request).get(name)
    if not isinstance(given, list) or not given:
        raise bad_request(f"Validation error: body '{name}' must be a list that is not empty")
    return given


# -- the superuser ------------------------------------------------------------------------------------------------


def show_root(instances: Instances, request: Request) -> Response:
    return Response({"rootEnabled": instances.reach(request.context, request.vars["id"])["root_enabled"]})


def enable_root(instances: Instances, request: Request) -> Response:
    """Enable the superuser, with the password of the request or a new one."""
    instance = _instance(instances, request)
    user = superuser(request)
    instances.rows.update(instance, root_enabled=True)
    return Response({"user": user})


def superuser(request: Request) -> dict[str, str]:
    """The superuser with its password, which is shown only here. Raises ApiError 400."""
    body = request.json if request.body.strip() else None
    given = {} if body is None else check("root", body, {"password": password})
    return {"name": "root", "password": given.get("password") or secrets.token_urlsafe(24)}


def disable_root(instances: Instances, request: Request) -> Response:
    instance = _instance(instances, request)
    if not instance["root_enabled"]:
        raise bad_request(f"Root is not enabled on instance {instance['id']}.")
    instances.rows.update(instance, root_enabled=False)
    return Response(status=204)


_ONE = "/instances/{id}"
CONTENT_ROUTES = using(
    Instances,
    {
        f"{_ONE}/databases": {"GET": list_databases, "POST": create_databases},
        f"{_ONE}/databases/{{database}}": {"DELETE": delete_database},
        f"{_ONE}/users": {"GET": list_users, "POST": create_users, "PUT": change_passwords},
        f"{_ONE}/users/{{user}}": {"GET": show_user, "PUT": change_user, "DELETE": delete_user},
        f"{_ONE}/users/{{user}}/databases": {"GET": list_access, "PUT": grant_access},
        f"{_ONE}/users/{{user}}/databases/{{database}}": {"DELETE": revoke_access},
        f"{_ONE}/root": {"GET": show_root, "POST": enable_root, "DELETE": disable_root},
    },
)
