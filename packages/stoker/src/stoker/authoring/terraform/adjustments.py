"""What the table of Terraform's types cannot say: rules of single types, by their names in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stoker.authoring.terraform.drafts import Draft, Unsupported

Drafts = Mapping[str, Draft]
"""The resources of the state by the IDs of their objects."""

_NO_IMAGE = "Attempt to boot from volume - no image supplied"
"""What the provider says of a server without an image."""
_SERVICE_METADATA = frozenset({"attached_mode", "readonly"})
_DEFAULT_EGRESS = [{"direction": "egress", "ethertype": version} for version in ("IPv4", "IPv6")]
_KEY_ROLES = {
    "certificate": "certificate_ref",
    "intermediates": "intermediates_ref",
    "private_key": "private_key_ref",
    "private_key_passphrase": "private_key_passphrase_ref",
    "public_key": "public_key_ref",
}


def _server(draft: Draft, known: Drafts) -> None:
    values, shown = draft.values, draft.shown
    if values.get("image") == _NO_IMAGE:
        del values["image"]
    entries = []
    for network in draft.items("networks"):
        fields = ("port",) if network.get("port") else ("network", "fixed_ip")
        entries.append({name: network[name] for name in fields if name in network})
    entries = [entry for number, entry in enumerate(entries) if entry and entry not in entries[:number]]
    values |= {"networks": entries} if entries else {}
    named = shown.get("security_groups")
    groups = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    if groups and entries and not any("port" in entry for entry in entries):
        values["security_groups"] = groups
    group = next((hints.get("group") for hints in draft.maps("scheduler_hints")), None)
    if group:
        values["scheduler_hints"] = {"group": group}
    _disks(draft)


def _disks(draft: Draft) -> None:
    """Say from what each disk was created, which Terraform says with a kind and an ID."""
    sources = {"volume": "volume_id", "image": "image", "snapshot": "snapshot_id"}
    blocks, disks = draft.maps("block_device"), draft.items("block_device_mapping_v2")
    draft.values.pop("block_device_mapping_v2", None)
    created, attached = disks[: len(blocks)], disks[len(blocks) :]
    for disk, block in zip(created, blocks, strict=True):
        source, identifier = block.get("source_type"), block.get("uuid")
        if block.get("destination_type") == "local" and source == "image":
            continue  # the image of the server itself
        if source not in sources or not identifier:
            raise Unsupported("it has a disk that was created empty (block_device with source_type blank)")
        size = {"volume_size": disk["volume_size"]} if source != "volume" and disk.get("volume_size") else {}
        rest = {name: disk[name] for name in ("boot_index", "delete_on_termination") if name in disk}
        draft.add("block_device_mapping_v2", {sources[source]: identifier, **size, **rest})
    volume_ids = {disk.get("volume_id") for disk in draft.items("block_device_mapping_v2")}
    for disk in attached:
        if disk["volume_id"] not in volume_ids:
            draft.add("block_device_mapping_v2", disk)


def _network(draft: Draft, known: Drafts) -> None:
    if draft.kind.type_name == "OS::Neutron::Net":
        return
    segments = draft.maps("segments")
    if len(segments) > 1:
        raise Unsupported("it has several segments")
    for name in ("network_type", "physical_network", "segmentation_id"):
        if segments and segments[0].get(name):
            draft.values[name] = segments[0][name]
    draft.values["router_external"] = bool(draft.shown.get("external"))
    draft.values["shared"] = bool(draft.shown.get("shared"))


def _subnet(draft: Draft, known: Drafts) -> None:
    if draft.shown.get("no_gateway") or not draft.shown.get("gateway_ip"):
        draft.values["gateway_ip"] = ""
    if draft.shown.get("enable_dhcp") is False:
        draft.values["enable_dhcp"] = False


def _port(draft: Draft, known: Drafts) -> None:
    if draft.shown.get("no_security_groups"):
        draft.values["security_groups"] = []
    if draft.values.get("port_security_enabled") is False:
        draft.values.pop("security_groups", None)


def _router(draft: Draft, known: Drafts) -> None:
    gateway = draft.values.get("external_gateway_info")
    if isinstance(gateway, dict) and draft.shown.get("enable_snat") is False:
        gateway["enable_snat"] = False


def _router_interface(draft: Draft, known: Drafts) -> None:
    """An interface has a port if that is a resource, too; the port of others is the router's own."""
    values = draft.values
    port = known.get(str(values.get("port")))
    by_port = "subnet" not in values or (port is not None and port.kind.type_name == "OS::Neutron::Port")
    values.pop("subnet" if by_port else "port", None)
    by = "port" if by_port else "subnet"
    draft.id = f"{values.get('router')}:{by}_id={values.get(by)}"


