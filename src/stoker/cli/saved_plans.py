"""Plans in files: what was asked for, what was answered, and the digest by which the service knows the plan again.

A file is for its owner only: it holds the template, the environments and the parameters. Of parameters that the
template hides it does not hold the values that were given by themselves; they are given once more when the plan is
applied, and the service sees to it that they are the same.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from stoker.cli.errors import CommandFailed
from stoker.cli.service import Answer

_KIND = "stoker-plan"
_VERSION = 1
_OWNER_ONLY = 0o600


@dataclass(frozen=True, slots=True)
class SavedPlan:
    """A plan for the stack `name`; `stack_id` is None when it makes a new one.

    `body` is the request without the values of the parameters that are `withheld`.
    """

    name: str
    stack_id: str | None
    digest: str
    body: Answer
    withheld: list[str]
    plan: Answer

    @classmethod
    def of(cls, name: str, stack_id: str | None, body: Answer, plan: Answer) -> SavedPlan:
        """Raises CommandFailed for a plan that cannot be applied later."""
        digest = plan["digest"]
        if digest is None:
            raise CommandFailed(f"Something runs on the stack {name}: only a plan for a stack at rest can be saved.")
        withheld = sorted(set(plan["hidden_parameters"]) & set(body["parameters"]))
        kept = {key: value for key, value in body["parameters"].items() if key not in withheld}
        return cls(name, stack_id, digest, {**body, "parameters": kept}, withheld, plan)

    def request(self, given: Mapping[str, Any]) -> Answer:
        """The request that applies the plan, with the values of withheld parameters.

        Raises CommandFailed for values that are missing, and for others.
        """
        missing = [name for name in self.withheld if name not in given]
        if missing:
            options = " ".join(f"-P {name}=…" for name in missing)
            raise CommandFailed(f"Hidden parameters are not kept in the plan; give them once more: {options}")
        other = sorted(set(given) - set(self.withheld))
        if other:
            raise CommandFailed(f"A saved plan is applied as it is: the parameter {other[0]} cannot be given.")
        return {**self.body, "parameters": {**self.body["parameters"], **given}, "plan_digest": self.digest}

    def write(self, path: Path) -> None:
        """Write the plan where only its owner may read it. Raises CommandFailed."""
        text = json.dumps({"kind": _KIND, "version": _VERSION, **asdict(self)}, indent=1, ensure_ascii=False)
        try:
            path.unlink(missing_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(f"{text}\n")
        except OSError as error:
            raise CommandFailed(f"{path} cannot be written: {error.strerror or error}.") from error

    @classmethod
    def read(cls, path: Path) -> SavedPlan:
        """Raises CommandFailed for a file that cannot be read or is no plan."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise CommandFailed(f"{path} cannot be read: {error.strerror or error}.") from error
        except ValueError:
            raise CommandFailed(f"{path} is no saved plan.") from None
        if not isinstance(data, dict) or data.pop("kind", None) != _KIND:
            raise CommandFailed(f"{path} is no saved plan.")
        if (version := data.pop("version", None)) != _VERSION:
            raise CommandFailed(f"{path} was saved in form {version}; this stoker knows form {_VERSION}. Plan again.")
        try:
            return cls(**data)
        except TypeError:
            raise CommandFailed(f"{path} is a saved plan with something missing. Plan again.") from None


def is_plan(path: Path) -> bool:
    """Whether a path looks like that of a saved plan."""
    return path.suffix == ".plan"
