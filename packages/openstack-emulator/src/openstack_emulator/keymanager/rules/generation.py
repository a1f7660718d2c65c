"""Keys and certificates, as an order describes them. All functions raise ApiError 400 for what cannot be made."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import dsa, rsa

from openstack_emulator.core.errors import bad_request

_SYMMETRIC_BITS: Mapping[str, range | tuple[int, ...]] = {
    "aes": (128, 192, 256),
    "des": (56, 64),
    "3des": (64, 128, 192),
    "desede": (64, 128, 192),
    **dict.fromkeys(("hmacsha1", "hmacsha256", "hmacsha384", "hmacsha512", "hmac"), range(8, 32768, 8)),
}
_PAIRS: Mapping[str, tuple[tuple[int, ...], Callable[[int], object]]] = {
    "rsa": ((1024, 2048, 3072, 4096), lambda bits: rsa.generate_private_key(65537, bits)),
    "dsa": ((1024, 2048, 3072), dsa.generate_private_key),
}


@dataclass(frozen=True, repr=False)
class KeyPair:
    """Two keys in PEM: PKCS #8 and SubjectPublicKeyInfo."""

    private: bytes
    public: bytes


def symmetric_key(algorithm: str, bits: int) -> bytes:
    """A random key."""
    known = _SYMMETRIC_BITS.get(algorithm.lower())
    if known is None or bits not in known:
        raise bad_request(f"No key of {bits} bits can be generated for the algorithm {algorithm}.")
    return secrets.token_bytes((bits + 7) // 8)


def key_pair(algorithm: str, bits: int, passphrase: str | None = None) -> KeyPair:
    """A new key pair; its private key is encrypted if there is a passphrase."""
    sizes, generate = _PAIRS.get(algorithm.lower(), ((), None))
    if generate is None or bits not in sizes:
        raise bad_request(f"No key pair of {bits} bits can be generated for the algorithm {algorithm}.")
    return _in_pem(generate(bits), passphrase)


def request_for(subject: str, private_key: bytes, passphrase: bytes | None) -> x509.CertificateSigningRequest:
    """A certificate signing request for a stored key; `subject` is a distinguished name (RFC 4514)."""
    try:
        name = x509.Name.from_rfc4514_string(subject)
    except ValueError:
        raise bad_request("subject_dn is not a distinguished name.") from None
    try:
        key: Any = serialization.load_pem_private_key(private_key, passphrase)
        return x509.CertificateSigningRequestBuilder().subject_name(name).sign(key, hashes.SHA256())
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise bad_request("The private key in the source container cannot be used.") from None


def signing_request(data: str) -> x509.CertificateSigningRequest:
    """A certificate signing request (PKCS #10) from the base64 encoding of its PEM or DER form."""
    try:
        decoded = base64.b64decode(data, validate=True)
        is_pem = decoded.lstrip().startswith(b"-----")
        found = x509.load_pem_x509_csr(decoded) if is_pem else x509.load_der_x509_csr(decoded)
        valid = found.is_signature_valid
    except (ValueError, UnsupportedAlgorithm):
        valid = False
    if not valid:
        raise bad_request("request_data is not a valid certificate signing request.")
    return found


def _in_pem(key: Any, passphrase: str | None) -> KeyPair:
    encryption: serialization.KeySerializationEncryption = (
        serialization.BestAvailableEncryption(passphrase.encode()) if passphrase else serialization.NoEncryption()
    )
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return KeyPair(private, public)
