"""CloudFormation's resource types on OpenStack's services."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.aws.bucket import Bucket
from stoker.resources.aws.elastic_ip import EIP
from stoker.resources.aws.elastic_ip_association import EIPAssociation
from stoker.resources.aws.gateway import InternetGateway, VPCGatewayAttachment
from stoker.resources.aws.identity import AccessKey, User
from stoker.resources.aws.instance import Instance
from stoker.resources.aws.instance_group import AutoScalingGroup, InstanceGroup
from stoker.resources.aws.launch import LaunchConfiguration
from stoker.resources.aws.load_balancer import LoadBalancer
from stoker.resources.aws.nested_stack import NestedStack
from stoker.resources.aws.network_interface import NetworkInterface
from stoker.resources.aws.route_table import RouteTable, SubnetRouteTableAssociation
from stoker.resources.aws.scaling_policy import ScalingPolicy
from stoker.resources.aws.security_group import SecurityGroup
from stoker.resources.aws.virtual_network import VPC, Subnet
from stoker.resources.aws.volumes import Volume, VolumeAttachment
from stoker.resources.aws.wait_conditions import WaitCondition, WaitConditionHandle

TYPES: tuple[type[ResourceType], ...] = (
    VPC,
    EIP,
    AccessKey,
    AutoScalingGroup,
    Bucket,
    EIPAssociation,
    Instance,
    InstanceGroup,
    InternetGateway,
    LaunchConfiguration,
    LoadBalancer,
    NestedStack,
    NetworkInterface,
    RouteTable,
    ScalingPolicy,
    SecurityGroup,
    Subnet,
    SubnetRouteTableAssociation,
    User,
    VPCGatewayAttachment,
    Volume,
    VolumeAttachment,
    WaitCondition,
    WaitConditionHandle,
)
