"""Random moves in a tree of stacks, together with creations, deletions and changes: what is planned happens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from openstack_emulator.testing import ServedCloud
from tests.api.moving import Stacks, template
from tests.api.test_moved_below import below

NAMES = [f"{above}{name}" for above in ("", "one.", "two.") for name in "abc"]
ROUNDS = 6
Sizes = dict[str, int]


@pytest.fixture
def stacks(tmp_path: Path, served: ServedCloud) -> Iterator[Stacks]:
    stacks = Stacks(tmp_path, served)
    yield stacks
    stacks.stop()


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


@pytest.mark.parametrize("seed", range(3))
def test_what_is_planned_happens(stacks: Stacks, seed: int) -> None:
    chance = Random(seed)
    sizes: Sizes = dict.fromkeys(chance.sample(NAMES, 5), 1)
    first, texts = definition(sizes)
    stacks.create(first, files=texts)
    moved = 0
    for _ in range(ROUNDS):
        had, written = below(stacks), len(stacks.writes())
        after, moves = rearranged(chance, sizes)
        wanted, texts = definition(after)
        entries = {"moved": [{"from": source, "to": target} for source, target in moves.items()]}
        said = f"{sizes} -> {after} with {moves}"

        plan = stacks.plan(wanted, entries, files=texts)
        done = stacks.update(wanted, entries, files=texts)

        assert done["stack_status"] == "UPDATE_COMPLETE", said
        now, origins = below(stacks), {target: source for source, target in moves.items()}
        stays = {
            path: origins.get(path, path) for path in after if path in origins or (path in sizes and path not in moves)
        }
        assert {path: now[path] for path in stays} == {path: had[source] for path, source in stays.items()}, said
        assert set(now) == {"one", "two", *after}, said
        leaves = [step for step in plan["steps"] if step["path"] not in ("one", "two")]
        assert {step["path"]: step["moved_from"] for step in leaves if "moved_from" in step} == origins, said
        kinds = {kind: {step["path"] for step in leaves if step["kind"] == kind} for kind in ("create", "delete")}
        assert kinds["create"] == after.keys() - stays.keys(), said
        assert kinds["delete"] == sizes.keys() - set(stays.values()), said
        calls = [call.partition(" ")[0] for call in stacks.writes()[written:]]
        grown = sum(after[path] > sizes[source] for path, source in stays.items())
        assert calls.count("DELETE") == len(kinds["delete"]), said
        assert calls.count("POST") == len(kinds["create"]) + grown, said
        assert stacks.plan(wanted, entries, files=texts)["summary"].keys() == {"keep"}, said
        sizes, moved = after, moved + len(moves)
    assert moved >= ROUNDS  # else nothing was tried
