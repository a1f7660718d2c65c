"""Templates that the tests of the sandbox deploy."""

from __future__ import annotations

DISK = """\
heat_template_version: 2021-04-16
parameters:
  size: {type: number, default: 1, constraints: [{range: {min: 1, max: 100}}]}
  zone: {type: string, default: nova}
conditions:
  large: {not: {equals: [{get_param: size}, 1]}}
resources:
  disk:
    type: OS::Cinder::Volume
    properties:
      size: {get_param: size}
      name: disk
      availability_zone: {get_param: zone}
  copy:
    type: OS::Cinder::Volume
    condition: large
    properties: {source_volid: {get_resource: disk}, size: {get_param: size}}
  word:
    type: OS::Heat::RandomString
    condition: large
    properties: {length: {get_param: size}}
outputs:
  id: {value: {get_resource: disk}}
  size: {value: {get_attr: [disk, size]}}
"""
"""A volume; if it is larger than 1 GiB, there are a copy of it and a word that is replaced with each change."""

WAITING = """\
heat_template_version: 2021-04-16
resources:
  handle: {type: OS::Heat::WaitConditionHandle}
  wait:
    type: OS::Heat::WaitCondition
    properties: {handle: {get_resource: handle}, timeout: 3600}
"""
"""A resource that waits for a signal, for an hour."""


def twenty(number: int = 20) -> str:
    """Networks with a subnet and a port each, and servers on these: `number` resources in all."""
    lines = ["heat_template_version: 2021-04-16", "resources:"]
    for index in range(number // 4):
        lines.append(f"""\
  net{index}: {{type: OS::Neutron::Net}}
  subnet{index}:
    type: OS::Neutron::Subnet
    properties: {{network: {{get_resource: net{index}}}, cidr: 10.{index}.0.0/24}}
  port{index}:
    type: OS::Neutron::Port
    depends_on: subnet{index}
    properties: {{network: {{get_resource: net{index}}}}}
  server{index}:
    type: OS::Nova::Server
    properties:
      image: cirros
      flavor: m1.small
      networks: [{{port: {{get_resource: port{index}}}}}]""")
    return "\n".join(lines) + "\n"
