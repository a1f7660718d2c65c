"""Generate the pages of resource types, their lists, and the table of how types recover after a crash.

The examples are the first cases of `testing/simulation/cases.py`, which tests deploy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.registry import Registry
from stoker.plugins.resource import ResourceType
from stoker_reference.markdown import page, sentence, table
from stoker_reference.type_page import TypePage, file_name, link, way_of
from stoker_reference.type_references import users
from testing.simulation.cases import creating, example, local

GROUPS: Mapping[str, str] = {
    "OS::Nova": "Servers",
    "OS::Neutron": "Networks",
    "OS::Octavia": "Load balancers",
    "OS::Cinder": "Volumes",
    "OS::Glance": "Images",
    "OS::Heat": "Groups, software configuration and values",
    "OS::Aodh": "Alarms",
    "OS::Barbican": "Secrets",
    "OS::Blazar": "Reservations",
    "OS::Congress": "Policies",
    "OS::Designate": "DNS",
    "OS::Ironic": "Bare metal",
    "OS::Keystone": "Identity",
    "OS::Magnum": "Container clusters",
    "OS::Manila": "Shared file systems",
    "OS::Mistral": "Workflows",
    "OS::Murano": "Applications",
    "OS::Swift": "Object storage",
    "OS::Trove": "Databases",
    "OS::Zaqar": "Message queues",
    "OS::Zun": "Containers",
    "AWS": "Types of AWS CloudFormation",
}
"""The groups of types by the start of their names, in the order of the list; a test compares them with the types."""


def pages() -> Iterator[tuple[str, str]]:
    """Yield `(path, content)` of all pages, for the types that the installed packages provide."""
    types = visible(Registry.from_entry_points())
    groups = grouped(types)
    yield "types/index.md", _index(types, groups)
    yield "recovery.md", _recovery(types)
    for group, members in groups.items():
        yield f"types/{file_name(group)}.md", _group(group, {name: types[name] for name in members})
    used, shown = users(types), frozenset(types)
    for name, text in examples(types).items():
        yield f"types/{file_name(name)}.md", TypePage(text, used.get(name, {}), shown).text(name, types[name])


def examples(types: Iterable[str]) -> dict[str, str]:
    """Return the example of each type as YAML."""
    cases = {**creating(), **local()}
    return {name: example(name, cases[name]) for name in types}


def visible(registry: Registry) -> dict[str, ResourceType]:
    """Return the types that templates can use, sorted by name."""
    return {name: kind for name, kind in sorted(registry.types.items()) if kind.support.status != "HIDDEN"}


def grouped(types: Iterable[str]) -> dict[str, list[str]]:
    """Return the names of types by group; types of other packages form groups of their own, after the known ones."""
    found: dict[str, list[str]] = {}
    for name in types:
        found.setdefault(_group_of(name), []).append(name)
    order = list(GROUPS)
    return dict(sorted(found.items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order)))


def _group_of(name: str) -> str:
    return next((group for group in GROUPS if name.startswith(f"{group}::")), name.rpartition("::")[0])


def _title(group: str) -> str:
    return f"{GROUPS[group]} ({group})" if group in GROUPS else group


def _index(types: Mapping[str, ResourceType], groups: Mapping[str, list[str]]) -> str:
    rows = [
        (
            f"[{_title(group)}]({file_name(group)}.md)",
            ", ".join(f"[{name.removeprefix(f'{group}::')}]({file_name(name)}.md)" for name in members),
        )
        for group, members in groups.items()
    ]
    contents = "\n".join(file_name(group) for group in groups)
    return page(
        "Resource types",
        f"The {len(types)} resource types of this version. A cloud offers those types whose service it has; "
        "`openstack orchestration resource type list` shows them.",
        "A type's page has an example, which the tests deploy, its properties and attributes, and the types whose "
        "resources its properties accept. The [support status](/reference/support-status.md) of a type, property or "
        "attribute states releases of Heat. Types that are hidden, since they exist only for old templates, have no "
        "page.",
        "The live value of a property is what the object has now, which [comparisons with the cloud]"
        "(/explanation/updates.md#comparing-with-the-cloud) read: it is *listed* with the object, *fetched* by one "
        "more request, *never* readable, or *managed* by Stoker, so that no service has it.",
        table(("Group", "Types"), rows),
        f"```{{toctree}}\n:hidden:\n\n{contents}\n```",
    )


def _group(group: str, types: Mapping[str, ResourceType]) -> str:
    entries = [
        f"{link(name)}{' (for administrators)' if kind.for_administrators else ''}\n: {sentence(kind.description)}"
        for name, kind in types.items()
    ]
    contents = "\n".join(file_name(name) for name in types)
    return page(_title(group), "\n\n".join(entries), f"```{{toctree}}\n:hidden:\n\n{contents}\n```")


def _recovery(types: Mapping[str, ResourceType]) -> str:
    """Return the table that the page about recovery includes; types with the same method share a row."""
    ways: dict[Recovery, list[str]] = {}
    for name, kind in types.items():
        ways.setdefault(way_of(kind), []).append(link(name))
        if kind.copy is not None:
            ways.setdefault(way_of(kind.copy), []).append(f"copies of {link(name)}")
    order = list(RecoveryMethod)
    rows = [
        (way.by.value, sentence(way.why), ", ".join(names))
        for way, names in sorted(ways.items(), key=lambda item: (order.index(item[0].by), -len(item[1])))
    ]
    return table(("Found by", "Why nothing is created twice or left behind", "Types"), rows)
