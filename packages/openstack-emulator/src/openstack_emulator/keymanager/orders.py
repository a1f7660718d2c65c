"""Orders: requests for keys and certificates, which are generated a moment later.

Deleting an order leaves what it has generated, as in Barbican.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from openstack_emulator.core import certificates, fields
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import using
from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.http import Context, Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.keymanager import generation
from openstack_emulator.keymanager.access import READERS, WRITERS, project_for
from openstack_emulator.keymanager.containers import CERTIFICATE, RSA, Containers
from openstack_emulator.keymanager.http import (
    KeyManagerComponent,
    check,
    key_in,
    listed,
    mismatch,
    object_of,
    object_value,
    reference,
)
from openstack_emulator.keymanager.quotas import Quotas
from openstack_emulator.keymanager.secrets import OCTETS, TEXT, Content, Secrets, checked, content_in

GENERATION_SECONDS = 2.0
_TEXT = fields.nullable(fields.text())
_SCHEMA, _SECRET_SCHEMA = "'Order'", "'Secret' within 'Order'"
_KEY_FORMS = {"algorithm": fields.text(1), "payload_content_type": fields.nullable(fields.one_of(OCTETS))}
"""What an order requires of a key beyond the rules for secrets."""
_META_FORMS: Mapping[str, Mapping[str, fields.Check]] = {
    "key": _KEY_FORMS,
    "asymmetric": {**_KEY_FORMS, "pass_phrase": _TEXT},
    "certificate": {
        "name": _TEXT,
        "request_type": fields.one_of("stored-key", "simple-cmc", "custom"),
        "subject_dn": _TEXT,
        "container_ref": fields.nullable(fields.text(maximum=2048)),
        "ca_id": _TEXT,
        "profile": _TEXT,
        "request_data": fields.nullable(fields.text(maximum=65536)),
    },
}
_GENERATED = ("algorithm", "bit_length")
_NEEDS = {
    "stored-key": ("container_ref", "subject_dn"),
    "simple-cmc": ("request_data",),
    "custom": ("request_data",),
}
_SHOWN = (
    "type", "meta", "status", "sub_status", "sub_status_message", "creator_id", "created", "updated",
)  # fmt: skip


class Orders(KeyManagerComponent):
    """The orders of all projects."""

    def __init__(self, records: Records, quotas: Quotas, secrets: Secrets, containers: Containers) -> None:
        super().__init__(records)
        self._quotas, self._secrets, self._containers = quotas, secrets, containers
        self.rows = records.collection("orders", ("project_id",), lambda key: not_found("Order not found."))
        self._authority = records.collection("authority", internal=True)
        self._generators: Mapping[str, Callable[[Record], dict[str, str]]] = {
            "key": self._generate_key,
            "asymmetric": self._generate_pair,
            "certificate": self._issue_certificate,
        }
        records.deferrable(self.fulfil_order)

    def create(self, context: Context, body: Mapping[str, Any]) -> Record:
        """Add an order, which is carried out later."""
        project_id = project_for(context, WRITERS, "Order creation")
        for name, form in (("type", fields.one_of(*_META_FORMS)), ("meta", object_value)):
            check(_SCHEMA, body, {name: form}, [name], within=name)
        kind = body["type"]
        meta = self._meta(kind, body["meta"])
        if meta.get("container_ref"):
            self._containers.readable(context, key_in(meta["container_ref"]))
        self._quotas.admit(project_id, "orders", len(self.rows.select(project_id=project_id)))
        now = self.moment()
        order = self.rows.add(
            {
                "id": new_id(),
                "project_id": project_id,
                "type": kind,
                "_pass_phrase": meta.pop("pass_phrase", None),
                "meta": meta,
                "status": "PENDING",
                "sub_status": "Unknown",
                "sub_status_message": "Unknown",
                "creator_id": context.user_id,
                "created": now,
                "updated": now,
                "_result": {},
            }
        )
        self.after(GENERATION_SECONDS, self.fulfil_order, order["id"])
        return order

    def _meta(self, kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """The details of an order, once they are known to be valid. Raises ApiError 400."""
        if kind == "certificate":
            request_type = given.get("request_type") or "custom"
            check("'Certificate Order'", given, _META_FORMS[kind], _NEEDS.get(request_type, ()))
            return {**given, "request_type": request_type}
        for name in _GENERATED:
            if given.get(name) is None:
                raise mismatch(_SCHEMA, f"'{name}' is required field for {kind} type order", "meta")
        expiration = checked(_SECRET_SCHEMA, given, self.records.now())
        check(_SECRET_SCHEMA, given, _META_FORMS[kind])
        if given.get("payload") is not None:
            content_in(_SECRET_SCHEMA, given)
            raise mismatch(_SCHEMA, "'payload' not allowed", "meta")
        if kind == "key" and given["bit_length"] % 8:
            raise mismatch(_SCHEMA, "Must be a positive integer that is a multiple of 8", "bit_length")
        return {**given, "expiration": expiration, "payload_content_type": given.get("payload_content_type") or OCTETS}

    def fulfil_order(self, key: str) -> None:
        """Generate what an order asks for; it becomes ACTIVE, or ERROR with the reason."""
        order = self.rows.get(key)
        if order is None:
            return
        changes: dict[str, Any] = {"updated": self.moment()}
        try:
            if (fault := order.pop("_fault", None)) is not None:
                raise ApiError(500, fault)
            changes |= {"status": "ACTIVE", "_result": self._generators[order["type"]](order)}
        except ApiError as error:
            reason = f"Process TypeOrder failed: {error.message}"
            changes |= {"status": "ERROR", "error_status_code": str(error.status), "error_reason": reason}
        self.rows.update(order, _pass_phrase=None, **changes)

    # -- generation ------------------------------------------------------------------------------------------------

    def _generate_key(self, order: Record) -> dict[str, str]:
        meta = order["meta"]
        data = generation.symmetric_key(meta["algorithm"], meta["bit_length"])
        return {"secrets": self._stored(order, "symmetric", data, meta)}

    def _generate_pair(self, order: Record) -> dict[str, str]:
        meta, passphrase = order["meta"], order["_pass_phrase"]
        pair = generation.key_pair(meta["algorithm"], meta["bit_length"], passphrase)
        entries = {
            "private_key": self._stored(order, "private", pair.private, meta),
            "public_key": self._stored(order, "public", pair.public, meta),
        }
        if passphrase:
            entries["private_key_passphrase"] = self._stored(order, "passphrase", passphrase.encode(), kind=TEXT)
        return {"containers": self._contained(order, RSA, entries)}

    def _issue_certificate(self, order: Record) -> dict[str, str]:
        meta, entries = order["meta"], {}
        if meta["request_type"] == "stored-key":
            source = self._containers.require(key_in(meta["container_ref"]))
            entries = {one["name"]: one["secret_id"] for one in source["_entries"] if one["name"] != "public_key"}
            data = {name: self._payload(key) for name, key in entries.items()}
            if "private_key" not in data:
                raise bad_request("The source container has no private_key.")
            passphrase = data.get("private_key_passphrase")
            wanted = generation.request_for(meta["subject_dn"], data["private_key"], passphrase)
        else:
            wanted = generation.given_request(meta["request_data"])
        authority = self._signing_authority()
        certificate = certificates.signed(wanted, authority, self.records.now())
        entries |= {
            "certificate": self._stored(order, "certificate", certificate),
            "intermediates": self._stored(order, "certificate", authority[1]),
        }
        return {"containers": self._contained(order, CERTIFICATE, entries)}

    def _stored(
        self, order: Record, secret_type: str, data: bytes, fields_of: Mapping[str, Any] | None = None,
        kind: str = OCTETS,
    ) -> str:  # fmt: skip
        """The ID of a new secret that belongs to the order's project and creator."""
        wanted = {
            **{name: (fields_of or {}).get(name) for name in ("algorithm", "bit_length", "mode", "expiration")},
            "name": order["meta"].get("name"),
            "secret_type": secret_type,
        }
        content = Content(data, kind)
        made = self._secrets.add(order["project_id"], order["creator_id"], wanted, content)
        return str(made["id"])

    def _contained(self, order: Record, kind: str, entries: Mapping[str, str]) -> str:
        """The ID of a new container of secrets, which are given by name."""
        listed_entries = [{"name": name, "secret_id": key} for name, key in entries.items()]
        name = order["meta"].get("name")
        return str(self._containers.add(order["project_id"], order["creator_id"], kind, name, listed_entries)["id"])

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
            known = self._authority.add({"id": "authority", "_key": key.decode(), "certificate": certificate.decode()})
        return known["_key"].encode(), known["certificate"].encode()


