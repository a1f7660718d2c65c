"""Saved plans: the request, the plan, and the digest by which the service recognizes the plan.

The file is readable by its owner only: it contains the template, the environments and the parameters. It does not
contain the values of hidden parameters that were given on the command line; the user gives them again when the plan is
applied, and the service checks that they are the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from stoker.cli.client.refusals import Answer
from stoker.cli.terminal.errors import CommandFailed
from stoker.processes.directory import write_private

_KIND = "stoker-plan"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class SavedPlan:
    """A plan for the stack `name`; `stack_id` is None if it creates a new one.

    `body` is the request without the values of the `withheld` parameters.
    """

    name: str
    stack_id: str | None
    digest: str
    body: Answer
    withheld: list[str]
    plan: Answer

    @classmethod
    def of(cls, name: str, stack_id: str | None, body: Answer, plan: Answer) -> SavedPlan:
        """Build a saved plan. Raises CommandFailed for a plan that cannot be applied later."""
        digest = plan["digest"]
        if digest is None:
            raise CommandFailed(f"An operation is in progress on the stack {name}; save the plan when it has ended.")
        withheld = sorted(set(plan["hidden_parameters"]) & set(body["parameters"]))
        stored = {key: value for key, value in body["parameters"].items() if key not in withheld}
        return cls(name, stack_id, digest, {**body, "parameters": stored}, withheld, plan)

    def request(self, values: Mapping[str, object]) -> Answer:
        """Return the request that applies the plan, with the values of withheld parameters.

        Raises CommandFailed for missing values, and for other parameters.
        """
        missing = [name for name in self.withheld if name not in values]
        if missing:
            options = " ".join(f"-P {name}=…" for name in missing)
            raise CommandFailed(f"Hidden parameters are not stored in the plan; give their values again: {options}")
        other = sorted(set(values) - set(self.withheld))
        if other:
            raise CommandFailed(f"A saved plan cannot be changed: the parameter {other[0]} is not allowed.")
        return {**self.body, "parameters": {**self.body["parameters"], **values}, "plan_digest": self.digest}

    def write(self, path: Path) -> None:
        """Write the plan to a file that only its owner can read. Raises CommandFailed."""
        text = json.dumps({"kind": _KIND, "version": _VERSION, **asdict(self)}, indent=1, ensure_ascii=False)
        try:
            write_private(path, f"{text}\n")
        except OSError as error:
            raise CommandFailed(f"{path} cannot be written: {error.strerror or error}.") from error

    @classmethod
    def read(cls, path: Path) -> SavedPlan:
        """Read a saved plan. Raises CommandFailed for a file that cannot be read or is not a saved plan."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise CommandFailed(f"{path} cannot be read: {error.strerror or error}.") from error
        except ValueError:
            raise CommandFailed(f"{path} is not a saved plan.") from None
        if not isinstance(data, dict) or data.pop("kind", None) != _KIND:
            raise CommandFailed(f"{path} is not a saved plan.")
        if (version := data.pop("version", None)) != _VERSION:
            raise CommandFailed(
                f"{path} has the format {version}; this version of stoker supports format {_VERSION}. Make a new plan."
            )
        try:
            return cls(**data)
        except TypeError:
            raise CommandFailed(f"{path} is an incomplete saved plan. Make a new plan.") from None


def is_plan(path: Path) -> bool:
    """Return whether a path has the suffix of a saved plan."""
    return path.suffix == ".plan"
