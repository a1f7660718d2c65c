"""Generate the page about the checks before the first change, from their table and the types' declarations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from stoker.plugins.preflight import CHECKS, Code, Quota
from stoker.plugins.registry import Registry
from stoker_reference.markdown import code, page, section, table


def pages() -> Iterator[tuple[str, str]]:
    """Yield the path and content of the page."""
    types = Registry.from_entry_points().types
    quotas, conflicts = defaultdict[Quota, set[str]](set), defaultdict[Code, set[str]](set)
    for name, kind in types.items():
        for consumption in kind.consumes:
            quotas[consumption.quota].add(name)
        for conflict in kind.conflicts:
            conflicts[conflict.code].add(name)
    yield (
        "preflight.md",
        page(
            "Checks before the first change",
            "[](../how-to/check-before-changes.md) describes when these checks are made. The option "
            "`preflight_skipped` in `heat.conf` names the codes of those that are not made.",
            section("Checks", _checks(conflicts)),
            section("Quotas", _quotas(quotas)),
        ),
    )


def _checks(conflicts: defaultdict[Code, set[str]]) -> str:
    rows = [
        [code(name.value), code(check.severity.value), check.text, _types(conflicts[name])]
        for name, check in CHECKS.items()
    ]
    return table(["Code", "Verdict", "Meaning", "Types"], rows)


def _quotas(quotas: defaultdict[Quota, set[str]]) -> str:
    rows = [
        [quota.service, code(quota.name), quota.label, _types(names)]
        for quota, names in sorted(quotas.items(), key=lambda item: (item[0].service, item[0].name))
    ]
    return table(["Service", "Quota", "What is counted", "Types"], rows)


def _types(names: set[str]) -> str:
    return ", ".join(map(code, sorted(names)))
