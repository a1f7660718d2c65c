"""OS::Congress::PolicyRule"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from stoker.plugins.exclusion import Exclusion
from stoker.plugins.outcome import Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call
from stoker.resources.base import Collection, RestResource, found_well
from stoker.resources.congress.policy import SERVICE
from stoker.resources.declare import length
from stoker.resources.wire import NOT_SENT
from stoker.schema.property import Attribute, Property, Type

_BLANK = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\s+""")


def _are_equal_rules(properties: Mapping[str, object], replacement: Mapping[str, object]) -> bool:
    """Return whether a policy cannot contain both rules."""
    same_policy = properties["policy"] == replacement["policy"]
    return same_policy and _is_same_rule(str(properties["rule"]), str(replacement["rule"]))


class PolicyRule(RestResource):
    """A rule of a policy. Congress cannot change rules, and a policy contains an equal one once.

    Therefore a rule of which only the name or the comment changes is deleted before its replacement is created.
    """

    type_name = "OS::Congress::PolicyRule"
    description = "A rule of a policy of Congress, in Datalog. For administrators. Heat has no such type."
    for_administrators = True
    exclusion = Exclusion(_are_equal_rules)
    collection = Collection(
        SERVICE, "/policies/{policy}/rules", members="results", created_field=None, owner=None, filters_names=False
    )
    recovery = Recovery(
        RecoveryMethod.NAME,
        "Unless the template gives a name, the rule has the physical name, which is unique. A rule with a name that "
        "the template gives must also be equal, which a policy contains once, and belong to no other resource.",
    )

    properties = {
        "policy": Property(
            description="The policy, by name or ID.", required=True, wire=NOT_SENT, reference="congress.policy"
        ),
        "rule": Property(
            description='The rule: `error(id) :- nova:servers(id=id, status="ERROR")`.',
            required=True,
            constraints=length(1, 65535),
        ),
        "name": Property(description="Name of the rule.", constraints=length(1, 255)),
        "comment": Property(description="What the rule is for."),
    }
    attributes = {
        "name": Attribute("Name of the rule.", Type.STRING),
        "rule": Attribute("The rule as the service writes it.", Type.STRING),
        "comment": Attribute("What the rule is for.", Type.STRING),
    }

    def made_by(self, call: Call, body: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
        plain = {name: value for name, value in body.items() if name != "rule"}
        return super().made_by(call, plain, item) and _is_same_rule(item["rule"], body["rule"])

    def differences(self, call: Call, shown: Mapping[str, object]) -> dict[str, object]:
        found = super().differences(call, shown)
        if "rule" in found and _is_same_rule(str(found["rule"]), call.properties["rule"]):
            del found["rule"]
        return found

    async def check(self, call: Call) -> Outcome:
        return await found_well(self, call)

    # -- replacing ------------------------------------------------------------------------------------------------


def _is_same_rule(one: str, other: str) -> bool:
    """Return whether two rules differ in blanks only: the service writes rules in its own form."""
    return _plain(one) == _plain(other)


def _plain(rule: str) -> str:
    """Return a rule without the blanks outside of strings; those that separate words are kept as one."""
    spaced = _BLANK.sub(lambda found: found[1] or " ", rule.strip())
    return re.sub(r" ?([()\[\],=]|:-) ?", r"\1", spaced)
