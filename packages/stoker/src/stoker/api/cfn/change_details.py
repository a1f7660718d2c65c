"""The changes of a change set, as the Query API describes them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stoker.api.cfn import views
from stoker.api.cfn.rendering import JsonText
from stoker.contract.change_sets import KNOWN_AFTER_APPLY, REVERT_DRIFT, ChangeSetDetails

_ACTIONS = {
    "create": "Add",
    "use": "Add",
    "update": "Modify",
    "refuse": "Modify",
    "replace": "Modify",
    "delete": "Remove",
    "forget": "Remove",
}
_LOST = "deleted-outside"
_REPLACEMENT = {"update": "False", "refuse": "False", "replace": "True"}
_PARTS = {
    "metadata": "Metadata",
    "deletion_policy": "DeletionPolicy",
    "update_policy": "UpdatePolicy",
    "update_replace_policy": "UpdateReplacePolicy",
    "ignore_drift": "IgnoreDrift",
}
_RECREATION = {"update": "Never", "replace": "Always", "refuse": "Never"}
_SYNCHRONIZE = "SyncWithActual"
"""The change of a resource of which only the record changes: the template agrees with what the cloud has."""
_NOTHING: Mapping[str, object] = {"status": None, "ignored": [], "read": [], "drift": []}


def changes_of(view: ChangeSetDetails, *, with_values: bool) -> Iterator[dict[str, Any]]:
    """Yield the changes of a change set; the removal of a replaced resource belongs to its replacement.

    With values, there is a detail for each single difference instead of one for each property.
    """
    steps = view["plan"]["steps"]
    replaced = {step["path"] for step in steps if step["kind"] == "replace" or _is_made_again(step)}
    for step in steps:
        if step["kind"] == "delete" and step["path"] in replaced:
            continue
        change = _Change(view, step, view.get("values", {}).get(step["key"], _NOTHING))
        if change.action is not None:
            yield {"Type": "Resource", "ResourceChange": change.described(with_values=with_values)}


@dataclass(frozen=True)
class _Change:
    """One step of the plan, with the values that were recorded for it."""

    view: ChangeSetDetails
    step: Mapping[str, Any]
    values: Mapping[str, Any]

    @property
    def action(self) -> str | None:
        """The action; None for a step without effect."""
        if self.step.get("imports"):
            return "Import"
        if self.step["kind"] == "keep" and self.values["drift"] and self._reverts:
            return _SYNCHRONIZE
        return _ACTIONS.get(self.step["kind"])

    @property
    def _reverts(self) -> bool:
        return self.view.get("deployment_mode") == REVERT_DRIFT

    def described(self, *, with_values: bool) -> dict[str, Any]:
        """Return the members of ResourceChange."""
        step = self.step
        parts = list(dict.fromkeys(_PARTS[change["property"]] for change in step["definition"]))
        modifies = step["kind"] in _REPLACEMENT or self.action == _SYNCHRONIZE
        properties = (self._values() if with_values else self._names()) if modifies else []
        of_parts = self._values_of_parts() if with_values else [_detail_of_part(part) for part in parts]
        return {
            "Action": self.action,
            "LogicalResourceId": step["path"],
            "PhysicalResourceId": step.get("imports") or self._present_object(),
            "ResourceType": step["type"],
            "Replacement": _REPLACEMENT.get(step["kind"]),
            "Scope": ["Properties"] * bool(properties) + parts,
            **(self._drift() if self._reverts else {}),
            "Details": [*properties, *of_parts],
            **(self._contexts() if with_values else {}),
        }

    def _present_object(self) -> str | None:
        found = self.view["physical_ids"].get(self.step["key"]) if self.step["kind"] != "create" else None
        return found

    def _drift(self) -> dict[str, object]:
        return {
            "ResourceDriftStatus": self.values["status"],
            "ResourceDriftIgnoredAttributes": [
                {"Path": views.pointer("Properties", *each["path"]), "Reason": each["reason"]}
                for each in self.values["ignored"]
            ],
        }

    def _contexts(self) -> dict[str, object]:
        members = {"BeforeContext": "before", "AfterContext": "after"}
        if self._reverts:
            members["PreviousDeploymentContext"] = "previous"
        found = {member: self.values.get(name) for member, name in members.items()}
        return {member: None if context is None else JsonText(context) for member, context in found.items()}

    # -- details -------------------------------------------------------------------------------------------------

    def _names(self) -> list[dict[str, object]]:
        """Return a detail for each property that changes, without values."""
        changes = {change["property"]: change for change in self.step["changes"]}
        details = [_detail(change) for change in changes.values()]
        if not self._reverts:
            return details
        only_drifted = dict.fromkeys(
            each["property"] for each in self.values["drift"] if each["property"] not in changes
        )
        return [*details, *(_synchronized({"Name": name}) for name in only_drifted)]

    def _values(self) -> list[dict[str, object]]:
        """Return a detail for each difference of properties, with values."""
        drift = {_place(each): each for each in self.values["drift"]}
        changes = [(change, _drifted_place(_place(change), drift)) for change in self.step["changes"]]
        details = [self._valued(change, drift.get(place)) for change, place in changes]
        if not self._reverts:
            return details
        corrected = {place for _, place in changes}
        return [
            *details,
            *(self._valued_synchronization(each) for place, each in drift.items() if place not in corrected),
        ]

    def _valued(self, change: Mapping[str, object], drifted: Mapping[str, object] | None) -> dict[str, object]:
        detail = _detail(change)
        is_read = change["property"] in self.values["read"] or drifted is not None
        target = {
            **detail["Target"],
            "Path": views.pointer("Properties", *_place(change)),
            **_sides(change),
            "BeforeValueFrom": "ACTUAL_STATE" if is_read else "PREVIOUS_DEPLOYMENT_STATE",
            "AfterValueFrom": "TEMPLATE",
            "Drift": self._drifted(drifted) if drifted is not None and self._reverts else None,
        }
        return {**detail, "Target": target}

    def _valued_synchronization(self, drifted: Mapping[str, object]) -> dict[str, object]:
        """Return the detail of a difference of which only the record changes."""
        return _synchronized(
            {
                "Name": drifted["property"],
                "Path": views.pointer("Properties", *_place(drifted)),
                "BeforeValue": _text(drifted["after"]),
                "AfterValue": _text(drifted["after"]),
                "BeforeValueFrom": "ACTUAL_STATE",
                "AfterValueFrom": "TEMPLATE",
                "Drift": self._drifted(drifted),
            }
        )

    def _drifted(self, drifted: Mapping[str, object]) -> dict[str, object]:
        return {
            "PreviousValue": _text(drifted["before"]),
            "ActualValue": _text(drifted["after"]),
            "DriftDetectionTimestamp": views.time_text(self.view.get("looked_at")),
        }

    def _values_of_parts(self) -> list[dict[str, object]]:
        details = []
        for change in self.step["definition"]:
            part = _PARTS[change["property"]]
            detail = _detail_of_part(part)
            path = views.pointer(part, *change["path"])
            details.append({**detail, "Target": {**detail["Target"], "Path": path, **_sides(change)}})
        return details


Place = tuple[str | int, ...]
"""A property, and the path in its value."""


def _place(change: Mapping[str, Any]) -> Place:
    path: Sequence[str | int] = change["path"]
    return (change["property"], *path)


def _drifted_place(place: Place, drift: Collection[Place]) -> Place:
    """Return the place of the difference from the cloud that a change corrects: its own, or that of a value around it,
    as a value with a hidden part is shown as a whole; empty for none.
    """
    return next((place[:length] for length in range(len(place), 0, -1) if place[:length] in drift), ())


def _sides(change: Mapping[str, object]) -> dict[str, object]:
    before, after = change["before"], change["after"]
    kind = "Add" if before is None else "Remove" if after is None else "Modify"
    shown = after if change["known"] else KNOWN_AFTER_APPLY
    return {"BeforeValue": _text(before), "AfterValue": _text(shown), "AttributeChangeType": kind}


def _text(value: object) -> str | None:
    return None if value is None else views.text(value)


def _is_made_again(step: Mapping[str, Any]) -> bool:
    """Return whether a step creates an object in place of one that was deleted outside Stoker."""
    return step["kind"] == "create" and any(reason["code"] == _LOST for reason in step["reasons"])


def _detail_of_part(part: str) -> dict[str, Any]:
    return {"Target": {"Attribute": part, "RequiresRecreation": "Never"}, "Evaluation": "Static"}


def _detail(change: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "Target": {
            "Attribute": "Properties",
            "Name": change["property"],
            "RequiresRecreation": _RECREATION.get(change["effect"], "Never"),
        },
        "Evaluation": "Static" if change["known"] else "Dynamic",
        "ChangeSource": "DirectModification",
    }


def _synchronized(target: Mapping[str, object]) -> dict[str, object]:
    return {
        "Target": {
            "Attribute": "Properties",
            "RequiresRecreation": "Never",
            "AttributeChangeType": _SYNCHRONIZE,
            **target,
        },
        "Evaluation": "Static",
        "ChangeSource": "NoModification",
    }
