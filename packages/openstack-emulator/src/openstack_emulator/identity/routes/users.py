"""Users and their passwords."""

from __future__ import annotations

from openstack_emulator.core.cloud import new_hex_id
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation.fields import exact_boolean, optional
from openstack_emulator.identity.records import User
from openstack_emulator.identity.routes.entity import Entity, Values, change, fill_domain, options
from openstack_emulator.identity.routes.groups import GROUPS
from openstack_emulator.identity.routes.lists import filtered, list_response
from openstack_emulator.identity.routes.projects import PROJECTS
from openstack_emulator.identity.routes.validation import Field, checked, description, identifier, listing, name, text
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.identity.rules.kept import draft
from openstack_emulator.identity.views import user_view

USER_OPTIONS = options(
    ignore_change_password_upon_first_use=exact_boolean,
    ignore_password_expiry=exact_boolean,
    ignore_lockout_failure_attempts=exact_boolean,
    ignore_user_inactivity=exact_boolean,
    lock_password=exact_boolean,
    multi_factor_auth_enabled=exact_boolean,
    multi_factor_auth_rules=listing(listing(text(1))),
)
OWN_PASSWORD = {"original_password": Field(text(), required=True), "password": Field(text(1), required=True)}


def create(entity: Entity[User], identity: Identity, values: Values) -> User:
    """A user, of whose password only a hash is kept."""
    password = values.pop("password")
    return identity.users.create(draft(User, new_hex_id(), values), password)


def change_user(entity: Entity[User], identity: Identity, user: User, changes: Values) -> None:
    """A user, whose tokens end with the password."""
    has_password, password = "password" in changes, changes.pop("password", None)
    change(entity, identity, user, changes)
    if has_password:
        identity.users.set_password(user, password)


USERS = Entity(
    User,
    lambda identity: identity.users,
    "user",
    "users",
    {
        "name": Field(name, required=True),
        "domain_id": Field(identifier),
        "password": Field(optional(text()), default=None),
        "enabled": Field(exact_boolean, default=True),
        "default_project_id": Field(optional(identifier)),
        "description": Field(description),
        "options": Field(USER_OPTIONS, default={}),
    },
    prepare=fill_domain,
    create=create,
    change=change_user,
    subject={"domain_id": "domain_id", "user_id": "id"},
    view=user_view,
    filters=("name", "domain_id", "enabled", "default_project_id", "email", "description"),
    extra=True,
    in_columns=True,
    fixed=frozenset({"domain_id"}),
)


def change_password(identity: Identity, request: Request) -> Response:
    """A user's own change of password: the old one stands in for a token."""
    body = checked(OWN_PASSWORD, request.object("user"))
    original, password = body.pop("original_password"), body.pop("password")
    identity.users.change_own_password(request.vars["id"], original, password)
    return Response(status=204)


def list_projects(identity: Identity, request: Request) -> Response:
    """The projects the user has a role on."""
    user = USERS.required(identity, request, "list_user_projects")
    ids = {target.id for target in identity.grants.targets_of(user.id) if target.kind == "project"}
    found = filtered(identity.projects.rows, request.query, PROJECTS.filters)
    rows = [PROJECTS.shown(identity, request, project) for project in found if project.id in ids]
    return list_response(request, "projects", rows)


def list_groups(identity: Identity, request: Request) -> Response:
    user = USERS.required(identity, request, "list_groups_for_user")
    found = filtered(identity.groups.groups_of(user), request.query, GROUPS.filters)
    rows = [{**GROUPS.shown(identity, request, group), "membership_expires_at": None} for group in found]
    return list_response(request, "groups", rows)
