"""Credentials, above all those of EC2."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from hashlib import sha256

import orjson

from openstack_emulator.core.cloud import new_hex_id
from openstack_emulator.core.errors import bad_request, conflict, not_found
from openstack_emulator.identity.records import Credential
from openstack_emulator.identity.rules.kept import RecordCollection

EC2 = "ec2"


@dataclass(frozen=True)
class Ec2Key:
    """What the blob of an EC2 credential says."""

    access: str
    secret: str
    trust_id: str | None = None
    app_cred_id: str | None = None


def ec2_id(access: str) -> str:
    """The id of the credential with this access key."""
    return sha256(access.encode()).hexdigest()


def ec2_key(credential: Credential) -> Ec2Key:
    """The keys of an EC2 credential. Raises ApiError 400 when its blob is not that."""
    try:
        blob = orjson.loads(credential.blob)
    except orjson.JSONDecodeError:
        raise bad_request("Invalid blob in credential") from None
    if not isinstance(blob, dict):
        raise bad_request("Invalid blob in credential")
    access, secret, trust_id, app_cred_id = map(blob.get, ("access", "secret", "trust_id", "app_cred_id"))
    named = all(isinstance(each, str | None) for each in (trust_id, app_cred_id))
    if not isinstance(access, str) or not isinstance(secret, str) or not named:
        raise bad_request("Invalid blob in credential")
    return Ec2Key(access, secret, trust_id, app_cred_id)


class Credentials(RecordCollection[Credential]):
    """Credentials of users."""

    def create(self, new: Credential) -> Credential:
        if new.type == EC2:
            new.id = ec2_id(ec2_key(new).access)
            if new.id in self.rows:
                raise conflict("Conflict occurred attempting to store credential - Duplicate entry found.")
        return super().create(new)

    def create_ec2(self, user_id: str, project_id: str) -> Credential:
        """New keys of EC2 for a user in a project."""
        access, secret = new_hex_id(), secrets.token_hex(16)
        blob = orjson.dumps({"access": access, "secret": secret, "trust_id": None}).decode()
        return self.rows.add(Credential(id=ec2_id(access), type=EC2, user_id=user_id, project_id=project_id, blob=blob))

    def change(self, record: Credential, after: Credential) -> None:
        if after.type == EC2:
            key = ec2_key(after)
            before = ec2_key(record) if record.type == EC2 else key
            if key.trust_id != before.trust_id:
                raise bad_request("The trust_id of a credential cannot be changed.")
            if key.app_cred_id != before.app_cred_id:
                raise bad_request("The app_cred_id of a credential cannot be changed.")
            if after.project_id is None:
                raise bad_request(f"Missing parameter project_id: a credential of type {EC2} needs a project.")
        super().change(record, after)

    def of_access(self, access: str) -> Credential | None:
        """The EC2 credential with an access key."""
        found = self.rows.get(ec2_id(access))
        return found if found is not None and found.type == EC2 else None

    def require_ec2(self, user_id: str, access: str) -> Credential:
        """The EC2 credential of a user. Raises ApiError 404."""
        found = self.of_access(access)
        if found is None or found.user_id != user_id:
            raise not_found(f"Could not find credential: {ec2_id(access)}.")
        return found
