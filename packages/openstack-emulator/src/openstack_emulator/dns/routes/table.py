"""All routes of the DNS service, in the order of their paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openstack_emulator.core.cloud import Handler
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.versions import ApiVersion, all_versions, own
from openstack_emulator.dns.routes import floating_ips, quotas, recordsets, shares, transfers, zone_files, zones
from openstack_emulator.dns.routes.operators import (
    BLACKLISTS,
    DOMAINS,
    KEYS,
    POOLS,
    list_processes,
    show_process,
)
from openstack_emulator.dns.rules.composition import DomainNames

Routes = Mapping[str, Mapping[str, Callable[[DomainNames, Request], Response]]]
VERSIONS = {"v2": "SUPPORTED", "v2.0": "SUPPORTED", "v2.1": "SUPPORTED", "v2.2": "CURRENT"}
"""2.1 has shared zones, 2.2 deletes them together with their shares."""
_VERSIONS = [
    ApiVersion(name, (own("/v2"),), status, {"updated": "2022-06-29T00:00:00Z"}) for name, status in VERSIONS.items()
]

ROUTES: Routes = {
    "/blacklists": {"GET": BLACKLISTS.index, "POST": BLACKLISTS.create},
    "/blacklists/{blacklist_id}": {"GET": BLACKLISTS.show, "PATCH": BLACKLISTS.update, "DELETE": BLACKLISTS.delete},
    "/limits": {"GET": quotas.show_limits},
    "/pools": {"GET": POOLS.index, "POST": POOLS.create},
    "/pools/{pool_id}": {"GET": POOLS.show, "PATCH": POOLS.update, "DELETE": POOLS.delete},
    "/quotas": {"GET": quotas.show_own},
    "/quotas/{project_id}": {"GET": quotas.show, "PATCH": quotas.update, "DELETE": quotas.reset},
    "/recordsets": {"GET": recordsets.index_all},
    "/recordsets/{recordset_id}": {"GET": recordsets.show_elsewhere},
    "/reverse/floatingips": {"GET": floating_ips.index},
    "/reverse/floatingips/{floatingip_id}": {"GET": floating_ips.show, "PATCH": floating_ips.update},
    "/service_statuses": {"GET": list_processes},
    "/service_statuses/{service_id}": {"GET": show_process},
    "/tlds": {"GET": DOMAINS.index, "POST": DOMAINS.create},
    "/tlds/{tld_id}": {"GET": DOMAINS.show, "PATCH": DOMAINS.update, "DELETE": DOMAINS.delete},
    "/tsigkeys": {"GET": KEYS.index, "POST": KEYS.create},
    "/tsigkeys/{tsigkey_id}": {"GET": KEYS.show, "PATCH": KEYS.update, "DELETE": KEYS.delete},
    "/zones": {"GET": zones.index, "POST": zones.create},
    "/zones/tasks/exports": {"GET": zone_files.list_exports},
    "/zones/tasks/exports/{zone_export_id}": {"GET": zone_files.show_export, "DELETE": zone_files.delete_export},
    "/zones/tasks/exports/{zone_export_id}/export": {"GET": zone_files.show_file},
    "/zones/tasks/imports": {"GET": zone_files.list_imports, "POST": zone_files.create_import},
    "/zones/tasks/imports/{zone_import_id}": {"GET": zone_files.show_import, "DELETE": zone_files.delete_import},
    "/zones/tasks/transfer_accepts": {"GET": transfers.list_accepts, "POST": transfers.accept},
    "/zones/tasks/transfer_accepts/{zone_transfer_accept_id}": {"GET": transfers.show_accept},
    "/zones/tasks/transfer_requests": {"GET": transfers.index},
    "/zones/tasks/transfer_requests/{zone_transfer_request_id}": {
        "GET": transfers.show,
        "PATCH": transfers.update,
        "DELETE": transfers.delete,
    },
    "/zones/{zone_id}": {"GET": zones.show, "PATCH": zones.update, "DELETE": zones.delete},
    "/zones/{zone_id}/nameservers": {"GET": zones.name_servers},
    "/zones/{zone_id}/recordsets": {"GET": recordsets.index, "POST": recordsets.create},
    "/zones/{zone_id}/recordsets/{recordset_id}": {
        "GET": recordsets.show,
        "PUT": recordsets.update,
        "DELETE": recordsets.delete,
    },
    "/zones/{zone_id}/shares": {"GET": shares.index, "POST": shares.create},
    "/zones/{zone_id}/shares/{share_id}": {"GET": shares.show, "DELETE": shares.delete},
    "/zones/{zone_id}/tasks/abandon": {"POST": zones.abandon},
    "/zones/{zone_id}/tasks/export": {"POST": zone_files.create_export},
    "/zones/{zone_id}/tasks/pool_move": {"POST": zones.move},
    "/zones/{zone_id}/tasks/transfer_requests": {"POST": transfers.create},
    "/zones/{zone_id}/tasks/xfr": {"POST": zones.retransfer},
}
ROOT: Mapping[str, Mapping[str, Handler]] = {"/": {"GET": all_versions(*_VERSIONS)}}
"""What is directly below the mount: the versions."""
