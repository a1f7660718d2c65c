"""The actions of the CloudFormation Query API, from the table that serves them."""

from __future__ import annotations

from collections.abc import Iterator

from stoker.api.cfn.actions import ACTIONS
from stoker.api.cfn.call import Action
from stoker.api.cfn.faults import STATUSES
from stoker.api.cfn.parameters import Parameter
from stoker_reference.markdown import code, page, sentence, table


def pages() -> Iterator[tuple[str, str]]:
    """The page about the Query API."""
    yield (
        "query-api.md",
        page(
            "CloudFormation Query API",
            INTRODUCTION,
            "A parameter in **bold** must be given. Which roles pass a policy rule is decided by `policy.yaml`; the "
            "actions that Heat does not have are decided by the rule of the Heat action that does the like.",
            "## Actions",
            table(
                ("Action", "Policy rule", "Parameters"),
                [(code(name), _rule(action), _taken(action)) for name, action in sorted(ACTIONS.items())],
            ),
            "## What is refused",
            "These have a place in AWS's clients. A request with one of them is refused with `ValidationError` and the "
            "reason.",
            table(("Action", "Parameter", "Reason"), sorted(_refused())),
            "## Error codes",
            table(("Code", "Status"), [(code(name), str(status)) for name, status in STATUSES.items()]),
        ),
    )


INTRODUCTION = """Stoker answers as AWS CloudFormation does (version `2010-05-15`), at `/v1/` of the endpoint that the
catalog calls `cloudformation`. Parameters come in the URL of a GET or as the form of a POST. Requests are signed with
the access key of an EC2 credential, with version 4 or 2 of AWS's signatures; the identity service checks them. A
request counts for 15 minutes from the time at which it says it was signed; one without a time is accepted for
`DescribeStackResource` only, with which agents in servers read their metadata. Version 4 must be for the service
`cloudformation` and, where `region_name_for_services` is set, for that region; or for a service named like the first
label of the host, as boto 2 (in heat-cfntools) signs.

Answers are XML, or with `ContentType=JSON` JSON. Lists are told in pages: the `NextToken` of an answer leads to the
next."""


def _rule(action: Action) -> str:
    return code(action.policy) if isinstance(action.policy, str) else "depends on the parameters"


def _taken(action: Action) -> str:
    taken = {name: each for name, each in action.parameters.items() if not each.refused}
    return ", ".join(_name(name, each) for name, each in taken.items())


def _name(name: str, parameter: Parameter) -> str:
    return f"**{code(name)}**" if parameter.required else code(name)


def _refused() -> Iterator[tuple[str, str, str]]:
    for name, action in ACTIONS.items():
        for parameter, each in action.parameters.items():
            if each.refused:
                yield code(name), code(parameter), sentence(each.refused)
