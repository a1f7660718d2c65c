"""Random moves in a tree of stacks, together with creations, deletions, changes, imports, and what others do to the
objects between: what is planned happens.
"""

from __future__ import annotations

from collections import Counter
from random import Random, randrange
from typing import Any

import pytest
import yaml

from openstack_emulator.testing import ServedCloud
from tests.api.rest_stacks import Stacks, template
from tests.api.test_moved_below import below

SEEDS = (0, 1, 2, None)
"""Seeds that are always the same, which try all kinds of entries, and one that is new each time."""
NAMES = [f"{above}{name}" for above in ("", "one.", "two.") for name in "abc"]
ROUNDS = 6
KINDS = ("create", "delete", "forget")
Sizes = dict[str, int]


def definition(sizes: Sizes) -> tuple[dict[str, Any], dict[str, str]]:
    """The template and the files of a tree that has volumes of these sizes, by path."""

    def inside(above: str) -> dict[str, Any]:
        return {
            path.removeprefix(above): {"type": "OS::Cinder::Volume", "properties": {"size": size}}
            for path, size in sizes.items()
            if path.startswith(above) and "." not in path.removeprefix(above)
        }

    nested = {name: {"type": f"{name}.yaml"} for name in ("one", "two")}
    texts = {f"{name}.yaml": yaml.safe_dump(template(**inside(f"{name}."))) for name in nested}
    return template(**nested, **inside("")), texts


def rearranged(chance: Random, sizes: Sizes) -> tuple[Sizes, dict[str, str]]:
    """Other sizes by path, and the moves of those that keep their objects, without cycles."""
    kept = [path for path in sizes if chance.random() < 0.85]
    free = [path for path in NAMES if path in kept or path not in sizes]
    moves: dict[str, str] = {}
    for path in kept:
        target = chance.choice(free)
        if target != path and target not in moves.values():
            moves[path] = target
    while refused := [path for path, target in moves.items() if target in sizes and not _leaves(target, path, moves)]:
        for path in refused:
            del moves[path]
    settled = {**{path: path for path in kept if path not in moves}, **moves}
    after = {target: sizes[source] + chance.randint(0, 1) for source, target in settled.items()}
    for path in NAMES:
        if path not in sizes and path not in after and chance.random() < 0.2:
            after[path] = 1
    return after, moves


def _leaves(path: str, without: str, moves: dict[str, str]) -> bool:
    """Whether a resource leaves a path, and not in a cycle with the one that is `without` its own path by that."""
    following = path
    while following in moves:
        following = moves[following]
        if following in (path, without):
            return False
    return path in moves


class Volumes:
    """What somebody else does to volumes, without the engine."""

    def __init__(self, served: ServedCloud) -> None:
        token = served.token("demo", "demo")
        shown = served.call("GET", "/identity/v3/auth/tokens", None, token, {"X-Subject-Token": token})
        self._served, self._token = served, token
        project = shown.json["token"]["project"]["id"]
        self._path = f"/volume/v3/{project}/volumes"
        admin, quota = served.token("admin", "admin"), {"quota_set": {"volumes": 100}}
        served.call("PUT", f"/volume/v3/{project}/os-quota-sets/{project}", quota, admin)

    def make(self) -> str:
        made = self._served.call("POST", self._path, {"volume": {"size": 1}}, self._token)
        identifier: str = made.json["volume"]["id"]
        return identifier

    def rename(self, identifier: str, name: str) -> None:
        self._served.call("PUT", f"{self._path}/{identifier}", {"volume": {"name": name}}, self._token)

    def delete(self, identifier: str) -> None:
        assert self._served.call("DELETE", f"{self._path}/{identifier}", None, self._token).status == 202

    def there(self) -> set[str]:
        return {each["id"] for each in self._served.call("GET", self._path, None, self._token).json["volumes"]}


