"""A stack by way of boto3. The access key, the region and the endpoint are in the environment."""

from pathlib import Path

import boto3

cloudformation = boto3.client("cloudformation")
cloudformation.create_stack(StackName="from-boto3", TemplateBody=Path("network.yaml").read_text())
cloudformation.get_waiter("stack_create_complete").wait(StackName="from-boto3")
for resource in cloudformation.list_stack_resources(StackName="from-boto3")["StackResourceSummaries"]:
    print(resource["LogicalResourceId"], resource["ResourceStatus"])
(stack,) = cloudformation.describe_stacks(StackName="from-boto3")["Stacks"]
for output in stack["Outputs"]:
    print(output["OutputKey"], output["OutputValue"])
cloudformation.delete_stack(StackName="from-boto3")
cloudformation.get_waiter("stack_delete_complete").wait(StackName="from-boto3")
