"""Credentials, above all those of EC2: `/credentials` and `/users/{id}/credentials/OS-EC2`, which are one store.

Tokens of trusts and application credentials, also of unrestricted ones, give no access to them: 403, and empty lists.
"""

from __future__ import annotations

import secrets
from hashlib import sha256

import orjson

from openstack_emulator.core.cloud import Routes, new_hex_id
from openstack_emulator.core.errors import bad_request, conflict, forbidden, not_found
from openstack_emulator.core.http import Context, Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.identity.entity import Entity, whole_body
from openstack_emulator.identity.lists import answer, links
from openstack_emulator.identity.policy import enforce
from openstack_emulator.identity.records import IdentityRecords
from openstack_emulator.identity.tokens import application_credential_of
from openstack_emulator.identity.validation import Field, checked, identifier, invalid, nullable, text

EC2 = "ec2"


def ec2_id(access: str) -> str:
    """The id of the credential with this access key."""
    return sha256(access.encode()).hexdigest()


def ec2_blob(credential: Record) -> Record:
    """`{access, secret, trust_id, app_cred_id}` of an EC2 credential; 400 when its blob is not that."""
    try:
        blob = orjson.loads(credential["blob"])
    except orjson.JSONDecodeError:
        raise bad_request("Invalid blob in credential") from None
    if not isinstance(blob, dict) or not all(isinstance(blob.get(key), str) for key in ("access", "secret")):
        raise bad_request("Invalid blob in credential")
    return blob


def prepare_credential(identity: IdentityRecords, given: Record, request: Request) -> None:
    """The credential is the caller's unless the request says whose."""
    given.setdefault("user_id", request.context.user_id)
    forbid_delegated(identity, request.context)


def forbid_delegated(identity: IdentityRecords, caller: Context) -> None:
    """403 for a token of a trust or of an application credential."""
    if _delegated(identity, caller):
        raise forbidden(
            "You are not authorized to perform the requested action: Delegated tokens cannot access credentials "
            "directly."
        )


def _delegated(identity: IdentityRecords, caller: Context) -> bool:
    return caller.trust_id is not None or application_credential_of(identity, caller) is not None


def create_credential(identity: IdentityRecords, values: Record) -> Record:
    key = new_hex_id()
    if values["type"] == EC2:
        if values["project_id"] is None:
            given = {name: value for name, value in values.items() if name != "project_id"}
            raise invalid("credential", given, "'project_id' is a required property")
        key = ec2_id(ec2_blob(values)["access"])
        if key in identity.credentials:
            raise conflict("Conflict occurred attempting to store credential - Duplicate entry found.")
    return identity.credentials.add({"id": key, **values})


def change_credential(identity: IdentityRecords, credential: Record, changes: Record) -> None:
    after = {**credential, **changes}
    if after["type"] != EC2:
        return
    blob = ec2_blob(after)
    before = ec2_blob(credential) if credential["type"] == EC2 else blob
    for key in ("trust_id", "app_cred_id"):
        if blob.get(key) != before.get(key):
            raise bad_request(f"The {key} of a credential cannot be changed.")
    if after["project_id"] is None:
        raise bad_request(f"Missing parameter project_id: a credential of type {EC2} needs a project.")


class Credentials(Entity):
    """Credentials: tokens of trusts and application credentials are refused once the policy has let them pass."""

    def handle_list(self, identity: IdentityRecords, request: Request) -> Response:
        if _delegated(identity, request.context):
            return answer(request, self.plural, [])
        return super().handle_list(identity, request)

    def required(self, identity: IdentityRecords, request: Request, key: str, rule: str, verb: str = "") -> Record:
        record = super().required(identity, request, key, rule, verb)
        forbid_delegated(identity, request.context)
        return record


CREDENTIALS = Credentials(
    "credential",
    "credentials",
    "credentials",
    {
        "type": Field(text(1, 255), required=True),
        "blob": Field(text(1), required=True),
        "user_id": Field(identifier, required=True),
        "project_id": Field(nullable(identifier), default=None),
    },
    prepare=prepare_credential,
    create=create_credential,
    change=change_credential,
    remove=lambda identity, credential: identity.credentials.remove(credential),
    subject=lambda credential: {"user_id": credential.get("user_id")},
    filters=("user_id", "type"),
    extra=True,
    fixed=frozenset({"user_id"}),
)


def list_ec2(identity: IdentityRecords, request: Request) -> Response:
    user_id = _user(identity, request, "get_ec2_credential")
    rows = [_view(request, row) for row in identity.credentials.select(user_id=user_id, type=EC2)]
    return Response({"credentials": rows, "links": links(request)})


def create_ec2(identity: IdentityRecords, request: Request) -> Response:
    """An access key and secret for a user in a project."""
    user_id = _user(identity, request, "write_ec2_credential", "ec2_create")
    given = checked({"tenant_id": Field(identifier, required=True)}, whole_body(request), extra=True)
    identity.projects.require(given["tenant_id"])
    access, secret = new_hex_id(), secrets.token_hex(16)
    blob = {"access": access, "secret": secret, "trust_id": None}
    credential = identity.credentials.add(
        {
            "id": ec2_id(access),
            "type": EC2,
            "user_id": user_id,
            "project_id": given["tenant_id"],
            "blob": orjson.dumps(blob).decode(),
        }
    )
    return Response({"credential": _view(request, credential)}, 201)


def show_ec2(identity: IdentityRecords, request: Request) -> Response:
    user_id = _user(identity, request, "get_ec2_credential")
    return Response({"credential": _view(request, _required(identity, request, user_id))})


def delete_ec2(identity: IdentityRecords, request: Request) -> Response:
    user_id = _user(identity, request, "write_ec2_credential", "ec2_delete")
    identity.credentials.remove(_required(identity, request, user_id))
    return Response(status=204)


def _user(identity: IdentityRecords, request: Request, rule: str, verb: str = "") -> str:
    enforce(request.context, rule, {"user_id": request.vars["user_id"]}, verb)
    forbid_delegated(identity, request.context)
    return str(identity.users.require(request.vars["user_id"])["id"])


def _required(identity: IdentityRecords, request: Request, user_id: str) -> Record:
    access = request.vars["access"]
    key = ec2_id(access)
    found = identity.credentials.get(key)
    if found is None or found["user_id"] != user_id or found["type"] != EC2:
        raise not_found(f"Could not find credential: {key}.")
    return found


def _view(request: Request, credential: Record) -> Record:
    blob = ec2_blob(credential)
    return {
        "access": blob["access"],
        "secret": blob["secret"],
        "user_id": credential["user_id"],
        "tenant_id": credential["project_id"],
        "trust_id": blob.get("trust_id"),
        "links": {"self": f"{request.base}/v3/users/{credential['user_id']}/credentials/OS-EC2/{blob['access']}"},
    }


CREDENTIAL_ROUTES: Routes = {
    **CREDENTIALS.routes(),
    "/users/{user_id}/credentials/OS-EC2": {"GET": list_ec2, "POST": create_ec2},
    "/users/{user_id}/credentials/OS-EC2/{access}": {"GET": show_ec2, "DELETE": delete_ec2},
}
