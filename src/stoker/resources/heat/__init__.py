"""Orchestration's own resource types."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.heat.access_policy import AccessPolicy
from stoker.resources.heat.auto_scaling_group import AutoScalingGroup
from stoker.resources.heat.cloud_config import CloudConfig
from stoker.resources.heat.delay import Delay
from stoker.resources.heat.deployment_group import (
    SoftwareDeploymentGroup,
    SoftwareDeployments,
    StructuredDeploymentGroup,
    StructuredDeployments,
)
from stoker.resources.heat.multipart_mime import MultipartMime
from stoker.resources.heat.placeholder import HARestarter, NoResource
from stoker.resources.heat.random_string import RandomString
from stoker.resources.heat.resource_chain import ResourceChain
from stoker.resources.heat.resource_group import ResourceGroup
from stoker.resources.heat.scaling_policy import ScalingPolicy
from stoker.resources.heat.signed_handle import UpdateWaitConditionHandle
from stoker.resources.heat.software_component import SoftwareComponent
from stoker.resources.heat.software_config import SoftwareConfig
from stoker.resources.heat.software_deployment import SoftwareDeployment, StructuredDeployment
from stoker.resources.heat.stack import Stack
from stoker.resources.heat.structured_config import StructuredConfig
from stoker.resources.heat.swift_signal import SwiftSignal, SwiftSignalHandle
from stoker.resources.heat.test_resource import TestResource
from stoker.resources.heat.value import Value
from stoker.resources.heat.wait_condition import WaitCondition
from stoker.resources.heat.wait_condition_handle import WaitConditionHandle

TYPES: tuple[type[ResourceType], ...] = (
    AccessPolicy,
    AutoScalingGroup,
    CloudConfig,
    Delay,
    HARestarter,
    MultipartMime,
    NoResource,
    RandomString,
    ResourceChain,
    ResourceGroup,
    ScalingPolicy,
    SoftwareComponent,
    SoftwareConfig,
    SoftwareDeployment,
    SoftwareDeploymentGroup,
    SoftwareDeployments,
    Stack,
    StructuredConfig,
    StructuredDeployment,
    StructuredDeploymentGroup,
    StructuredDeployments,
    SwiftSignal,
    SwiftSignalHandle,
    TestResource,
    UpdateWaitConditionHandle,
    Value,
    WaitCondition,
    WaitConditionHandle,
)
