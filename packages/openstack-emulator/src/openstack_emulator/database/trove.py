"""The database service: its records and its table of routes.

Modules, logs, security groups, reset passwords and locations of user data are missing.
"""

from __future__ import annotations

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Cloud, Records, Service
from openstack_emulator.core.component import merged
from openstack_emulator.core.versions import ApiVersion, all_versions, one_version, own
from openstack_emulator.database.backups import BACKUP_ROUTES, Backups
from openstack_emulator.database.clusters import CLUSTER_ROUTES, Clusters
from openstack_emulator.database.configurations import CONFIGURATION_ROUTES, Configurations
from openstack_emulator.database.content_routes import CONTENT_ROUTES
from openstack_emulator.database.creation import Creation
from openstack_emulator.database.datastores import DATASTORE_ROUTES, Datastores
from openstack_emulator.database.flavors import FLAVOR_ROUTES
from openstack_emulator.database.http import missing, within_project
from openstack_emulator.database.instance_routes import ACTION_ROUTES, CREATION_ROUTES, VIEW_ROUTES
from openstack_emulator.database.instances import Instances
from openstack_emulator.database.quotas import QUOTA_ROUTES, Quotas
from openstack_emulator.database.views import InstanceViews


class DatabaseRecords(Records):
    """Everything that the database service keeps."""

    service = "trove"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.datastores = Datastores(self)
        instances = Instances(self)
        backups = self.collection(
            "backups",
            ("project_id", "instance_id", "parent_id"),
            missing,
        )
        quotas = Quotas(self, instances.rows, backups)
        configurations = Configurations(self, instances, self.datastores)
        saved = Backups(self, instances, self.datastores, quotas, backups)
        creation = Creation(self, instances, self.datastores, saved, configurations, quotas)
        InstanceViews(self, instances, self.datastores, configurations)
        Clusters(self, instances, self.datastores, creation)

    def seed(self) -> None:
        self.datastores.seed()


_VERSION = ApiVersion("v1.0", (own("/v1.0/"),), details={"updated": "2012-08-01T00:00:00Z"})


DATABASE = Service(
    name="trove",
    mount="/database",
    records=DatabaseRecords,
    endpoints={"database": "/database/v1.0/%(project_id)s"},
    prefixes=("/v1.0/{project_id}",),
    routes=within_project(
        merged(
            DATASTORE_ROUTES,
            FLAVOR_ROUTES,
            CREATION_ROUTES,
            VIEW_ROUTES,
            ACTION_ROUTES,
            CONTENT_ROUTES,
            BACKUP_ROUTES,
            CONFIGURATION_ROUTES,
            CLUSTER_ROUTES,
            QUOTA_ROUTES,
        )
    ),
    root={"/": {"GET": all_versions(_VERSION)}, "/v1.0": {"GET": one_version(_VERSION)}},
    public=frozenset({"GET /", "GET /v1.0"}),
    error_body=error_bodies.trove,
)
