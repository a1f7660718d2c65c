"""The scripts of requests: one YAML file for each service."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

SCRIPTS = Path(__file__).with_name("scripts")
_VARIABLE = re.compile(r"\{(\w+)\}")


class Invalid(Exception):
    """A script is not as it must be."""


@dataclass(frozen=True)
class RepeatUntil:
    """Repeat a request until a value of its answer is one of `values`, or is empty when there are none.

    `where` may be `status`, that of HTTP; `body.status` is the field of that name in the body.
    """

    where: str
    values: Sequence[str]


@dataclass(frozen=True)
class Step:
    """A request.

    account: who sends it (see `site.PROJECTS`); `nobody`: without a token.
    body: JSON data, or a string that is sent as it is.
    save: name of a variable → place of its value in the answer (`network.id`, `subnets.0.id`, `header:location`).
    service: the type of another service that is asked, as for a server that a volume is attached to.
    """

    name: str
    method: str
    path: str
    account: str = "member"
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    save: Mapping[str, str] = field(default_factory=dict)
    until: RepeatUntil | None = None
    service: str = ""


@dataclass(frozen=True)
class Script:
    """The requests to one service.

    service: the service's type in the catalog.
    roles: further roles of accounts.
    headers: of the requests to this service, as for a microversion.
    opaque: keys of which only the types of values are compared.
    sweep: lists (type of the service, path, key in the body) of which what is left of the projects is deleted in the
    end, in this order.
    """

    name: str
    service: str
    steps: Sequence[Step]
    roles: Mapping[str, Sequence[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    opaque: frozenset[str] = frozenset()
    sweep: Sequence[tuple[str, str, str]] = ()


class _Loader(yaml.CSafeLoader):
    """Refuses a mapping with the same key twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1 and key != "<<":
                raise Invalid(f"{node.start_mark}: the key {key!r} is there more than once")
        return super().construct_mapping(node, deep)


def names() -> list[str]:
    """Return the names of all scripts."""
    return sorted(path.stem for path in SCRIPTS.glob("*.yaml"))


def load(name: str) -> Script:
    """Return the script of a service. Raises Invalid."""
    document = yaml.load((SCRIPTS / f"{name}.yaml").read_text(encoding="utf-8"), _Loader)
    common = dict(document.get("headers", {}))
    return Script(
        name,
        document["service"],
        [step(title, fields, common) for title, fields in document["steps"].items()],
        document.get("roles", {}),
        common,
        frozenset(document.get("opaque", ())),
        [(service, path, key) for service, path, key in map(str.split, document.get("sweep", ()))],
    )


def step(name: str, fields: Mapping[str, Any], headers: Mapping[str, str]) -> Step:
    """Return a step from its YAML. headers: of all requests to the script's own service. Raises Invalid."""
    if unknown := fields.keys() - {"do", "as", "body", "headers", "save", "until", "service"}:
        raise Invalid(f"{name}: unknown fields {', '.join(sorted(unknown))}")
    method, _, path = fields["do"].partition(" ")
    until = None
    if "until" in fields:
        where, *values = str(fields["until"]).split()
        until = RepeatUntil(where, values)
    return Step(
        name,
        method,
        path,
        fields.get("as", "member"),
        fields.get("body"),
        {**({} if "service" in fields else headers), **fields.get("headers", {})},
        fields.get("save", {}),
        until,
        fields.get("service", ""),
    )


def filled(value: Any, variables: Mapping[str, str]) -> Any:
    """Replace `{name}` in strings by the values of variables. Raises LookupError for an unknown one."""
    if isinstance(value, Mapping):
        return {filled(key, variables): filled(inner, variables) for key, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, variables) for inner in value]
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: variables[found[1]], value)
    return value
