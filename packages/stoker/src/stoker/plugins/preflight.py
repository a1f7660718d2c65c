"""What resource types declare for the checks before the first change: what an object takes of a quota, and conflicts.

A type says with `consumes` which quotas its objects count towards, and with `conflicts` which checks look for what
would make their creation fail. The engine evaluates both for all objects of a plan at once, and reads what they ask for
only once. `CHECKS` describes every check.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from stoker.base.errors import StokerError
from stoker.schema.unknown import Unknown, is_unknown

_MOST_ASKED = 50


class Code(StrEnum):
    """The checks, and the result that one could not be made."""

    QUOTA = "quota"
    QUOTA_ORDER = "quota-order"
    OBJECT_LIMIT = "object-limit"
    NAME_TAKEN = "name-taken"
    CIDR_OVERLAP = "cidr-overlap"
    FIXED_ADDRESS = "fixed-address"
    ALLOCATION_POOL = "allocation-pool"
    FLAVOR_IMAGE = "flavor-image"
    AVAILABILITY_ZONE = "availability-zone"
    EXCLUSIVE_PROPERTIES = "exclusive-properties"
    REFUSED_CHANGE = "refused-change"
    SMALLER_DISK = "smaller-disk"
    CAPACITY = "capacity"
    ROLES = "roles"
    TRUST_ROLES = "trust-roles"
    UNKNOWN = "unknown"


class Severity(StrEnum):
    """What a finding means for the change."""

    FAIL = "fail"
    """The change is refused before it begins."""
    WARN = "warn"
    """The change may fail; it is not refused."""


@dataclass(frozen=True, slots=True)
class CheckText:
    """A row of the table of checks: what a finding means, and when there is one."""

    severity: Severity
    text: str


CHECKS: Mapping[Code, CheckText] = {
    Code.QUOTA: CheckText(
        Severity.FAIL,
        "What is in use and what the whole plan makes exceeds a quota of the project. Objects that are replaced and "
        "their replacements count together, as they exist side by side; what is deleted only after everything is made "
        "frees nothing.",
    ),
    Code.QUOTA_ORDER: CheckText(
        Severity.WARN,
        "The plan fits into a quota only if objects that it deletes or makes smaller go before others are made.",
    ),
    Code.OBJECT_LIMIT: CheckText(Severity.FAIL, "An object is larger than the project's limit for one object."),
    Code.NAME_TAKEN: CheckText(
        Severity.FAIL, "An object with a name that must be unique exists already, or the plan makes two with one name."
    ),
    Code.CIDR_OVERLAP: CheckText(
        Severity.FAIL, "The range of a subnet overlaps with another subnet of its network, or of its router."
    ),
    Code.FIXED_ADDRESS: CheckText(
        Severity.FAIL, "A fixed address is outside of its subnet, or is in use, or is given to two ports of the plan."
    ),
    Code.ALLOCATION_POOL: CheckText(
        Severity.FAIL,
        "An allocation pool is outside of its subnet, has the gateway in it, or overlaps another.",
    ),
    Code.FLAVOR_IMAGE: CheckText(Severity.FAIL, "The disk or the memory of a flavor is too small for the image."),
    Code.AVAILABILITY_ZONE: CheckText(Severity.FAIL, "An availability zone does not exist or is not available."),
    Code.EXCLUSIVE_PROPERTIES: CheckText(
        Severity.FAIL, "Properties exclude each other, one of which refers to an object that the plan makes."
    ),
    Code.REFUSED_CHANGE: CheckText(
        Severity.FAIL, "A change that the service never makes, such as that of a volume to a smaller size."
    ),
    Code.SMALLER_DISK: CheckText(
        Severity.WARN,
        "A server gets a flavor with a smaller disk, which most hypervisors refuse after the change has begun.",
    ),
    Code.CAPACITY: CheckText(
        Severity.WARN,
        "The hosts have no room for all new servers of a flavor, according to Placement. By default, Placement tells "
        "that to administrators only; of others, nothing is said. Other servers can come or go before the change, and "
        "what the plan deletes first is not counted.",
    ),
    Code.ROLES: CheckText(
        Severity.WARN,
        "The token has none of the roles that the default policy of a service asks for. The operator of the service "
        "may have another policy, which no client can read.",
    ),
    Code.TRUST_ROLES: CheckText(
        Severity.FAIL,
        "The user lacks a role that the operator has trusts delegate (`trusts_delegated_roles`), so that Stoker cannot "
        "act for the user later.",
    ),
    Code.UNKNOWN: CheckText(
        Severity.WARN,
        "A check could not be made, since a service refused to answer or did not answer in time, or since a value is "
        "known only later.",
    ),
}


class NotRead(StokerError):
    """A service did not tell what a check asked for; the message says what and why, `status` is that of its answer."""

    status: int | None = None


class Facts(Protocol):
    """What the services say. Equal questions are asked once, however many objects need the answer."""

    project_id: str | None
    role_names: tuple[str, ...]

    async def get(self, service: str, path: str) -> Any:
        """Return the body of a GET response. Raises NotRead."""

    async def list(
        self, service: str, path: str, key: str, params: Mapping[str, Any] | None = None
    ) -> Sequence[Mapping[str, Any]]:
        """Return all items of a collection. Raises NotRead."""

    async def headers(self, service: str, path: str) -> Mapping[str, str]:
        """Return the headers of the response to HEAD, with names in lower case. Raises NotRead."""


def portions(values: Iterable[str]) -> Iterator[list[str]]:
    """Yield the distinct values in portions that fit into the filter of a list: a longer query may not fit a URL."""
    identifiers = sorted(set(values))
    for start in range(0, len(identifiers), _MOST_ASKED):
        yield identifiers[start : start + _MOST_ASKED]


class Checked(Protocol):
    """The declarations of a resource type (`ResourceType`) that the checks use."""

    @property
    def consumes(self) -> tuple[Consumption, ...]:
        """What an object takes of quotas."""

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """The checks of objects."""

    @property
    def service(self) -> str | None:
        """The service that makes the objects."""

    @property
    def for_administrators(self) -> bool:
        """Whether the default policy lets only administrators make them."""

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of which the default policy asks for one; empty for any role."""

    @property
    def roles_asked_at(self) -> str:
        """The path that users without these roles may not read; `{project}` is the project's ID."""


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """One resource of a plan.

    `properties` are in the form that the type's methods receive; values can be unknown. `makes` is true for a new
    object. `former` is the resource as recorded, None for a new one. `neighbours` are planned resources of the same
    stack by name, at least those with checks and those that they refer to; `leaving` are the IDs of all objects that
    the plan replaces or removes: they may go before a new object is made. `path` are the names from the root stack's
    resource on, joined by dots.
    """

    path: str
    name: str
    type: Checked
    properties: Mapping[str, Any]
    makes: bool
    physical_id: str | None = None
    former: Planned | None = None
    neighbours: Mapping[str, Planned] = field(default_factory=dict, repr=False)
    leaving: Collection[str] = field(default=(), repr=False)

    def known(self, name: str) -> Any:
        """Return the value of a property; None if it is unknown or not given."""
        value = self.properties.get(name)
        return None if is_unknown(value) else value

    def referred(self, value: object) -> Planned | None:
        """Return the resource of the same stack that an unknown value is the reference to; None if it is none."""
        if not isinstance(value, Unknown) or len(value.sources) != 1:
            return None
        resource, attribute, *path = next(iter(value.sources))
        return self.neighbours.get(str(resource)) if attribute is None and not path else None

    def is_object(self, value: object) -> bool:
        """Return whether a value is given and is certainly not null: known, or the reference to an object."""
        return value is not None and (not is_unknown(value) or self.referred(value) is not None)


