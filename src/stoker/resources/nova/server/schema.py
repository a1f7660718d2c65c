"""What OS::Nova::Server accepts and shows."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.resources.declare import between, custom, length, one_of
from stoker.schema.property import Attribute, Change, Property, Support, Type

USER_DATA_FORMATS = ("HEAT_CFNTOOLS", "RAW", "SOFTWARE_CONFIG")
TRANSPORTS = ("POLL_SERVER_CFN", "POLL_SERVER_HEAT", "POLL_TEMP_URL", "ZAQAR_MESSAGE")
VNIC_TYPES = ("normal", "direct", "macvtap", "direct-physical", "baremetal", "virtio-forwarder", "smart-nic")

_HIDDEN_2013 = Support("HIDDEN", "5.0.0", previous=Support("DEPRECATED", "2014.1", previous=Support(version="2013.2")))

_DEVICE = {
    "device_name": Property(description="Name of the device in the server, such as vda.", required=True),
    "volume_id": Property(description="The volume to attach.", constraints=custom("cinder.volume")),
    "snapshot_id": Property(
        description="The snapshot to make a volume from and attach.", constraints=custom("cinder.snapshot")
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
        description="The image to make a volume from, by name or id.",
        support=Support(version="7.0.0"),
        reference="glance.image",
        replaces="image_id",
    ),
    "snapshot_id": Property(
        description="The snapshot to make a volume from and attach.", constraints=custom("cinder.snapshot")
    ),
    "swap_size": Property(Type.INTEGER, "Size in MiB of a disk for swapping."),
    "ephemeral_size": Property(
        Type.INTEGER,
        "Size in GiB of a disk that lives with the server.",
        constraints=between(1),
        support=Support(version="8.0.0"),
    ),
    "ephemeral_format": Property(
        description="File system of a disk that lives with the server.",
        constraints=one_of("ext2", "ext3", "ext4", "xfs", "ntfs"),
        support=Support(version="8.0.0"),
    ),
    "device_type": Property(description="Kind of device.", constraints=one_of("cdrom", "disk")),
    "disk_bus": Property(
        description="The bus that the device is on.",
        constraints=one_of("ide", "lame_bus", "sata", "scsi", "usb", "virtio"),
    ),
    "boot_index": Property(Type.INTEGER, "Place in the order of devices to boot from; -1 for none."),
    "volume_size": Property(Type.INTEGER, "Size of the volume in GiB."),
    "delete_on_termination": Property(Type.BOOLEAN, "Whether the volume is deleted with the server."),
    "volume_type": Property(
        description="Type of the volume that is made.",
        constraints=custom("cinder.vtype"),
        support=Support(version="26.0.0"),
    ),
}

_ADDRESS_PAIR = {
    "mac_address": Property(description="The MAC address; if not given, the port's.", constraints=custom("mac_addr")),
    "ip_address": Property(
        description="An IP address or range that may pass.", required=True, constraints=custom("ip_or_cidr")
    ),
}

PORT_EXTRA: Mapping[str, Property] = {
    "value_specs": Property(Type.MAP, "Further fields of the port, as they are.", default={}, change=Change.UPDATE),
    "admin_state_up": Property(Type.BOOLEAN, "Whether the port forwards packets.", default=True, change=Change.UPDATE),
    "mac_address": Property(description="The port's MAC address.", constraints=custom("mac_addr")),
    "allowed_address_pairs": Property(
        Type.LIST,
        "Further addresses that may pass through the port.",
        items=Property(Type.MAP, "A pair of addresses.", schema=_ADDRESS_PAIR),
        change=Change.UPDATE,
    ),
    "binding:vnic_type": Property(
        description="Kind of network card.",
        default="normal",
        constraints=one_of(*VNIC_TYPES),
        change=Change.UPDATE,
        support=Support(version="2015.1"),
    ),
    "port_security_enabled": Property(
        Type.BOOLEAN,
        "Whether the port is protected by security groups and against spoofing.",
        change=Change.UPDATE,
        support=Support(version="5.0.0"),
    ),
    "qos_policy": Property(
        description="The policy of quality of service, by name or id.",
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
        "Whether the port gets no address.",
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
        description="The network to be on, by name or id.",
        reference="neutron.network",
        replaces="uuid",
    ),
    "allocate_network": Property(
        description="auto: Nova chooses or makes a network; none: the server has no network.",
        constraints=one_of("none", "auto"),
        change=Change.UPDATE,
        support=Support(version="9.0.0"),
    ),
    "fixed_ip": Property(description="The address to have.", constraints=custom("ip_addr")),
    "port": Property(description="The port to use, by name or id.", reference="neutron.port"),
    "port_extra_properties": Property(
        Type.MAP,
        "How the port that is made for the server should be.",
        schema=PORT_EXTRA,
        change=Change.UPDATE,
        support=Support(version="6.0.0"),
    ),
    "subnet": Property(
        description="The subnet to take an address from, by name or id.",
        support=Support(version="5.0.0"),
        resolve="neutron.subnet",
    ),
    "floating_ip": Property(
        description="Id of the floating IP to associate with the port.", support=Support(version="6.0.0")
    ),
    "tag": Property(description="A tag that the server finds the card by.", support=Support(version="9.0.0")),
}

_SWIFT_DATA = {
    "container": Property(description="Name of the container.", constraints=length(1)),
    "object": Property(description="Name of the object.", constraints=length(1)),
}

PROPERTIES: Mapping[str, Property] = {
    "name": Property(description="Name of the server.", change=Change.UPDATE),
    "image": Property(
        description="The image to boot from, by name or id.",
        change=Change.UPDATE,
        reference="glance.image",
    ),
    "block_device_mapping": Property(
        Type.LIST, "Volumes to attach, in Nova's older form.", items=Property(Type.MAP, "A volume.", schema=_DEVICE)
    ),
    "block_device_mapping_v2": Property(
        Type.LIST,
        "Disks to attach, and from what to make them.",
        items=Property(Type.MAP, "A disk.", schema=_DEVICE_V2),
        support=Support(version="2015.1"),
    ),
    "flavor": Property(
        description="The flavor, by name or id: how large the server is.",
        required=True,
        change=Change.UPDATE,
        reference="nova.flavor",
    ),
    "flavor_update_policy": Property(
        description="What another flavor means: resizing the server or making a new one.",
        default="RESIZE",
        constraints=one_of("RESIZE", "REPLACE"),
        change=Change.UPDATE,
    ),
    "image_update_policy": Property(
        description="What another image means: rebuilding the server, with or without its own disks, or a new one.",
        default="REBUILD",
        constraints=one_of("REBUILD", "REPLACE", "REBUILD_PRESERVE_EPHEMERAL"),
        change=Change.UPDATE,
    ),
    "key_name": Property(description="Name of the keypair to log in with.", constraints=custom("nova.keypair")),
    "admin_user": Property(description="Has no effect any more.", support=_HIDDEN_2013),
    "availability_zone": Property(description="The availability zone to be in."),
    "security_groups": Property(
        Type.LIST, "Security groups, by name or id, for cards without a port of the template's.", default=[]
    ),
    "networks": Property(
        Type.LIST,
        "The networks to be on, in order.",
        items=Property(Type.MAP, "A network card.", schema=_NETWORK),
        change=Change.UPDATE,
    ),
    "scheduler_hints": Property(Type.MAP, "What the scheduler should take into account."),
    "metadata": Property(
        Type.MAP, "Keys and values that Nova keeps with the server.", default={}, change=Change.UPDATE
    ),
    "user_data_format": Property(
        description="How user_data reaches the server: as it is, with Heat's agents, or as software configuration.",
        default="HEAT_CFNTOOLS",
        constraints=one_of(*USER_DATA_FORMATS),
    ),
    "software_config_transport": Property(
        description="How the server learns its software configuration.",
        default="POLL_SERVER_CFN",
        constraints=one_of(*TRANSPORTS),
        change=Change.UPDATE,
    ),
    "user_data_update_policy": Property(
        description="What other user data mean: a new server, rebuilding it, or nothing.",
        default="REPLACE",
        constraints=one_of("REPLACE", "IGNORE", "REBUILD"),
        change=Change.UPDATE,
        support=Support(version="6.0.0"),
    ),
    "user_data": Property(
        description="What cloud-init runs at boot, or the id of a software configuration.",
        default="",
        change=Change.UPDATE,
    ),
    "reservation_id": Property(description="Not supported: Nova would not say which server it made."),
    "config_drive": Property(Type.BOOLEAN, "Whether the server gets its configuration on a drive of its own."),
    "diskConfig": Property(
        description="Whether the image's partition grows to the disk.", constraints=one_of("AUTO", "MANUAL")
    ),
    "personality": Property(
        Type.MAP,
        "Files to put into the server, as a map from path to content.",
        default={},
        support=Support("DEPRECATED", "12.0.0"),
    ),
    "admin_pass": Property(description="Password of the administrator.", change=Change.UPDATE, secret=True),
    "tags": Property(
        Type.LIST,
        "Tags of the server.",
        items=Property(Type.STRING, "A tag."),
        change=Change.UPDATE,
        support=Support(version="8.0.0"),
    ),
    "deployment_swift_data": Property(
        Type.MAP,
        "Where in Swift the software configuration is put, for the transport POLL_TEMP_URL.",
        default={},
        schema=_SWIFT_DATA,
        change=Change.UPDATE,
        support=Support(version="9.0.0"),
    ),
}

_ACCESS_IP = Support("DEPRECATED", "14.0.0", previous=Support(version="2015.1"))

ATTRIBUTES: Mapping[str, Attribute] = {
    "name": Attribute("Name of the server.", Type.STRING),
    "addresses": Attribute(
        "Per network, by name and by id: its addresses with their ports, subnets and networks.",
        Type.MAP,
        support=Support(version="11.0.0", previous=Support()),
    ),
    "networks": Attribute("Per network, by name and by id: the list of addresses.", Type.MAP),
    "first_address": Attribute(
        "The first address of the first network.",
        support=Support(
            "HIDDEN", "5.0.0", previous=Support("DEPRECATED", "2014.2", previous=Support(version="2013.2"))
        ),
    ),
    "instance_name": Attribute(
        "The hypervisor's name of the server; for administrators.",
        Type.STRING,
        path="OS-EXT-SRV-ATTR:instance_name",
    ),
    "accessIPv4": Attribute("The IPv4 address noted for access.", Type.STRING, support=_ACCESS_IP),
    "accessIPv6": Attribute("The IPv6 address noted for access.", Type.STRING, support=_ACCESS_IP),
    "console_urls": Attribute(
        "Addresses of the server's consoles, by kind: novnc, xvpvnc, spice-html5, rdp-html5, serial, webmks.",
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
