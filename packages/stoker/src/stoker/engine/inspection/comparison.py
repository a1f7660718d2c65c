"""Compare the object of one resource with what is recorded. Nothing is recorded or changed.

A comparison says what it could not compare and why, since what is not mentioned would be taken for equal.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from stoker.base.errors import CloudError, StokerError
from stoker.base.ids import new_id
from stoker.engine.calls.building import make_read_call
from stoker.engine.inspection.shared_reads import SharedReads
from stoker.engine.inspection.stack_reader import Reader
from stoker.engine.records.ignored_drift import IgnoredPath, ignored_paths, paths_of, without_ignored
from stoker.engine.records.observations import Cause, Found
from stoker.engine.records.stack_view import StackView
from stoker.engine.records.state import ResourceState
from stoker.engine.redaction.stacks import without_secrets
from stoker.plugins.live_values import live_values
from stoker.plugins.outcome import Failed
from stoker.plugins.resource import Call, ResourceType
from stoker.schema.live import LiveSource
from stoker.schema.property import Property

LOG = logging.getLogger(__name__)

IN_SYNC, MODIFIED, DELETED = "IN_SYNC", "MODIFIED", "DELETED"
NOT_CHECKED, UNKNOWN, UNSUPPORTED = "NOT_CHECKED", "UNKNOWN", "UNSUPPORTED"
_UNCOMPARED = {Cause.TYPE: UNSUPPORTED, Cause.EXTERNAL: NOT_CHECKED}
"""The status of a resource by why it was not compared; UNKNOWN for the other causes."""

_NO_COMPARISON = "objects of this type cannot be compared"
_ONLY_EXISTENCE = "the object is not the stack's own (external_id): only its existence is checked"
_NOT_SHOWN = "the service does not show it now"
_UNDECLARED = "the resource type does not compare it"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a comparison has found.

    `found` are the differing values, None if the object is gone. `cause` says why something was not compared, `reason`
    the same for the whole resource, `properties` for single ones that the template sets. Reasons contain no secrets.
    `recorded` are the values that the object should have; empty if nothing was compared. `ignored` are the paths that
    the template ignores, once `without_ignored` has left them out.
    """

    found: Found
    cause: Cause | None = None
    reason: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)
    recorded: Mapping[str, object] = field(default_factory=dict)
    ignored: tuple[IgnoredPath, ...] = ()

    def without_ignored(self, kind: ResourceType, written: Iterable[str]) -> Comparison:
        """Return the comparison without what the template of the resource ignores, with the paths as `written`."""
        paths = paths_of(kind, written)
        if not paths or (not self.found and not self.recorded):
            return self
        found = without_ignored(kind, self.recorded, self.found or {}, paths.values())
        uncompared = {name: reason for name, reason in self.properties.items() if (name,) not in paths.values()}
        cause = None if self.cause is Cause.PROPERTIES and not uncompared else self.cause
        ignored = ignored_paths(self.recorded, self.found or {}, paths)
        return replace(self, found=found, cause=cause, properties=uncompared, ignored=ignored)

    def to_data(self, *, keeps_recorded: bool) -> dict[str, Any]:
        """Return JSON data, without what is as in most comparisons. `keeps_recorded`: with the recorded values even if
        nothing differs, since they are needed to decide later what is ignored.
        """
        cause = self.cause.value if self.cause is not None else None
        recorded = self.recorded if keeps_recorded or self.found else {}
        data = {"cause": cause, "reason": self.reason, "properties": dict(self.properties), "recorded": dict(recorded)}
        present = {name: value for name, value in data.items() if value}
        return present if self.found == {} else {"found": self.found, **present}

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Comparison:
        """Return the comparison that `to_data` has described."""
        cause = Cause(data["cause"]) if "cause" in data else None
        rest = (data.get("reason", ""), data.get("properties", {}), data.get("recorded", {}))
        return cls(data.get("found", {}), cause, *rest)

    @property
    def status(self) -> str:
        """The drift status of the resource."""
        if self.found is None:
            return DELETED
        if self.found:
            return MODIFIED
        return IN_SYNC if self.cause is None else _UNCOMPARED.get(self.cause, UNKNOWN)

    @property
    def not_compared_reasons(self) -> str:
        """The reasons for what was not compared, as part of a sentence; empty if everything was compared."""
        by_reason: dict[str, list[str]] = {}
        for name, reason in self.properties.items():
            by_reason.setdefault(reason, []).append(name)
        parts = [f"{', '.join(names)} ({reason})" for reason, names in by_reason.items()]
        return self.reason or "; ".join(parts)


