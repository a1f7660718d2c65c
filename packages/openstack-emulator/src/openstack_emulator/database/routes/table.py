"""All routes of the database service, in the order of their paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openstack_emulator.core.cloud import Handler
from openstack_emulator.core.guards import admin
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.versions import ApiVersion, all_versions, one_version, own
from openstack_emulator.database.routes import (
    backups,
    clusters,
    configurations,
    contents,
    datastores,
    flavors,
    instance_actions,
    instances,
    quotas,
)
from openstack_emulator.database.rules.composition import DatabaseService

Routes = Mapping[str, Mapping[str, Callable[[DatabaseService, Request], Response]]]
_VERSION = ApiVersion("v1.0", (own("/v1.0/"),), details={"updated": "2012-08-01T00:00:00Z"})

ROUTES: Routes = {
    "/backup_strategies": {
        "GET": backups.list_strategies,
        "POST": backups.create_strategy,
        "DELETE": backups.delete_strategy,
    },
    "/backups": {"GET": backups.index, "POST": backups.create},
    "/backups/{id}": {"GET": backups.show, "DELETE": backups.delete},
    "/clusters": {"GET": clusters.index, "POST": clusters.create},
    "/clusters/{id}": {"GET": clusters.show, "DELETE": clusters.delete, "POST": clusters.act},
    "/clusters/{id}/instances/{instance}": {"GET": clusters.show_instance},
    "/clusters/{id}/root": {"GET": clusters.show_root, "POST": clusters.enable_root},
    "/configurations": {"GET": configurations.index, "POST": configurations.create},
    "/configurations/{id}": {
        "GET": configurations.show,
        "PATCH": configurations.edit,
        "PUT": configurations.replace,
        "DELETE": configurations.delete,
    },
    "/configurations/{id}/instances": {"GET": configurations.list_instances},
    "/datastores": {"GET": datastores.index},
    "/datastores/versions/{version}": {"GET": datastores.show_version},
    "/datastores/versions/{version}/parameters": {"GET": datastores.list_parameters},
    "/datastores/versions/{version}/parameters/{name}": {"GET": datastores.show_parameter},
    "/datastores/{datastore}": {"GET": datastores.show, "DELETE": admin(datastores.delete)},
    "/datastores/{datastore}/versions": {"GET": datastores.list_versions},
    "/datastores/{datastore}/versions/{version}": {"GET": datastores.show_version},
    "/datastores/{datastore}/versions/{version}/flavors": {"GET": flavors.index},
    "/datastores/{datastore}/versions/{version}/parameters": {"GET": datastores.list_parameters},
    "/datastores/{datastore}/versions/{version}/parameters/{name}": {"GET": datastores.show_parameter},
    "/flavors": {"GET": flavors.index},
    "/flavors/{id}": {"GET": flavors.show},
    "/instances": {"GET": instances.index, "POST": instances.create},
    "/instances/detail": {"GET": instances.detail},
    "/instances/{id}": {
        "GET": instances.show,
        "PATCH": instances.edit,
        "PUT": instances.replace,
        "DELETE": instances.delete,
    },
    "/instances/{id}/action": {"POST": instance_actions.act},
    "/instances/{id}/backups": {"GET": backups.list_of_instance},
    "/instances/{id}/configuration": {"GET": instances.show_default_configuration},
    "/instances/{id}/databases": {"GET": contents.list_databases, "POST": contents.create_databases},
    "/instances/{id}/databases/{database}": {"DELETE": contents.delete_database},
    "/instances/{id}/root": {
        "GET": contents.show_root,
        "POST": contents.enable_root,
        "DELETE": contents.disable_root,
    },
    "/instances/{id}/users": {
        "GET": contents.list_users,
        "POST": contents.create_users,
        "PUT": contents.change_passwords,
    },
    "/instances/{id}/users/{user}": {
        "GET": contents.show_user,
        "PUT": contents.change_user,
        "DELETE": contents.delete_user,
    },
    "/instances/{id}/users/{user}/databases": {"GET": contents.list_access, "PUT": contents.grant_access},
    "/instances/{id}/users/{user}/databases/{database}": {"DELETE": contents.revoke_access},
    "/limits": {"GET": quotas.show_limits},
    "/mgmt/datastore-versions": {
        "GET": admin(datastores.list_all_versions),
        "POST": admin(datastores.create_version),
    },
    "/mgmt/datastore-versions/{version}": {
        "GET": admin(datastores.show_any_version),
        "PATCH": admin(datastores.change_version),
        "PUT": admin(datastores.change_version),
    },
    "/mgmt/instances": {"GET": admin(instances.list_all)},
    "/mgmt/instances/{id}": {"GET": admin(instances.show)},
    "/mgmt/instances/{id}/action": {"POST": admin(instance_actions.administer)},
    "/mgmt/quotas/{id}": {"GET": quotas.show, "PUT": admin(quotas.update)},
}
ROOT: Mapping[str, Mapping[str, Handler]] = {
    "/": {"GET": all_versions(_VERSION)},
    "/v1.0": {"GET": one_version(_VERSION)},
}
"""What is directly below the mount: the versions."""