@dataclass(frozen=True, slots=True)
class Allowance:
    """How much of a quota a project may use, -1 for any amount, and how much it uses."""

    limit: int
    used: int = 0


@dataclass(frozen=True, slots=True)
class Quota:
    """A quota. `name` is that of the service; `label` says what is counted. `read` reads it, with its neighbors.

    With `of_each`, it limits each object instead of their sum.
    """

    service: str
    name: str
    label: str
    read: Callable[[Facts], Awaitable[Mapping[str, Allowance]]]
    of_each: bool = False


Amount = Callable[[Planned, Facts], Awaitable[int | None]]
"""Returns how much of a quota an object takes; None if that is not known yet. Raises NotRead."""


@dataclass(frozen=True, slots=True)
class Consumption:
    """What an object takes of a quota; `amount` is None where it counts as one. `at` is the property that decides about
    it, "" for none.

    An object takes nothing if the property `owner` names another project, "" for objects without such a property.
    `variant` returns the suffix of the quota's name, for quotas that exist per kind of object; None for an object
    without such a kind.
    """

    quota: Quota
    amount: Amount | None = None
    at: str = ""
    owner: str = ""
    variant: Callable[[Planned, Facts], Awaitable[str | None]] | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """What a check has found: about which resource, at which place of its properties, and what to do."""

    planned: Planned
    at: tuple[str | int, ...]
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Conflict:
    """A check of the planned resources of a type. `find` yields the problems. Raises NotRead.

    It gets the resources of which no object is recorded: the objects of the others may be in their own way. With
    `of_changes`, it gets those whose object is changed in place instead; `former` has the values before.
    """

    code: Code
    find: Callable[[Sequence[Planned], Facts], AsyncIterator[Problem]]
    of_changes: bool = False


def used_and_reserved(row: Mapping[str, Any], used: str) -> Allowance:
    """Return the quota in a row with `limit`, `reserved` and the key `used`."""
    return Allowance(int(row["limit"]), int(row.get(used) or 0) + int(row.get("reserved") or 0))


def counted(
    service: str, path: str, limits: str, lists: Mapping[str, tuple[str, str]], owner: str = ""
) -> Callable[[str], Callable[[Facts], Awaitable[Mapping[str, Allowance]]]]:
    """Return readers for a service that tells limits only: what is used is counted in lists of the project.

    `path` is that of the limits, with `{project}` in it, `limits` the key around them in the body, "" for none. `lists`
    are the path and the key of the list to count, by the name of the quota; `owner` is the parameter that selects the
    project's own objects, "" where a list has no others. The reader for a quota reads its list only.
    """

    def reader(name: str) -> Callable[[Facts], Awaitable[Mapping[str, Allowance]]]:
        async def read(facts: Facts) -> Mapping[str, Allowance]:
            body = await facts.get(service, path.format(project=facts.project_id or ""))
            limit = int((body[limits] if limits else body).get(name, -1))
            if limit < 0:
                return {name: Allowance(-1)}
            listed, key = lists[name]
            own = {owner: facts.project_id} if owner else None
            return {name: Allowance(limit, len(await facts.list(service, listed, key, own)))}

        return read

    return reader


def size(name: str) -> Amount:
    """Return the amount that a property says; nothing is known if it is not given."""

    async def amount(planned: Planned, facts: Facts) -> int | None:
        value = planned.known(name)
        return None if value is None else int(value)

    return amount
