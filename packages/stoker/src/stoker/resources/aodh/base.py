"""What all types of Aodh's alarms have in common: actions, the service's body, suspension."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, ClassVar
from urllib.parse import urlencode, urlsplit, urlunsplit

from stoker.plugins.capabilities import Resumable, Suspendable
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call
from stoker.resources.base import Collection, RestResource, found_well, unrecorded
from stoker.resources.declare import between, custom, one_of
from stoker.resources.heat.groups.scaling_policy import SIGNED_URL
from stoker.resources.live_values import Reader
from stoker.resources.wire import without_nulls
from stoker.schema.live import LISTED, same
from stoker.schema.property import Change, Property, Support, Type

OPERATORS = ("le", "ge", "eq", "lt", "gt", "ne")
_STATES = ("alarm", "ok", "insufficient_data")
_COMPARED = ("description", "enabled", "repeat_actions", "severity")
_QUEUE = "trust+zaqar:"
_TRUST = re.compile(r"^(trust\+[a-z]+://)[^/?@]*@")
_PLAIN = (*_COMPARED, "time_constraints")


def _actions(state: str) -> Property:
    return Property(
        Type.LIST,
        f"URLs that Aodh calls when the state becomes {state}; the name of a scaling policy of the stack means "
        "its signed URL.",
        change=Change.UPDATE,
        live=LISTED,
    )


def _queues(state: str) -> Property:
    return Property(
        Type.LIST,
        f"Zaqar queues that get a message when the state becomes {state}.",
        default=[],
        items=Property(Type.STRING, "Name of a queue.", constraints=custom("zaqar.queue")),
        change=Change.UPDATE,
        support=Support(version="8.0.0"),
        live=LISTED,
    )


async def _called(call: Call, state: str) -> list[str]:
    """Return the URLs of the actions for a state."""
    actions = call.properties[f"{state}_actions"] or []
    return [await _url(call, str(action)) for action in actions if action]


def _queue_urls(call: Call, state: str) -> dict[str, str]:
    """Return the URLs of the queues that get a message for a state, by the names of the queues."""
    queues = call.properties[f"{state}_queues"] or []
    return {name: f"trust+zaqar://?{urlencode({'queue_name': name})}" for name in queues if name}


def _normal(urls: Iterable[str]) -> list[str]:
    """Return URLs in the form that Aodh gives them, without the trusts that it adds to them."""
    return [urlunsplit(urlsplit(_TRUST.sub(r"\1", url))) for url in urls]


async def _live_actions(state: str, kind: AlarmResource, call: Call, shown: Mapping[str, Any]) -> object:
    """Return the recorded actions if Aodh calls their URLs and no others, besides those of queues."""
    queues = _normal(_queue_urls(call, state).values())
    live = [url for url in _normal(shown[f"{state}_actions"]) if url not in queues]
    declared = _normal(await _called(call, state))
    return call.properties[f"{state}_actions"] if sorted(live) == sorted(declared) else live


async def _live_queues(state: str, kind: AlarmResource, call: Call, shown: Mapping[str, Any]) -> object:
    """Return the recorded queues that Aodh sends messages to, and the URLs of others."""
    actions, live = _normal(await _called(call, state)), _normal(shown[f"{state}_actions"])
    names = _queue_urls(call, state)
    urls = dict(zip(_normal(names.values()), names, strict=True))
    held = [name for url, name in urls.items() if url in live]
    return held + [url for url in live if url not in (*actions, *urls) and url.startswith(_QUEUE)]


SHARED: Mapping[str, Property] = {
    "description": Property(description="Description of the alarm.", change=Change.UPDATE),
    "enabled": Property(Type.BOOLEAN, "Whether Aodh evaluates the alarm.", default="true", change=Change.UPDATE),
    "repeat_actions": Property(
        Type.BOOLEAN,
        "Whether the actions are called at each evaluation, instead of at changes of the state only.",
        default="true",
        change=Change.UPDATE,
    ),
    "severity": Property(
        description="Severity of the alarm.",
        default="low",
        constraints=one_of("low", "moderate", "critical"),
        change=Change.UPDATE,
        support=Support(version="5.0.0"),
    ),
    "time_constraints": Property(
        Type.LIST,
        "Periods in which the alarm is evaluated; always, if there are none.",
        default=[],
        items=Property(
            Type.MAP,
            "A period that recurs.",
            schema={
                "name": Property(description="Name of the period.", required=True),
                "start": Property(
                    description="When the period begins, as a cron expression.",
                    required=True,
                    constraints=custom("cron_expression"),
                ),
                "description": Property(description="Description of the period."),
                "duration": Property(
                    Type.INTEGER, "Length of the period in seconds.", required=True, constraints=between(0)
                ),
                "timezone": Property(
                    description="Time zone of the cron expression (Europe/Berlin); UTC by default.",
                    constraints=custom("timezone"),
                ),
            },
        ),
        support=Support(version="5.0.0"),
    ),
    **{f"{state}_actions": _actions(state.replace("_", " ")) for state in _STATES},
    **{f"{state}_queues": _queues(state.replace("_", " ")) for state in _STATES},
}
"""The properties of every alarm."""

COMPARISON = Property(
    description="How the value is compared with the threshold.", constraints=one_of(*OPERATORS), change=Change.UPDATE
)
THRESHOLD = Property(Type.NUMBER, "The threshold.", required=True, change=Change.UPDATE)
EVALUATION_PERIODS = Property(Type.INTEGER, "Number of consecutive periods that are evaluated.", change=Change.UPDATE)


class AlarmResource(RestResource, Resumable, Suspendable):
    """An alarm of one of Aodh's types (`alarm_type`), whose rule is under `<alarm_type>_rule` in the body."""

    collection = Collection("aodh", "/alarms", id_field="alarm_id", created_field=None, owner=None)
    recovery = Recovery(RecoveryMethod.NAME, "The name is the physical name, which is unique.")
    alarm_type: ClassVar[str]
    readers: ClassVar[Mapping[str, Reader]] = {
        **{f"{state}_actions": partial(_live_actions, state) for state in _STATES},
        **{f"{state}_queues": partial(_live_queues, state) for state in _STATES},
    }

    @abstractmethod
    def rule(self, properties: Mapping[str, object]) -> dict[str, Any]:
        """Return the rule as Aodh expects it."""

    @property
    def rule_field(self) -> str:
        """The name of the rule's field in the body."""
        return f"{self.alarm_type}_rule"

    async def create_body(self, call: Call) -> dict[str, object]:
        return {**await self._fields(call), "name": call.physical_name, "type": self.alarm_type}

    async def _fields(self, call: Call) -> dict[str, object]:
        given = call.properties
        plain = without_nulls({name: given[name] for name in _PLAIN})
        plain["time_constraints"] = [without_nulls(period) for period in plain["time_constraints"]]
        actions = {f"{state}_actions": await self._called(call, state) for state in _STATES}
        return {**plain, **actions, self.rule_field: self.rule(given)}

    async def _called(self, call: Call, state: str) -> list[str]:
        """Return the URLs that Aodh calls for a state."""
        return [*await _called(call, state), *(url for url in _queue_urls(call, state).values())]

    async def find(self, call: Call) -> str | None:
        query = {"q.field": "name", "q.op": "eq", "q.value": call.physical_name}
        listed = await call.cloud.list("aodh", "/alarms", "", query)
        found = [str(item["alarm_id"]) for item in listed if item["name"] == call.physical_name]
        return min(await unrecorded(call, found), default=None)

    async def update_body(self, call: Call) -> dict[str, object]:
        """Return the whole alarm: Aodh sets the fields that a body lacks to their defaults."""
        shown = await call.cloud.get("aodh", self.member_path(call))
        return {**shown, "description": "", **await self._fields(call)}

    async def check(self, call: Call) -> Outcome:
        return await found_well(self, call)

    async def suspend(self, call: Call) -> Outcome:
        return await self._enable(call, False)

    async def resume(self, call: Call) -> Outcome:
        return await self._enable(call, call.properties["enabled"])

    async def _enable(self, call: Call, enabled: bool) -> Outcome:
        if call.physical_id is not None:
            shown = await call.cloud.get("aodh", self.member_path(call))
            # Not the rule that is shown: Aodh has added its own conditions to a query, and would add them again.
            body = {**shown, self.rule_field: self.rule(call.properties), "enabled": enabled}
            await call.cloud.put("aodh", self.member_path(call), body)
        return Done()

    def differences(self, call: Call, shown: Mapping[str, Any]) -> dict[str, object]:
        call.report.compared.update(_PLAIN, self.properties.keys() - SHARED.keys())
        found = {
            name: shown[name]
            for name in _COMPARED
            if call.properties[name] is not None and not same(call.properties[name], shown[name])
        }
        periods = [without_nulls(period) for period in call.properties["time_constraints"] or ()]
        if not same(periods, shown["time_constraints"]):
            found["time_constraints"] = shown["time_constraints"]
        if not same(self.rule(call.properties), shown.get(self.rule_field)):
            found.update(self.rule_differences(call.properties, shown.get(self.rule_field) or {}))
        return found

    def rule_differences(self, properties: Mapping[str, object], rule: Mapping[str, object]) -> dict[str, object]:
        """Return the properties whose values in the rule differ, with the live values."""
        return {
            name: rule.get(name)
            for name, value in self.rule(properties).items()
            if name in self.properties and not same(value, rule.get(name))
        }


async def _url(call: Call, action: str) -> str:
    """Return an action's URL: the signed URL of a scaling policy of this name in the stack, or the action itself."""
    neighbour = None if "://" in action else await call.engine.neighbours.by_name(action)
    return str(neighbour.data[SIGNED_URL]) if neighbour is not None and SIGNED_URL in neighbour.data else action
