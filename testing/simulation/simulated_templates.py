"""Random templates, and random changes of them: small stacks of many kinds of resources that refer to each other."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stoker.base.diagnostics import Diagnostic

MEMBER = """heat_template_version: 2021-04-16
parameters:
  label: {type: string}
resources:
  word: {type: "OS::Heat::RandomString", properties: {salt: {get_param: label}}}
  net: {type: "OS::Neutron::Net"}
  subnet: {type: "OS::Neutron::Subnet", properties: {network: {get_resource: net}, cidr: 10.200.0.0/24}}
outputs:
  net: {value: {get_resource: net}}
"""
PAIR = """heat_template_version: 2021-04-16
parameters:
  label: {type: string}
  size: {type: number}
resources:
  first: {type: member.yaml, properties: {label: {get_param: label}}}
  volume: {type: "OS::Cinder::Volume", properties: {size: {get_param: size}}}
  port: {type: "OS::Neutron::Port", properties: {network: {get_attr: [first, net]}}}
outputs:
  net: {value: {get_attr: [first, net]}}
"""
SHELF = """heat_template_version: 2021-04-16
parameters:
  name: {type: string}
resources:
  inside: {type: "OS::Neutron::Net", properties: {name: {get_param: name}}}
outputs:
  OS::stack_id: {value: {get_resource: inside}}
