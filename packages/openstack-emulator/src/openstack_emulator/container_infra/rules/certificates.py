"""The certificate authorities of clusters."""

from __future__ import annotations

from cryptography import x509

from openstack_emulator.container_infra.records import Authority, Cluster
from openstack_emulator.core.certificates import certificate_authority, signed
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table

DEFAULT = "kubernetes"
AUTHORITIES = (DEFAULT, "etcd", "front_proxy", "front-proxy")


class Certificates(Rules):
    """Authorities by cluster and kind. Each is made when it is needed first, since that takes long."""

    def __init__(self, records: Records, clusters: Table[Cluster]) -> None:
        super().__init__(records)
        self._clusters = clusters
        self.rows = records.table("authorities", Authority, "cluster_id", internal=True)

    def authority(self, cluster: Cluster, kind: str) -> Authority:
        """Return an authority of a cluster."""
        self._forget_deleted()
        key = f"{cluster.id}:{kind.replace('-', '_')}"
        if (known := self.rows.get(key)) is not None:
            return known
        private, certificate = certificate_authority(self.records.now(), cluster.name)
        return self.rows.add(Authority(id=key, cluster_id=cluster.id, key=private.decode(), pem=certificate.decode()))

    def sign(self, cluster: Cluster, kind: str, signing_request: x509.CertificateSigningRequest) -> str:
        """Return a certificate, in PEM, that an authority of a cluster has signed."""
        issuer = self.authority(cluster, kind)
        return signed(signing_request, (issuer.key.encode(), issuer.pem.encode()), self.records.now()).decode()

    def rotate(self, cluster: Cluster) -> None:
        """Replace the authorities of a cluster by new ones."""
        for row in self.rows.select(cluster_id=cluster.id):
            self.rows.remove(row)

    def _forget_deleted(self) -> None:
        for row in self.rows:
            if row.cluster_id not in self._clusters:
                self.rows.remove(row)
