"""The certificate authorities of clusters, and the certificates that they issue."""

from __future__ import annotations

from typing import Any

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm

from openstack_emulator.container_infra.clusters import Clusters
from openstack_emulator.container_infra.http import given, one_of, text
from openstack_emulator.core.certificates import certificate_authority, signed
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import Component, using
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.objects import links, require_version, writer
from openstack_emulator.core.store import Record

ROTATION_SINCE = (1, 5)
AUTHORITIES = ("kubernetes", "etcd", "front_proxy", "front-proxy")
_KNOWN = {
    "cluster_uuid": text(),
    "csr": text(longest=65536),
    "ca_cert_type": one_of(*AUTHORITIES),
}


class Certificates(Component):
    """Authorities by cluster and kind. Each is made when it is needed first, since that takes long."""

    def __init__(self, records: Records, clusters: Clusters) -> None:
        super().__init__(records)
        self.clusters = clusters
        self.rows = records.collection("authorities", ("cluster_id",), internal=True)

    def authority(self, cluster: Record, kind: str) -> tuple[bytes, bytes]:
        """Return the private key and the certificate of an authority, in PEM."""
        self._forget_deleted()
        key = f"{cluster['id']}:{kind.replace('-', '_')}"
        row = self.rows.get(key)
        if row is None:
            private, certificate = certificate_authority(self.records.now(), cluster["name"])
            row = self.rows.add(
                {"id": key, "cluster_id": cluster["id"], "key": private.decode(), "pem": certificate.decode()}
            )
        return row["key"].encode(), row["pem"].encode()

    def rotate(self, cluster: Record) -> None:
        """Replace the authorities of a cluster by new ones."""
        for row in self.rows.select(cluster_id=cluster["id"]):
            self.rows.remove(row)

    def _forget_deleted(self) -> None:
        for row in self.rows:
            if row["cluster_id"] not in self.clusters.rows:
                self.rows.remove(row)


def _view(base: str, cluster: Record, pem: bytes, **more: Any) -> dict[str, Any]:
    key = cluster["id"]
    return {"cluster_uuid": key, "pem": pem.decode(), "links": links(base, "certificates", key), **more}


def show(certificates: Certificates, request: Request) -> Response:
    cluster = certificates.clusters.find(request.context, request.vars["key"])
    kind = request.query.get("ca_cert_type")
    kind = kind if kind in AUTHORITIES else "kubernetes"
    return Response(_view(request.base, cluster, certificates.authority(cluster, kind)[1]))


def sign(certificates: Certificates, request: Request) -> Response:
    wanted = given(request, "certificate", _KNOWN, ("cluster_uuid", "csr"))
    try:
        cluster = certificates.clusters.find(writer(request), wanted["cluster_uuid"])
    except ApiError as error:
        raise bad_request(error.message) from None
    try:
        asked = x509.load_pem_x509_csr(wanted["csr"].encode())
        valid = asked.is_signature_valid
    except (ValueError, UnsupportedAlgorithm):
        valid = False
    if not valid:
        raise bad_request("Received invalid csr: it must be a certificate signing request in PEM format.")
    authority = certificates.authority(cluster, wanted.get("ca_cert_type") or "kubernetes")
    pem = signed(asked, authority, certificates.records.now())
    return Response(_view(request.base, cluster, pem, csr=wanted["csr"]), 201)


def rotate(certificates: Certificates, request: Request) -> Response:
    require_version(request, ROTATION_SINCE)
    cluster = certificates.clusters.find(writer(request), request.vars["key"])
    certificates.clusters.require_ready(cluster)
    certificates.rotate(cluster)
    return Response(status=202)


CERTIFICATE_ROUTES = using(
    Certificates,
    {
        "/certificates": {"POST": sign},
        "/certificates/{key}": {"GET": show, "PATCH": rotate},
    },
)
