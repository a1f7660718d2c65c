"""Read a state of Terraform or OpenTofu: a JSON document of version 4, which is somebody else's data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from stoker.base.json_text import MAX_DEPTH, TooDeep, read_json

VERSION = 4
"""The version of states, which all releases since Terraform 0.12 write."""
LARGEST = 64 * 1024 * 1024
"""Maximum size of a state in bytes."""
MOST = 10_000
"""Maximum number of objects in a state."""
_OPENSTACK = re.compile(r'provider\["[^"]*/openstack"\]|provider\.openstack')
_MODULE = re.compile(r'module\.([A-Za-z_][A-Za-z0-9_-]*)(?:\[(?:"([^"]*)"|(\d+))\])?')


class InvalidState(Exception):
    """The document is no state that can be read; the message says why, without its values."""


class Module(NamedTuple):
    """A module in another one, by its name; `key` is that of `count` or `for_each`, empty without them."""

    name: str
    key: str

    @property
    def label(self) -> str:
        """The name with the key."""
        return f"{self.name}_{self.key}" if self.key else self.name


Place = tuple[Module, ...]
"""The modules that something is in, from the outermost on."""


@dataclass(frozen=True, slots=True, eq=False)
class StateObject:
    """An object in a state: of a resource, or of a data source (`managed` is false).

    `place` are its modules, `key` is that of an object of `count` or `for_each`; `sensitive` are
    the attributes that have a value somewhere which the state marks so.
    """

    address: str
    managed: bool
    is_openstack: bool
    type: str
    name: str
    place: Place
    key: str
    attributes: Mapping[str, object]
    sensitive: frozenset[str]
    deposed: bool

    @property
    def id(self) -> str:
        """The ID that Terraform has for the object."""
        return str(self.attributes.get("id") or "")


class StateOutput(NamedTuple):
    """An output of the configuration; `sensitive` ones are not to be shown."""

    value: Any
    sensitive: bool


class State(NamedTuple):
    """What is read of a state: its objects, and the outputs of the root module by name."""

    objects: list[StateObject]
    outputs: dict[str, StateOutput]


def read_state(content: bytes) -> State:
    """Return what a state has. Raises InvalidState."""
    if len(content) > LARGEST:
        raise InvalidState(f"it is larger than {LARGEST // 1024**2} MiB")
    try:
        data = read_json(content)
    except TooDeep:
        raise InvalidState(f"it has more than {MAX_DEPTH} levels") from None
    except (ValueError, RecursionError):
        raise InvalidState("it is no JSON") from None
    if not isinstance(data, dict) or "version" not in data:
        raise InvalidState("it is no state of Terraform or OpenTofu")
    if "encrypted_data" in data:
        raise InvalidState("it is encrypted: give what `tofu state pull` prints")
    if data["version"] != VERSION:
        raise InvalidState(f"it has the version {str(data['version'])[:10]}, and only version {VERSION} can be read")
    objects = list(_objects(data))
    if len(objects) > MOST:
        raise InvalidState(f"it has more than {MOST} objects")
    return State(objects, dict(_outputs(data)))


def _outputs(data: Mapping[str, object]) -> Iterator[tuple[str, StateOutput]]:
    for name, output in _map(data.get("outputs", {}), "outputs").items():
        entry = _map(output, f"outputs.{name}")
        yield name, StateOutput(entry.get("value"), bool(entry.get("sensitive")))


def _objects(data: Mapping[str, object]) -> Iterator[StateObject]:
    for number, resource in enumerate(_list(data.get("resources", []), "resources")):
        where = f"resources[{number}]"
        entry = _map(resource, where)
        kind, name = (_text(entry.get(key), f"{where}.{key}") for key in ("type", "name"))
        module = _text(entry.get("module", ""), f"{where}.module")
        managed = entry.get("mode") == "managed"
        provider = _text(entry.get("provider", ""), f"{where}.provider")
        for index, item in enumerate(_list(entry.get("instances", []), f"{where}.instances")):
            inside = f"{where}.instances[{index}]"
            instance = _map(item, inside)
            key = instance.get("index_key")
            if key is not None and (isinstance(key, bool) or not isinstance(key, str | int)):
                raise InvalidState(f"{inside}.index_key is neither a string nor a number")
            shown = "" if key is None else f'["{key}"]' if isinstance(key, str) else f"[{key}]"
            address = ".".join(part for part in (module, "" if managed else "data", f"{kind}.{name}{shown}") if part)
            yield StateObject(
                address=address,
                managed=managed,
                is_openstack=kind.startswith("openstack_") and _OPENSTACK.search(provider) is not None,
                type=kind,
                name=name,
                place=_place(module, where),
                key="" if key is None else str(key),
                attributes=_attributes(instance, inside),
                sensitive=_sensitive(instance.get("sensitive_attributes", []), inside),
                deposed=instance.get("deposed") is not None,
            )


def _attributes(instance: Mapping[str, object], where: str) -> Mapping[str, object]:
    if "attributes_flat" in instance:
        raise InvalidState(f"{where} was written before Terraform 0.12: run `terraform refresh` with a newer one first")
    return _map(instance.get("attributes") or {}, f"{where}.attributes")


def _sensitive(paths: object, where: str) -> frozenset[str]:
    """Return the attributes at the top of the paths: lists of steps, of which the first names an attribute."""
    sensitive = set()
    for number, path in enumerate(_list(paths or [], f"{where}.sensitive_attributes")):
        place = f"{where}.sensitive_attributes[{number}]"
        step = _map((_list(path, place) or [None])[0], place) if isinstance(path, list) else _map(path, place)
        sensitive.add(_text(step.get("value"), place))
    return frozenset(sensitive)


def _place(module: str, where: str) -> Place:
    """Return the modules in the address of one."""
    modules, rest = list[Module](), module
    while rest:
        match = _MODULE.match(rest)
        if match is None or rest[match.end() : match.end() + 1] not in ("", "."):
            raise InvalidState(f"{where}.module is no address of a module")
        name, *keys = match.groups()
        modules.append(Module(name, next(filter(None, keys), "")))
        rest = rest[match.end() + 1 :]
    return tuple(modules)


def _map(value: object, where: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise InvalidState(f"{where} is no object")
    return value


def _list(value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidState(f"{where} is no list")
    return value


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise InvalidState(f"{where} is no string")
    return value
