"""CloudFormation's resource types on OpenStack's services."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.aws.identity import AccessKey, User
from stoker.resources.aws.instance import Instance
from stoker.resources.aws.instance_group import AutoScalingGroup, InstanceGroup
from stoker.resources.aws.launch import LaunchConfiguration
from stoker.resources.aws.nested_stack import NestedStack
from stoker.resources.aws.scaling_policy import ScalingPolicy
from stoker.resources.aws.wait_conditions import WaitCondition, WaitConditionHandle

TYPES: tuple[type[ResourceType], ...] = (
    AccessKey,
    AutoScalingGroup,
    Instance,
    InstanceGroup,
    LaunchConfiguration,
    NestedStack,
    ScalingPolicy,
    User,
    WaitCondition,
    WaitConditionHandle,
)
