"""Templates alone: no server and no cloud, in a process of their own whose memory is measured.

* `template-flat`: a HOT template of 500 KB with 1000 resources, read, validated and planned.
* `template-nested`: a template of 20 resources, read once, and used as the nested stack of 1000 resources.

    python -m tools.bench.template_cases
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from stoker.plugins.resource import ResourceType
from stoker.schema.property import Attribute, Change, Property, Type
from stoker.template.check import check, graph
from stoker.template.definition import Definition
from stoker.template.environment import Environment
from stoker.template.nested import attributes_of, child_parameters, properties_of
from stoker.template.ordering import topological
from stoker.template.parameters import PseudoParameters
from stoker.template.template import Template

T = TypeVar("T")

FLAT_RESOURCES = 1000
NESTED_USES = 1000
NESTED_RESOURCES = 20
_PSEUDO = PseudoParameters("id", "bench", "project")
_ENVIRONMENT = Environment.from_data(None)


class Server(ResourceType):
    """A type with as many kinds of property as a server has."""

    type_name = "Bench::Server"
    properties = {
        "name": Property(change=Change.UPDATE),
        "flavor": Property(required=True),
        "size": Property(Type.INTEGER),
        "peer": Property(),
        "networks": Property(
            Type.LIST, items=Property(Type.MAP, schema={"network": Property(), "fixed_ip": Property()})
        ),
        "metadata": Property(Type.MAP),
        "user_data": Property(),
    }
    attributes = {"first_address": Attribute()}


class Nested(ResourceType):
    """A template as a type."""

    type_name = "nested.yaml"
    nested = True

    def __init__(self, template: Template) -> None:
        self.properties = properties_of(template)
        self.attributes = attributes_of(template)


def flat_template() -> str:
    """A template of FLAT_RESOURCES servers, each of which refers to the one before it: 500 KB."""
    return "\n".join([*_HEAD, *(line for number in range(FLAT_RESOURCES) for line in _server(number))])


_HEAD = (
    "heat_template_version: 2021-04-16",
    "parameters:",
    "  flavor: {type: string, default: m1.small}",
    "  size: {type: number, default: 3, constraints: [{range: {min: 1}}]}",
    "resources:",
)


def _server(number: int) -> list[str]:
    lines = [
        f"  server{number}:",
        "    type: Bench::Server",
        "    properties:",
        "      name: {str_replace: {template: srv-$number, params: {$number: " + str(number) + "}}}",
        "      flavor: {get_param: flavor}",
        "      size: {get_param: size}",
        "      networks:",
        f"      - {{network: private, fixed_ip: 10.0.0.{number % 250}}}",
        "      metadata: {role: web, rack: a}",
        "      user_data: |",
        *["        echo a line of a script that the server runs"] * 3,
    ]
    if number:
        lines.append(f"      peer: {{get_attr: [server{number - 1}, first_address]}}")
    return lines


def nested_template() -> str:
    """A template of NESTED_RESOURCES servers with a parameter and an output."""
    head = [*_HEAD[:4], "outputs: {address: {value: {get_attr: [server0, first_address]}}}", "resources:"]
    return "\n".join([*head, *(line for number in range(NESTED_RESOURCES) for line in _server(number))])


def _root_of_tree() -> dict[str, Any]:
    resources = {
        f"use{number}": {"type": Nested.type_name, "properties": {"size": number + 1}} for number in range(NESTED_USES)
    }
    return {"heat_template_version": "2021-04-16", "resources": resources}


def _bind(template: Template, parameters: Mapping[str, Any] | None = None) -> Definition:
    return Definition.bind(template, _ENVIRONMENT, parameters=parameters or {}, files={}, pseudo=_PSEUDO)


def _validate(definition: Definition, types: Mapping[str, ResourceType]) -> None:
    found = check(definition, lambda name, _: types.get(name))
    if found:
        raise RuntimeError(found[0].text())


def run_flat() -> dict[str, float]:
    """Seconds of each phase of the flat case."""
    text = flat_template()
    types: Mapping[str, ResourceType] = {Server.type_name: Server()}
    clock = _Phases()
    template = clock.time("parse", lambda: Template.load(text))
    definition = clock.time("bind", lambda: _bind(template))
    clock.time("validate", lambda: _validate(definition, types))
    by_name = {name: types[entry.type] for name, entry in definition.resources.items()}
    clock.time("plan", lambda: topological(graph(definition, by_name)))
    return clock.spent


def run_nested() -> dict[str, float]:
    """Seconds of each phase of the nested case. Every use is bound and checked; all share one template."""
    text = nested_template()
    clock = _Phases()
    child = clock.time("parse", lambda: Template.load(text))
    types: Mapping[str, ResourceType] = {Server.type_name: Server(), Nested.type_name: Nested(child)}
    root = _bind(Template.load(_root_of_tree()))
    clock.time("validate root", lambda: _validate(root, types))
    kept = []

    def use_all() -> None:
        for use in root.resources.values():
            definition = _bind(child, child_parameters(use.properties))
            _validate(definition, types)
            kept.append(definition)

    clock.time("validate uses", use_all)
    if len(kept) != NESTED_USES:
        raise RuntimeError(f"{len(kept)} uses were checked")
    return clock.spent


class _Phases:
    def __init__(self) -> None:
        self.spent: dict[str, float] = {}

    def time(self, phase: str, action: Callable[[], T]) -> T:
        began = time.perf_counter()
        result = action()
        self.spent[phase] = time.perf_counter() - began
        return result


CASES: Mapping[str, tuple[int, Callable[[], dict[str, float]]]] = {
    "template-flat": (FLAT_RESOURCES, run_flat),
    "template-nested": (NESTED_USES, run_nested),
}


def measure() -> list[dict[str, Any]]:
    """One record per case and phase, and one `total` per case with the cost of its process."""
    return [record for case in CASES for record in _in_own_process(case)]


def _in_own_process(case: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "tools.bench.template_cases", case]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    count = CASES[case][0]
    records = [
        {"case": case, "phase": phase, "n": count, "wall_s": round(seconds, 3), "note": ""}
        for phase, seconds in found["spent"].items()
    ]
    total = round(sum(found["spent"].values()), 3)
    cost = {"cpu_total_s": round(found["cpu_s"], 2), "rss_max_mb": {"engine": round(found["peak_mb"])}}
    note = f"{found['before_mb']:.0f} MB of memory before the case began"
    return [*records, {"case": case, "phase": "total", "n": count, "wall_s": total, **cost, "note": note}]


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    if len(sys.argv) > 1:
        Template.load(_root_of_tree())  # a process loads the versions and functions of templates once
        before, began = _peak_mb(), time.process_time()
        spent = CASES[sys.argv[1]][1]()
        cpu = time.process_time() - began
        print(json.dumps({"spent": spent, "cpu_s": cpu, "before_mb": before, "peak_mb": _peak_mb()}))
        return 0
    for record in measure():
        print("{case:16} {phase:14} {n:5} {wall_s:7.3f} s  {note}".format(**record))
    return 0


if __name__ == "__main__":
    sys.exit(main())
