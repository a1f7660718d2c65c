"""Volume types, their encryption and access, and QoS specs over HTTP."""

from __future__ import annotations

from typing import Any

from stoker.emulator.core.errors import bad_request, not_found
from stoker.emulator.core.http import Request, Response
from stoker.emulator.core.store import Record
from stoker.emulator.volume import fields
from stoker.emulator.volume.lists import Filter, equal, holds, listing
from stoker.emulator.volume.records import VolumeRecords
from stoker.emulator.volume.specs import Specs
from stoker.emulator.volume.views import changed_type, links, type_detail
from stoker.emulator.volume.volumes import flag

SPECS = fields.text_map(key_form=r"[a-zA-Z0-9_.:\- ]{1,255}")
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
FILTERS: dict[str, Filter] = {"name": equal("name"), "extra_specs": holds("extra_specs")}


def _type(volumes: VolumeRecords, request: Request) -> Record:
    return volumes.type_by_id(request.context, request.vars["type_id"])


def index(volumes: VolumeRecords, request: Request) -> Response:
    rows = volumes.usable_types(request.context)[::-1]
    wanted = request.query.get("is_public")
    if not request.context.is_admin:
        pass
    elif wanted is None:
        rows = [row for row in rows if row["is_public"] or request.context.project_id in row["_projects"]]
    elif wanted.lower() != "none":
        public = flag(wanted, "is_public")
        rows = [row for row in rows if row["is_public"] == public]
    return listing(request, "volume_types", rows, FILTERS, lambda row: type_detail(request, row))


def create(volumes: VolumeRecords, request: Request) -> Response:
    request.context.require()
    wanted = request.object("volume_type")
    fields.check_fields(wanted, TYPE, ("name",), "volume_type", strict=False)
    public = flag(wanted.get("os-volume-type-access:is_public", True), "os-volume-type-access:is_public")
    kind = volumes.create_type(wanted["name"].strip(), wanted.get("description"), public, wanted.get("extra_specs"))
    view = {**changed_type(request, kind), "os-volume-type-access:is_public": kind["is_public"]}
    return Response({"volume_type": view})


def show(volumes: VolumeRecords, request: Request) -> Response:
    return Response({"volume_type": type_detail(request, _type(volumes, request))})


def default(volumes: VolumeRecords, request: Request) -> Response:
    return Response({"volume_type": type_detail(request, volumes.default_type())})


def update(volumes: VolumeRecords, request: Request) -> Response:
    request.context.require()
    kind, wanted = _type(volumes, request), request.object("volume_type")
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
    return Response({"volume_type": changed_type(request, volumes.update_type(kind, changes))})


def delete(volumes: VolumeRecords, request: Request) -> Response:
    request.context.require()
    volumes.delete_type(_type(volumes, request))
    return Response(status=202)


def list_specs(volumes: VolumeRecords, request: Request) -> Response:
    return Response({"extra_specs": type_detail(request, _type(volumes, request))["extra_specs"]})


def add_specs(volumes: VolumeRecords, request: Request) -> Response:
    request.context.require()
    kind, wanted = _type(volumes, request), request.object("extra_specs")
    if not wanted:
        raise bad_request(
            "Invalid input for field/attribute extra_specs. Value: {}. {} does not have enough properties"
        )
    EXTRA_SPECS.add(volumes.types, kind, wanted)
    return Response({"extra_specs": wanted})


def show_spec(volumes: VolumeRecords, request: Request) -> Response:
    return EXTRA_SPECS.show(_type(volumes, request), request)


def update_spec(volumes: VolumeRecords, request: Request) -> Response:
    request.context.require()
    return EXTRA_SPECS.change(volumes.types, _type(volumes, request), request)


def delete_spec(volumes: VolumeRecords, request: Request) -> Response:
    request.context.require()
    EXTRA_SPECS.remove(volumes.types, _type(volumes, request), request)
    return Response(status=202)


def list_access(volumes: VolumeRecords, request: Request) -> Response:
    request.context.require()
    kind = _type(volumes, request)
    rows = [{"volume_type_id": kind["id"], "project_id": one} for one in volumes.type_access(kind)]
    return Response({"volume_type_access": rows})


def type_action(volumes: VolumeRecords, request: Request) -> Response:
    request.context.require()
    kind, body = _type(volumes, request), request.json
    changes = {"addProjectAccess": volumes.add_type_access, "removeProjectAccess": volumes.remove_type_access}
    name = next((key for key in changes if isinstance(body, dict) and key in body), None)
    if name is None:
        raise bad_request(f"The action must be one of {', '.join(changes)}.")
    fields.check_fields(body[name], {"project": fields.text(1)}, ("project",), name)
    changes[name](kind, body[name]["project"])
    return Response(status=202)