@pytest.mark.parametrize("seed", SEEDS)
def test_plans_are_carried_out(stacks: Stacks, served: ServedCloud, seed: int | None) -> None:
    """In the stack and in those nested in it, objects are moved, imported, forgotten, made, changed and deleted, while
    others rename them.
    """
    chosen = randrange(10**9) if seed is None else seed
    chance, others = Random(chosen), Volumes(served)
    sizes: Sizes = dict.fromkeys(chance.sample(NAMES, 5), 1)
    free = [others.make() for _ in range(3)]
    first, texts = definition(sizes)
    stacks.create(first, files=texts)
    done = Counter[str]()
    for _ in range(ROUNDS):
        had, written = below(stacks), len(stacks.writes())
        after, moves = rearranged(chance, sizes)
        origins = {target: source for source, target in moves.items()}
        stays = {
            path: origins.get(path, path) for path in after if path in origins or (path in sizes and path not in moves)
        }
        gone = sizes.keys() - set(stays.values())
        forgotten = {path for path in sorted(gone - after.keys()) if chance.random() < 0.5}
        imported = {path: free.pop() for path in sorted(after.keys() - stays.keys()) if free and chance.random() < 0.7}
        after |= dict.fromkeys(imported, 1)
        new_definition, texts = definition(after)
        entries: dict[str, Any] = {
            "moved": [{"from": source, "to": target} for source, target in moves.items()],
            "imports": [{"to": path, "id": identifier} for path, identifier in imported.items()],
            "removed": [{"from": path, "destroy": False} for path in sorted(forgotten)],
        }
        message = f"seed {chosen}: {sizes} -> {after} with {entries}"
        for path in sorted(stays.values()):
            if chance.random() < 0.2:
                others.rename(had[path], f"other-{chance.random()}")
        renamed = len(stacks.writes()) - written

        plan = stacks.plan(new_definition, entries, files=texts)
        stack = stacks.update(new_definition, entries, files=texts)

        assert stack["stack_status"] == "UPDATE_COMPLETE", message
        now = below(stacks)
        assert {path: now[path] for path in stays} == {path: had[source] for path, source in stays.items()}, message
        assert {path: now[path] for path in imported} == imported, message
        assert set(now) == {"one", "two", *after}, message
        leaves = [step for step in plan["steps"] if step["path"] not in ("one", "two")]
        assert {step["path"]: step["moved_from"] for step in leaves if "moved_from" in step} == origins, message
        assert {step["path"]: step["imports"] for step in leaves if "imports" in step} == imported, message
        kinds = {kind: {step["path"] for step in leaves if step["kind"] == kind} for kind in KINDS}
        assert kinds["create"] == after.keys() - stays.keys() - imported.keys(), message
        assert kinds["delete"] == gone - forgotten and kinds["forget"] == forgotten, message
        assert {had[path] for path in forgotten} <= others.there(), message
        calls = [call.partition(" ")[0] for call in stacks.writes()[written + renamed :]]
        grown = sum(after[path] > sizes[source] for path, source in stays.items())
        assert calls.count("DELETE") == len(kinds["delete"]), message
        assert calls.count("POST") == len(kinds["create"]) + grown, message
        assert stacks.plan(new_definition, entries, files=texts)["summary"].keys() == {"keep"}, message
        free += [had[path] for path in sorted(forgotten) if sizes[path] == 1]
        done.update(moved=len(moves), imported=sum("." in path for path in imported), forgotten=len(forgotten))
        sizes = after
    assert seed is None or (done["moved"] >= ROUNDS and done["imported"] + done["forgotten"]), (
        done
    )  # something was tried


@pytest.mark.parametrize("seed", SEEDS)
def test_plans_are_carried_out_beside_other_operations(stacks: Stacks, served: ServedCloud, seed: int | None) -> None:
    """Resources of the stack itself are moved, imported and forgotten, while others delete and rename objects."""
    chosen = randrange(10**9) if seed is None else seed
    chance, others = Random(chosen), Volumes(served)
    names = [f"v{number}" for number in range(7)]
    free = [others.make() for _ in range(2)]
    present = set(chance.sample(names, 4))
    volume = {"type": "OS::Cinder::Volume", "properties": {"size": 1}}
    stacks.create(template(**dict.fromkeys(sorted(present), volume)))
    done = Counter[str]()
    for _ in range(ROUNDS):
        had = stacks.objects()
        lost = chance.choice(sorted(present)) if chance.random() < 0.5 else None
        if lost is not None:
            others.delete(had[lost])
        for name in sorted(present - {lost}):
            if chance.random() < 0.3:
                others.rename(had[name], f"other-{chance.random()}")
        targets = chance.sample([name for name in names if name not in present], 2)
        moved = dict(zip(chance.sample(sorted(present), 1), targets[:1], strict=True))
        gone = chance.choice(sorted(present - moved.keys()))
        forgotten = gone if chance.random() < 0.5 and gone != lost else None
        imported = {targets[1]: free.pop()} if free and chance.random() < 0.7 else {}
        after = (present - moved.keys() - {gone}) | {*moved.values(), *imported}
        for name in names:
            if name not in present | after and len(after) < 5 and chance.random() < 0.5:
                after.add(name)
        entries: dict[str, Any] = {
            "moved": [{"from": source, "to": target} for source, target in moved.items()],
            "imports": [{"to": name, "id": identifier} for name, identifier in imported.items()],
            "removed": [{"from": forgotten, "destroy": False}] if forgotten else [],
        }
        new_definition, there = template(**dict.fromkeys(sorted(after), volume)), others.there()
        message = f"seed {chosen}: {sorted(present)} -> {sorted(after)} with {entries}, lost {lost}"

        plan = stacks.plan(new_definition, entries, refresh="all")
        stack = stacks.update(new_definition, entries, refresh="all")

        assert stack["stack_status"] == "UPDATE_COMPLETE", message
        now = stacks.objects()
        makes = {step["path"]: step for step in plan["steps"] if step["kind"] not in ("delete", "forget")}
        ends = {step["path"]: step["kind"] for step in plan["steps"] if step["kind"] in ("delete", "forget")}
        origins = {target: source for source, target in moved.items()}
        assert now.keys() == after, message
        for name in after:
            source, step = origins.get(name, name), makes[name]
            if name in imported:
                assert now[name] == imported[name] and step["imports"] == imported[name], message
            elif source in present and source != lost:
                assert now[name] == had[source] and step["kind"] in ("keep", "update"), (message, step)
            else:
                assert step["kind"] == "create" and now[name] not in there, (message, step)
            assert step.get("moved_from") == origins.get(name) or source == lost, (message, step)
        remains = {moved.get(lost, lost)} if lost is not None else set[str]()  # what is recorded of a lost object
        assert ends == {gone: "forget" if forgotten else "delete", **dict.fromkeys(remains, "delete")}, (message, ends)
        assert (had[gone] in others.there()) == (forgotten is not None), message
        if forgotten is not None:
            free.append(had[gone])
        done.update(lost=lost is not None, imported=len(imported), forgotten=forgotten is not None)
        assert stacks.plan(new_definition, entries, refresh="all")["summary"].keys() == {"keep"}, message
        present = after
    assert seed is None or all(done[what] for what in ("lost", "imported", "forgotten")), done