"""
FILES = {"member.yaml": MEMBER, "pair.yaml": PAIR, "shelf.yaml": SHELF}

NET_TYPE = "OS::Neutron::Net"

Properties = dict[str, Any]

SHOWN_ATTRIBUTES: Mapping[str, Sequence[str]] = {
    "pair": ("net",),
    "scaled": ("outputs_list", "name"),
    "server": ("name",),
    "volume": ("size",),
    "subnet": ("cidr",),
    "port": ("mac_address",),
    "group": ("net",),
}
"""Attributes of kinds of resources, with the path that follows: none of them is ever empty once there is an object."""


def _shown(name: str) -> dict[str, Any]:
    path = SHOWN_ATTRIBUTES.get(name.rstrip("0123456789"))
    return {"get_attr": [name, *path]} if path else {"get_resource": name}


class Draft:
    """The resources of one stack as they should be, by name; `alter` changes them at random.

    A resource is named by its kind and a number; `kinds` are the only ones that there are, unless it is empty. Of a
    `talkative` stack the outputs show every resource, and an object beside each resource is described by an attribute
    of it.
    """

    def __init__(self, chance: random.Random, *, talkative: bool = False, kinds: Sequence[str] = ()) -> None:
        self.chance = chance
        self._kinds = kinds or list(KINDS)
        self.talkative = talkative
        self.number = 0
        self.moved: list[dict[str, str]] = []
        self.removed: list[str] = []
        self.imports: dict[str, str] = {}
        self.resources: dict[str, dict[str, Any]] = {}
        number = chance.randint(4, 12)
        for _ in range(60):
            if len(self.resources) < number:
                self.grow()

    def template(self) -> dict[str, Any]:
        """The template, in HOT."""
        resources = {name: dict(body) for name, body in self.resources.items()}
        template: dict[str, Any] = {"heat_template_version": "2021-04-16", "resources": resources}
        if self.talkative:
            template["resources"] = {**resources, **self.descriptions()}
            template["outputs"] = {f"show_{name}": {"value": _shown(name)} for name in resources}
        return template

    def descriptions(self) -> dict[str, Any]:
        """A network for each resource that has an attribute worth telling, which describes it."""
        return {
            f"about-{name}": {
                "type": "OS::Neutron::Net",
                "properties": {
                    "value_specs": {"description": {"str_replace": {"template": "%", "params": {"%": _shown(name)}}}}
                },
            }
            for name in self.resources
            if name.rstrip("0123456789") in SHOWN_ATTRIBUTES
        }

    def named(self, kind: str) -> list[str]:
        """The names of all resources of a kind."""
        return [name for name in self.resources if name.rstrip("0123456789") == kind]

    def alter(self) -> None:
        """One to four random changes."""
        for _ in range(self.chance.randint(1, 4)):
            self.chance.choice((self.grow, self.grow, self.shrink, self.change, self.change))()

    def grow(self) -> None:
        """One more resource, where one of the kind that chance takes is possible."""
        kind = self.chance.choice(self._kinds)
        if len(self.named(kind)) >= KINDS[kind].most:
            return
        self.number += 1
        properties = KINDS[kind].make(self)
        if properties is not None:
            name = f"{kind}{self.number}"
            self.resources[name] = {"type": KINDS[kind].type, "properties": properties}
            others = [other for other in self.resources if other != name]
            if others and self.chance.random() < 0.2:
                self.resources[name]["depends_on"] = [self.chance.choice(others)]

    def environment(self) -> dict[str, Any]:
        """The environment that belongs to the template: what has been renamed, given away and taken so far."""
        sections = {
            "moved": list(self.moved),
            "removed": [{"from": name, "destroy": False} for name in self.removed],
            "imports": [{"to": name, "id": identifier} for name, identifier in self.imports.items()],
        }
        return {section: entries for section, entries in sections.items() if entries}

    def drop_refused_moves(self, problems: Iterable[Diagnostic]) -> bool:
        """Remove the entries about moves that are refused, as after a rollback that has failed halfway: both resources
        have objects then. Return whether there are any.
        """
        refused = {each.path[1] for each in problems if each.rule == "transfer" and each.path[:1] == ("moved",)}
        self.moved = [entry for number, entry in enumerate(self.moved) if number not in refused]
        return bool(refused)

    def unused_nets(self) -> list[str]:
        """The names of the networks to which nothing refers."""
        references = repr(list(self.resources.values()))
        return [name for name in self.named("net") if f"'{name}'" not in references]

    def unused_shelves(self) -> list[str]:
        """The names of the nested stacks of a network to which nothing refers."""
        references = repr(list(self.resources.values()))
        return [name for name in self.named("shelf") if f"'{name}'" not in references]

    def release(self, name: str) -> dict[str, Any]:
        """Forget a network, and return its definition."""
        self.imports.pop(name, None)
        self.removed.append(name)
        return {key: value for key, value in self.resources.pop(name).items() if key != "depends_on"}

    def take(self, identifier: str, body: dict[str, Any]) -> None:
        """Import a network of nobody, perhaps into a nested stack."""
        self.number += 1
        if body["properties"] and self.chance.random() < 0.5:
            self.resources[f"shelf{self.number}"] = {**body, "type": "shelf.yaml"}
            self.imports[f"shelf{self.number}.inside"] = identifier
        else:
            self.resources[f"net{self.number}"] = body
            self.imports[f"net{self.number}"] = identifier

    def move(self) -> None:
        """Another path for a resource: its name, its nested stack, or its key in a group."""
        self.chance.choice((self.rename, self.rename, self._enclose, self._release, self._rekey))()

    def rename(self) -> None:
        """Another name for one resource, wherever it is named."""
        if self.resources:
            former = self.chance.choice(list(self.resources))
            name = self._put(former, former.rstrip("0123456789"))
            self.moved.append({"from": former, "to": name})

    def _put(self, former: str, kind: str, body: dict[str, Any] | None = None) -> str:
        """Give a resource another name of a kind, and perhaps another definition; return the name."""
        self.number += 1
        name = f"{kind}{self.number}"
        if body is not None:
            self.resources[former] = {**self.resources[former], **body}
        self.resources = {
            name if other == former else other: _renamed(body, former, name) for other, body in self.resources.items()
        }
        return name

    def _enclose(self) -> None:
        """Put a network into a nested stack of its own, which has its reference."""
        nets = [name for name in self.named("net") if self.resources[name]["properties"] and name not in self.imports]
        if nets:
            former = self.chance.choice(nets)
            self.moved.append({"from": former, "to": f"{self._put(former, 'shelf', {'type': 'shelf.yaml'})}.inside"})

    def _release(self) -> None:
        """Take a network out of its nested stack again."""
        if shelves := self.named("shelf"):
            former = self.chance.choice(shelves)
            self.moved.append({"from": f"{former}.inside", "to": self._put(former, "net", {"type": NET_TYPE})})

    def _rekey(self) -> None:
        """Give the members of a group keys in place of their indexes, or other keys."""
        for group in self.named("group"):
            properties = self.resources[group]["properties"]
            former = properties.get("for_each", [str(index) for index in range(properties.get("count", 0))])
            self.number += 1
            keys = [f"key{self.number}-{index}" for index in range(len(former))]
            if keys:
                definition = properties["resource_def"]
                self.resources[group]["properties"] = {"for_each": keys, "resource_def": definition}
                self.moved += [
                    {"from": f"{group}.{name}", "to": f"{group}.{key}"} for name, key in zip(former, keys, strict=True)
                ]

    def shrink(self) -> None:
        """One resource less, and what needs it."""
        if self.resources:
            self._remove(self.chance.choice(list(self.resources)))

    def _remove(self, name: str) -> None:
        self.resources.pop(name, None)
        self.imports.pop(name, None)
        self.imports.pop(f"{name}.inside", None)
        self._forget_moves(name)
        for other, body in list(self.resources.items()):
            if name in body.get("depends_on", ()) or f"'get_resource': '{name}'" in repr(body):
                self._remove(other)

    def _forget_moves(self, path: str) -> None:
        """Drop the entries that lead to a resource which is no longer defined: they would be refused."""
        around, _, name = path.rpartition(".")
        paths = {path, *(f"{each['from']}.{name}" for each in self.moved if around and each["to"] == around)}
        lost = [each for each in self.moved if each["to"] in paths or each["to"].startswith(f"{path}.")]
        self.moved = [each for each in self.moved if each not in lost]
        for each in (*(each["from"] for each in lost), *(paths - {path})):
            self._forget_moves(each)

    def change(self) -> None:
        """Another value of a property of one resource."""
        changeable = [name for kind in KINDS if KINDS[kind].change for name in self.named(kind)]
        if changeable:
            name = self.chance.choice(changeable)
            change = KINDS[name.rstrip("0123456789")].change
            assert change is not None
            properties = self.resources[name]["properties"]
            keys = properties.get("for_each", ())
            properties.update(change(self, properties))
            for key in set(keys) - set(properties.get("for_each", ())):
                self._forget_moves(f"{name}.{key}")

    # -- references ------------------------------------------------------------------------------------------

    def pick(self, kind: str) -> dict[str, str] | None:
        """A reference to one of the resources of a kind."""
        names = self.named(kind)
        return {"get_resource": self.chance.choice(names)} if names else None

    def unused(self, kind: str, property_name: str, by: str) -> dict[str, str] | None:
        """A reference to a resource of a kind that no resource of the kind `by` has in that property."""
        used = repr([self.resources[name]["properties"].get(property_name) for name in self.named(by)])
        free = [name for name in self.named(kind) if f"'{name}'" not in used]
        return {"get_resource": self.chance.choice(free)} if free else None

    def number_below(self, limit: int) -> int:
        return self.chance.randrange(limit)


def _renamed(value: Any, former: str, name: str) -> Any:
    """The value with another name of a resource in its references."""
    if isinstance(value, Mapping):
        return {key: _renamed(item, former, name) for key, item in value.items()}
    if isinstance(value, list):
        return [_renamed(item, former, name) for item in value]
    return name if value == former else value


def _cidr(draft: Draft) -> str:
    draft.number += 1
    return f"10.{draft.number % 200}.{draft.number_below(250)}.0/24"


def _subnet(draft: Draft) -> Properties | None:
    net = draft.pick("net")
    return net and {"network": net, "cidr": _cidr(draft)}


def _port(draft: Draft) -> Properties | None:
    subnet = draft.pick("subnet")
    if subnet is None:
        return None
    net = draft.resources[subnet["get_resource"]]["properties"]["network"]
    return {"network": net, "fixed_ips": [{"subnet": subnet}]}


def _interface(draft: Draft) -> Properties | None:
    router, subnet = draft.pick("router"), draft.unused("subnet", "subnet", "interface")
    return {"router": router, "subnet": subnet} if router and subnet else None


def _server(draft: Draft) -> Properties | None:
    port, group = draft.unused("port", "networks", "server"), draft.pick("affinity")
    if port is None:
        return None
    hints = {"scheduler_hints": {"group": group}} if group is not None and draft.chance.random() < 0.5 else {}
    return {"image": "cirros", "flavor": "m1.tiny", "networks": [{"port": port}], **hints}


def _attachment(draft: Draft) -> Properties | None:
    server, volume = draft.pick("server"), draft.unused("volume", "volume_id", "attachment")
    return {"instance_uuid": server, "volume_id": volume} if server and volume else None


def _rules(draft: Draft, _: Any = None) -> Properties:
    port = draft.number_below(60000) + 1
    return {"rules": [{"protocol": "tcp", "port_range_min": port, "port_range_max": port}]}


def _condition(draft: Draft) -> Properties | None:
    handle = draft.unused("handle", "handle", "condition")
    return handle and {"handle": handle, "timeout": 3000, "count": draft.chance.randint(1, 2)}


def _config(draft: Draft, _: Any = None) -> Properties:
    return {"group": "script", "config": f"echo {draft.number_below(99)}"}


def _deployment(draft: Draft) -> Properties | None:
    config = draft.pick("config")
    return config and {"config": config, "server": "a-server", "signal_transport": "HEAT_SIGNAL", **_word(draft)}


def _word(draft: Draft, _: Any = None) -> Properties:
    return {"input_values": {"word": f"word-{draft.number_below(99)}"}}


def _policy(draft: Draft) -> Properties | None:
    group = draft.pick("scaled")
    step = {"adjustment_type": "change_in_capacity", "scaling_adjustment": draft.chance.choice((-1, 1)), "cooldown": 20}
    return group and {"auto_scaling_group_id": group, **step}


def _named(draft: Draft, _: Any = None) -> Properties:
    return {"name": draft.chance.choice(("twin", f"renamed-{draft.number_below(99)}"))}


def _label(draft: Draft, _: Any = None) -> Properties:
    return {"label": f"label-{draft.number_below(99)}"}


def _count(draft: Draft, old: Properties) -> Properties:
    if keys := old.get("for_each"):
        draft.number += 1
        return {"for_each": [*keys[draft.number_below(2) :], f"key{draft.number}"]}
    return {"count": draft.number_below(4)}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of resource: how one is made (None: not possible now), how it may change, how many one stack has."""

    type: str
    make: Callable[[Draft], Properties | None]
    change: Callable[[Draft, Properties], Properties] | None = None
    most: int = 4


