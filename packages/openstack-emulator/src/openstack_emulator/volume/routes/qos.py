"""QoS specs and their association with volume types over HTTP."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.volume.records import Qos
from openstack_emulator.volume.routes.bodies import SPECS
from openstack_emulator.volume.routes.lists import list_response
from openstack_emulator.volume.rules.composition import BlockStorage
from openstack_emulator.volume.views import links, qos_view


def _qos(storage: BlockStorage, request: Request) -> Qos:
    request.context.require()
    return storage.qos_specs.rows.require(request.vars["qos_id"])


def _answer(request: Request, qos: Qos) -> Response:
    return Response({"qos_specs": qos_view(qos), "links": links(request, "qos-specs", qos)})


def index(storage: BlockStorage, request: Request) -> Response:
    request.context.require()
    rows = list(storage.qos_specs.rows)[::-1]
    return list_response(request, "qos_specs", rows, {}, qos_view)


def _qos_strings(body: Any) -> dict[str, str]:
    """The values of QoS specs as strings; numbers are converted."""
    specs = {key: str(value) if isinstance(value, int | float) else value for key, value in body.items()}
    check_fields({"qos_specs": specs}, {"qos_specs": SPECS})
    return specs


def create(storage: BlockStorage, request: Request) -> Response:
    request.context.require()
    specs = _qos_strings(request.object("qos_specs"))
    name = specs.pop("name", "")
    check_fields({"name": name}, {"name": fields.name()})
    qos = storage.qos_specs.create(name.strip(), specs.pop("consumer", "back-end"), specs)
    return _answer(request, qos)


def show(storage: BlockStorage, request: Request) -> Response:
    return _answer(request, _qos(storage, request))


def update(storage: BlockStorage, request: Request) -> Response:
    specs = _qos_strings(request.object("qos_specs"))
    storage.qos_specs.update(_qos(storage, request), specs)
    return Response({"qos_specs": specs})


def delete(storage: BlockStorage, request: Request) -> Response:
    storage.qos_specs.delete(_qos(storage, request), bool(request.query.boolean("force")))
    return Response(status=202)


def delete_keys(storage: BlockStorage, request: Request) -> Response:
    qos = _qos(storage, request)
    check_fields(request.json, {"keys": fields.items(fields.text(1))}, ("keys",))
    storage.qos_specs.delete_keys(qos, request.json["keys"])
    return Response(status=202)


def _type_of_query(request: Request) -> str:
    type_id = request.query.get("vol_type_id")
    if not type_id:
        raise bad_request("Volume Type id must not be None: give it as vol_type_id in the query.")
    return type_id


def associate(storage: BlockStorage, request: Request) -> Response:
    storage.qos_specs.associate(_qos(storage, request), _type_of_query(request))
    return Response(status=202)


def disassociate(storage: BlockStorage, request: Request) -> Response:
    storage.qos_specs.disassociate(_qos(storage, request), _type_of_query(request))
    return Response(status=202)


def disassociate_all(storage: BlockStorage, request: Request) -> Response:
    qos = _qos(storage, request)
    for kind in storage.qos_specs.types_of(qos):
        storage.qos_specs.disassociate(qos, kind.id)
    return Response(status=202)


def list_associations(storage: BlockStorage, request: Request) -> Response:
    kinds = storage.qos_specs.types_of(_qos(storage, request))
    rows = [{"association_type": "volume_type", "name": kind.name, "id": kind.id} for kind in kinds]
    return Response({"qos_associations": rows})
