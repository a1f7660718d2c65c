"""Import the state of a configuration as a stack, and look at what the cloud was asked and what the plan is then."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from openstack_emulator.testing import ServedCloud
from stoker.authoring.terraform.importing import Imported, from_state, in_modules
from stoker.authoring.terraform.state import read_state
from stoker.plugins.registry import Registry
from testing.harness import ThreadedWorld, serve_rest
from testing.terraform.applying import Applying, Fields
from testing.terraform.special import MAKERS, REFRESHED

_ACTION_THAT_READS = re.compile("POST /share/v2/shares/[^/]+/action")
"""Manila lists the access rules of a share by an action."""
_SECRET = re.compile(r"terraform-[a-z-]+-secret")
"""What secrets in the configurations look like."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What happened to one configuration: `problems` are sentences, empty if all is as it must be."""

    title: str
    resources: int
    compared: int
    problems: tuple[str, ...]


class Place:
    """A Stoker on an emulated cloud in which everything is done at once."""

    def __init__(self, directory: Path, served: ServedCloud) -> None:
        self.served = served
        self.world = ThreadedWorld(directory, served)
        self._server = serve_rest(self.world, directory)
        self._types = Registry.from_entry_points().types

    def stop(self) -> None:
        self._server.stop()
        self.world.stop()

    def state(self, configuration: Mapping[str, Any]) -> Fields:
        """Make the objects of a configuration, and return their state."""
        return Applying(self.served, configuration.get("as", "demo"), MAKERS, REFRESHED).apply(configuration)

    def imported(self, state: Mapping[str, Any]) -> Imported:
        """Return the template of a state."""
        return from_state(read_state(json.dumps(state).encode()), self._types)

    def import_configuration(self, configuration: Mapping[str, Any]) -> Proof:
        """Make a configuration, and import it as a stack of its own."""
        return self.import_state(configuration, self.state(configuration))

    def import_state(self, configuration: Mapping[str, Any], state: Mapping[str, Any]) -> Proof:
        """Import the state of a configuration as a stack of its own."""
        found = self.imported(state)
        problems = list(self._wrong(configuration, found))
        if problems:
            return Proof(configuration["title"], len(found.resources), 0, tuple(problems))
        plan, problems = self._deployed(configuration, found, state.get("outputs", {}))
        compared = int(plan.get("compared", {}).get("in_sync", 0)) if plan else 0
        return Proof(configuration["title"], len(found.resources), compared, tuple(problems))

    def _wrong(self, configuration: Mapping[str, Any], found: Imported) -> Iterator[str]:
        """Yield what is wrong with a template."""
        expected = set(configuration.get("unsupported", ()))
        for address, reason in found.unsupported.items():
            if address not in expected:
                yield f"{address}: {reason}"
        if missing := expected - found.unsupported.keys():
            yield f"an equivalent was found of {', '.join(sorted(missing))}"
        hidden = set(configuration.get("hidden", ()))
        if set(found.without_value) != hidden:
            yield f"the hidden parameters are {found.without_value}, not {sorted(hidden)}"
        written = json.dumps([found.template, found.environment, found.unsupported, found.left_out])
        if secret := _SECRET.search(written):
            yield f"a secret is shown: {secret[0]}"

    def _deployed(
        self, configuration: Mapping[str, Any], found: Imported, outputs: Mapping[str, Any]
    ) -> tuple[Any, list[str]]:
        project = configuration.get("as", "demo")
        token = self.served.token(project, project)
        project_id = Applying(self.served, project, {}, {}).project_id
        url = f"http://127.0.0.1:{self._server.port}/v1/{project_id}/stacks"

        def send(method: str, path: str, body: Any = None) -> requests.Response:
            return requests.request(method, url + path, json=body, headers={"X-Auth-Token": token}, timeout=60)

        before = self._writes()
        name = re.sub(r"[^a-z0-9]+", "-", str(configuration["title"]).lower())
        environment = dict(found.environment)
        parameters = {**environment.get("parameters", {}), **configuration.get("hidden", {})}
        body = {
            "stack_name": name,
            "template": found.template,
            "environment": {**environment, "parameters": parameters},
        }
        made = send("POST", "", body)
        if made.status_code != 201:
            return None, [made.json()["error"]["message"]]
        self.world.settle(made.json()["stack"]["id"])
        stack = send("GET", f"/{name}").json()["stack"]
        if stack["stack_status"] != "CREATE_COMPLETE":
            return None, [str(stack["stack_status_reason"])]
        path = f"/{name}/{stack['id']}"
        drift = send("GET", f"{path}/drift").json()["plan"]
        plans = {"the drift": drift, "the next plan": send("PUT", f"{path}/preview", body).json()["plan"]}
        if (nested := in_modules(found, ())) is not None:
            body = {
                "template": nested.template,
                "files": {file: json.dumps(each) for file, each in nested.files.items()},
                "environment": {**nested.environment, "parameters": parameters},
            }
            planned = send("PUT", f"{path}/preview", body)
            if planned.status_code != 200:
                return drift, [planned.json()["error"]["message"]]
            plans["the plan of modules"] = planned.json()["plan"]
            send("PUT", path, body)
            self.world.settle(stack["id"])
            shown = send("GET", f"/{name}").json()["stack"]
            if shown["stack_status"] != "UPDATE_COMPLETE":
                return drift, [str(shown["stack_status_reason"])]
            plans["the drift in modules"] = send("GET", f"{path}/drift").json()["plan"]
            plans["the plan after modules"] = send("PUT", f"{path}/preview", body).json()["plan"]
            stack = shown
        problems = [f"the cloud was asked for {each}" for each in self._writes()[len(before) :]]
        problems += [
            f"the output {each['output_key']} is {each.get('output_value')!r}"
            for each in stack.get("outputs", ())
            if each.get("output_value") != outputs[each["output_key"]]["value"]
        ]
        problems += [each for title, plan in plans.items() for each in _more(title, plan, len(found.resources))]
        return drift, problems

    def _writes(self) -> list[str]:
        entries = self.served.do(lambda: self.served.cloud.journal.select({}))
        asked = [
            f"{entry['method']} {entry['path']}"
            for entry in entries
            if entry["method"] not in ("GET", "HEAD") and not re.search("/auth/tokens|OS-TRUST", entry["path"])
        ]
        return [each for each in asked if not _ACTION_THAT_READS.fullmatch(each)]


def _more(title: str, plan: Mapping[str, Any], number: int) -> Iterator[str]:
    """Yield what a plan does with objects but keep them: drift has each, plans leave out unchanged nested stacks."""
    objects = [step for step in plan["steps"] if not step["type"].endswith(".yaml")]
    kept = [step for step in objects if step["kind"] == "keep"]
    if len(kept) != (number if "drift" in title else len(objects)):
        yield f"{title} is not empty: {plan['summary']}: {_changes(plan)}"


def _changes(plan: Mapping[str, Any]) -> str:
    steps = [step for step in plan["steps"] if step.get("changes")]
    return json.dumps([[step["path"], step["changes"]] for step in steps])[:600]
