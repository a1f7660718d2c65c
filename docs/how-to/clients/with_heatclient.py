"""A stack by way of python-heatclient."""

import openstack
from heatclient import client
from heatclient.common import event_utils, template_utils

heat = client.Client("1", session=openstack.connect(cloud="stoker").session, region_name="RegionOne")
files, template = template_utils.get_template_contents("network.yaml")
heat.stacks.create(stack_name="from-heatclient", template=template, files=files)
event_utils.poll_for_events(heat, "from-heatclient", action="CREATE", poll_period=1)
stack = heat.stacks.get("from-heatclient")
print(stack.stack_status, stack.outputs)
stack.delete()
