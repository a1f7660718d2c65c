"""CloudFormation's resource types on OpenStack's services."""

from __future__ import annotations

from stoker.plugins.on_demand import TypesOnDemand

TYPES = TypesOnDemand(
    __name__,
    {
        "AWS::EC2::VPC": "virtual_network:VPC",
        "AWS::EC2::EIP": "elastic_ip:EIP",
        "AWS::IAM::AccessKey": "identity:AccessKey",
        "AWS::AutoScaling::AutoScalingGroup": "instance_group:AutoScalingGroup",
        "AWS::S3::Bucket": "bucket:Bucket",
        "AWS::EC2::EIPAssociation": "elastic_ip_association:EIPAssociation",
        "AWS::EC2::Instance": "instance:Instance",
        "OS::Heat::InstanceGroup": "instance_group:InstanceGroup",
        "AWS::EC2::InternetGateway": "gateway:InternetGateway",
        "AWS::AutoScaling::LaunchConfiguration": "launch:LaunchConfiguration",
        "AWS::ElasticLoadBalancing::LoadBalancer": "load_balancer:LoadBalancer",
        "AWS::CloudFormation::Stack": "nested_stack:NestedStack",
        "AWS::EC2::NetworkInterface": "network_interface:NetworkInterface",
        "AWS::EC2::RouteTable": "route_table:RouteTable",
        "AWS::AutoScaling::ScalingPolicy": "scaling_policy:ScalingPolicy",
        "AWS::EC2::SecurityGroup": "security_group:SecurityGroup",
        "AWS::EC2::Subnet": "virtual_network:Subnet",
        "AWS::EC2::SubnetRouteTableAssociation": "route_table:SubnetRouteTableAssociation",
        "AWS::IAM::User": "identity:User",
        "AWS::EC2::VPCGatewayAttachment": "gateway:VPCGatewayAttachment",
        "AWS::EC2::Volume": "volumes:Volume",
        "AWS::EC2::VolumeAttachment": "volumes:VolumeAttachment",
        "AWS::CloudFormation::WaitCondition": "wait_conditions:WaitCondition",
        "AWS::CloudFormation::WaitConditionHandle": "wait_conditions:WaitConditionHandle",
    },
)
