"""Instances over HTTP: creation, lists, changes and deletion."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.component import using
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.database.creation import Creation, access_of
from openstack_emulator.database.flavors import usable_flavor
from openstack_emulator.database.http import SECONDS, action_of, check, listed
from openstack_emulator.database.instances import Instances, require_alone, unavailable
from openstack_emulator.database.quotas import Quotas
from openstack_emulator.database.views import InstanceViews

_TEXT = fields.nullable(fields.text(0, 255))
_CHANGES = {
    "name": fields.text(1, 255),
    "configuration": _TEXT,
    "remove_configuration": fields.boolean,
    "replica_of": _TEXT,
    "slave_of": _TEXT,
    "datastore_version": fields.text(1),
    "access": lambda value: None if isinstance(value, dict) else "is not an object",
}
_RESIZE_FORMS = {
    "flavorRef": fields.either(fields.integer(0), fields.text(1)),
    "volume": lambda value: None if isinstance(value, dict) else "is not an object",
}


def create(creation: Creation, request: Request) -> Response:
    made = creation.create(request)
    return Response({"instance": creation.records.component(InstanceViews).detail(request, made)})


def _rows(views: InstanceViews, request: Request) -> list[Record]:
    rows = views.instances.rows.select(project_id=request.context.project)
    if not request.query.boolean("include_clustered"):
        rows = [row for row in rows if row["cluster_id"] is None]
    return rows


def index(views: InstanceViews, request: Request) -> Response:
    return listed(request, "instances", _rows(views, request), lambda row: views.summary(request, row))


def detail(views: InstanceViews, request: Request) -> Response:
    return listed(request, "instances", _rows(views, request), lambda row: views.detail(request, row))


def show(views: InstanceViews, request: Request) -> Response:
    instance = views.instances.reach(request.context, request.vars["id"])
    return Response({"instance": views.detail(request, instance)})


def delete(instances: Instances, request: Request) -> Response:
    instance = instances.reach(request.context, request.vars["id"])
    require_alone(instance)
    instances.delete(instance)
    return Response(status=202)


def edit(views: InstanceViews, request: Request) -> Response:
    """Change what the request names; the rest stays."""
    instance = views.instances.reach(request.context, request.vars["id"])
    require_alone(instance)
    given = check("instance", request.object("instance"), _CHANGES)
    if instance["status"] == "BUILD":
        raise unavailable(instance)
    if "name" in given:
        views.instances.rows.update(instance, name=given["name"])
    if "access" in given:
        views.instances.rows.update(instance, access=access_of(given["access"]))
    if given.get("configuration"):
        _attach(views, request, instance, given["configuration"])
    elif "configuration" in given or fields.as_boolean(given.get("remove_configuration", False)):
        _attach(views, request, instance, None)
    for name in ("replica_of", "slave_of"):
        if name in given:
            _detach(views.instances, instance, given[name])
    if "datastore_version" in given:
        _upgrade(views, instance, given["datastore_version"])
    return Response(status=202)


def replace(views: InstanceViews, request: Request) -> Response:
    """Like `edit`, but an empty object removes the configuration group."""
    if request.object("instance"):
        return edit(views, request)
    instance = views.instances.reach(request.context, request.vars["id"])
    require_alone(instance)
    _attach(views, request, instance, None)
    return Response(status=202)


def _attach(views: InstanceViews, request: Request, instance: Record, key: str | None) -> None:
    views.instances.require_ready(instance)
    version = views.datastores.versions.require(instance["datastore_version_id"])
    group = views.configurations.suiting(request.context, key, version) if key else None
    views.configurations.attach(instance, group)


def _detach(instances: Instances, instance: Record, source: str | None) -> None:
    if source:
        raise bad_request("An instance can only be detached from its source, not attached to another one.")
    if instance["replica_of"] is None:
        raise bad_request(f"Instance {instance['id']} is not a replica.")
    instances.require_ready(instance)
    instances.change(instance, "DETACH", replica_of=None)


def _upgrade(views: InstanceViews, instance: Record, key: str) -> None:
    views.instances.require_ready(instance)
    version = views.datastores.versions.require(instance["datastore_version_id"])
    wanted = views.datastores.version(views.datastores.rows.require(version["datastore_id"]), key)
    views.instances.change(instance, "UPGRADE", datastore_version_id=wanted["id"])


# -- actions ----------------------------------------------------------------------------------------------------


def act(instances: Instances, request: Request) -> Response:
    """Carry out an action on an instance."""
    name, arguments = action_of(request)
    if name == "reset_status":
        return _reset(instances, request)
    if name not in _ACTIONS:
        raise bad_request(f"The action '{name}' is not supported; actions are {', '.join(_ACTIONS)}.")
    _ACTIONS[name](instances, request, instances.alone(request.context, request.vars["id"]), arguments)
    return Response(status=202)


def _reset(instances: Instances, request: Request) -> Response:
    """End what hangs: the instance is in ERROR, and can be deleted; for administrators."""
    request.context.require()
    instance = instances.reach(request.context, request.vars["id"])
    instances.rows.update(instance, status="ERROR", updated=instances.records.timestamp(SECONDS))
    return Response(status=202)


def _restart(instances: Instances, request: Request, instance: Record, arguments: Any) -> None:
    instances.change(instance, "REBOOT")


def _resize(instances: Instances, request: Request, instance: Record, arguments: Any) -> None:
    wanted = check("resize", arguments, _RESIZE_FORMS)
    if len(wanted) != 1:
        raise bad_request("Validation error: resize must have either flavorRef or volume")
    quotas = instances.records.component(Quotas)
    if "flavorRef" in wanted:
        found = usable_flavor(instances.cloud, request, wanted["flavorRef"])
        if found["id"] == instance["flavor_id"]:
            raise bad_request(
                f"The new flavor id must be different than the current flavor id of '{instance['flavor_id']}'."
            )
        quotas.admit(instance["project_id"], ram=max(found["ram"] - instance["_ram"], 0))
        instances.change(instance, "RESIZE", flavor_id=found["id"], _ram=found["ram"])
        return
    given = check("volume", wanted["volume"], {"size": fields.integer(1)}, ("size",))
    size = fields.as_integer(given["size"]) or 0
    if size <= instance["volume_size"]:
        raise bad_request(
            f"The new volume 'size' must be larger than the current volume size of '{instance['volume_size']}'."
        )
    quotas.admit(instance["project_id"], volumes=size - instance["volume_size"])
    instances.change(instance, "RESIZE", volume_size=size)


def _promote(instances: Instances, request: Request, instance: Record, arguments: Any) -> None:
    """Make a replica the source of the other replicas and of its former source."""
    if instance["replica_of"] is None:
        raise bad_request(f"Instance {instance['id']} is not a replica.")
    source = instances.rows.require(instance["replica_of"])
    others = instances.rows.select(replica_of=source["id"])
    for one in (source, *others):
        instances.require_ready(one)
    for one in (source, *others):
        instances.change(one, "PROMOTE", replica_of=None if one is instance else instance["id"])


def _eject(instances: Instances, request: Request, instance: Record, arguments: Any) -> None:
    """Replace a failed source by its first replica."""
    replicas = instances.rows.select(replica_of=instance["id"])
    if not replicas:
        raise bad_request(f"Instance {instance['id']} is not a replica source.")
    for one in replicas:
        instances.require_ready(one)
    for one in replicas:
        instances.change(one, "EJECT", replica_of=None if one is replicas[0] else replicas[0]["id"])
    instances.change(instance, "EJECT")


_ACTIONS = {
    "restart": _restart,
    "resize": _resize,
    "promote_to_replica_source": _promote,
    "eject_replica_source": _eject,
}


# -- for administrators -------------------------------------------------------------------------------------------


def list_all(views: InstanceViews, request: Request) -> Response:
    request.context.require()
    rows = list(views.instances.rows)
    if (project := request.query.get("project_id")) is not None:
        rows = [row for row in rows if row["project_id"] == project]
    if request.query.boolean("include_clustered") is False:
        rows = [row for row in rows if row["cluster_id"] is None]
    return listed(request, "instances", rows, lambda row: views.detail(request, row))


def show_any(views: InstanceViews, request: Request) -> Response:
    request.context.require()
    return show(views, request)


def administer(instances: Instances, request: Request) -> Response:
    """Reboot or stop an instance, or end a task that hangs."""
    request.context.require()
    name, _ = action_of(request)
    instance = instances.reach(request.context, request.vars["id"])
    if name == "reboot":
        instances.require_ready(instance)
        instances.change(instance, "REBOOT")
    elif name == "stop":
        instances.require_ready(instance)
        instances.rows.update(instance, status="SHUTDOWN")
    elif name == "reset-task-status":
        instances.rows.update(instance, status="ACTIVE")
    else:
        raise ApiError(400, f"The action '{name}' is not supported; actions are reboot, stop, reset-task-status.")
    return Response(status=202)


_ONE = "/instances/{id}"
CREATION_ROUTES = using(Creation, {"/instances": {"POST": create}})
VIEW_ROUTES = using(
    InstanceViews,
    {
        "/instances": {"GET": index},
        "/instances/detail": {"GET": detail},
        _ONE: {"GET": show, "PATCH": edit, "PUT": replace},
        "/mgmt/instances": {"GET": list_all},
        f"/mgmt{_ONE}": {"GET": show_any},
    },
)
ACTION_ROUTES = using(
    Instances,
    {
        _ONE: {"DELETE": delete},
        f"{_ONE}/action": {"POST": act},
        f"/mgmt{_ONE}/action": {"POST": administer},
    },
)
