"""Which guest driver runs the guest of each server, and how users write it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

NONE, NAMESPACE, QEMU = "none", "namespace", "qemu"
DRIVERS = (NONE, NAMESPACE, QEMU)
FLAVOR, IMAGE = "flavor", "image"


@dataclass(frozen=True)
class Selection:
    """Selects the driver of a server by the names of its flavor and image.

    default: the driver of the other servers. flavors, images: the drivers of servers with a flavor or image of a name.

    Raises: ValueError for a driver that does not exist.
    """

    default: str = NONE
    flavors: Mapping[str, str] = field(default_factory=dict)
    images: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for driver in (self.default, *self.flavors.values(), *self.images.values()):
            if driver not in DRIVERS:
                raise ValueError(f"There is no guest driver {driver!r}: choose {', '.join(DRIVERS)}.")

    def driver(self, flavor: str, image: str) -> str:
        """Return the name of a server's driver. flavor, image: their names. The rule of the flavor takes precedence."""
        return self.flavors.get(flavor) or self.images.get(image) or self.default

    def drivers(self) -> list[str]:
        """Return the names of the drivers that run guests, in the order of `DRIVERS`."""
        selected = {self.default, *self.flavors.values(), *self.images.values()}
        return [name for name in DRIVERS if name in selected and name != NONE]

    def require(self, flavors: Collection[str], images: Collection[str]) -> None:
        """Require the flavors and images of the rules to exist. flavors, images: the names of those of the cloud.

        Raises: ValueError.
        """
        for kind, rules, known in ((FLAVOR, self.flavors, flavors), (IMAGE, self.images, images)):
            for name, driver in rules.items():
                if name not in known:
                    raise ValueError(
                        f"--guests {kind}:{name}={driver}: the cloud has no {kind} with the name {name!r}. It has "
                        f"{', '.join(sorted(known)) or 'none'}."
                    )


def parsed(values: Sequence[str]) -> Selection:
    """Return the selection that values of the option `--guests` describe: `DRIVER`, `flavor:NAME=DRIVER`,
    `image:NAME=DRIVER`.

    Raises: ValueError.
    """
    defaults: dict[str, str] = {}
    rules: dict[str, dict[str, str]] = {"": defaults, FLAVOR: {}, IMAGE: {}}
    for value in values:
        target, equals, driver = value.rpartition("=")
        kind, _, name = target.partition(":")
        if kind not in rules or bool(equals) != bool(name):
            raise ValueError(f"{value!r} is not DRIVER, flavor:NAME=DRIVER or image:NAME=DRIVER.")
        if rules[kind].setdefault(name, driver) != driver:
            raise ValueError(f"{value!r}: {rules[kind][name]} is selected for the same servers.")
    return Selection(defaults.get("", NONE), rules[FLAVOR], rules[IMAGE])
