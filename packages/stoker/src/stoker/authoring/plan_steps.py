"""The parts of a plan that are shown to users: which steps, which reasons, and the names of changed values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from stoker.base.costs_sentence import costs_sentence

Answer = Mapping[str, Any]

VERBS = {
    "import": "import",
    "move": "move",
    "create": "create",
    "use": "use",
    "update": "change",
    "refuse": "fail",
    "replace": "replace",
    "delete": "remove",
    "forget": "forget",
    "act": "act on",
}
"""The kinds of steps that change something, as they are shown, and what they do to a resource."""

UNPLANNED = ("SUSPEND", "RESUME", "CHECK")
"""The actions of a stack whose retry has no plan: they do the same to every resource."""

MISSING = "missing"
"""The kind, as it is shown, of a step about an object that is gone and that the stack cannot create again."""

_SHOWN = frozenset({*VERBS, MISSING})
_CHANGES = frozenset({"changes", "changes-require-replacement"})
_DATA_LOST = "data-lost"
_LOST = "deleted-outside"
_NOT_OWNED = "external-gone"
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Words that YAML may not read as strings without quotes."""
_MOST_NAMED = 5
_RETENTION = frozenset(
    {
        "object-retained",
        "snapshot-retained",
        "object-external",
        "object-of-another",
        "object-abandoned",
        "retained-by-request",
    }
)
_UNREAD = "service"
_DELETE = "DELETE"


def changes(plan: Answer) -> list[dict[str, Any]]:
    """Return the steps that change something; the deletion of a replaced object is part of the replacement."""
    replaced = {step["path"] for step in plan["steps"] if step["kind"] == "replace" or _is_made_again(step)}
    shown, skipped = [], None
    for step in plan["steps"]:
        if skipped is not None and step["depth"] > skipped:
            continue
        skipped = step["depth"] if step["kind"] == "delete" and step["path"] in replaced else None
        if skipped is None and shown_kind(step) in _SHOWN:
            shown.append(step)
    return shown


def _is_made_again(step: Answer) -> bool:
    """Return whether a step creates an object in place of one that was deleted outside Stoker."""
    return step["kind"] == "create" and any(reason["code"] == _LOST for reason in step["reasons"])


def kept(plan: Answer) -> list[dict[str, Any]]:
    """Return the steps that change nothing for a reason that users should know, besides those of `skipped`."""
    skipped_paths = plan.get("skipped", ())
    explained = (step for step in plan["steps"] if shown_kind(step) == "keep" and step["reasons"])
    return [step for step in explained if step["path"] not in skipped_paths]


def moved_from(step: Answer) -> str:
    """Return the former name of a resource that a step moves; empty for others."""
    return str(step.get("moved_from") or "")


def imported(step: Answer) -> str:
    """Return the ID of the existing object that a step imports; empty for others."""
    return str(step.get("imports") or "")


def shown_kind(step: Answer) -> str:
    """Return the kind of a step as it is shown: `import`, `move` or `MISSING` for one that changes nothing else."""
    if step["kind"] != "keep":
        return str(step["kind"])
    if any(reason["code"] == _NOT_OWNED for reason in step["reasons"]):
        return MISSING
    return "import" if imported(step) else "move" if moved_from(step) else "keep"


def suggested_moves(plan: Answer) -> list[str]:
    """Return the entries of the section `moved` with which renamed resources would keep their objects."""
    entries = plan.get("suggested_moves", ())
    return [f"- {{from: {_scalar(move['from'])}, to: {_scalar(move['to'])}}}" for move in entries]


def suggested_imports(plan: Answer) -> list[str]:
    """Return the entries of the section `imports` with which resources would own what they refer to."""
    entries = plan.get("suggested_imports", ())
    return [f"- {{to: {_scalar(suggestion['to'])}, id: {json.dumps(suggestion['id'])}}}" for suggestion in entries]


def _scalar(name: str) -> str:
    return name if _PLAIN.fullmatch(name) and name.lower() not in _WORDS else json.dumps(name)


def summary(plan: Answer) -> str:
    """Return the number of changes by kind: `1 to move, 2 to create`.

    A moved or imported resource can count as changed, too.
    """
    steps = changes(plan)
    kinds = [step["kind"] for step in steps]
    counts = {verb: kinds.count(kind) for kind, verb in VERBS.items()}
    counts["import"] = sum(bool(imported(step)) for step in steps)
    counts["move"] = sum(bool(moved_from(step)) for step in steps)
    parts = [f"{count} to {verb}" for verb, count in counts.items() if count]
    missing = sum(shown_kind(step) == MISSING for step in steps)
    return ", ".join([*parts, *([f"{missing} missing"] if missing else [])])


