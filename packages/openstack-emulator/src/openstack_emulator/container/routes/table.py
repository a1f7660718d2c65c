"""All routes of the service for single containers, in the order of their paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openstack_emulator.container.routes import archives, containers, hosts, images, networks, quotas
from openstack_emulator.container.rules.composition import SingleContainers
from openstack_emulator.core.http import Request, Response

Routes = Mapping[str, Mapping[str, Callable[[SingleContainers, Request], Response]]]
ROUTES: Routes = {
    "/availability_zones": {"GET": hosts.list_zones},
    "/containers": {"GET": containers.index, "POST": containers.create},
    "/containers/{key}": {"GET": containers.show, "PATCH": containers.change, "DELETE": containers.delete},
    "/containers/{key}/add_security_group": {"POST": networks.add_group},
    "/containers/{key}/execute": {"POST": containers.execute},
    "/containers/{key}/get_archive": {"GET": archives.get},
    "/containers/{key}/kill": {"POST": containers.kill},
    "/containers/{key}/logs": {"GET": containers.logs},
    "/containers/{key}/network_attach": {"POST": networks.attach},
    "/containers/{key}/network_detach": {"POST": networks.detach},
    "/containers/{key}/network_list": {"GET": networks.index},
    "/containers/{key}/pause": {"POST": containers.pause},
    "/containers/{key}/put_archive": {"POST": archives.put},
    "/containers/{key}/reboot": {"POST": containers.reboot},
    "/containers/{key}/remove_security_group": {"POST": networks.remove_group},
    "/containers/{key}/rename": {"POST": containers.rename},
    "/containers/{key}/resize": {"POST": containers.resize_terminal},
    "/containers/{key}/resize_container": {"POST": containers.resize_container},
    "/containers/{key}/start": {"POST": containers.start},
    "/containers/{key}/stats": {"GET": containers.stats},
    "/containers/{key}/stop": {"POST": containers.stop},
    "/containers/{key}/top": {"GET": containers.top},
    "/containers/{key}/unpause": {"POST": containers.unpause},
    "/hosts": {"GET": hosts.index},
    "/hosts/{key}": {"GET": hosts.show},
    "/images": {"GET": images.index, "POST": images.create},
    "/images/{key}": {"GET": images.show, "DELETE": images.delete},
    "/quotas/{project_id}": {"GET": quotas.show, "PUT": quotas.change, "DELETE": quotas.reset},
    "/quotas/{project_id}/defaults": {"GET": quotas.show_defaults},
    "/services": {"GET": hosts.list_services},
    "/services/disable": {"PUT": hosts.disable},
    "/services/enable": {"PUT": hosts.enable},
    "/services/force_down": {"PUT": hosts.force_down},
}
