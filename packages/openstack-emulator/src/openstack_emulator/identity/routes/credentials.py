"""Credentials: `/credentials` and, for EC2, `/users/{id}/credentials/OS-EC2`, which are one store.

Tokens of trusts and application credentials, also of unrestricted ones, give no access to them: 403, and empty lists.
"""

from __future__ import annotations

from openstack_emulator.core.errors import forbidden
from openstack_emulator.core.http import Context, Request, Response
from openstack_emulator.core.validation.fields import optional
from openstack_emulator.core.validation.objects import invalid
from openstack_emulator.identity.records import Credential
from openstack_emulator.identity.routes.entity import Entity, Values, whole_body
from openstack_emulator.identity.routes.entity import create as create_record
from openstack_emulator.identity.routes.lists import links, list_response
from openstack_emulator.identity.routes.validation import Field, checked, identifier, text
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.identity.rules.credentials import EC2
from openstack_emulator.identity.rules.policy import enforce
from openstack_emulator.identity.views import ec2_view

NEW_EC2 = {"tenant_id": Field(identifier, required=True)}


def prepare(identity: Identity, values: Values, request: Request) -> None:
    """The credential is the caller's unless the request says whose."""
    values.setdefault("user_id", request.context.user_id)
    forbid_delegated(identity, request.context)


def forbid_delegated(identity: Identity, caller: Context) -> None:
    """Raise ApiError 403 for a token of a trust or of an application credential."""
    if identity.authentication.tokens.is_delegated(caller):
        raise forbidden(
            "You are not authorized to perform the requested action: Delegated tokens cannot access credentials "
            "directly."
        )


def create(entity: Entity[Credential], identity: Identity, values: Values) -> Credential:
    """A credential; one of EC2 needs a project."""
    if values.get("type") == EC2 and values.get("project_id") is None:
        instance = {name: value for name, value in values.items() if name != "project_id"}
        raise invalid("credential", instance, "'project_id' is a required property")
    return create_record(entity, identity, values)


class CredentialEntity(Entity[Credential]):
    """Credentials: tokens of trusts and application credentials are refused once the policy has let them pass."""

    def index(self, identity: Identity, request: Request) -> Response:
        if identity.authentication.tokens.is_delegated(request.context):
            return list_response(request, self.plural, [])
        return super().index(identity, request)

    def required(self, identity: Identity, request: Request, rule: str, verb: str = "") -> Credential:
        record = super().required(identity, request, rule, verb)
        forbid_delegated(identity, request.context)
        return record


CREDENTIALS = CredentialEntity(
    Credential,
    lambda identity: identity.credentials,
    "credential",
    "credentials",
    {
        "type": Field(text(1, 255), required=True),
        "blob": Field(text(1), required=True),
        "user_id": Field(identifier, required=True),
        "project_id": Field(optional(identifier), default=None),
    },
    prepare=prepare,
    create=create,
    subject={"user_id": "user_id"},
    filters=("user_id", "type"),
    extra=True,
    fixed=frozenset({"user_id"}),
)


def list_ec2(identity: Identity, request: Request) -> Response:
    user_id = _user(identity, request, "get_ec2_credential")
    found = identity.credentials.rows.select(user_id=user_id, type=EC2)
    return Response({"credentials": [ec2_view(request, credential) for credential in found], "links": links(request)})


def create_ec2(identity: Identity, request: Request) -> Response:
    """Create an access key and secret for a user in a project. Raises ApiError 400, 403, 404."""
    user_id = _user(identity, request, "write_ec2_credential", "ec2_create")
    project_id = checked(NEW_EC2, whole_body(request), extra=True).pop("tenant_id")
    identity.projects.rows.require(project_id)
    credential = identity.credentials.create_ec2(user_id, project_id)
    return Response({"credential": ec2_view(request, credential)}, 201)


def show_ec2(identity: Identity, request: Request) -> Response:
    user_id = _user(identity, request, "get_ec2_credential")
    credential = identity.credentials.require_ec2(user_id, request.vars["access"])
    return Response({"credential": ec2_view(request, credential)})


def delete_ec2(identity: Identity, request: Request) -> Response:
    user_id = _user(identity, request, "write_ec2_credential", "ec2_delete")
    identity.credentials.remove(identity.credentials.require_ec2(user_id, request.vars["access"]))
    return Response(status=204)


def _user(identity: Identity, request: Request, rule: str, verb: str = "") -> str:
    """The ID of the user in the path.

    Raises: ApiError 403 for a caller whom the policy rule does not admit, 404 for an unknown user.
    """
    user_id = request.vars["user_id"]
    enforce(request.context, rule, {"user_id": user_id}, verb)
    forbid_delegated(identity, request.context)
    return identity.users.rows.require(user_id).id
