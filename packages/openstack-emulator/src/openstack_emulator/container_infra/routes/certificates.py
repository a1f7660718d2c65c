"""Certificates over HTTP."""

from __future__ import annotations

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm

from openstack_emulator.container_infra.routes.fields import fields_of, one_of, text
from openstack_emulator.container_infra.rules.certificates import AUTHORITIES, DEFAULT
from openstack_emulator.container_infra.rules.composition import ContainerClusters
from openstack_emulator.container_infra.views import certificate_view
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.objects import require_version, writer

ROTATION_SINCE = (1, 5)
_KNOWN = {
    "cluster_uuid": text(),
    "csr": text(longest=65536),
    "ca_cert_type": one_of(*AUTHORITIES),
}


def show(service: ContainerClusters, request: Request) -> Response:
    cluster = service.clusters.find(request.context, request.vars["key"])
    kind = request.query.get("ca_cert_type")
    authority = service.certificates.authority(cluster, kind if kind in AUTHORITIES else DEFAULT)
    return Response(certificate_view(request.base, cluster, authority.pem))


def sign(service: ContainerClusters, request: Request) -> Response:
    body = fields_of(request, "certificate", _KNOWN, ("cluster_uuid", "csr"))
    csr: str = body["csr"]
    try:
        cluster = service.clusters.find(writer(request), body["cluster_uuid"])
    except ApiError as error:
        raise bad_request(error.message) from None
    pem = service.certificates.sign(cluster, body.get("ca_cert_type") or DEFAULT, _signing_request(csr))
    return Response({**certificate_view(request.base, cluster, pem), "csr": csr}, 201)


def _signing_request(csr: str) -> x509.CertificateSigningRequest:
    """The signing request in a body. Raises ApiError 400."""
    try:
        signing_request = x509.load_pem_x509_csr(csr.encode())
        valid = signing_request.is_signature_valid
    except (ValueError, UnsupportedAlgorithm):
        valid = False
    if not valid:
        raise bad_request("Received invalid csr: it must be a certificate signing request in PEM format.")
    return signing_request


def rotate(service: ContainerClusters, request: Request) -> Response:
    require_version(request, ROTATION_SINCE)
    cluster = service.clusters.find(writer(request), request.vars["key"])
    service.clusters.require_ready(cluster)
    service.certificates.rotate(cluster)
    return Response(status=202)
