"""The addresses of instances: ports in the emulated network service."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openstack_emulator.core.cloud import Cloud
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Context
from openstack_emulator.core.validation import fields
from openstack_emulator.database.records import Address, Instance
from openstack_emulator.database.rules.inputs import Nic
from openstack_emulator.network.rules.composition import NetworkService
from openstack_emulator.network.rules.kinds.kind import Actor

NIC_FORMS = {
    "net-id": fields.nullable(fields.text(1)),
    "network_id": fields.nullable(fields.text(1)),
    "subnet_id": fields.nullable(fields.text(1)),
    "port-id": fields.nullable(fields.text(1)),
    "v4-fixed-ip": fields.nullable(fields.address(4)),
    "ip_address": fields.nullable(fields.address(4)),
}
OWNER = "compute:nova"


def nics_problem(cloud: Cloud, caller: Context, nics: Sequence[Nic]) -> str | None:
    """Return which network or port the caller cannot see; Trove finds out when it builds the instance.

    Raises: ApiError 400 for a nic without either, and for a port in use.
    """
    state = cloud.of(NetworkService).state
    actor = Actor(caller.project_id, caller.is_admin)
    for nic in nics:
        if not nic.network_id and not nic.port_id:
            raise bad_request("Each nic must have net-id or port-id.")
        for table, key in (("networks", nic.network_id), ("ports", nic.port_id)):
            if key is None:
                continue
            try:
                user = state.of(table).reach(actor, key).get("device_id")
            except ApiError:
                return f"{table[:-1].capitalize()} {key} could not be found."
            if user:
                raise bad_request(f"Port {key} is in use by {user}.")
    return None


def connect(cloud: Cloud, instance: Instance, nics: Sequence[Nic]) -> None:
    """Give a new instance its ports, and so its addresses. Raises ApiError 400 for an address that is not available."""
    network = cloud.of(NetworkService)
    addresses: list[Address] = []
    try:
        for nic in nics:
            device = {"device_id": instance.id, "device_owner": OWNER}
            if nic.port_id:
                port = network.update_port(nic.port_id, **device)
                instance.given_ports.append(port.id)
            else:
                port = network.create_port(instance.project_id, {**_port_body(instance, nic), **device}, admin=True)
                instance.ports.append(port.id)
            addresses += [
                Address(address=fixed.ip_address, type="private", network=port.network_id) for fixed in port.fixed_ips
            ]
    except ApiError as error:
        disconnect(cloud, instance)
        raise bad_request(f"The instance cannot be connected to its networks: {error.message}") from None
    instance.addresses = addresses


def disconnect(cloud: Cloud, instance: Instance) -> None:
    """Delete the ports that were made for an instance, and release those that it was given."""
    if not instance.ports and not instance.given_ports:
        return
    network = cloud.of(NetworkService)
    ports = network.ports.rows
    for port_id in instance.ports:
        if port_id in ports:
            network.delete_port(port_id)
    for port_id in instance.given_ports:
        if port_id in ports:
            network.update_port(port_id, device_id="", device_owner="")


def _port_body(instance: Instance, nic: Nic) -> dict[str, Any]:
    fixed = {"subnet_id": nic.subnet_id, "ip_address": nic.address}
    fixed = {name: value for name, value in fixed.items() if value}
    return {
        "name": f"trove-{instance.id}",
        "network_id": nic.network_id,
        **({"fixed_ips": [fixed]} if fixed else {}),
    }