KINDS: Mapping[str, Kind] = {
    "value": Kind(
        "OS::Heat::Value",
        lambda draft: {"value": f"value-{draft.number}"},
        lambda draft, old: {"value": f"value-{draft.number_below(999)}"},
    ),
    "word": Kind(
        "OS::Heat::RandomString",
        lambda draft: {"length": 12},
        lambda draft, old: {"salt": f"salt-{draft.number_below(999)}"},
    ),
    "net": Kind("OS::Neutron::Net", lambda draft: {} if draft.chance.random() < 0.3 else _named(draft), _named),
    "subnet": Kind("OS::Neutron::Subnet", _subnet, lambda draft, old: {"cidr": _cidr(draft)}),
    "port": Kind("OS::Neutron::Port", _port, _named),
    "router": Kind("OS::Neutron::Router", lambda draft: {"external_gateway_info": {"network": "public"}}, most=1),
    "interface": Kind("OS::Neutron::RouterInterface", _interface),
    "address": Kind("OS::Neutron::FloatingIP", lambda draft: {"floating_network": "public"}, most=2),
    "rules": Kind("OS::Neutron::SecurityGroup", _rules, _rules),
    "volume": Kind(
        "OS::Cinder::Volume", lambda draft: {"size": 1}, lambda draft, old: {"size": old["size"] + 1}, most=2
    ),
    "affinity": Kind("OS::Nova::ServerGroup", lambda draft: {"policies": ["soft-affinity"]}, most=1),
    "server": Kind("OS::Nova::Server", _server, _named, most=2),
    "attachment": Kind("OS::Cinder::VolumeAttachment", _attachment),
    "key": Kind("OS::Nova::KeyPair", lambda draft: {"name": f"key-{draft.chance.getrandbits(48):x}"}),
    "container": Kind("OS::Swift::Container", lambda draft: {}, most=2),
    "handle": Kind("OS::Heat::WaitConditionHandle", lambda draft: {"signal_transport": "HEAT_SIGNAL"}, most=1),
    "condition": Kind("OS::Heat::WaitCondition", _condition, most=1),
    "config": Kind("OS::Heat::SoftwareConfig", _config, _config, most=2),
    "deployment": Kind("OS::Heat::SoftwareDeployment", _deployment, _word, most=2),
    "group": Kind(
        "OS::Heat::ResourceGroup",
        lambda draft: {
            "count": draft.chance.randint(1, 2),
            "resource_def": {"type": "member.yaml", "properties": {"label": "%index%"}},
        },
        _count,
        most=1,
    ),
    "scaled": Kind(
        "OS::Heat::AutoScalingGroup",
        lambda draft: {
            "min_size": 1,
            "max_size": 4,
            "desired_capacity": 2,
            "resource": {"type": "OS::Neutron::Net", "properties": {}},
        },
        lambda draft, old: {"desired_capacity": draft.number_below(4) + 1},
        most=1,
    ),
    "policy": Kind("OS::Heat::ScalingPolicy", _policy, most=2),
    "pair": Kind(
        "pair.yaml",
        lambda draft: {"size": 1, **_label(draft)},
        lambda draft, old: {"size": old["size"] + draft.number_below(2), **_label(draft)},
        most=1,
    ),
}