def view(base: str, order: Record) -> dict[str, Any]:
    """An order as clients see it."""
    shown = {"order_ref": reference(base, "orders", order["id"]), **{name: order[name] for name in _SHOWN}}
    shown |= {name: order[name] for name in ("error_status_code", "error_reason") if name in order}
    names = {"secrets": "secret_ref", "containers": "container_ref"}
    return shown | {names[kind]: reference(base, kind, key) for kind, key in order["_result"].items()}


# -- routes -----------------------------------------------------------------------------------------------------


def create(orders: Orders, request: Request) -> Response:
    made = orders.create(request.context, object_of(request))
    url = reference(request.base, "orders", made["id"])
    return Response({"order_ref": url}, 202, {"Location": url})


def index(orders: Orders, request: Request) -> Response:
    project_id = project_for(request.context, READERS, "Orders retrieval")
    return listed(request, "orders", orders.rows.select(project_id=project_id), view)


def show(orders: Orders, request: Request) -> Response:
    return Response(view(request.base, _order(orders, request, READERS, "retrieval")))


def delete(orders: Orders, request: Request) -> Response:
    orders.rows.remove(_order(orders, request, WRITERS, "deletion"))
    return Response(status=204)


def _order(orders: Orders, request: Request, roles: tuple[str, ...], what: str) -> Record:
    """The order in the URL. Raises ApiError 404 for those of other projects."""
    order = orders.rows.require(request.vars["id"])
    if order["project_id"] != request.context.project:
        raise orders.rows.missing(order["id"])
    project_for(request.context, roles, f"Order {what}")
    return order


ORDER_ROUTES = using(
    Orders,
    {
        "/orders": {"GET": index, "POST": create},
        "/orders/{id}": {"GET": show, "DELETE": delete},
    },
)
