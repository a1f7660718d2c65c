"""All routes of the bare-metal service, in the order of their paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openstack_emulator.baremetal.routes import (
    allocations,
    chassis,
    conductors,
    drivers,
    nodes,
    portgroups,
    ports,
    states,
    templates,
    vifs,
    volumes,
)
from openstack_emulator.baremetal.routes.volumes import CONNECTORS, TARGETS
from openstack_emulator.baremetal.rules.composition import BareMetal
from openstack_emulator.core.http import Request, Response

Routes = Mapping[str, Mapping[str, Callable[[BareMetal, Request], Response]]]
ROUTES: Routes = {
    "/allocations": {"GET": allocations.index, "POST": allocations.create},
    "/allocations/{allocation}": {
        "GET": allocations.show,
        "PATCH": allocations.update,
        "DELETE": allocations.delete,
    },
    "/chassis": {"GET": chassis.index, "POST": chassis.create},
    "/chassis/detail": {"GET": chassis.index_in_full},
    "/chassis/{chassis}": {"GET": chassis.show, "PATCH": chassis.update, "DELETE": chassis.delete},
    "/chassis/{chassis}/nodes": {"GET": chassis.list_nodes},
    "/conductors": {"GET": conductors.index},
    "/conductors/{conductor}": {"GET": conductors.show},
    "/deploy_templates": {"GET": templates.index, "POST": templates.create},
    "/deploy_templates/{template}": {"GET": templates.show, "PATCH": templates.update, "DELETE": templates.delete},
    "/drivers": {"GET": drivers.index},
    "/drivers/{driver}": {"GET": drivers.show},
    "/drivers/{driver}/properties": {"GET": drivers.show_properties},
    "/nodes": {"GET": nodes.index, "POST": nodes.create},
    "/nodes/detail": {"GET": nodes.index_in_full},
    # The path below a collection of states, which the service has beside the one below a node.
    "/nodes/states/console/{node}": {"GET": states.show_console},
    "/nodes/{node}": {"GET": nodes.show, "PATCH": nodes.update, "DELETE": nodes.delete},
    "/nodes/{node}/allocation": {"GET": allocations.show_of_node, "DELETE": allocations.delete_of_node},
    "/nodes/{node}/maintenance": {"PUT": states.set_maintenance, "DELETE": states.end_maintenance},
    "/nodes/{node}/management/boot_device": {"GET": states.show_boot_device, "PUT": states.set_boot_device},
    "/nodes/{node}/management/boot_device/supported": {"GET": states.list_boot_devices},
    "/nodes/{node}/portgroups": {"GET": portgroups.index_of_node},
    "/nodes/{node}/portgroups/detail": {"GET": portgroups.index_of_node_in_full},
    "/nodes/{node}/ports": {"GET": ports.index_of_node},
    "/nodes/{node}/ports/detail": {"GET": ports.index_of_node_in_full},
    "/nodes/{node}/states": {"GET": states.show},
    "/nodes/{node}/states/console": {"GET": states.show_console, "PUT": states.set_console},
    "/nodes/{node}/states/power": {"PUT": states.set_power},
    "/nodes/{node}/states/provision": {"PUT": states.set_provision},
    "/nodes/{node}/states/raid": {"PUT": states.set_raid},
    "/nodes/{node}/states/{state}": {"GET": states.show_unknown},
    "/nodes/{node}/traits": {"GET": nodes.list_traits, "PUT": nodes.set_traits, "DELETE": nodes.remove_traits},
    "/nodes/{node}/traits/{trait}": {"PUT": nodes.add_trait, "DELETE": nodes.remove_trait},
    "/nodes/{node}/validate": {"GET": nodes.validate},
    "/nodes/{node}/vifs": {"GET": vifs.index, "POST": vifs.attach, "DELETE": vifs.detach_nothing},
    "/nodes/{node}/vifs/{vif}": {"DELETE": vifs.detach},
    "/nodes/{node}/volume": {"GET": volumes.show_collections_of_node},
    "/nodes/{node}/volume/connectors": {"GET": CONNECTORS.index_of_node},
    "/nodes/{node}/volume/targets": {"GET": TARGETS.index_of_node},
    "/portgroups": {"GET": portgroups.index, "POST": portgroups.create},
    "/portgroups/detail": {"GET": portgroups.index_in_full},
    "/portgroups/{group}": {"GET": portgroups.show, "PATCH": portgroups.update, "DELETE": portgroups.delete},
    "/portgroups/{group}/ports": {"GET": portgroups.list_ports},
    "/ports": {"GET": ports.index, "POST": ports.create},
    "/ports/detail": {"GET": ports.index_in_full},
    "/ports/{port}": {"GET": ports.show, "PATCH": ports.update, "DELETE": ports.delete},
    "/volume": {"GET": volumes.show_collections},
    "/volume/connectors": {"GET": CONNECTORS.index, "POST": CONNECTORS.create},
    "/volume/connectors/{key}": {"GET": CONNECTORS.show, "PATCH": CONNECTORS.update, "DELETE": CONNECTORS.delete},
    "/volume/targets": {"GET": TARGETS.index, "POST": TARGETS.create},
    "/volume/targets/{key}": {"GET": TARGETS.show, "PATCH": TARGETS.update, "DELETE": TARGETS.delete},
}
