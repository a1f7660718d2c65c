"""Volume types, their extra specs, encryption and access over HTTP."""

from __future__ import annotations

from openstack_emulator.core.actions import argument_of
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.filters import Filter, equal, holds
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.specs import Specs
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.volume.records import VolumeType
from openstack_emulator.volume.routes.bodies import SPECS, flag, is_public
from openstack_emulator.volume.routes.lists import list_response
from openstack_emulator.volume.rules.composition import BlockStorage
from openstack_emulator.volume.rules.inputs import NewEncryption
from openstack_emulator.volume.views import changed_type, created_encryption, created_type, type_detail, visible_specs

PUBLIC = "os-volume-type-access:is_public"
TYPE = {
    "name": fields.name(),
    "description": fields.nullable(fields.text()),
    PUBLIC: fields.boolean,
    "extra_specs": SPECS,
}
EXTRA_SPECS = Specs("extra_specs", "Volume Type", "extra specs", SPECS)
ENCRYPTION = {
    "provider": fields.text(1),
    "cipher": fields.nullable(fields.text()),
    "key_size": fields.nullable(fields.integer(0)),
    "control_location": fields.one_of("front-end", "back-end"),
}


FILTERS: dict[str, Filter] = {"name": equal("name"), "extra_specs": holds("extra_specs"), "is_public": is_public}


def _type(storage: BlockStorage, request: Request) -> VolumeType:
    return storage.types.by_id(request.context, request.vars["type_id"])


def index(storage: BlockStorage, request: Request) -> Response:
    rows = storage.types.usable(request.context)[::-1]
    if request.context.is_admin and request.query.get("is_public") is None:
        rows = [row for row in rows if row.is_public or request.context.project_id in row.projects]
    return list_response(request, "volume_types", rows, FILTERS, lambda row: type_detail(request, row))


def create(storage: BlockStorage, request: Request) -> Response:
    request.context.require()
    body = request.object("volume_type")
    check_fields(body, TYPE, ("name",), "volume_type")
    public = flag(body.get(PUBLIC, True), PUBLIC)
    kind = storage.types.create(body["name"].strip(), body.get("description"), public, body.get("extra_specs"))
    return Response({"volume_type": created_type(request, kind)})


def show(storage: BlockStorage, request: Request) -> Response:
    return Response({"volume_type": type_detail(request, _type(storage, request))})


def default(storage: BlockStorage, request: Request) -> Response:
    return Response({"volume_type": type_detail(request, storage.types.default())})


def update(storage: BlockStorage, request: Request) -> Response:
    request.context.require()
    kind, body = _type(storage, request), request.object("volume_type")
    checks = {
        "name": fields.nullable(fields.name()),
        "description": fields.nullable(fields.text()),
        "is_public": fields.nullable(fields.boolean),
    }
    check_fields(body, checks, where="volume_type", strict=False)
    changes = {key: body[key] for key in checks if body.get(key) is not None}
    if not changes:
        raise bad_request("Specify volume type name, description, is_public or a combination thereof.")
    if "is_public" in changes:
        changes |= {"is_public": flag(changes.get("is_public"), "is_public")}
    return Response({"volume_type": changed_type(request, storage.types.update(kind, changes))})


def delete(storage: BlockStorage, request: Request) -> Response:
    request.context.require()
    storage.types.delete(_type(storage, request))
    return Response(status=202)


def list_specs(storage: BlockStorage, request: Request) -> Response:
    return Response({"extra_specs": visible_specs(request, _type(storage, request))})


def add_specs(storage: BlockStorage, request: Request) -> Response:
    request.context.require()
    kind, body = _type(storage, request), request.object("extra_specs")
    if not body:
        raise bad_request(
            "Invalid input for field/attribute extra_specs. Value: {}. {} does not have enough properties"
        )
    EXTRA_SPECS.add(storage.types.rows, kind, body)
    return Response({"extra_specs": body})


def show_spec(storage: BlockStorage, request: Request) -> Response:
    return EXTRA_SPECS.show(_type(storage, request), request)


def update_spec(storage: BlockStorage, request: Request) -> Response:
    request.context.require()
    return EXTRA_SPECS.change(storage.types.rows, _type(storage, request), request)


def delete_spec(storage: BlockStorage, request: Request) -> Response:
    request.context.require()
    EXTRA_SPECS.remove(storage.types.rows, _type(storage, request), request)
    return Response(status=202)


def list_access(storage: BlockStorage, request: Request) -> Response:
    request.context.require()
    kind = _type(storage, request)
    rows = [{"volume_type_id": kind.id, "project_id": project} for project in storage.types.projects_of(kind)]
    return Response({"volume_type_access": rows})


def type_action(storage: BlockStorage, request: Request) -> Response:
    request.context.require()
    kind, body = _type(storage, request), request.json
    changes = {"addProjectAccess": storage.types.add_access, "removeProjectAccess": storage.types.remove_access}
    name = next((key for key in changes if isinstance(body, dict) and key in body), None)
    if name is None:
        raise bad_request(f"The action must be one of {', '.join(changes)}.")
    changes[name](kind, argument_of(name, body[name], "project", fields.text(1)))
    return Response(status=202)


def show_encryption(storage: BlockStorage, request: Request) -> Response:
    encryption = _type(storage, request).encryption
    return Response({} if encryption is None else encryption.to_json())


def show_encryption_item(storage: BlockStorage, request: Request) -> Response:
    encryption, key = _type(storage, request).encryption, request.vars["encryption_id"]
    shown = {} if encryption is None else encryption.to_json()
    if key not in shown:
        raise not_found(f"The encryption of the volume type has no {key}.")
    return Response({key: shown[key]})


def create_encryption(storage: BlockStorage, request: Request) -> Response:
    request.context.require()
    kind, body = _type(storage, request), request.object("encryption")
    check_fields(body, ENCRYPTION, ("provider",), "encryption")
    encryption = storage.types.set_encryption(kind, NewEncryption(**body))
    return Response({"encryption": created_encryption(encryption)})


def update_encryption(storage: BlockStorage, request: Request) -> Response:
    request.context.require()
    kind, body = _type(storage, request), request.object("encryption")
    check_fields(body, ENCRYPTION, where="encryption")
    storage.types.update_encryption(kind, request.vars["encryption_id"], body)
    return Response({"encryption": body})


def delete_encryption(storage: BlockStorage, request: Request) -> Response:
    request.context.require()
    storage.types.delete_encryption(_type(storage, request), request.vars["encryption_id"])
    return Response(status=202)