@dataclass(frozen=True, slots=True)
class DetectionResult:
    """The comparisons of a detection by the uuid of the resource, and its time in seconds since the epoch."""

    detected_at: float
    comparisons: Mapping[str, Comparison]


async def compare(view: StackView, state: ResourceState, reads: SharedReads) -> Comparison:
    """Compare a resource that has an object outside of Stoker, or a nested stack (only its existence).

    `reads` are shared with the other resources that are compared at the same time.
    """
    external = state.stored.definition.get("external_id") is not None
    if not _is_comparable(state.type, external=external):
        return Comparison({}, Cause.TYPE, _NO_COMPARISON)
    try:
        call = await make_read_call(view, state, Reader(view.services))
        call.cloud = reads.over(call.cloud)
        if call.engine.unrecorded is not None:
            call.engine.unrecorded = reads.unrecorded(view.stack.id, state.type.part_of, call.engine.unrecorded)
        if external:
            return await _existence(state.type, call)
        found = await state.type.observe(call)
    except StokerError as error:
        if isinstance(error, CloudError) and error.not_found:
            return Comparison(None)
        LOG.info("cannot read the object of %s: %s", state.row.name, error.message)
        return Comparison({}, Cause.SERVICE, await without_secrets(view, error.message, [state]))
    except Exception:
        reference = new_id()
        LOG.exception("Reference %s: cannot read the object of %s", reference, state.row.name)
        return Comparison({}, Cause.SERVICE, f"Internal error; quote reference {reference}")
    if found is None:
        return Comparison(None)
    uncompared = _not_compared(state.type, call, found)
    if call.report.unread:
        uncompared = {name: await without_secrets(view, reason, [state]) for name, reason in uncompared.items()}
    values = {name: _without_absent_keys(state.type.properties.get(name), value) for name, value in found.items()}
    return Comparison(values, Cause.PROPERTIES if uncompared else None, properties=uncompared, recorded=call.properties)


def _without_absent_keys(prop: Property | None, value: object) -> Any:
    """Return a live value in the form of a template, which does not mention keys of declared maps without a value."""
    if prop is not None and isinstance(value, Mapping) and prop.schema is not None:
        return {
            key: _without_absent_keys(prop.schema.get(key), item) for key, item in value.items() if item is not None
        }
    if prop is not None and isinstance(value, list):
        return [_without_absent_keys(prop.items, item) for item in value]
    return value


def _is_comparable(kind: ResourceType, *, external: bool) -> bool:
    if external:
        return kind.checkable or type(kind).adopt is not ResourceType.adopt
    return type(kind).observe is not ResourceType.observe


async def _existence(kind: ResourceType, call: Call) -> Comparison:
    """Check that an object of another owner exists, as at its first use."""
    outcome = await kind.adopt(call)
    gone = isinstance(outcome, Failed) and outcome.kind == "NotFound"
    return Comparison(None) if gone else Comparison({}, Cause.EXTERNAL, _ONLY_EXISTENCE)


def _not_compared(kind: ResourceType, call: Call, found: Mapping[str, object]) -> dict[str, str]:
    """Return the properties to which the template gives values and that were not compared, with the reasons."""
    uncompared: dict[str, str] = {}
    known = live_values(kind)
    for name, value in call.properties.items():
        live = known.get(name)
        if value is None or not call.gives(name) or name in call.report.compared or name in found:
            continue
        if live is not None and live.how is LiveSource.MANAGED:
            continue
        declared = _UNDECLARED if live is None else _NOT_SHOWN if live.is_compared else live.reason
        uncompared[name] = call.report.unread.get(name, declared)
    return uncompared
