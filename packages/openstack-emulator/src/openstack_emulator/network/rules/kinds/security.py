"""Kinds of access: security groups and rules, address groups, RBAC policies; and quality of service."""

from __future__ import annotations

from typing import Any, TypeVar

from openstack_emulator.core.validation.converting import optional
from openstack_emulator.network.records.core import (
    AddressGroup,
    BandwidthLimitRule,
    DscpMarkingRule,
    MeteringLabel,
    MeteringLabelRule,
    MinimumBandwidthRule,
    MinimumPacketRateRule,
    QosPolicy,
    QosRule,
    RbacPolicy,
    SecurityGroup,
    SecurityGroupRule,
)
from openstack_emulator.network.rules.attributes import (
    NAME,
    NULLABLE_TEXT,
    NULLABLE_UUID,
    anything,
    boolean,
    choice,
    cidr,
    integer,
    ip_or_cidr,
    items,
    one_of_numbers,
    text,
    uuid,
)
from openstack_emulator.network.rules.kinds.kind import (
    NAMED,
    STANDARD,
    TIMES,
    UNNAMED,
    Attribute,
    Deletion,
    ResourceKind,
    read_only,
)

MOST_KBPS = 2**31 - 1
DSCP_MARKS = (0, 8, *range(10, 41, 2), 44, 46, 48, 56)
R = TypeVar("R", bound=QosRule)
SHARED = Attribute(boolean, False, admin=True)

SECURITY_GROUP = ResourceKind(
    record=SecurityGroup,
    name="security_group",
    plural="security_groups",
    path="/security-groups",
    error="SecurityGroup",
    label="Security group",
    unknown="Security group {id} does not exist",
    in_use="Security Group {id} in use.",
    quota="security_group",
    indexes=("name",),
    derived=frozenset({"security_group_rules", "shared"}),
    shareable=True,
    attributes={
        **STANDARD,
        "stateful": Attribute(boolean, True),
        "security_group_rules": read_only(),
        "shared": read_only(),
    },
)
SECURITY_GROUP_RULE = ResourceKind(
    record=SecurityGroupRule,
    name="security_group_rule",
    plural="security_group_rules",
    path="/security-group-rules",
    error="SecurityGroupRule",
    label="Security group rule",
    owner="security_group_id",
    unknown="Security group rule {id} does not exist",
    quota="security_group_rule",
    attributes={
        **UNNAMED,
        **TIMES,
        "description": Attribute(NULLABLE_TEXT, "", update=False),
        "normalized_cidr": read_only(),
        "belongs_to_default_sg": read_only(False),
        "security_group_id": Attribute(uuid, update=False, refers="security_groups", on_delete=Deletion.CASCADE),
        "direction": Attribute(choice("ingress", "egress"), update=False),
        "ethertype": Attribute(anything, "IPv4", update=False),
        "protocol": Attribute(anything, None, update=False),
        "port_range_min": Attribute(anything, None, update=False),
        "port_range_max": Attribute(anything, None, update=False),
        "remote_ip_prefix": Attribute(anything, None, update=False),
        "remote_group_id": Attribute(
            NULLABLE_TEXT, None, update=False, refers="security_groups", on_delete=Deletion.CASCADE
        ),
        "remote_address_group_id": Attribute(NULLABLE_UUID, None, update=False, refers="address_groups"),
    },
)
ADDRESS_GROUP = ResourceKind(
    record=AddressGroup,
    name="address_group",
    plural="address_groups",
    path="/address-groups",
    error="AddressGroup",
    label="Address group",
    in_use="Address group {id} is in use on one or more security group rules",
    quota="address_group",
    derived=frozenset({"shared"}),
    shareable=True,
    attributes={
        **NAMED,
        **TIMES,
        "addresses": Attribute(items(cidr), list, update=False),
        "shared": read_only(),
    },
)
RBAC_POLICY = ResourceKind(
    record=RbacPolicy,
    name="rbac_policy",
    plural="rbac_policies",
    path="/rbac-policies",
    error="RbacPolicy",
    label="RBAC policy",
    unknown="RBAC policy of type unknown with ID {id} not found",
    quota="rbac_policy",
    indexes=("object_id",),
    attributes={
        **UNNAMED,
        "object_type": Attribute(NAME, update=False),
        "object_id": Attribute(uuid, update=False),
        "action": Attribute(NAME, update=False),
        "target_tenant": Attribute(text(255)),
    },
)
QOS_POLICY = ResourceKind(
    record=QosPolicy,
    name="policy",
    plural="policies",
    path="/qos/policies",
    error="QosPolicy",
    label="QoS policy",
    in_use="QoS Policy {id} is used by a network, port, floating IP or router.",
    derived=frozenset({"rules", "shared"}),
    admin_write=True,
    shareable=True,
    attributes={
        **STANDARD,
        "name": Attribute(text(255)),
        "is_default": Attribute(boolean, False),
        "rules": read_only(),
        "shared": SHARED,
    },
)


