"""`POST /v3/ec2tokens` and `/v3/s3tokens`: a signed AWS request is worth a token of the one who signed it.

The signature proves who signed the request; who asks for the token must have the role admin or service.
"""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.cloud import Routes
from openstack_emulator.core.errors import forbidden, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.identity import tokens
from openstack_emulator.identity.authentication import issue_for_trust, unauthorized
from openstack_emulator.identity.credentials import EC2, ec2_blob, ec2_id
from openstack_emulator.identity.records import IdentityRecords, Target
from openstack_emulator.identity.signatures import access_of, is_s3_signed, is_signed, is_stale
from openstack_emulator.identity.token_routes import SUBJECT

METHODS = ["ec2credential"]
_MAY_ASK = {"admin", "service"}


def create_from_ec2(identity: IdentityRecords, request: Request) -> Response:
    """The body names the request `credentials`, or `ec2Credentials` as older clients do."""
    _require_service(request, "identity:ec2tokens_validate")
    body = request.json
    key = "ec2Credentials" if isinstance(body, dict) and "ec2Credentials" in body else "credentials"
    signed = request.object(key)
    credential, secret = _credential(identity, access_of(signed))
    if not is_signed(signed, secret) or is_stale(signed, identity.cloud.clock.now()):
        raise unauthorized()
    return _answer(identity, credential)


def create_from_s3(identity: IdentityRecords, request: Request) -> Response:
    _require_service(request, "identity:s3tokens_validate")
    signed = request.object("credentials")
    credential, secret = _credential(identity, str(signed.get("access", "")))
    if not is_s3_signed(str(signed.get("token", "")), str(signed.get("signature", "")), secret):
        raise unauthorized()
    return _answer(identity, credential)


def _require_service(request: Request, action: str) -> None:
    if not request.context.roles & _MAY_ASK:
        raise forbidden(f"You are not authorized to perform the requested action: {action}.")


def _credential(identity: IdentityRecords, access: str) -> tuple[Record, str]:
    found = identity.credentials.get(ec2_id(access))
    if found is None or found["type"] != EC2:
        raise not_found("EC2 access key not found.")
    return found, ec2_blob(found)["secret"]


def _answer(identity: IdentityRecords, credential: Record) -> Response:
    secret, granted = _issue(identity, credential)
    return Response(tokens.describe(identity, granted), 200, {SUBJECT: secret, "Vary": "X-Auth-Token"})


def _issue(identity: IdentityRecords, credential: Record) -> tuple[str, tokens.Grant]:
    """A token for the credential's user and project, through the trust or application credential that its blob names.

    A credential that names a trust is the trustor's with impersonation, else the trustee's; with that of
    another user one could become someone one is not.
    """
    user: Any = identity.users.get(credential["user_id"])
    blob = ec2_blob(credential)
    trust_id, through = blob.get("trust_id"), blob.get("app_cred_id")
    if user is None:
        raise unauthorized()
    if through is not None:
        held = identity.application_credentials.get(through)
        if held is None or held["user_id"] != user["id"]:
            raise unauthorized()
        target = Target("project", held["project_id"])
        return tokens.issue(identity, user, METHODS, target, application_credential_id=held["id"])
    if trust_id is None:
        return tokens.issue(identity, user, METHODS, Target("project", credential["project_id"]))
    trust = identity.trusts.get(trust_id)
    if trust is None or user["id"] != trust["trustor_user_id" if trust["impersonation"] else "trustee_user_id"]:
        raise unauthorized()
    return issue_for_trust(identity, identity.users.require(trust["trustee_user_id"]), METHODS, trust_id)


EC2_ROUTES: Routes = {"/ec2tokens": {"POST": create_from_ec2}, "/s3tokens": {"POST": create_from_s3}}
