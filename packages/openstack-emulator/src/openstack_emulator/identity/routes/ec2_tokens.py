"""`POST /v3/ec2tokens` and `/v3/s3tokens`: a signed AWS request is worth a token of the one who signed it.

The signature proves who signed the request; who asks for the token must have the role admin or service.
"""

from __future__ import annotations

from openstack_emulator.core.errors import forbidden, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.identity.records import Credential
from openstack_emulator.identity.routes.tokens import token_response
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.identity.rules.credentials import ec2_key
from openstack_emulator.identity.rules.errors import unauthorized
from openstack_emulator.identity.rules.signatures import access_of, is_s3_signed, is_signed, is_stale

_MAY_ASK = {"admin", "service"}


def create_from_ec2(identity: Identity, request: Request) -> Response:
    """The body names the request `credentials`, or `ec2Credentials` as older clients do."""
    _require_service(request, "identity:ec2tokens_validate")
    body = request.json
    key = "ec2Credentials" if isinstance(body, dict) and "ec2Credentials" in body else "credentials"
    signed = request.object(key)
    credential, secret = _credential(identity, access_of(signed))
    if not is_signed(signed, secret) or is_stale(signed, identity.cloud.clock.now()):
        raise unauthorized()
    return token_response(identity, *identity.authentication.for_ec2(credential))


def create_from_s3(identity: Identity, request: Request) -> Response:
    _require_service(request, "identity:s3tokens_validate")
    signed = request.object("credentials")
    credential, secret = _credential(identity, str(signed.get("access", "")))
    if not is_s3_signed(str(signed.get("token", "")), str(signed.get("signature", "")), secret):
        raise unauthorized()
    return token_response(identity, *identity.authentication.for_ec2(credential))


def _require_service(request: Request, action: str) -> None:
    if not request.context.roles & _MAY_ASK:
        raise forbidden(f"You are not authorized to perform the requested action: {action}.")


def _credential(identity: Identity, access: str) -> tuple[Credential, str]:
    """The credential with an access key, and its secret. Raises ApiError 404."""
    found = identity.credentials.of_access(access)
    if found is None:
        raise not_found("EC2 access key not found.")
    return found, ec2_key(found).secret