def left_behind(plan: Answer) -> dict[str, str]:
    """Return additional messages about the former objects of replaced resources."""
    removals = (step for step in plan["steps"] if step["kind"] == "delete")
    return {
        step["path"]: reason["message"]
        for step in removals
        for reason in step["reasons"]
        if reason["code"] in _RETENTION
    }


def data_loss(step: Answer) -> str:
    """Return what users keep in the object of a step and lose with it: `the data on the volume`; empty for nothing."""
    return next((str(reason["subject"]) for reason in step["reasons"] if reason["code"] == _DATA_LOST), "")


def data_losses(plan: Answer) -> str:
    """Return the paths of the resources that lose data: `volume, server and 3 more`; empty if none does."""
    paths = [step["path"] for step in changes(plan) if data_loss(step)]
    return _named(paths)


def retentions(plan: Answer) -> str:
    """Return the paths of the resources that are removed without their objects; empty if there are none."""
    removals = (step for step in changes(plan) if step["kind"] == "delete")
    return _named([step["path"] for step in removals if is_retained(step)])


def skipped(plan: Answer) -> str:
    """Return a sentence about the failed resources that a retry leaves as they are; empty if there are none."""
    paths = plan.get("skipped", ())
    return f"Skipped, as requested, and left as they are: {_named(paths)}." if paths else ""


def is_retained(step: Answer) -> bool:
    """Return whether a step leaves the object of its resource in the cloud."""
    return any(reason["code"] in _RETENTION for reason in step["reasons"])


def is_whole(plan: Answer) -> bool:
    """Return whether a plan has compared the whole stack with the cloud."""
    return bool((plan.get("compared") or {}).get("refresh") == "all")


def compared(plan: Answer) -> str:
    """Return what a plan has compared with the cloud, when, and the numbers; empty if it has not compared."""
    if (comparison := plan.get("compared")) is None:
        return ""
    whole = is_whole(plan) or plan.get("action") == _DELETE
    extent = "" if whole else " (what the change touches and depends on)"
    counts = {"in sync": comparison["in_sync"], "different": comparison["differing"]}
    counts["not comparable"] = len(comparison["not_compared"])
    numbers = ", ".join(f"{number} {result}" for result, number in counts.items() if number or result == "in sync")
    if not comparison["resources"]:
        numbers = "no objects"
    return f"Compared with the cloud at {comparison['at']}{extent}: {numbers}."