def show_encryption(volumes: VolumeRecords, request: Request) -> Response:
    return Response(_type(volumes, request)["_encryption"] or {})


def show_encryption_item(volumes: VolumeRecords, request: Request) -> Response:
    encryption = _type(volumes, request)["_encryption"] or {}
    key = request.vars["encryption_id"]
    if key not in encryption:
        raise not_found(f"The encryption of the volume type has no {key}.")
    return Response({key: encryption[key]})


def create_encryption(volumes: VolumeRecords, request: Request) -> Response:
    request.context.require()
    kind, wanted = _type(volumes, request), request.object("encryption")
    fields.check_fields(wanted, ENCRYPTION, ("provider",), "encryption")
    encryption = volumes.set_encryption(kind, wanted)
    shown = ("volume_type_id", "encryption_id", "provider", "cipher", "key_size", "control_location")
    return Response({"encryption": {key: encryption[key] for key in shown}})


def update_encryption(volumes: VolumeRecords, request: Request) -> Response:
    request.context.require()
    kind, wanted = _type(volumes, request), request.object("encryption")
    fields.check_fields(wanted, ENCRYPTION, where="encryption")
    volumes.update_encryption(kind, request.vars["encryption_id"], wanted)
    return Response({"encryption": wanted})


def delete_encryption(volumes: VolumeRecords, request: Request) -> Response:
    request.context.require()
    volumes.delete_encryption(_type(volumes, request), request.vars["encryption_id"])
    return Response(status=202)


def _qos(volumes: VolumeRecords, request: Request) -> Record:
    request.context.require()
    return volumes.qos_specs.require(request.vars["qos_id"])


def _qos_view(request: Request, qos: Record) -> dict[str, Any]:
    return {
        "qos_specs": {key: qos[key] for key in ("id", "name", "consumer", "specs")},
        "links": links(request, "qos-specs", qos),
    }


def list_qos(volumes: VolumeRecords, request: Request) -> Response:
    request.context.require()
    rows = list(volumes.qos_specs)[::-1]
    return listing(request, "qos_specs", rows, {}, lambda row: _qos_view(request, row)["qos_specs"])


def _qos_texts(wanted: Any) -> dict[str, str]:
    """QoS values are texts; numbers are written as such."""
    specs = {key: str(value) if isinstance(value, int | float) else value for key, value in wanted.items()}
    fields.check_fields({"qos_specs": specs}, {"qos_specs": SPECS})
    return specs


def create_qos(volumes: VolumeRecords, request: Request) -> Response:
    request.context.require()
    specs = _qos_texts(request.object("qos_specs"))
    name = specs.pop("name", "")
    fields.check_fields({"name": name}, {"name": fields.name()})
    qos = volumes.create_qos(name.strip(), specs.pop("consumer", "back-end"), specs)
    return Response(_qos_view(request, qos))


def show_qos(volumes: VolumeRecords, request: Request) -> Response:
    return Response(_qos_view(request, _qos(volumes, request)))


def update_qos(volumes: VolumeRecords, request: Request) -> Response:
    specs = _qos_texts(request.object("qos_specs"))
    volumes.update_qos(_qos(volumes, request), specs)
    return Response({"qos_specs": specs})


def delete_qos(volumes: VolumeRecords, request: Request) -> Response:
    volumes.delete_qos(_qos(volumes, request), bool(request.query.boolean("force")))
    return Response(status=202)


def delete_qos_keys(volumes: VolumeRecords, request: Request) -> Response:
    qos = _qos(volumes, request)
    fields.check_fields(request.json, {"keys": fields.items(fields.text(1))}, ("keys",))
    volumes.delete_qos_keys(qos, request.json["keys"])
    return Response(status=202)


def _type_of_query(request: Request) -> str:
    type_id = request.query.get("vol_type_id")
    if not type_id:
        raise bad_request("Volume Type id must not be None: give it as vol_type_id in the query.")
    return type_id


def associate_qos(volumes: VolumeRecords, request: Request) -> Response:
    volumes.associate_qos(_qos(volumes, request), _type_of_query(request))
    return Response(status=202)


def disassociate_qos(volumes: VolumeRecords, request: Request) -> Response:
    volumes.disassociate_qos(_qos(volumes, request), _type_of_query(request))
    return Response(status=202)


def disassociate_all(volumes: VolumeRecords, request: Request) -> Response:
    qos = _qos(volumes, request)
    for kind in volumes.types_of_qos(qos):
        volumes.disassociate_qos(qos, kind["id"])
    return Response(status=202)


def list_associations(volumes: VolumeRecords, request: Request) -> Response:
    kinds = volumes.types_of_qos(_qos(volumes, request))
    rows = [{"association_type": "volume_type", "name": kind["name"], "id": kind["id"]} for kind in kinds]
    return Response({"qos_associations": rows})