def _qos_rule(record: type[R], type_name: str, **attributes: Attribute) -> ResourceKind[R]:
    return ResourceKind(
        record=record,
        name=f"{type_name}_rule",
        plural=f"{type_name}_rules",
        path=f"/qos/policies/{{parent_id}}/{type_name}_rules",
        error="QosRule",
        label="QoS rule",
        unknown="QoS rule {id} for policy {parent} could not be found.",
        admin_write=True,
        parent="qos_policy_id",
        owned=False,
        attributes={
            **UNNAMED,
            "qos_policy_id": Attribute(uuid, update=False, refers="policies", on_delete=Deletion.CASCADE),
            **attributes,
        },
    )


BANDWIDTH_LIMIT_RULE = _qos_rule(
    BandwidthLimitRule,
    "bandwidth_limit",
    max_kbps=Attribute(integer(0, MOST_KBPS)),
    max_burst_kbps=Attribute(integer(0, MOST_KBPS), 0),
    direction=Attribute(choice("ingress", "egress"), "egress"),
)
DSCP_MARKING_RULE = _qos_rule(DscpMarkingRule, "dscp_marking", dscp_mark=Attribute(one_of_numbers(*DSCP_MARKS)))
MINIMUM_BANDWIDTH_RULE = _qos_rule(
    MinimumBandwidthRule,
    "minimum_bandwidth",
    min_kbps=Attribute(integer(0, MOST_KBPS)),
    direction=Attribute(choice("ingress", "egress"), "egress"),
)
MINIMUM_PACKET_RATE_RULE = _qos_rule(
    MinimumPacketRateRule,
    "minimum_packet_rate",
    min_kpps=Attribute(integer(0, MOST_KBPS)),
    direction=Attribute(choice("ingress", "egress", "any"), "egress"),
)
QOS_RULES: tuple[ResourceKind[Any], ...] = (
    BANDWIDTH_LIMIT_RULE,
    DSCP_MARKING_RULE,
    MINIMUM_BANDWIDTH_RULE,
    MINIMUM_PACKET_RATE_RULE,
)
METERING_LABEL = ResourceKind(
    record=MeteringLabel,
    name="metering_label",
    plural="metering_labels",
    path="/metering/metering-labels",
    error="MeteringLabel",
    label="Metering label",
    unknown="Metering label '{id}' does not exist.",
    admin_write=True,
    attributes={**NAMED, "shared": Attribute(boolean, False, update=False)},
)
METERING_RULE = ResourceKind(
    record=MeteringLabelRule,
    name="metering_label_rule",
    plural="metering_label_rules",
    path="/metering/metering-label-rules",
    owned=False,
    error="MeteringLabelRule",
    label="Metering label rule",
    admin_write=True,
    attributes={
        **UNNAMED,
        "metering_label_id": Attribute(uuid, update=False, refers="metering_labels", on_delete=Deletion.CASCADE),
        "direction": Attribute(choice("ingress", "egress"), update=False),
        "excluded": Attribute(boolean, False, update=False),
        "remote_ip_prefix": Attribute(optional(ip_or_cidr), None, update=False),
        "source_ip_prefix": Attribute(optional(ip_or_cidr), None, update=False),
        "destination_ip_prefix": Attribute(optional(ip_or_cidr), None, update=False),
    },
)
SECURITY_KINDS: tuple[ResourceKind[Any], ...] = (SECURITY_GROUP, SECURITY_GROUP_RULE, ADDRESS_GROUP, RBAC_POLICY)
QOS_KINDS: tuple[ResourceKind[Any], ...] = (QOS_POLICY, *QOS_RULES, METERING_LABEL, METERING_RULE)
