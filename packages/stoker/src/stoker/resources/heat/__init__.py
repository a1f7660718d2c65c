"""Orchestration's own resource types."""

from __future__ import annotations

from stoker.plugins.on_demand import TypesOnDemand

TYPES = TypesOnDemand(
    __name__,
    {
        "OS::Heat::AccessPolicy": "access_policy:AccessPolicy",
        "OS::Heat::AutoScalingGroup": "auto_scaling_group:AutoScalingGroup",
        "OS::Heat::CloudConfig": "cloud_config:CloudConfig",
        "OS::Heat::Delay": "delay:Delay",
        "OS::Heat::HARestarter": "ha_restarter:HARestarter",
        "OS::Heat::MultipartMime": "multipart_mime:MultipartMime",
        "OS::Heat::None": "placeholder:NoResource",
        "OS::Heat::RandomString": "random_string:RandomString",
        "OS::Heat::ResourceChain": "resource_chain:ResourceChain",
        "OS::Heat::ResourceGroup": "resource_group:ResourceGroup",
        "OS::Heat::ScalingPolicy": "scaling_policy:ScalingPolicy",
        "OS::Heat::SoftwareComponent": "software_component:SoftwareComponent",
        "OS::Heat::SoftwareConfig": "software_config:SoftwareConfig",
        "OS::Heat::SoftwareDeployment": "software_deployment:SoftwareDeployment",
        "OS::Heat::SoftwareDeploymentGroup": "deployment_group:SoftwareDeploymentGroup",
        "OS::Heat::SoftwareDeployments": "deployment_group:SoftwareDeployments",
        "OS::Heat::Stack": "stack:Stack",
        "OS::Heat::StructuredConfig": "structured_config:StructuredConfig",
        "OS::Heat::StructuredDeployment": "software_deployment:StructuredDeployment",
        "OS::Heat::StructuredDeploymentGroup": "deployment_group:StructuredDeploymentGroup",
        "OS::Heat::StructuredDeployments": "deployment_group:StructuredDeployments",
        "OS::Heat::SwiftSignal": "swift_signal:SwiftSignal",
        "OS::Heat::SwiftSignalHandle": "swift_signal:SwiftSignalHandle",
        "OS::Heat::TestResource": "test_resource:TestResource",
        "OS::Heat::UpdateWaitConditionHandle": "signed_handle:UpdateWaitConditionHandle",
        "OS::Heat::Value": "value:Value",
        "OS::Heat::WaitCondition": "wait_condition:WaitCondition",
        "OS::Heat::WaitConditionHandle": "wait_condition_handle:WaitConditionHandle",
    },
)
