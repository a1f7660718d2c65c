"""Certificate authorities of emulated services."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa

_LIFETIME = timedelta(days=365)
_AUTHORITY_LIFETIME = timedelta(days=3650)
_AUTHORITY_BITS = 2048


def certificate_authority(now: datetime, name: str = "Emulated certificate authority") -> tuple[bytes, bytes]:
    """The private key and the certificate of a new certificate authority with this common name, in PEM."""
    key = rsa.generate_private_key(65537, _AUTHORITY_BITS)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name[:64])])
    certificate = (
        _builder(subject, subject, key.public_key(), now, _AUTHORITY_LIFETIME)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return private, certificate.public_bytes(serialization.Encoding.PEM)


def signed(request: x509.CertificateSigningRequest, authority: tuple[bytes, bytes], now: datetime) -> bytes:
    """The certificate in PEM that an authority, a key and a certificate in PEM, issues for a request."""
    key: Any = serialization.load_pem_private_key(authority[0], None)
    issuer = x509.load_pem_x509_certificate(authority[1])
    certificate = (
        _builder(request.subject, issuer.subject, request.public_key(), now, _LIFETIME)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: Any, now: datetime, life: timedelta
) -> x509.CertificateBuilder:
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
    return builder.serial_number(x509.random_serial_number()).not_valid_before(now).not_valid_after(now + life)
