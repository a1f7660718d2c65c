"""What is run for each resource type: the examples of the reference pages, adapted to the real cloud by data.

`adaptations.yaml` has under `words` the strings that stand for others in the examples, and under `types` for each type:

- `cannot`: why the type cannot run there; everything else is then left out
- `case`: the number of the example (0), `thing`: properties that replace those of the example, None removes one
- `others`: further resources that the example needs
- `update`: properties that change in place; without it, the reason under `no_update`
- `replace`: properties whose change replaces the object; by default the object is marked unhealthy instead
- `signal`: the resource that receives signals while others wait for them; `signal_url`: its attribute with the URL that
  signals are written to, for one that the API sends none to
- `verbs`: verbs that do not run, each with the reason
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from stoker.plugins.registry import Registry
from stoker.plugins.resource import ResourceType
from testing.simulation import cases
from testing.simulation.lost_answers import WITH_PARTS_FOR_ADMINISTRATORS

THING = cases.THING
ANY_NETWORK = ("AWS::", "OS::Heat::InstanceGroup", "OS::Nova::FloatingIPAssociation", "OS::Trove::")
"""Types whose servers get the only network of the project: they run one after the other in a project of their own."""
ADAPTATIONS = Path(__file__).with_name("adaptations.yaml")


@dataclass(frozen=True)
class Case:
    """A template of one resource `thing` of the type, what it needs, and the changes that are made to it."""

    type_name: str
    kind: ResourceType
    account: str
    template: dict[str, Any]
    update: Mapping[str, Any] | None
    replace: Mapping[str, Any] | None
    signal: str | None
    signal_url: str | None = None
    skipped: Mapping[str, str] = field(default_factory=dict)

    @property
    def slug(self) -> str:
        """The type's name as part of a stack's name."""
        return self.type_name.replace("::", "-").lower()

    def changed(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        """Return the template with other values of these properties of the thing; None removes a property."""
        template = copy.deepcopy(self.template)
        thing = template["resources"][THING]
        thing["properties"] = merged(thing.get("properties", {}), properties)
        return template


@dataclass(frozen=True)
class Absent:
    """A type that cannot run, and why."""

    type_name: str
    reason: str


def merged(properties: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return properties with changes; None removes a property."""
    return {name: value for name, value in {**properties, **changes}.items() if value is not None}


def replaced(value: Any, words: Mapping[str, str]) -> Any:
    """Return a value in which each string, or the beginning of one that ends with `/`, is replaced as `words` say."""
    if isinstance(value, str):
        if value in words:
            return words[value]
        for word, instead in words.items():
            if word.endswith("/") and value.startswith(word):
                return instead + value[len(word) :]
        return value
    if isinstance(value, Mapping):
        return {key: replaced(inner, words) for key, inner in value.items()}
    if isinstance(value, list):
        return [replaced(inner, words) for inner in value]
    return value


def _account(kind: ResourceType) -> str:
    """Return the user whom the stacks of a type belong to."""
    if kind.for_administrators or kind.type_name in WITH_PARTS_FOR_ADMINISTRATORS:
        return "realcloud-admin"
    return "realcloud-instances" if kind.type_name.startswith(ANY_NETWORK) else "realcloud"


class Cases:
    """All resource types: those that run, and those that cannot."""

    def __init__(self, words: Mapping[str, str]) -> None:
        document = yaml.safe_load(ADAPTATIONS.read_text(encoding="utf-8"))
        self._types = Registry.from_entry_points().types
        self._words = {**document["words"], **words}
        self._adaptations: dict[str, dict[str, Any]] = document["types"]
        self._examples = {**cases.creating(), **cases.local()}
        if unknown := self._adaptations.keys() - self._types.keys():
            raise LookupError(f"{ADAPTATIONS}: there are no types {', '.join(sorted(unknown))}")

    def of(self, type_name: str, lacking: Mapping[str, str]) -> Case | Absent:
        """Return what is run for a type; `lacking` says why types cannot run on this cloud."""
        kind = self._types[type_name]
        adapted = self._adaptations.get(type_name, {})
        if type_name not in self._examples:
            return Absent(type_name, kind.description)
        if reason := lacking.get(type_name) or adapted.get("cannot"):
            return Absent(type_name, reason)
        example = dict(self._examples[type_name][adapted.get("case", 0)])
        example.pop("twin", None)
        example |= adapted.get("others", {})
        example[THING] = merged(example[THING], adapted.get("thing", {}))
        template = replaced(cases.template(type_name, example), self._words)
        skipped = dict(adapted.get("verbs", {}))
        if "update" not in adapted:
            skipped["update"] = adapted.get("no_update", "No property can be updated in place.")
        return Case(
            type_name=type_name,
            kind=kind,
            account=_account(kind),
            template=template,
            update=replaced(adapted.get("update"), self._words),
            replace=replaced(adapted.get("replace"), self._words),
            signal=adapted.get("signal"),
            signal_url=adapted.get("signal_url"),
            skipped=skipped,
        )

    @property
    def names(self) -> list[str]:
        """All types."""
        return sorted(self._types)

    def kind(self, type_name: str) -> ResourceType:
        """Return the declaration of a type."""
        return self._types[type_name]