def not_compared(plan: Answer) -> Iterator[str]:
    """Yield sentences about what a plan that has compared with the cloud could not compare, and why."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for resource in (plan.get("compared") or {}).get("not_compared", []):
        label = "Unknown" if resource["cause"] == _UNREAD else "Not comparable"
        by_reason.setdefault((label, resource["reason"].rstrip(".")), []).append(
            f"{resource['path']} ({resource['type']})"
        )
    for (label, reason), paths in by_reason.items():
        yield f"{label}: {_named(paths)}: {reason}."


def ignored(plan: Answer) -> Iterator[str]:
    """Yield sentences about what the templates ignore in the comparison of a plan with the cloud."""
    for resource in (plan.get("compared") or {}).get("ignored", []):
        names = [difference["path"] + " (differs)" * difference["differs"] for difference in resource["properties"]]
        yield f"Ignored, as the template says: {resource['path']} ({resource['type']}): {', '.join(names)}."


def is_unanswered(plan: Answer) -> bool:
    """Return whether a service did not answer a plan that compares with the cloud, or refused."""
    return any(resource["cause"] == _UNREAD for resource in (plan.get("compared") or {}).get("not_compared", []))


def costs(plan: Answer) -> str:
    """Return the monthly costs of a plan and their change. Empty if the service has no price list."""
    return costs_sentence(plan.get("costs"))


def policy_results(plan: Answer) -> list[dict[str, object]]:
    """Return what policies say of a plan, the most severe first; empty if nothing objects."""
    return list((plan.get("policies") or {}).get("results", []))


def is_denied(result: Answer) -> bool:
    """Return whether a policy denies the plan now; one that is deferred decides later."""
    return bool(result["verdict"] == "deny" and result["code"] != "policy-deferred")


def policy_sentence(result: Answer) -> str:
    """Return a sentence about a result of a policy: `Denied by no-open-ssh: rule: a rule lets …; restrict it.`"""
    diagnostic = result["diagnostic"]
    verdict = str(_POLICY_CODES.get(result["code"], "{policy}")).format(policy=result["policy"])
    about = [result["path"]] if result["path"] else []
    message = diagnostic["message"].removesuffix(".") + (f"; {diagnostic['hint']}" if diagnostic["hint"] else "")
    return ": ".join([verdict, *about, message]) + "."


def policy_sentences(plan: Answer) -> list[str]:
    """Return sentences about all that policies say of a plan; empty if nothing objects."""
    omitted = policies_omitted(plan)
    return [*map(policy_sentence, policy_results(plan)), *([omitted] if omitted else [])]


def policies_omitted(plan: Answer) -> str:
    """Return a sentence about how many more steps policies object to than have results; empty for none."""
    more = (plan.get("policies") or {}).get("omitted", 0)
    return f"Policies object to {more} more step{'s' if more > 1 else ''}." if more else ""


_POLICY_CODES = {
    "policy-denied": "Denied by the policy {policy}",
    "policy-approval-required": "The policy {policy} requires an approval",
    "policy-warned": "Warning of the policy {policy}",
    "policy-failed": "The policy {policy} failed",
    "policy-deferred": "The policy {policy} decides later",
}


def not_counted(plan: Answer) -> Iterator[str]:
    """Yield sentences about the resources whose costs are not part of the sum, and why."""
    costs = plan.get("costs") or {}
    for why, number in costs.get("not_counted", {}).items():
        groups = [group for group in costs["uncounted"] if group["why"] == why]
        shown = [f"{path} ({_priced(group)})" for group in groups for path in group["paths"]][:_MOST_NAMED]
        more = f" and {number - len(shown)} more" if number > len(shown) else ""
        noun = "resource" if number == 1 else "resources"
        yield f"Not counted: {number} {noun} {_WHY_NOT_COUNTED.get(why, why)}: {', '.join(shown)}{more}."


def _priced(group: Answer) -> str:
    """Return what has no price: `OS::Nova::Server: flavor m1.tiny`."""
    return ": ".join(filter(None, (group["type"], " ".join(filter(None, (group["item"], group["name"]))))))


_WHY_NOT_COUNTED = {
    "no-price": "without a price",
    "not-known": "whose costs are known only later",
    "not-read": "whose price could not be looked up",
}

FAILS = "fail"
"""The verdict of a finding with which a plan is refused."""


class Consumers(NamedTuple):
    """What stacks that import from the planned one mean for the plan, in a sentence; `fails` if they prevent it."""

    text: str
    fails: bool = False


def consumers(plan: Answer) -> Iterator[Consumers]:
    """Yield the exports that other stacks import, as far as the plan changes them or may change them."""
    for consumer in plan.get("consumers", ()):
        name, stacks = consumer["export"], _named(consumer["stacks"])
        if consumer["change"] == "unknown":
            yield Consumers(
                f"The export {name} may change, which is known when its resources have. Imported by: {stacks}. If it "
                "does, the update fails before anything is removed."
            )
        elif consumer["change"] != "unchanged":
            yield Consumers(f"The export {name} changes, which fails while it is in use. Imported by: {stacks}.", True)
        elif changes(plan):
            yield Consumers(f"The export {name} keeps its value. Imported by: {stacks}.")


def findings(plan: Answer) -> list[dict[str, Any]]:
    """Return what the checks before the first change have found, failures first; empty if there were none."""
    return list((plan.get("preflight") or {}).get("results", []))


def denials(plan: Answer) -> list[dict[str, Any]]:
    """Return the diagnostics of what policies deny."""
    results = (plan.get("policies") or {}).get("results", [])
    return [result["diagnostic"] for result in results if is_denied(result)]


def certain_failures(plan: Answer) -> list[dict[str, Any]]:
    """Return the diagnostics of what is known to fail, and of what policies deny."""
    return [finding["diagnostic"] for finding in findings(plan) if finding["verdict"] == FAILS] + denials(plan)


def _named(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def reasons(step: Answer) -> Iterator[str]:
    """Yield the reasons of a step that are not shown by its properties or by `data_loss` already."""
    shown = [*step["changes"], *step.get("definition", ())]
    known = {change["property"] for change in shown if change["known"]}
    if former := moved_from(step):
        yield f"moved from {former}: its object stays"
    for reason in step["reasons"]:
        if reason["code"] == _DATA_LOST:
            continue
        if reason["code"] == "immutable":
            yield f"{reason['message']}: the update will fail"
        elif (step["kind"] != "create" or reason["code"] == _LOST) and not (
            reason["code"] in _CHANGES and reason["subject"] in known
        ):
            yield reason["message"]


def is_removed(change: Answer) -> bool:
    """Return whether a change removes a value."""
    return change["after"] is None and bool(change["known"])


def change_name(change: Answer) -> str:
    """Return a path like `networks[0].port`; keys that are not identifiers are quoted."""
    text = str(change["property"])
    for part in change["path"]:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if part.replace("-", "_").isidentifier() else f"[{json.dumps(part)}]"
    return text.removeprefix(".")
