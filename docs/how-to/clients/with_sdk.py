"""A stack by way of openstacksdk."""

import openstack

cloud = openstack.connect(cloud="stoker")
stack = cloud.create_stack("from-sdk", template_file="network.yaml", wait=True)
for resource in cloud.orchestration.resources(stack.id):
    print(resource.name, resource.status)
for output in cloud.get_stack("from-sdk").outputs:
    print(output["output_key"], output["output_value"])
cloud.delete_stack("from-sdk", wait=True)
