"""Keypairs: public keys for servers, generated here when the user provides none."""

from __future__ import annotations

import base64
import binascii
import hashlib
from datetime import timedelta

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from openstack_emulator.compute.records import Keypair
from openstack_emulator.compute.rules.counters import Counters
from openstack_emulator.compute.rules.quotas import Quotas
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import bad_request, conflict, forbidden, not_found
from openstack_emulator.core.rules import Rules

CERTIFICATE_DAYS = 3650


class Keypairs(Rules):
    """Keypairs by user and name."""

    def __init__(self, records: Records, counters: Counters, quotas: Quotas) -> None:
        super().__init__(records)
        self.rows = records.table("keypairs", Keypair, "user_id")
        self._counters = counters
        self._quotas = quotas

    def create(
        self, user_id: str, project_id: str, name: str, kind: str, public_key: str | None
    ) -> tuple[Keypair, str | None]:
        """A new keypair, and the private key when it was generated here (it is not stored).

        kind: `ssh` or `x509`.

        Raises: ApiError 409 when the name is taken, 403 beyond the quota, 400 for an invalid key.
        """
        if self.rows.get(f"{user_id}:{name}") is not None:
            raise conflict(f"Key pair '{name}' already exists.")
        limit = self._quotas.limits_of(project_id)["key_pairs"]
        if 0 <= limit <= len(self.rows.select(user_id=user_id)):
            raise forbidden("Quota exceeded, too many key pairs.")
        private_key = None
        if public_key is None:
            private_key, public_key = self._make_certificate(user_id) if kind == "x509" else make_ssh_key()
        keypair = Keypair(
            id=f"{user_id}:{name}",
            user_id=user_id,
            name=name,
            type=kind,
            public_key=public_key,
            fingerprint=fingerprint(kind, public_key),
            created_at=self.moment(),
            number=self._counters.next("keypairs"),
        )
        return self.rows.add(keypair), private_key

    def find(self, user_id: str, name: str) -> Keypair:
        """A keypair of a user; 404 when there is none."""
        found = self.rows.get(f"{user_id}:{name}")
        if found is None:
            raise not_found(f"Keypair {name} not found for user {user_id}")
        return found

    def _make_certificate(self, user_id: str) -> tuple[str, str]:
        """A private key and a certificate for it with the user as its subject, as Windows guests need."""
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, user_id[:64])])
        certificate = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(self.records.now())
            .not_valid_after(self.records.now() + timedelta(days=CERTIFICATE_DAYS))
            .sign(key, hashes.SHA256())
        )
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return private.decode(), certificate.public_bytes(serialization.Encoding.PEM).decode()


def make_ssh_key() -> tuple[str, str]:
    """A private and its public key, as Nova generates them: RSA of 2048 bits, the private key in the PEM form of
    OpenSSL, which older SSH clients read too."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return private.decode(), f"{public.decode()} Generated-by-Nova"


def fingerprint(kind: str, public_key: str) -> str:
    """The fingerprint of a public key; 400 when it is not a key."""
    try:
        if kind == "x509":
            digest = x509.load_pem_x509_certificate(public_key.encode()).fingerprint(hashes.SHA1()).hex()  # noqa: S303
        else:
            serialization.load_ssh_public_key(public_key.strip().encode())
            digest = hashlib.md5(base64.b64decode(public_key.split()[1]), usedforsecurity=False).hexdigest()
    except (ValueError, IndexError, binascii.Error, UnsupportedAlgorithm):
        raise bad_request("Keypair data is invalid: failed to generate fingerprint") from None
    return ":".join(digest[start : start + 2] for start in range(0, len(digest), 2))
