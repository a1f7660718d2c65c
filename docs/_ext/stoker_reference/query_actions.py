"""Generate the page about the CloudFormation Query API from the table of its actions."""

from __future__ import annotations

from collections.abc import Iterator

from stoker.api.cfn.actions import ACTIONS
from stoker.api.cfn.call import Action
from stoker.api.cfn.faults import STATUSES
from stoker.api.values import Field
from stoker_reference.markdown import code, page, sentence, table


def pages() -> Iterator[tuple[str, str]]:
    """Yield the path and content of the page about the Query API."""
    yield (
        "query-api.md",
        page(
            "CloudFormation Query API",
            INTRODUCTION,
            "Parameters in **bold** are required. `policy.yaml` decides which roles pass a policy rule; the "
            "actions that Heat does not have use the rule of the corresponding Heat action.",
            "## Actions",
            table(
                ("Action", "Policy rule", "Parameters"),
                [(code(name), _rule(action), _taken(action)) for name, action in sorted(ACTIONS.items())],
            ),
            "## Unsupported parameters",
            "AWS's clients can send these parameters. A request with one of them is refused with `ValidationError` and the "
            "reason.",
            table(("Action", "Parameter", "Reason"), sorted(_refused())),
            "## Error codes",
            table(("Code", "Status"), [(code(name), str(status)) for name, status in STATUSES.items()]),
        ),
    )


INTRODUCTION = """Stoker implements the AWS CloudFormation Query API (version `2010-05-15`) at `/v1/` of the endpoint
of type `cloudformation` in the catalog. Parameters are sent in the URL of a GET request or in the form of a POST
request. Requests are signed with the access key of an EC2 credential, with version 4 or 2 of AWS's signatures; the
identity service verifies them. A request is valid for 15 minutes after the time of its signature; a request without a
time is accepted only for `DescribeStackResource`, with which agents in servers read their metadata. Version 4
signatures must be for the service `cloudformation` and, if `region_name_for_services` is set, for that region; or for
a service named like the first label of the host, as boto 2 (in heat-cfntools) signs.

Responses are XML, or JSON with `ContentType=JSON`. Lists are returned in pages: `NextToken` in a response requests the
next page."""


def _rule(action: Action) -> str:
    return code(action.policy) if isinstance(action.policy, str) else "depends on the parameters"


def _taken(action: Action) -> str:
    taken = {name: each for name, each in action.parameters.items() if not each.refused}
    return ", ".join(_name(name, each) for name, each in taken.items())


def _name(name: str, parameter: Field) -> str:
    return f"**{code(name)}**" if parameter.required else code(name)


def _refused() -> Iterator[tuple[str, str, str]]:
    for name, action in ACTIONS.items():
        for parameter, each in action.parameters.items():
            if each.refused:
                yield code(name), code(parameter), sentence(each.refused)
