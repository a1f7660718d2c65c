"""Volume types, their encryption and access, and QoS specs over HTTP."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.filters import Filter, equal, holds
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.specs import Specs
from openstack_emulator.core.store import Record
from openstack_emulator.volume.lists import listing
from openstack_emulator.volume.qos import QosSpecs
from openstack_emulator.volume.types import VolumeTypes
from openstack_emulator.volume.views import changed_type, links, type_detail
from openstack_emulator.volume.volumes import flag

SPECS = fields.properties(fields.text(), r"[a-zA-Z0-9-_:.]{1,255}")
TYPE = {
    "name": fields.name(),
    "description": fields.nullable(fields.text()),
    "os-volume-type-access:is_public": fields.boolean,
    "extra_specs": SPECS,
}
EXTRA_SPECS = Specs("extra_specs", "Volume Type", "extra specs", SPECS)
ENCRYPTION = {
    "provider": fields.text(1),
    "cipher": fields.nullable(fields.text()),
    "key_size": fields.nullable(fields.integer(0)),
    "control_location": fields.one_of("front-end", "back-end"),
}


def is_public(row: Record, wanted: str) -> bool:
    """The filter of lists of types: `none` stands for all."""
    return wanted.lower() == "none" or bool(row["is_public"] == flag(wanted, "is_public"))


FILTERS: dict[str, Filter] = {"name": equal("name"), "extra_specs": holds("extra_specs"), "is_public": is_public}


def _type(types: VolumeTypes, request: Request) -> Record:
    return types.by_id(request.context, request.vars["type_id"])


def index(types: VolumeTypes, request: Request) -> Response:
    rows = types.usable(request.context)[::-1]
    if request.context.is_admin and request.query.get("is_public") is None:
        rows = [row for row in rows if row["is_public"] or request.context.project_id in row["_projects"]]
    return listing(request, "volume_types", rows, FILTERS, lambda row: type_detail(request, row))


def create(types: VolumeTypes, request: Request) -> Response:
    request.context.require()
    wanted = request.object("volume_type")
    fields.check_fields(wanted, TYPE, ("name",), "volume_type")
    public = flag(wanted.get("os-volume-type-access:is_public", True), "os-volume-type-access:is_public")
    kind = types.create(wanted["name"].strip(), wanted.get("description"), public, wanted.get("extra_specs"))
    view = {**changed_type(request, kind), "os-volume-type-access:is_public": kind["is_public"]}
    return Response({"volume_type": view})


def show(types: VolumeTypes, request: Request) -> Response:
    return Response({"volume_type": type_detail(request, _type(types, request))})


def default(types: VolumeTypes, request: Request) -> Response:
    return Response({"volume_type": type_detail(request, types.default())})


def update(types: VolumeTypes, request: Request) -> Response:
    request.context.require()
    kind, wanted = _type(types, request), request.object("volume_type")
    checks = {
        "name": fields.nullable(fields.name()),
        "description": fields.nullable(fields.text()),
        "is_public": fields.nullable(fields.boolean),
    }
    fields.check_fields(wanted, checks, where="volume_type", strict=False)
    changes = {key: wanted[key] for key in checks if wanted.get(key) is not None}
    if not changes:
        raise bad_request("Specify volume type name, description, is_public or a combination thereof.")
    if "is_public" in changes:
        changes["is_public"] = flag(changes["is_public"], "is_public")
    return Response({"volume_type": changed_type(request, types.update(kind, changes))})


def delete(types: VolumeTypes, request: Request) -> Response:
    request.context.require()
    types.delete(_type(types, request))
    return Response(status=202)


def list_specs(types: VolumeTypes, request: Request) -> Response:
    return Response({"extra_specs": type_detail(request, _type(types, request))["extra_specs"]})


def add_specs(types: VolumeTypes, request: Request) -> Response:
    request.context.require()
    kind, wanted = _type(types, request), request.object("extra_specs")
    if not wanted:
        raise bad_request(
            "Invalid input for field/attribute extra_specs. Value: {}. {} does not have enough properties"
        )
    EXTRA_SPECS.add(types.rows, kind, wanted)
    return Response({"extra_specs": wanted})


def show_spec(types: VolumeTypes, request: Request) -> Response:
    return EXTRA_SPECS.show(_type(types, request), request)


def update_spec(types: VolumeTypes, request: Request) -> Response:
    request.context.require()
    return EXTRA_SPECS.change(types.rows, _type(types, request), request)


def delete_spec(types: VolumeTypes, request: Request) -> Response:
    request.context.require()
    EXTRA_SPECS.remove(types.rows, _type(types, request), request)
    return Response(status=202)


def list_access(types: VolumeTypes, request: Request) -> Response:
    request.context.require()
    kind = _type(types, request)
    rows = [{"volume_type_id": kind["id"], "project_id": one} for one in types.projects_of(kind)]
    return Response({"volume_type_access": rows})


def type_action(types: VolumeTypes, request: Request) -> Response:
    request.context.require()
    kind, body = _type(types, request), request.json
    changes = {"addProjectAccess": types.add_access, "removeProjectAccess": types.remove_access}
    name = next((key for key in changes if isinstance(body, dict) and key in body), None)
    if name is None:
        raise bad_request(f"The action must be one of {', '.join(changes)}.")
    fields.check_fields(body[name], {"project": fields.text(1)}, ("project",), name)
    changes[name](kind, body[name]["project"])
    return Response(status=202)


def show_encryption(types: VolumeTypes, request: Request) -> Response:
    return Response(_type(types, request)["_encryption"] or {})


def show_encryption_item(types: VolumeTypes, request: Request) -> Response:
    encryption = _type(types, request)["_encryption"] or {}
    key = request.vars["encryption_id"]
    if key not in encryption:
        raise not_found(f"The encryption of the volume type has no {key}.")
    return Response({key: encryption[key]})


def create_encryption(types: VolumeTypes, request: Request) -> Response:
    request.context.require()
    kind, wanted = _type(types, request), request.object("encryption")
    fields.check_fields(wanted, ENCRYPTION, ("provider",), "encryption")
    encryption = types.set_encryption(kind, wanted)
    shown = ("volume_type_id", "encryption_id", "provider", "cipher", "key_size", "control_location")
    return Response({"encryption": {key: encryption[key] for key in shown}})


def update_encryption(types: VolumeTypes, request: Request) -> Response:
    request.context.require()
    kind, wanted = _type(types, request), request.object("encryption")
    fields.check_fields(wanted, ENCRYPTION, where="encryption")
    types.update_encryption(kind, request.vars["encryption_id"], wanted)
    return Response({"encryption": wanted})


def delete_encryption(types: VolumeTypes, request: Request) -> Response:
    request.context.require()
    types.delete_encryption(_type(types, request), request.vars["encryption_id"])
    return Response(status=202)


def _qos(qos_specs: QosSpecs, request: Request) -> Record:
    request.context.require()
    return qos_specs.rows.require(request.vars["qos_id"])


def _qos_view(request: Request, qos: Record) -> dict[str, Any]:
    return {
        "qos_specs": {key: qos[key] for key in ("id", "name", "consumer", "specs")},
        "links": links(request, "qos-specs", qos),
    }


def list_qos(qos_specs: QosSpecs, request: Request) -> Response:
    request.context.require()
    rows = list(qos_specs.rows)[::-1]
    return listing(request, "qos_specs", rows, {}, lambda row: _qos_view(request, row)["qos_specs"])


def _qos_strings(wanted: Any) -> dict[str, str]:
    """The values of QoS specs as strings; numbers are converted."""
    specs = {key: str(value) if isinstance(value, int | float) else value for key, value in wanted.items()}
    fields.check_fields({"qos_specs": specs}, {"qos_specs": SPECS})
    return specs


def create_qos(qos_specs: QosSpecs, request: Request) -> Response:
    request.context.require()
    specs = _qos_strings(request.object("qos_specs"))
    name = specs.pop("name", "")
    fields.check_fields({"name": name}, {"name": fields.name()})
    qos = qos_specs.create(name.strip(), specs.pop("consumer", "back-end"), specs)
    return Response(_qos_view(request, qos))


def show_qos(qos_specs: QosSpecs, request: Request) -> Response:
    return Response(_qos_view(request, _qos(qos_specs, request)))


def update_qos(qos_specs: QosSpecs, request: Request) -> Response:
    specs = _qos_strings(request.object("qos_specs"))
    qos_specs.update(_qos(qos_specs, request), specs)
    return Response({"qos_specs": specs})


def delete_qos(qos_specs: QosSpecs, request: Request) -> Response:
    qos_specs.delete(_qos(qos_specs, request), bool(request.query.boolean("force")))
    return Response(status=202)


def delete_qos_keys(qos_specs: QosSpecs, request: Request) -> Response:
    qos = _qos(qos_specs, request)
    fields.check_fields(request.json, {"keys": fields.items(fields.text(1))}, ("keys",))
    qos_specs.delete_keys(qos, request.json["keys"])
    return Response(status=202)


def _type_of_query(request: Request) -> str:
    type_id = request.query.get("vol_type_id")
    if not type_id:
        raise bad_request("Volume Type id must not be None: give it as vol_type_id in the query.")
    return type_id


def associate_qos(qos_specs: QosSpecs, request: Request) -> Response:
    qos_specs.associate(_qos(qos_specs, request), _type_of_query(request))
    return Response(status=202)


def disassociate_qos(qos_specs: QosSpecs, request: Request) -> Response:
    qos_specs.disassociate(_qos(qos_specs, request), _type_of_query(request))
    return Response(status=202)


def disassociate_all(qos_specs: QosSpecs, request: Request) -> Response:
    qos = _qos(qos_specs, request)
    for kind in qos_specs.types_of(qos):
        qos_specs.disassociate(qos, kind["id"])
    return Response(status=202)


def list_associations(qos_specs: QosSpecs, request: Request) -> Response:
    kinds = qos_specs.types_of(_qos(qos_specs, request))
    rows = [{"association_type": "volume_type", "name": kind["name"], "id": kind["id"]} for kind in kinds]
    return Response({"qos_associations": rows})
