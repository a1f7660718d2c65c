"""Users, their passwords, and groups."""

from __future__ import annotations

from openstack_emulator.core.cloud import Routes, new_hex_id
from openstack_emulator.core.errors import ApiError, bad_request, forbidden, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record, public
from openstack_emulator.identity.entity import Entity, fill_domain, options
from openstack_emulator.identity.lists import answer, filtered
from openstack_emulator.identity.passwords import hash_password, verify_password
from openstack_emulator.identity.policy import Subject, enforce
from openstack_emulator.identity.projects import PROJECTS
from openstack_emulator.identity.records import IdentityRecords, Membership
from openstack_emulator.identity.removal import end_tokens, remove_group, remove_user
from openstack_emulator.identity.validation import (
    Field,
    boolean,
    checked,
    description,
    identifier,
    listing,
    name,
    nullable,
    text,
)

USER_OPTIONS = options(
    ignore_change_password_upon_first_use=boolean,
    ignore_password_expiry=boolean,
    ignore_lockout_failure_attempts=boolean,
    ignore_user_inactivity=boolean,
    lock_password=boolean,
    multi_factor_auth_enabled=boolean,
    multi_factor_auth_rules=listing(listing(text(1))),
)


def create_user(identity: IdentityRecords, values: Record) -> Record:
    domain_id = values.pop("domain_id")
    identity.domains.require(domain_id)
    _check_default_project(identity, values)
    return identity.create_user(values.pop("name"), domain_id, values.pop("password"), **values)


def change_user(identity: IdentityRecords, user: Record, changes: Record) -> None:
    identity.refuse_rename(identity.users, "user", user, changes)
    _check_default_project(identity, changes)
    if "password" in changes:
        password = changes.pop("password")
        changes["_password"] = None if password is None else hash_password(password)
    if "_password" in changes or changes.get("enabled") is False:
        end_tokens(identity, user["id"])


def _check_default_project(identity: IdentityRecords, values: Record) -> None:
    if values.get("default_project_id") in identity.domains:
        raise bad_request(f"User's default project ID cannot be a domain ID: {values['default_project_id']}")


def _view_user(identity: IdentityRecords, user: Record) -> Record:
    return public(user)


COLUMNS = frozenset({
    "id", "name", "domain_id", "enabled", "default_project_id", "options", "password_expires_at",
})  # fmt: skip
"""The attributes of users that Keystone stores in columns of their own."""

USERS = Entity(
    "user",
    "users",
    "users",
    {
        "name": Field(name, required=True),
        "domain_id": Field(identifier),
        "password": Field(nullable(text()), default=None),
        "enabled": Field(boolean, default=True),
        "default_project_id": Field(nullable(identifier)),
        "description": Field(description),
        "options": Field(USER_OPTIONS, default={}),
    },
    prepare=fill_domain,
    create=create_user,
    change=change_user,
    remove=remove_user,
    view=_view_user,
    subject=lambda user: {"domain_id": user.get("domain_id"), "user_id": user.get("id")},
    filters=("name", "domain_id", "enabled", "default_project_id", "email", "description"),
    extra=True,
    columns=COLUMNS,
    fixed=frozenset({"domain_id"}),
)


def change_password(identity: IdentityRecords, request: Request) -> Response:
    """A user's own change of password: the old one stands in for a token."""
    given = checked(
        {"original_password": Field(text(), required=True), "password": Field(text(1), required=True)},
        request.object("user"),
    )
    user = identity.users.get(request.vars["id"])
    right = verify_password(given["original_password"], None if user is None else user["_password"])
    if user is None or not right or not user["enabled"]:
        raise ApiError(401, "The request you have made requires authentication.")
    if user["options"].get("lock_password"):
        raise forbidden(f"The password of user {user['id']} is locked and cannot be changed by the user.")
    identity.users.update(user, _password=hash_password(given["password"]))
    end_tokens(identity, user["id"])
    return Response(status=204)


