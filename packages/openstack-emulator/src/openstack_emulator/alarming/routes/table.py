"""All routes of the alarming service."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openstack_emulator.alarming.routes import alarms, history, quotas
from openstack_emulator.alarming.rules.composition import Alarming
from openstack_emulator.core.cloud import Handler
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.versions import ApiVersion, all_versions, media_type, own

Routes = Mapping[str, Mapping[str, Callable[[Alarming, Request], Response]]]
_VERSION = ApiVersion(
    "v2",
    (own("/v2"),),
    "stable",
    {
        "updated": "2013-02-13T00:00:00Z",
        "media-types": [media_type("telemetry-v2"), media_type("telemetry-v2", "xml")],
    },
)


def capabilities(service: Alarming, request: Request) -> Response:
    return Response(
        {
            "api": {
                "alarms:query:simple": True,
                "alarms:query:complex": True,
                "alarms:history:query:simple": True,
                "alarms:history:query:complex": True,
            },
            "alarm_storage": {"storage:production_ready": True},
        }
    )


ROUTES: Routes = {
    "/alarms": {"GET": alarms.index, "POST": alarms.create},
    "/alarms/{alarm_id}": {"GET": alarms.show, "PUT": alarms.change, "DELETE": alarms.delete},
    "/alarms/{alarm_id}/history": {"GET": history.show},
    "/alarms/{alarm_id}/state": {"GET": alarms.show_state, "PUT": alarms.set_state},
    "/capabilities": {"GET": capabilities},
    "/query/alarms": {"POST": alarms.search},
    "/query/alarms/history": {"POST": history.search},
    "/quotas": {"GET": quotas.show, "POST": quotas.update},
    "/quotas/{project_id}": {"DELETE": quotas.delete},
}
ROOT: Mapping[str, Mapping[str, Handler]] = {"/": {"GET": all_versions(_VERSION, nested=True)}}
"""What is directly below the mount: the versions."""
