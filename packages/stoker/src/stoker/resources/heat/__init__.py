"""Orchestration's own resource types."""

from __future__ import annotations

from stoker.plugins.on_demand import TypesOnDemand

TYPES = TypesOnDemand(
    __name__,
    {
        "OS::Heat::AccessPolicy": "users.access_policy:AccessPolicy",
        "OS::Heat::AutoScalingGroup": "groups.auto_scaling_group:AutoScalingGroup",
        "OS::Heat::CloudConfig": "software.cloud_config:CloudConfig",
        "OS::Heat::Delay": "delay:Delay",
        "OS::Heat::HARestarter": "ha_restarter:HARestarter",
        "OS::Heat::MultipartMime": "software.multipart_mime:MultipartMime",
        "OS::Heat::None": "placeholder:NoResource",
        "OS::Heat::RandomString": "random_string:RandomString",
        "OS::Heat::ResourceChain": "groups.resource_chain:ResourceChain",
        "OS::Heat::ResourceGroup": "groups.resource_group:ResourceGroup",
        "OS::Heat::ScalingPolicy": "groups.scaling_policy:ScalingPolicy",
        "OS::Heat::SoftwareComponent": "software.software_component:SoftwareComponent",
        "OS::Heat::SoftwareConfig": "software.software_config:SoftwareConfig",
        "OS::Heat::SoftwareDeployment": "software.software_deployment:SoftwareDeployment",
        "OS::Heat::SoftwareDeploymentGroup": "software.deployment_group:SoftwareDeploymentGroup",
        "OS::Heat::SoftwareDeployments": "software.deployment_group:SoftwareDeployments",
        "OS::Heat::Stack": "nested_stacks.stack:Stack",
        "OS::Heat::StructuredConfig": "software.structured_config:StructuredConfig",
        "OS::Heat::StructuredDeployment": "software.software_deployment:StructuredDeployment",
        "OS::Heat::StructuredDeploymentGroup": "software.deployment_group:StructuredDeploymentGroup",
        "OS::Heat::StructuredDeployments": "software.deployment_group:StructuredDeployments",
        "OS::Heat::SwiftSignal": "signals.swift_signal:SwiftSignal",
        "OS::Heat::SwiftSignalHandle": "signals.swift_signal:SwiftSignalHandle",
        "OS::Heat::TestResource": "test_resource:TestResource",
        "OS::Heat::UpdateWaitConditionHandle": "signals.signed_handle:UpdateWaitConditionHandle",
        "OS::Heat::Value": "value:Value",
        "OS::Heat::WaitCondition": "signals.wait_condition:WaitCondition",
        "OS::Heat::WaitConditionHandle": "signals.wait_condition_handle:WaitConditionHandle",
    },
)
