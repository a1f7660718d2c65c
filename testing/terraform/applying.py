"""Make the objects of a configuration over the services' APIs, and write the state that Terraform would write."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from openstack_emulator.testing import ServedCloud

Fields = dict[str, Any]
Maker = Callable[["Applying", str, Fields], Fields]
Refresh = Callable[["Applying", Fields], Fields]
PREFIX = "openstack_"
_HERE = Path(__file__).parent
_PROVIDER = 'provider["registry.terraform.io/terraform-provider-openstack/openstack"]'
_KEY = r"(?:\[[^\]]*\])?"
REFERENCE = re.compile(rf"\$\{{((?:data\.)?(?:module\.[\w-]+{_KEY}\.)*\w+\.[\w-]+{_KEY})\.([\w.-]+)\}}")
"""A reference: the address of an object, and the path to one of its attributes."""
_ADDRESS = re.compile(r'(?:(?P<module>module\..+)\.)?(?P<type>\w+)\.(?P<name>[\w-]+)(?:\[(?P<key>"[^"]*"|\d+)\])?')
SERVICES: Mapping[str, Mapping[str, Any]] = yaml.load((_HERE / "services.yaml").read_text(), yaml.CSafeLoader)


def configurations() -> list[Fields]:
    """The configurations: each with a title, and its resources with their arguments by address."""
    found: list[Fields] = yaml.load((_HERE / "configurations.yaml").read_text(), yaml.CSafeLoader)
    return found


def _type_of(value: Any) -> Any:
    """The type of an output, as states have it."""
    if isinstance(value, dict):
        return ["object", {name: _type_of(item) for name, item in value.items()}]
    return "string"


class Applying:
    """One configuration that is made in a project.

    `makers` make the objects that need more than one request, by type without its prefix; `refreshed` return what a
    state shows of an object when all are made.
    """

    def __init__(
        self, served: ServedCloud, project: str, makers: Mapping[str, Maker], refreshed: Mapping[str, Refresh]
    ) -> None:
        self._makers = makers
        self._refreshed = refreshed
        self._served = served
        self._user = project
        self.project_id = str(self.send("GET", "/identity/v3/auth/tokens")["token"]["project"]["id"])
        self.made: dict[str, Fields] = {}
        self.last: Fields = {}
        """The answer to the last request that made an object."""
        self._sensitive: dict[str, list[str]] = {}

    def apply(self, configuration: Mapping[str, Any]) -> Fields:
        """Make all objects, and return the state."""
        sources = {
            f"data.{address}": self._read(address, fields) for address, fields in configuration.get("data", {}).items()
        }
        self.made |= sources
        for address, arguments in configuration["resources"].items():
            values = self._resolved(arguments or {})
            if address.startswith("data."):
                self.made[address] = self._read(address.removeprefix("data."), values)
                continue
            self._sensitive[address] = values.pop("sensitive", [])
            kind = self._match(address)["type"]
            maker = (
                self._makers.get(kind.removeprefix(PREFIX), Applying.make)
                if kind.startswith(PREFIX)
                else Applying.other
            )
            self.made[address] = maker(self, kind.removeprefix(PREFIX), values)
            self._refresh(address)
        for address in configuration["resources"]:
            self._refresh(address)
        return {
            "version": 4,
            "terraform_version": "1.11.4",
            "serial": 7,
            "lineage": str(uuid.uuid5(uuid.NAMESPACE_URL, str(configuration["title"]))),
            "outputs": {
                name: {"value": value, "type": _type_of(value)}
                for name, value in self._resolved(configuration.get("outputs", {})).items()
            },
            "resources": list(self._resources()),
            "check_results": None,
        }

    def send(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Any:
        """Send a request as the user, and return the answer's JSON."""
        more = {"X-OpenStack-Manila-API-Version": "2.13"} if path.startswith("/share") else {}
        token = self._served.token(self._user, self._user)
        if path.endswith("/auth/tokens"):
            more["X-Subject-Token"] = token
        answer = self._served.call(method, path, body, token, {**more, **(headers or {})})
        assert answer.status < 300, (method, path, body, answer.status, answer.content)
        return answer.json if answer.content.strip()[:1] in (b"{", b"[") else None

    def make(self, kind: str, arguments: Fields, **also: Any) -> Fields:
        """Make an object by a request with its arguments, and return its attributes."""
        service = SERVICES[kind]
        path = self.path(kind, arguments)
        body = {field: arguments[name] for name, field in _pairs(service["send"]) if arguments.get(name) is not None}
        answer = self.unwrapped(kind, self.send("POST", path, self.wrapped(kind, {**body, **also})))
        self.last = answer
        made = self.shown(kind, arguments, answer)
        if service.get("tags") and arguments.get("tags"):
            self.send("PUT", f"{path}/{answer['id']}/tags", {"tags": arguments["tags"]})
        return made

    def path(self, kind: str, arguments: Mapping[str, Any]) -> str:
        """The collection of an object."""
        return str(SERVICES[kind]["at"]).format(**arguments, project=self.project_id)

    def wrapped(self, kind: str, body: Fields) -> Fields:
        """A body with the key around the object."""
        key = SERVICES[kind]["in"]
        return {key: body} if key else body

    def unwrapped(self, kind: str, answer: Any) -> Fields:
        """The object in an answer."""
        key = SERVICES[kind]["in"]
        found: Fields = answer[key] if key and key in answer else answer
        return found

    def shown(self, kind: str, arguments: Fields, answer: Mapping[str, Any]) -> Fields:
        """The attributes of an object in a state: as given, or as the service shows them."""
        service = SERVICES[kind]
        attributes = {
            name: arguments[name] if name in arguments else answer.get(field)
            for name, field in (*_pairs(service["send"]), *_pairs(service.get("shown", "")))
        }
        for name in str(service.get("zero") or "").split():
            attributes[name] = attributes.get(name) or 0
        known = {**arguments, **answer}
        identifier = str(service.get("id", "{id}")).format(**{"id": None, "uuid": None, **known})
        return {"region": "RegionOne", **arguments, **attributes, "id": identifier}

    def other(self, kind: str, arguments: Fields) -> Fields:
        """An object of another provider, which is in the state only."""
        return {**arguments, "id": arguments.get("id", f"{kind}-1")}

    def _refresh(self, address: str) -> None:
        """Set the attributes that the object's service has chosen, or others have changed since."""
        kind = "" if address.startswith("data.") else self._match(address)["type"].removeprefix(PREFIX)
        if refresh := self._refreshed.get(kind):
            self.made[address] |= refresh(self, self.made[address])

    def _read(self, address: str, arguments: Mapping[str, Any]) -> Fields:
        """The object that a data source finds by its name, or by what else it is asked for."""
        kind = self._match(address)["type"].removeprefix(PREFIX)
        service = SERVICES[kind]
        path, members = str(service["at"]), SOURCES[kind]
        for each in self.send("GET", path)[members]:
            if all(each.get(name) == value for name, value in arguments.items()):
                return {**self.shown(kind, dict(arguments), each), "id": each["id"]}
        raise AssertionError(f"there is no {address}")

    def _resolved(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._resolved(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self._resolved(item) for item in value]
        if isinstance(value, str) and (match := REFERENCE.fullmatch(value)):
            return self._referred(match)
        return REFERENCE.sub(lambda match: str(self._referred(match)), value) if isinstance(value, str) else value

    def _referred(self, match: re.Match[str]) -> Any:
        found: Any = self.made[match[1]]
        for step in match[2].split("."):
            found = found[int(step)] if isinstance(found, list) else found[step]
        return found

    def _resources(self) -> Iterator[Fields]:
        grouped: dict[tuple[str, ...], list[Fields]] = {}
        for address, attributes in self.made.items():
            data = address.startswith("data.")
            match = self._match(address.removeprefix("data."))
            key = match["key"]
            instance: Fields = {"schema_version": 0, "attributes": attributes, "sensitive_attributes": []}
            if sensitive := self._sensitive.get(address):
                instance["sensitive_attributes"] = [[{"type": "get_attr", "value": name}] for name in sensitive]
            if key is not None:
                instance["index_key"] = key.strip('"') if key.startswith('"') else int(key)
            place = (match["module"] or "", "data" if data else "managed", match["type"], match["name"])
            grouped.setdefault(place, []).append(instance)
        for (module, mode, kind, name), instances in grouped.items():
            provider = (
                _PROVIDER
                if kind.startswith(PREFIX)
                else f'provider["registry.terraform.io/hashicorp/{kind.partition("_")[0]}"]'
            )
            head = {"module": module} if module else {}
            yield {**head, "mode": mode, "type": kind, "name": name, "provider": provider, "instances": instances}

    @staticmethod
    def _match(address: str) -> re.Match[str]:
        match = _ADDRESS.fullmatch(address)
        assert match is not None, address
        return match


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for word in text.split():
        name, _, field = word.partition("=")
        yield name, field or name


SOURCES = {
    "images_image_v2": "images",
    "compute_flavor_v2": "flavors",
    "networking_network_v2": "networks",
    "networking_secgroup_v2": "security_groups",
    "identity_role_v3": "roles",
    "identity_project_v3": "projects",
    "networking_subnet_v2": "subnets",
    "networking_port_v2": "ports",
}
"""The keys of the lists in which data sources are found."""
