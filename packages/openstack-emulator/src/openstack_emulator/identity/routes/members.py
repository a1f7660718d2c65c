"""The users in groups."""

from __future__ import annotations

from openstack_emulator.core.http import Request, Response
from openstack_emulator.identity.records import Group, User
from openstack_emulator.identity.routes.groups import GROUPS
from openstack_emulator.identity.routes.lists import filtered, list_response
from openstack_emulator.identity.routes.users import USERS
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.identity.rules.policy import enforce


def index(identity: Identity, request: Request) -> Response:
    group = GROUPS.required(identity, request, "list_users_in_group")
    found = filtered(identity.groups.members(group), request.query, USERS.filters)
    return list_response(request, "users", [USERS.shown(identity, request, user) for user in found])


def check(identity: Identity, request: Request) -> Response:
    identity.groups.membership(*_group_and_user(identity, request, "check_user_in_group"))
    return Response(status=204)


def add(identity: Identity, request: Request) -> Response:
    identity.groups.add_member(*_group_and_user(identity, request, "write_group"))
    return Response(status=204)


def remove(identity: Identity, request: Request) -> Response:
    identity.groups.remove_member(*_group_and_user(identity, request, "write_group"))
    return Response(status=204)


def _group_and_user(identity: Identity, request: Request, rule: str) -> tuple[Group, User]:
    group_id, user_id = request.vars["id"], request.vars["user_id"]
    group = identity.groups.rows.get(group_id)
    subject = {"domain_id": None if group is None else group.domain_id, "user_id": user_id}
    enforce(request.context, rule, subject)
    return identity.groups.rows.require(group_id), identity.users.rows.require(user_id)
