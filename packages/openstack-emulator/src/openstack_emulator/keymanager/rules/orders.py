"""Orders: requests for keys and certificates, which are generated a moment later.

Deleting an order leaves what it has generated, as in Barbican.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openstack_emulator.core import certificates
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.keymanager.records import Authority, Entry, Order
from openstack_emulator.keymanager.rules import generation
from openstack_emulator.keymanager.rules.containers import CERTIFICATE, RSA, Containers
from openstack_emulator.keymanager.rules.inputs import OCTETS, TEXT, Content, NewOrder, NewSecret
from openstack_emulator.keymanager.rules.quotas import Quotas
from openstack_emulator.keymanager.rules.references import key_in
from openstack_emulator.keymanager.rules.secrets import Secrets
from openstack_emulator.keymanager.rules.times import KeyManagerRules

GENERATION_SECONDS = 2.0


class Orders(KeyManagerRules):
    """The orders of all projects. rows: their table."""

    def __init__(self, records: Records, quotas: Quotas, secrets: Secrets, containers: Containers) -> None:
        super().__init__(records)
        self._quotas, self._secrets, self._containers = quotas, secrets, containers
        self.rows = records.table("orders", Order, "project_id", missing=lambda key: not_found("Order not found."))
        self._authority = records.table("authority", Authority, internal=True)
        self._generators: Mapping[str, Callable[[Order], dict[str, str]]] = {
            "key": self._generate_key,
            "asymmetric": self._generate_pair,
            "certificate": self._issue_certificate,
        }
        records.deferrable(self.fulfil_order)

    def create(self, context: Context, project_id: str, new_order: NewOrder) -> Order:
        """Add an order, which is carried out later.

        Raises: ApiError 403 beyond the quota, 403 or 404 for a container that the caller cannot read.
        """
        if container := new_order.meta.get("container_ref"):
            self._containers.readable(context, key_in(container))
        self._quotas.admit(project_id, "orders", len(self.rows.select(project_id=project_id)))
        now = self.moment()
        order = self.rows.add(
            Order(
                id=new_id(),
                project_id=project_id,
                type=new_order.type,
                meta=new_order.meta,
                status="PENDING",
                sub_status="Unknown",
                sub_status_message="Unknown",
                creator_id=context.user_id,
                created=now,
                updated=now,
                error_status_code=None,
                error_reason=None,
                pass_phrase=new_order.pass_phrase,
                result={},
            )
        )
        self.after(GENERATION_SECONDS, self.fulfil_order, order.id)
        return order

    def fulfil_order(self, key: str) -> None:
        """Generate what an order asks for; it becomes ACTIVE, or ERROR with the reason."""
        order = self.rows.get(key)
        if order is None:
            return
        order.updated = self.moment()
        try:
            if (fault := order.take_fault()) is not None:
                raise ApiError(500, fault)
            order.result = self._generators[order.type](order)
            order.status = "ACTIVE"
        except ApiError as error:
            order.status, order.error_status_code = "ERROR", str(error.status)
            order.error_reason = f"Process TypeOrder failed: {error.message}"
        order.pass_phrase = None
        self.rows.save(order)

    # -- generation ------------------------------------------------------------------------------------------------

    def _generate_key(self, order: Order) -> dict[str, str]:
        data = generation.symmetric_key(*_parameters(order))
        return {"secrets": self._stored(order, "symmetric", data, _key_of(order, "symmetric"))}

    def _generate_pair(self, order: Order) -> dict[str, str]:
        passphrase = order.pass_phrase
        pair = generation.key_pair(*_parameters(order), passphrase)
        entries = {
            "private_key": self._stored(order, "private", pair.private, _key_of(order, "private")),
            "public_key": self._stored(order, "public", pair.public, _key_of(order, "public")),
        }
        if passphrase:
            entries |= {"private_key_passphrase": self._stored(order, "passphrase", passphrase.encode(), kind=TEXT)}
        return {"containers": self._contained(order, RSA, entries)}

    def _issue_certificate(self, order: Order) -> dict[str, str]:
        meta, entries = order.meta, dict[str | None, str]()
        if meta["request_type"] == "stored-key":
            source = self._containers.require(key_in(meta["container_ref"]))
            entries = {entry.name: entry.secret_id for entry in source.entries if entry.name != "public_key"}
            data = {name: self._payload(key) for name, key in entries.items()}
            if (private := data.get("private_key")) is None:
                raise bad_request("The source container has no private_key.")
            signing_request = generation.request_for(meta["subject_dn"], private, data.get("private_key_passphrase"))
        else:
            signing_request = generation.signing_request(meta["request_data"])
        authority = self._signing_authority()
        certificate = certificates.signed(signing_request, authority, self.records.now())
        entries |= {
            "certificate": self._stored(order, "certificate", certificate),
            "intermediates": self._stored(order, "certificate", authority[1]),
        }
        return {"containers": self._contained(order, CERTIFICATE, entries)}

    def _stored(
        self, order: Order, secret_type: str, data: bytes, new_secret: NewSecret | None = None, kind: str = OCTETS
    ) -> str:
        """The ID of a new secret that belongs to the order's project and creator."""
        new = new_secret or NewSecret(name=order.meta.get("name"), secret_type=secret_type)
        return self._secrets.add(order.project_id, order.creator_id, new, Content(data, kind)).id

    def _contained(self, order: Order, kind: str, entries: Mapping[str | None, str] | Mapping[str, str]) -> str:
        """The ID of a new container of secrets, which are given by name."""
        members = [Entry(name=name, secret_id=key) for name, key in entries.items()]
        return self._containers.add(order.project_id, order.creator_id, kind, order.meta.get("name"), members).id

    def _payload(self, key: str) -> bytes:
        content = self._secrets.payload(self._secrets.require(key))
        if content is None:
            raise bad_request("A secret in the source container has no payload.")
        return content.data

    def _signing_authority(self) -> tuple[bytes, bytes]:
        """The key and the certificate of the cloud's certificate authority, made when it is first needed."""
        known = self._authority.get("authority")
        if known is None:
            key, certificate = certificates.certificate_authority(self.records.now())
            known = self._authority.add(Authority(id="authority", key=key.decode(), certificate=certificate.decode()))
        return known.key.encode(), known.certificate.encode()


def _parameters(order: Order) -> tuple[str, int]:
    """The algorithm of a key, and its length in bits."""
    return order.meta["algorithm"], order.meta["bit_length"]


def _key_of(order: Order, secret_type: str) -> NewSecret:
    """The secret for a key that is generated, with what the order says about it."""
    meta = order.meta
    return NewSecret(
        name=meta.get("name"),
        secret_type=secret_type,
        algorithm=meta.get("algorithm"),
        bit_length=meta.get("bit_length"),
        mode=meta.get("mode"),
        expiration=meta.get("expiration"),
    )
