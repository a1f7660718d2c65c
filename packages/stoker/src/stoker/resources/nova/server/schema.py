"""Properties and attributes of OS::Nova::Server."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.plugins.transports import configuration_transports
from stoker.resources.declare import between, custom, length, offered, one_of
from stoker.schema.live import FETCHED, LISTED, Live, LiveSource, managed, never
from stoker.schema.property import Attribute, Change, Property, Support, Type

USER_DATA_FORMATS = ("HEAT_CFNTOOLS", "RAW", "SOFTWARE_CONFIG")
VNIC_TYPES = ("normal", "direct", "macvtap", "direct-physical", "baremetal", "virtio-forwarder", "smart-nic")

_HIDDEN_2013 = Support("HIDDEN", "5.0.0", previous=Support("DEPRECATED", "2014.1", previous=Support(version="2013.2")))

_DEVICE = {
    "device_name": Property(description="Name of the device in the server, such as vda.", required=True),
    "volume_id": Property(description="The volume to attach.", constraints=custom("cinder.volume")),
    "snapshot_id": Property(
        description="The snapshot to create a volume from and attach.", constraints=custom("cinder.snapshot")
    ),
    "volume_size": Property(Type.INTEGER, "Size of the volume in GiB."),
    "delete_on_termination": Property(Type.BOOLEAN, "Whether the volume is deleted with the server."),
}

_DEVICE_V2 = {
    "device_name": Property(description="Name of the device in the server, such as vda."),
    "volume_id": Property(description="The volume to attach.", constraints=custom("cinder.volume")),
    "image_id": Property(
        description="Older name of image.",
        constraints=custom("glance.image"),
        support=Support("HIDDEN", "9.0.0", previous=Support("DEPRECATED", "7.0.0", previous=Support(version="5.0.0"))),
    ),
    "image": Property(
        description="The image to create a volume from, by name or ID.",
        support=Support(version="7.0.0"),
        reference="glance.image",
        replaces="image_id",
    ),
    "snapshot_id": Property(
        description="The snapshot to create a volume from and attach.", constraints=custom("cinder.snapshot")
    ),
    "swap_size": Property(Type.INTEGER, "Size of the swap disk in MiB."),
    "ephemeral_size": Property(
        Type.INTEGER,
        "Size of the ephemeral disk in GiB.",
        constraints=between(1),
        support=Support(version="8.0.0"),
    ),
    "ephemeral_format": Property(
        description="File system of the ephemeral disk.",
        constraints=one_of("ext2", "ext3", "ext4", "xfs", "ntfs"),
        support=Support(version="8.0.0"),
    ),
    "device_type": Property(description="Kind of device.", constraints=one_of("cdrom", "disk")),
    "disk_bus": Property(
        description="The bus that the device is connected to.",
        constraints=one_of("ide", "lame_bus", "sata", "scsi", "usb", "virtio"),
    ),
    "boot_index": Property(Type.INTEGER, "Position in the boot order; -1 if the server does not boot from the disk."),
    "volume_size": Property(Type.INTEGER, "Size of the volume in GiB."),
    "delete_on_termination": Property(Type.BOOLEAN, "Whether the volume is deleted with the server."),
    "volume_type": Property(
        description="Type of the volume that is created.",
        constraints=custom("cinder.vtype"),
        support=Support(version="26.0.0"),
    ),
}

_ADDRESS_PAIR = {
    "mac_address": Property(description="The MAC address; the port's if not given.", constraints=custom("mac_addr")),
    "ip_address": Property(
        description="An IP address or CIDR that may pass through the port.",
        required=True,
        constraints=custom("ip_or_cidr"),
    ),
}

PORT_EXTRA: Mapping[str, Property] = {
    "value_specs": Property(
        Type.MAP, "Further fields of the port, passed to Neutron unchanged.", default={}, change=Change.UPDATE
    ),
    "admin_state_up": Property(Type.BOOLEAN, "Whether the port forwards packets.", default=True, change=Change.UPDATE),
    "mac_address": Property(description="The port's MAC address.", constraints=custom("mac_addr")),
    "allowed_address_pairs": Property(
        Type.LIST,
        "Pairs of addresses that may pass through the port besides its own.",
        items=Property(Type.MAP, "A pair of addresses.", schema=_ADDRESS_PAIR),
        change=Change.UPDATE,
    ),
    "binding:vnic_type": Property(
        description="Type of the virtual network interface.",
        default="normal",
        constraints=one_of(*VNIC_TYPES),
        change=Change.UPDATE,
        support=Support(version="2015.1"),
    ),
    "port_security_enabled": Property(
        Type.BOOLEAN,
        "Whether security groups and anti-spoofing rules apply to the port.",
        change=Change.UPDATE,
        support=Support(version="5.0.0"),
    ),
    "qos_policy": Property(
        description="The QoS policy, by name or ID.",
        change=Change.UPDATE,
        support=Support(version="6.0.0"),
        wire="qos_policy_id",
        reference="neutron.qos_policy",
    ),
    "propagate_uplink_status": Property(
        Type.BOOLEAN,
        "Whether the state of a virtual function follows the physical link.",
        change=Change.UPDATE,
        support=Support(version="15.0.0"),
    ),
    "no_fixed_ips": Property(
        Type.BOOLEAN,
        "Whether the port has no fixed IP address.",
        default=False,
        change=Change.UPDATE,
        support=Support(version="16.0.0"),
    ),
}

_NETWORK = {
    "uuid": Property(
        description="Older name of network.",
        constraints=custom("neutron.network"),
        support=Support("HIDDEN", "5.0.0", previous=Support("DEPRECATED", "2014.1")),
    ),
    "network": Property(
        description="The network to connect to, by name or ID.",
        reference="neutron.network",
        replaces="uuid",
    ),
    "allocate_network": Property(
        description="auto: Nova chooses or creates a network; none: the server has no network.",
        constraints=one_of("none", "auto"),
        change=Change.UPDATE,
        support=Support(version="9.0.0"),
    ),
    "fixed_ip": Property(description="The fixed IP address.", constraints=custom("ip_addr")),
    "port": Property(description="The port to use, by name or ID.", reference="neutron.port"),
    "port_extra_properties": Property(
        Type.MAP,
        "Properties of the port that is created for the server.",
        schema=PORT_EXTRA,
        change=Change.UPDATE,
        support=Support(version="6.0.0"),
    ),
    "subnet": Property(
        description="The subnet to allocate an address from, by name or ID.",
        support=Support(version="5.0.0"),
        resolve="neutron.subnet",
    ),
    "floating_ip": Property(
        description="ID of the floating IP to associate with the port.", support=Support(version="6.0.0")
    ),
    "tag": Property(
        description="A tag by which software in the server finds the interface.", support=Support(version="9.0.0")
    ),
}

_SWIFT_DATA = {
    "container": Property(description="Name of the container.", constraints=length(1)),
    "object": Property(description="Name of the object.", constraints=length(1)),
}

PROPERTIES: Mapping[str, Property] = {
    "name": Property(description="Name of the server.", change=Change.UPDATE, live=LISTED),
    "image": Property(
        description="The image to boot from, by name or ID.",
        change=Change.UPDATE,
        reference="glance.image",
        live=LISTED,
    ),
    "block_device_mapping": Property(
        Type.LIST,
        "Volumes to attach, in Nova's older format.",
        items=Property(Type.MAP, "A volume.", schema=_DEVICE),
        live=Live(LiveSource.LISTED, shared=True),
    ),
    "block_device_mapping_v2": Property(
        Type.LIST,
        "Disks to attach, and the sources to create them from.",
        items=Property(Type.MAP, "A disk.", schema=_DEVICE_V2),
        support=Support(version="2015.1"),
        live=Live(LiveSource.LISTED, shared=True),
    ),
    "flavor": Property(
        description="The flavor, by name or ID: the size of the server.",
        required=True,
        change=Change.UPDATE,
        reference="nova.flavor",
        live=LISTED,
    ),
    "flavor_update_policy": Property(
        description="Whether a changed flavor resizes or replaces the server.",
        default="RESIZE",
        constraints=one_of("RESIZE", "REPLACE"),
        change=Change.UPDATE,
        live=managed("it tells Stoker how to change the server"),
    ),
    "image_update_policy": Property(
        description="Whether a changed image rebuilds the server, with or without its ephemeral disk, or replaces it.",
        default="REBUILD",
        constraints=one_of("REBUILD", "REPLACE", "REBUILD_PRESERVE_EPHEMERAL"),
        change=Change.UPDATE,
        live=managed("it tells Stoker how to change the server"),
    ),
    "key_name": Property(
        description="Name of the keypair to log in with.", constraints=custom("nova.keypair"), live=LISTED
    ),
    "admin_user": Property(description="Has no effect.", support=_HIDDEN_2013, live=managed("it has no effect")),
    "availability_zone": Property(description="The availability zone of the server.", live=LISTED),
    "security_groups": Property(
        Type.LIST,
        "Security groups, by name or ID, for network interfaces whose port is not in the template.",
        strings=True,
        default=[],
        live=FETCHED,
    ),
    "networks": Property(
        Type.LIST,
        "The networks to connect to, in order.",
        items=Property(Type.MAP, "A network interface.", schema=_NETWORK),
        change=Change.UPDATE,
        live=FETCHED,
    ),
    "scheduler_hints": Property(
        Type.MAP, "Scheduler hints, as keys and values.", live=never("the service does not show hints")
    ),
    "metadata": Property(
        Type.MAP,
        "Metadata of the server in Nova, as keys and values.",
        default={},
        change=Change.UPDATE,
        live=LISTED,
    ),
    "user_data_format": Property(
        description="Form of user_data in the server: unchanged, for Heat's agents, or as software configuration.",
        default="HEAT_CFNTOOLS",
        constraints=one_of(*USER_DATA_FORMATS),
        live=managed("it tells Stoker how to write the user data"),
    ),
    "software_config_transport": Property(
        description="How the server receives its software configuration.",
        default="POLL_SERVER_CFN",
        constraints=offered(configuration_transports),
        change=Change.UPDATE,
        live=managed("Stoker itself delivers software configuration"),
    ),
    "user_data_update_policy": Property(
        description="Whether changed user data replaces the server, rebuilds it, or is ignored.",
        default="REPLACE",
        constraints=one_of("REPLACE", "IGNORE", "REBUILD"),
        change=Change.UPDATE,
        support=Support(version="6.0.0"),
        live=managed("it tells Stoker how to change the server"),
    ),
    "user_data": Property(
        description="User data for cloud-init at boot, or the ID of a software configuration.",
        default="",
        change=Change.UPDATE,
        live=never("the service does not show user data as they were given"),
    ),
    "reservation_id": Property(
        description="Not supported: Nova's response would not contain the server's ID.", live=managed("it is refused")
    ),
    "config_drive": Property(Type.BOOLEAN, "Whether the server gets a configuration drive.", live=LISTED),
    "diskConfig": Property(
        description="Whether Nova resizes the image's partition to the whole disk (AUTO) or not (MANUAL).",
        constraints=one_of("AUTO", "MANUAL"),
        live=LISTED,
    ),
    "personality": Property(
        Type.MAP,
        "Files to put into the server, as a map from path to content.",
        default={},
        support=Support("DEPRECATED", "12.0.0"),
        live=never("the service does not show files"),
    ),
    "admin_pass": Property(
        description="Password of the administrator.",
        change=Change.UPDATE,
        secret=True,
        live=never("the service does not show passwords"),
    ),
    "tags": Property(
        Type.LIST,
        "Tags of the server.",
        items=Property(Type.STRING, "A tag."),
        change=Change.UPDATE,
        support=Support(version="8.0.0"),
        live=LISTED,
    ),
    "deployment_swift_data": Property(
        Type.MAP,
        "Where the software configuration is stored in Swift, for the transport POLL_TEMP_URL.",
        default={},
        schema=_SWIFT_DATA,
        change=Change.UPDATE,
        support=Support(version="9.0.0"),
        live=managed("Stoker itself delivers software configuration"),
    ),
}

_ACCESS_IP = Support("DEPRECATED", "14.0.0", previous=Support(version="2015.1"))

ATTRIBUTES: Mapping[str, Attribute] = {
    "name": Attribute("Name of the server.", Type.STRING),
    "addresses": Attribute(
        "Map from network, by name and by ID, to its addresses with their ports, subnets and networks.",
        Type.MAP,
        support=Support(version="11.0.0", previous=Support()),
    ),
    "networks": Attribute("Map from network, by name and by ID, to the list of addresses.", Type.MAP),
    "first_address": Attribute(
        "The first address of the first network.",
        support=Support(
            "HIDDEN", "5.0.0", previous=Support("DEPRECATED", "2014.2", previous=Support(version="2013.2"))
        ),
    ),
    "instance_name": Attribute(
        "Name of the server in the hypervisor; for administrators.",
        Type.STRING,
        path="OS-EXT-SRV-ATTR:instance_name",
    ),
    "accessIPv4": Attribute("The IPv4 address that is set for access to the server.", Type.STRING, support=_ACCESS_IP),
    "accessIPv6": Attribute("The IPv6 address that is set for access to the server.", Type.STRING, support=_ACCESS_IP),
    "console_urls": Attribute(
        "URLs of the server's consoles, by kind: novnc, xvpvnc, spice-html5, rdp-html5, serial, webmks.",
        Type.MAP,
        support=Support(version="2015.1"),
    ),
    "os_collect_config": Attribute(
        "The configuration of os-collect-config in the server.",
        Type.MAP,
        live=True,
        support=Support(version="9.0.0"),
    ),
    "tags": Attribute("Tags of the server.", Type.LIST, support=Support(version="8.0.0")),
}