def list_projects_of_user(identity: IdentityRecords, request: Request) -> Response:
    """The projects the user has a role on."""
    user = USERS.required(identity, request, request.vars["id"], "list_user_projects")
    ids = {target.id for target in identity.targets_of(user["id"]) if target.kind == "project"}
    rows = [
        PROJECTS.shown(identity, request, record)
        for record in filtered(identity.projects, request.query, PROJECTS.filters)
        if record["id"] in ids
    ]
    return answer(request, "projects", rows)


def list_groups_of_user(identity: IdentityRecords, request: Request) -> Response:
    user = USERS.required(identity, request, request.vars["id"], "list_groups_for_user")
    held = [identity.groups.require(row.group_id) for row in identity.memberships.select(user_id=user["id"])]
    found = filtered(held, request.query, GROUPS.filters)
    rows = [{**GROUPS.shown(identity, request, group), "membership_expires_at": None} for group in found]
    return answer(request, "groups", rows)


def create_group(identity: IdentityRecords, values: Record) -> Record:
    identity.domains.require(values["domain_id"])
    identity.refuse_duplicate(identity.groups, "group", values["name"], values["domain_id"])
    return identity.groups.add({"id": new_hex_id(), **values})


def change_group(identity: IdentityRecords, group: Record, changes: Record) -> None:
    identity.refuse_rename(identity.groups, "group", group, changes)


GROUPS = Entity(
    "group",
    "groups",
    "groups",
    {
        "name": Field(name, required=True),
        "domain_id": Field(identifier),
        "description": Field(description, default=""),
    },
    prepare=fill_domain,
    create=create_group,
    change=change_group,
    remove=remove_group,
    subject=lambda group: {"domain_id": group.get("domain_id")},
    filters=("name", "domain_id"),
    extra=True,
    fixed=frozenset({"domain_id"}),
)


def list_users_of_group(identity: IdentityRecords, request: Request) -> Response:
    group = GROUPS.required(identity, request, request.vars["id"], "list_users_in_group")
    held = [identity.users.require(row.user_id) for row in identity.memberships.select(group_id=group["id"])]
    rows = [USERS.shown(identity, request, user) for user in filtered(held, request.query, USERS.filters)]
    return answer(request, "users", rows)


def check_member(identity: IdentityRecords, request: Request) -> Response:
    group, user = _group_and_user(identity, request, "check_user_in_group")
    _membership(identity, group, user)
    return Response(status=204)


def add_member(identity: IdentityRecords, request: Request) -> Response:
    group, user = _group_and_user(identity, request, "write_group")
    key = f"{group['id']}:{user['id']}"
    if key not in identity.memberships:
        identity.memberships.add(Membership(id=key, group_id=group["id"], user_id=user["id"]))
    return Response(status=204)


def remove_member(identity: IdentityRecords, request: Request) -> Response:
    group, user = _group_and_user(identity, request, "write_group")
    identity.memberships.remove(_membership(identity, group, user))
    return Response(status=204)


def _membership(identity: IdentityRecords, group: Record, user: Record) -> Membership:
    found = identity.memberships.get(f"{group['id']}:{user['id']}")
    if found is None:
        raise not_found(f"User '{user['id']}' not found in group '{group['id']}'")
    return found


def _group_and_user(identity: IdentityRecords, request: Request, rule: str) -> tuple[Record, Record]:
    group = identity.groups.get(request.vars["id"])
    subject: Subject = {
        "domain_id": None if group is None else group["domain_id"],
        "user_id": request.vars["user_id"],
    }
    enforce(request.context, rule, subject)
    return identity.groups.require(request.vars["id"]), identity.users.require(request.vars["user_id"])


PEOPLE_ROUTES: Routes = {
    **USERS.routes(),
    **GROUPS.routes(),
    "/users/{id}/password": {"POST": change_password},
    "/users/{id}/projects": {"GET": list_projects_of_user},
    "/users/{id}/groups": {"GET": list_groups_of_user},
    "/groups/{id}/users": {"GET": list_users_of_group},
    "/groups/{id}/users/{user_id}": {"GET": check_member, "PUT": add_member, "DELETE": remove_member},
}
