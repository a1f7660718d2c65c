"""AWS::ElasticLoadBalancing::LoadBalancer: a nested stack with a server that runs HAProxy.

The nested stack's template is that of the option `loadbalancer_template`, or the one beside this module. HAProxy's
configuration is in the metadata of its resource `LB_instance`, which an agent (cfn-hup) in the server watches; a change
of the instances changes only these metadata.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from copy import deepcopy
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from stoker.base.errors import NotSupported, StokerError
from stoker.plugins.capabilities import MessageReceiver
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.resource import AttributeKey, Call, ChildRequest, Snapshot
from stoker.resources.aws.haproxy import configuration, target_problem
from stoker.resources.aws.instance import first_address
from stoker.resources.aws.registration import LOAD_BALANCER, InstancesChanged, registered
from stoker.resources.base import value_at
from stoker.resources.declare import one_of
from stoker.resources.heat.nested_stacks.nested import NestedStackResource
from stoker.schema.property import Attribute, Change, Property, Type
from stoker.schema.unknown import is_unknown
from stoker.template.template import Template

_PACKAGED = Path(__file__).with_name("load_balancer.yaml")
_SERVER = "LB_instance"
_INIT = "AWS::CloudFormation::Init"
_FILE = "/etc/haproxy/haproxy.cfg"
_KEY_NAME = "KeyName"
_PASSED_ON = (_KEY_NAME, "LbFlavor", "LBTimeout", "LbImageId")
_BEGUN = "begun"
_SERVERS_SHOWN = 1000


class LoadBalancer(NestedStackResource, MessageReceiver):
    """A load balancer of instances."""

    type_name = LOAD_BALANCER
    description = "Distributes requests among instances: a server with HAProxy."

    properties = {
        "AppCookieStickinessPolicy": Property(description="Not supported.", implemented=False),
        "AvailabilityZones": Property(Type.LIST, "Has no effect."),
        "HealthCheck": Property(
            Type.MAP,
            "How instances are checked; without it they are not.",
            schema={
                "HealthyThreshold": Property(
                    Type.INTEGER, "Successful checks until an instance is healthy.", required=True
                ),
                "Interval": Property(Type.INTEGER, "Seconds between checks.", required=True),
                "Target": Property(description="What is checked: TCP:port or HTTP:port/path.", required=True),
                "Timeout": Property(Type.INTEGER, "Seconds until a check has failed.", required=True),
                "UnhealthyThreshold": Property(
                    Type.INTEGER, "Failed checks until an instance is unhealthy.", required=True
                ),
            },
        ),
        "Instances": Property(Type.LIST, "IDs of instances, besides those that groups register.", change=Change.UPDATE),
        "LBCookieStickinessPolicy": Property(description="Not supported.", implemented=False),
        "Listeners": Property(
            Type.LIST,
            "The ports of the load balancer.",
            required=True,
            items=Property(
                Type.MAP,
                schema={
                    "InstancePort": Property(Type.INTEGER, "The port of the instances.", required=True),
                    "LoadBalancerPort": Property(Type.INTEGER, "The port of the load balancer.", required=True),
                    "PolicyNames": Property(Type.LIST, "Not supported.", implemented=False),
                    "Protocol": Property(description="The protocol.", required=True, constraints=one_of("TCP", "HTTP")),
                    "SSLCertificateId": Property(description="Not supported.", implemented=False),
                },
            ),
        ),
        "SecurityGroups": Property(
            Type.LIST, "Names or IDs of the security groups of the server.", change=Change.UPDATE
        ),
        "Subnets": Property(Type.LIST, "Not supported.", implemented=False),
    }
    attributes = {
        "CanonicalHostedZoneName": Attribute("Always empty.", Type.STRING),
        "CanonicalHostedZoneNameID": Attribute("Always empty.", Type.STRING),
        "DNSName": Attribute("Address of the load balancer.", Type.STRING),
        "SourceSecurityGroup.GroupName": Attribute("Always empty.", Type.STRING),
        "SourceSecurityGroup.OwnerAlias": Attribute("Always empty.", Type.STRING),
    }

    _path = _PACKAGED

    def configure(self, options: Mapping[str, Any]) -> None:
        if path := options.get("loadbalancer_template"):
            self._path = Path(path)

    @cached_property
    def _template(self) -> Mapping[str, Any]:
        """The template as plain data. Raises OSError, UnicodeDecodeError or TemplateInvalid."""
        data: Mapping[str, object] = Template.load(self._path.read_text(encoding="utf-8"), source=str(self._path)).data
        return data

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        try:
            if _SERVER not in (self._template.get("Resources") or {}):
                yield f"the template of the option loadbalancer_template has no resource {_SERVER} in Resources"
        except (OSError, UnicodeDecodeError, StokerError) as error:
            yield f"the template of the option loadbalancer_template cannot be used: {error}"
        listeners = properties["Listeners"]
        ports = [] if is_unknown(listeners) else [listener["LoadBalancerPort"] for listener in listeners]
        known = [port for port in ports if not is_unknown(port)]
        if not is_unknown(listeners) and not listeners:
            yield "Listeners: at least one is needed"
        yield from (f"Listeners: the port {port} is used twice" for port in {p for p in known if known.count(p) > 1})
        health = properties["HealthCheck"]
        if health is None or is_unknown(health):
            return
        interval, timeout, target = health["Interval"], health["Timeout"], health["Target"]
        if not is_unknown(interval) and not is_unknown(timeout) and interval < timeout:
            yield f"HealthCheck: Interval ({interval}) is less than Timeout ({timeout})"
        if not is_unknown(target) and (problem := target_problem(target)) is not None:
            yield problem

    def child_of(self, properties: Mapping[str, object]) -> ChildRequest | None:
        """Return None: parameters of the parent stack and addresses of instances are not among the properties."""
        return None

    def reference_id(self, resource: Snapshot) -> object:
        return resource.name

    # -- actions ------------------------------------------------------------------------------------------------

    async def create(self, call: Call) -> Outcome:
        return await self._act(call, "CREATE")

    async def update(self, call: Call) -> Outcome:
        if call.changed.keys() <= {"Instances"}:
            await self._set_up(call)
            return Done(physical_id=call.physical_id)
        return await self._act(call, "UPDATE")

    async def adopt(self, call: Call) -> Outcome:
        return await self._act(call, "ADOPT")

    async def _act(self, call: Call, action: str) -> Outcome:
        content = "" if call.progress.get(_BEGUN) else await self._configuration(call)
        call.progress[_BEGUN] = True
        outcome = await call.engine.child.run(action, self._request(call, content))
        if isinstance(outcome, Done):
            await self._set_up(call)  # groups may have registered instances since
        return outcome

    async def receive(self, call: Call, message: object) -> str:
        if not isinstance(message, InstancesChanged):
            raise NotSupported(f"{self.type_name} accepts no other messages than those of groups.")
        await self._set_up(call)
        return f"{call.resource.name} is configured with the present instances"

    async def _set_up(self, call: Call) -> None:
        """Write the present configuration into the metadata of the server."""
        content = await self._configuration(call)
        await call.engine.child.revise_metadata(_SERVER, partial(_with_content, content=content))

    async def _configuration(self, call: Call) -> str:
        instances = dict.fromkeys([*(call.properties["Instances"] or []), *await registered(call)])
        found = await _addresses(call) if instances else {}
        return configuration(call.properties, [found[name] for name in instances if name in found])

    def _request(self, call: Call, content: str) -> ChildRequest:
        """Return the nested stack, with the values of those parameters that the parent stack has, too."""
        template = deepcopy(dict(self._template))
        server = template["Resources"][_SERVER]
        server["Metadata"] = _with_content(server.get("Metadata") or {}, content)
        declared, above = template.get("Parameters") or {}, call.engine.sources.parameters()
        if _KEY_NAME not in above:
            declared.pop(_KEY_NAME, None)
            (server.get("Properties") or {}).pop(_KEY_NAME, None)
        values = {"SecurityGroups": call.properties["SecurityGroups"] or []}
        values |= {name: above[name] for name in _PASSED_ON if above.get(name) is not None}
        return ChildRequest(template, parameters={name: value for name, value in values.items() if name in declared})

    # -- reading ------------------------------------------------------------------------------------------------

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        outputs = await call.engine.child.outputs()
        values = {"DNSName": outputs.get("PublicIp")}
        return {key: value_at(values.get(str(key[0]), ""), key[1:]) for key in keys}


def _with_content(metadata: Mapping[str, object], content: str) -> dict[str, object]:
    """Return a server's metadata with HAProxy's configuration."""
    revised: dict[str, Any] = deepcopy(dict(metadata))
    files = revised.setdefault(_INIT, {}).setdefault("config", {}).setdefault("files", {})
    files.setdefault(_FILE, {"mode": "000644", "owner": "root", "group": "root"})["content"] = content
    return revised


async def _addresses(call: Call) -> dict[str, str]:
    """Return the first address of each of the project's servers that has one, by ID."""
    servers = await call.cloud.list("nova", "/servers/detail", "servers")
    addresses = {server["id"]: first_address(server) for server in servers}
    return {name: address for name, address in addresses.items() if address is not None}