def _security_group(draft: Draft, known: Drafts) -> None:
    rules = [_rule(rule, draft) for rule in draft.items("rules")]
    draft.values.pop("rules", None)
    has_outgoing = any(rule.get("direction") == "egress" for rule in rules)
    without_default = bool(draft.shown.get("delete_default_rules"))
    if without_default and not has_outgoing:
        raise Unsupported("it has no rule for outgoing traffic, which a template cannot say")
    if has_outgoing and not without_default:
        rules = _DEFAULT_EGRESS + [rule for rule in rules if rule not in _DEFAULT_EGRESS]
    if rules:
        draft.values["rules"] = rules


def _compute_security_group(draft: Draft, known: Drafts) -> None:
    """A group that Nova manages for Neutron: with rules for incoming traffic only, -1 for ports without a limit."""
    rules = []
    for rule, shown in zip(draft.items("rules"), draft.maps("rule"), strict=True):
        limited = {name: value for name, value in rule.items() if value != -1}
        if shown.get("self"):
            limited["remote_group_id"] = draft.id
        version = "IPv6" if ":" in str(limited.get("remote_ip_prefix", "")) else "IPv4"
        rules.append({"direction": "ingress", "ethertype": version, **_rule(limited, draft)})
    if rules:
        draft.values["rules"] = rules


def _rule(rule: Mapping[str, object], group: Draft) -> dict[str, Any]:
    """Return a rule; in the state, a range that is not given is from 0 to 0."""
    values = {name: value for name, value in rule.items() if name != "remote_group_id"}
    ends = ("port_range_min", "port_range_max")
    if not any(values.get(name) for name in ends):
        values = {name: value for name, value in values.items() if name not in ends}
    if remote := rule.get("remote_group_id"):
        values["remote_mode"] = "remote_group_id"
        if remote != group.id:
            values["remote_group_id"] = remote
    return values


def _volume(draft: Draft, known: Drafts) -> None:
    metadata = draft.values.get("metadata")
    if isinstance(metadata, dict):
        draft.values["metadata"] = {key: value for key, value in metadata.items() if key not in _SERVICE_METADATA}


def _qos_specs(draft: Draft, known: Drafts) -> None:
    consumer = draft.shown.get("consumer")
    specs = draft.values.get("specs", {})
    if consumer and isinstance(specs, dict):
        draft.values["specs"] = {**specs, "consumer": consumer}


def _image(draft: Draft, known: Drafts) -> None:
    if "location" not in draft.values:
        raise Unsupported("it was uploaded from a file (local_file_path), and a template has images from URLs only")


def _project(draft: Draft, known: Drafts) -> None:
    if draft.values.get("parent") == draft.values.get("domain"):
        draft.values.pop("parent", None)


def _pool(draft: Draft, known: Drafts) -> None:
    """A listener refers to its default pool, so that the pool refers to the load balancer alone."""
    listener = known.get(str(draft.values.get("listener")))
    balancer = draft.values.get("loadbalancer") or (listener.values.get("loadbalancer") if listener else None)
    if balancer is not None:
        draft.values["loadbalancer"] = balancer
        draft.values.pop("listener", None)


def _key_container(draft: Draft, known: Drafts) -> None:
    references = draft.maps("secret_refs")
    if draft.kind.type_name == "OS::Barbican::GenericContainer":
        draft.values["secrets"] = [
            {"name": secret.get("name"), "ref": secret.get("secret_ref")} for secret in references
        ]
        return
    for secret in references:
        name = _KEY_ROLES.get(str(secret.get("name")), "")
        if name in draft.kind.properties:
            draft.values[name] = secret.get("secret_ref")


ADJUSTMENTS: Mapping[str, Callable[[Draft, Drafts], None]] = {
    "server": _server,
    "network": _network,
    "subnet": _subnet,
    "port": _port,
    "router": _router,
    "router_interface": _router_interface,
    "security_group": _security_group,
    "compute_security_group": _compute_security_group,
    "volume": _volume,
    "qos_specs": _qos_specs,
    "image": _image,
    "project": _project,
    "pool": _pool,
    "key_container": _key_container,
}
