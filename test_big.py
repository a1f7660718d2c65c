import pytest
from world import World
async def test_big(world: World):
    t = "heat_template_version: 2021-04-16\nresources:\n  v:\n    type: OS::Heat::Value\n    properties: {type: number, value: 8401038720223233966080123}\noutputs:\n  o: {value: {get_attr: [v, value]}}\n"
    s = await world.create("big", t)
    print(s, world.outputs(s))
    from stoker.rpc.contract import json_copy
    json_copy(await world.call("stack_template", ref={"name":"big","id":None}))
    json_copy(await world.call("stack_show", ref={"name":"big","id":None}))
