"""Actions on instances over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_integer
from openstack_emulator.database.records import Instance
from openstack_emulator.database.routes.bodies import action_of
from openstack_emulator.database.routes.instances import reach, standalone_instance
from openstack_emulator.database.rules.composition import DatabaseService
from openstack_emulator.database.rules.flavors import usable_flavor
from openstack_emulator.database.rules.validation import check

FLAVOR, VOLUME = "flavorRef", "volume"
_RESIZE_FORMS = {FLAVOR: fields.either(fields.integer(0), fields.text(1)), VOLUME: fields.mapping}


def act(service: DatabaseService, request: Request) -> Response:
    """Carry out an action on an instance."""
    name, arguments = action_of(request)
    if name == "reset_status":
        return _reset(service, request)
    if name not in _ACTIONS:
        raise bad_request(f"The action '{name}' is not supported; actions are {', '.join(_ACTIONS)}.")
    _ACTIONS[name](service, request, standalone_instance(service, request), arguments)
    return Response(status=202)


def _reset(service: DatabaseService, request: Request) -> Response:
    """End what hangs: the instance is in ERROR, and can be deleted; for administrators."""
    request.context.require()
    service.instances.set_status(reach(service, request), "ERROR")
    return Response(status=202)


def _restart(service: DatabaseService, request: Request, instance: Instance, arguments: object) -> None:
    service.instances.change(instance, "REBOOT")


def _resize(service: DatabaseService, request: Request, instance: Instance, arguments: object) -> None:
    body = check("resize", arguments, _RESIZE_FORMS)
    if len(body) != 1:
        raise bad_request("Validation error: resize must have either flavorRef or volume")
    if FLAVOR in body:
        _resize_server(service, request, instance, body[FLAVOR])
    else:
        _resize_volume(service, instance, body[VOLUME])


def _resize_server(service: DatabaseService, request: Request, instance: Instance, reference: object) -> None:
    found = usable_flavor(service.cloud, request, reference)
    if found.id == instance.flavor_id:
        raise bad_request(f"The new flavor id must be different than the current flavor id of '{instance.flavor_id}'.")
    service.quotas.admit(instance.project_id, ram=max(found.ram - instance.ram, 0))
    service.instances.change(instance, "RESIZE", flavor_id=found.id, ram=found.ram)


def _resize_volume(service: DatabaseService, instance: Instance, arguments: object) -> None:
    body = check("volume", arguments, {"size": fields.integer(1)}, ("size",))
    size = as_integer(body.get("size")) or 0
    if size <= instance.volume_size:
        raise bad_request(
            f"The new volume 'size' must be larger than the current volume size of '{instance.volume_size}'."
        )
    service.quotas.admit(instance.project_id, volumes=size - instance.volume_size)
    service.instances.change(instance, "RESIZE", volume_size=size)


def _promote(service: DatabaseService, request: Request, instance: Instance, arguments: object) -> None:
    service.instances.promote(instance)


def _eject(service: DatabaseService, request: Request, instance: Instance, arguments: object) -> None:
    service.instances.eject(instance)


_ACTIONS: Mapping[str, Callable[[DatabaseService, Request, Instance, object], None]] = {
    "restart": _restart,
    "resize": _resize,
    "promote_to_replica_source": _promote,
    "eject_replica_source": _eject,
}


def administer(service: DatabaseService, request: Request) -> Response:
    """Reboot or stop an instance, or end a task that hangs."""
    name, _ = action_of(request)
    instance, instances = reach(service, request), service.instances
    if name == "reboot":
        instances.require_ready(instance)
        instances.change(instance, "REBOOT")
    elif name == "stop":
        instances.require_ready(instance)
        instances.rows.update(instance, status="SHUTDOWN")
    elif name == "reset-task-status":
        instances.rows.update(instance, status="ACTIVE")
    else:
        raise bad_request(f"The action '{name}' is not supported; actions are reboot, stop, reset-task-status.")
    return Response(status=202)
