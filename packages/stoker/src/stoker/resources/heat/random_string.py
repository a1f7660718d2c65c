"""OS::Heat::RandomString"""

from __future__ import annotations

import os
import string
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from stoker.plugins.outcome import Done, Failed, Outcome
from stoker.plugins.resource import AttributeKey, Call, ResourceType, Snapshot
from stoker.resources.declare import between, one_of
from stoker.schema.property import Attribute, Property, Support, Type
from stoker.schema.unknown import has_unknown

CLASSES = {
    "lettersdigits": string.ascii_letters + string.digits,
    "letters": string.ascii_letters,
    "lowercase": string.ascii_lowercase,
    "uppercase": string.ascii_uppercase,
    "digits": string.digits,
    "hexdigits": string.digits + "ABCDEF",
    "octdigits": string.octdigits,
}
_DEFAULT_CLASSES = [{"class": "lettersdigits", "min": 1}]
_BYTES = 8
"""The size of a random number."""

_MINIMUM = Property(Type.INTEGER, "Minimum number of these characters.", default=1, constraints=between(1, 512))


class RandomString(ResourceType):
    """A random string, for passwords and secrets; it stays the same until a property changes."""

    type_name = "OS::Heat::RandomString"
    description = "A random string that stays the same until a property changes."
    support = Support(version="2014.1")
    local = True
    redacted_data = frozenset({"value"})

    properties = {
        "length": Property(
            Type.INTEGER, "Length of the string, in characters.", default=32, constraints=between(1, 512)
        ),
        "sequence": Property(
            description="The class of which all characters are.",
            constraints=one_of(*CLASSES),
            support=Support("HIDDEN", "5.0.0", previous=Support("DEPRECATED", "2014.2")),
        ),
        "character_classes": Property(
            Type.LIST,
            "Classes of characters to choose from.",
            default=_DEFAULT_CLASSES,
            items=Property(
                Type.MAP,
                schema={
                    "class": Property(description="The class.", default="lettersdigits", constraints=one_of(*CLASSES)),
                    "min": _MINIMUM,
                },
            ),
        ),
        "character_sequences": Property(
            Type.LIST,
            "Sets of characters to choose from.",
            items=Property(
                Type.MAP,
                schema={"sequence": Property(description="The characters.", required=True), "min": _MINIMUM},
            ),
        ),
        "salt": Property(description="Any string; changing it replaces the resource, and so the random string."),
    }
    attributes = {"value": Attribute("The random string.", Type.STRING, live=True)}

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        if has_unknown(properties):
            return
        for index, entry in enumerate(properties["character_sequences"] or []):
            if not entry["sequence"]:
                yield f"character_sequences[{index}].sequence: must contain a character"
        least = sum(minimum for _, minimum in alphabets(properties))
        if least > properties["length"]:
            yield f"length: {properties['length']} is less than the sum of the minimums, {least}"

    async def adopt(self, call: Call) -> Outcome:
        return (
            Done()
            if call.data.get("value")
            else Failed("the adoption data does not contain the random string", "Error")
        )

    async def create(self, call: Call) -> Outcome:
        call.data.setdefault("value", random_string(alphabets(call.properties), call.properties["length"]))
        return Done(physical_id=call.physical_name)

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        return {key: call.data.get("value") if key[0] == "value" else None for key in keys}

    def reference_id(self, resource: Snapshot) -> object:
        return resource.data.get("value", resource.name)


def alphabets(properties: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return `(characters, minimum number of them)` in the order of the rules; a repeated character counts once."""
    classes = properties["character_classes"] or []
    if properties["sequence"] is not None:
        former = [{"class": properties["sequence"], "min": 1}]
        classes = former if classes == _DEFAULT_CLASSES else [*classes, *former]
    alphabets_with_minimum = [(entry["sequence"], entry["min"]) for entry in properties["character_sequences"] or []]
    alphabets_with_minimum += [(CLASSES[entry["class"]], entry["min"]) for entry in classes]
    return [("".join(dict.fromkeys(characters)), minimum) for characters, minimum in alphabets_with_minimum]


def random_string(alphabets_with_minimum: list[tuple[str, int]], length: int) -> str:
    """Return `length` random characters with the minimum of each set, the rest from all sets, in random order.

    All random numbers are requested from the system at once, which takes longer than their use. They have 64 bits, so
    that no character is more likely than another by more than a part in 10 to the 16th.
    """
    everything = sorted({character for characters, _ in alphabets_with_minimum for character in characters})
    sets: list[Sequence[str]] = [characters for characters, minimum in alphabets_with_minimum for _ in range(minimum)]
    if everything:
        sets += [everything] * (length - len(sets))
    numbers = memoryview(os.urandom(2 * _BYTES * len(sets))).cast("Q").tolist()
    places, picks = numbers[: len(sets)], numbers[len(sets) :]
    chosen = [characters[pick % len(characters)] for characters, pick in zip(sets, picks, strict=True)]
    return "".join([character for _, character in sorted(zip(places, chosen, strict=True))])
