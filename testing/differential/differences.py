"""The differences between two plays of a script: deliberate ones, known ones that are to be mended, and new ones."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from testing.differential.player import Played
from testing.differential.script import Script
from testing.differential.uniform import hidden

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests" / "emulator" / "recorded"
DECLARED = RECORDED / "differences.yaml"
KNOWN = RECORDED / "known.json"
ABSENT = "(absent)"
MACHINE_PATH = r"/(home|opt|root|site-packages|usr|var|work)/"


@dataclass(frozen=True)
class Difference:
    """One place of an answer: `status`, `headers.location`, `body.network.mtu`, `body.networks[].id`."""

    step: str
    where: str
    real: str
    emulated: str

    def __str__(self) -> str:
        return f"{self.step}: {self.where}: real {self.real}, emulated {self.emulated}"


@dataclass(frozen=True)
class Declared:
    """Deliberate differences: the steps, or all without any, the places of their answers, and the reason."""

    steps: Sequence[str]
    where: Sequence[str]
    reason: str

    def __str__(self) -> str:
        return f"{', '.join(self.steps) or 'all steps'}: {', '.join(self.where)}"

    def covers(self, found: Difference) -> bool:
        """Whether this is one of the differences."""
        return found.where in self.where and (not self.steps or found.step in self.steps)

    def unused(self, found: Iterable[Difference]) -> Iterator[str]:
        """Yield the steps and the places that none of the differences has."""
        covered = [one for one in found if self.covers(one)]
        steps, places = {one.step for one in covered}, {one.where for one in covered}
        yield from (f"{step}: {', '.join(self.where)}" for step in self.steps if step not in steps)
        yield from (f"{', '.join(self.steps) or 'all steps'}: {where}" for where in self.where if where not in places)


def write(name: str, played: Played) -> str:
    """Return a recording: JSON with a line for each step."""
    lines = [
        f"{json.dumps(step)}:{json.dumps(answer, sort_keys=True, separators=(',', ':'), ensure_ascii=False)}"
        for step, answer in played.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read(script: Script) -> Played:
    """Return the recording of a script, without what the script says is opaque."""
    recorded: Played = json.loads((RECORDED / f"{script.name}.json").read_text(encoding="utf-8"))
    return {step: hidden(answer, script.opaque) for step, answer in recorded.items()}


def private(text: str, *secrets: str) -> str | None:
    """Return what a recording must not contain: one of the secrets, or a path of the machine; None without any."""
    found = re.search("|".join([MACHINE_PATH, *map(re.escape, secrets)]), text)
    return found[0] if found else None


def load(file: Path) -> dict[str, Any]:
    """Return the data of a file with differences, by script."""
    text = file.read_text(encoding="utf-8")
    listed: dict[str, Any] = json.loads(text) if file.suffix == ".json" else yaml.load(text, Loader=yaml.CSafeLoader)
    return listed


def declared(name: str) -> list[Declared]:
    """Return the deliberate differences of a service."""
    document = load(DECLARED)
    return [
        Declared(_listed(entry.get("steps", [])), _listed(entry["where"]), entry["reason"])
        for entry in document.get(name, ())
    ]


def _listed(addresses: str | list[str]) -> list[str]:
    return [addresses] if isinstance(addresses, str) else addresses


def differences(real: Played, emulated: Played) -> list[Difference]:
    """Return all differences, each once."""
    found: dict[Difference, None] = {}
    for step, answer in real.items():
        for where, one, two in _compared("", answer, emulated.get(step, {})):
            found[Difference(step, where, _shown(one), _shown(two))] = None
    return list(found)


_NOTHING = object()


def _compared(where: str, real: Any, emulated: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(real, dict) and isinstance(emulated, dict):
        for key in sorted(real.keys() | emulated.keys()):
            yield from _compared(
                f"{where}.{key}" if where else key, real.get(key, _NOTHING), emulated.get(key, _NOTHING)
            )
    elif isinstance(real, list) and isinstance(emulated, list) and len(real) == len(emulated):
        for one, two in zip(real, emulated, strict=True):
            yield from _compared(f"{where}[]", one, two)
    elif type(real) is not type(emulated) or real != emulated:
        yield where, real, emulated


def _shown(value: Any) -> str:
    return ABSENT if value is _NOTHING else json.dumps(value, ensure_ascii=False)[:700]


@dataclass(frozen=True)
class ComparisonResult:
    """What a comparison has found.

    new: differences that are neither declared nor known. gone: declared steps and places, and known differences, that
    there are no more.
    known: those that nobody has mended yet.
    """

    new: Sequence[Difference]
    gone: Sequence[str]
    known: Sequence[Difference]


def compared(name: str, found: Iterable[Difference]) -> ComparisonResult:
    """Compare the differences of a script with those that are declared or known."""
    expected, open_ones = declared(name), known(name)
    listed = list(found)
    undeclared = [one for one in listed if not any(entry.covers(one) for entry in expected)]
    gone = [unused for entry in expected for unused in entry.unused(listed)]
    places = {(one.step, one.where) for one in undeclared}
    gone += [f"{step}: {where}" for step, where in sorted(open_ones - places)]
    new = [one for one in undeclared if (one.step, one.where) not in open_ones]
    return ComparisonResult(new, gone, [one for one in undeclared if one not in new])


def known(name: str) -> set[tuple[str, str]]:
    """Return the step and place of each difference of a script that is to be mended."""
    listed = load(KNOWN).get(name, {})
    return {(step, where) for step, places in listed.items() for where in places}


def write_known(name: str, found: Iterable[Difference]) -> None:
    """Take the undeclared differences of a script down as known ones."""
    expected = declared(name)
    places: dict[str, list[str]] = {}
    for one in found:
        if not any(entry.covers(one) for entry in expected):
            places.setdefault(one.step, []).append(one.where)
    listed = load(KNOWN)
    listed = {**listed, name: {step: sorted(set(wheres)) for step, wheres in sorted(places.items())}}
    listed = {script: steps for script, steps in sorted(listed.items()) if steps}
    KNOWN.write_text(json.dumps(listed, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
