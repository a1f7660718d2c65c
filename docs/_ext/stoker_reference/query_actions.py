"""Generate the page about the CloudFormation Query API from the table of its actions.

The examples in `query_examples.json` are recorded from the API on the emulated cloud; a test compares them.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import botocore.session

from stoker.api.cfn.actions import ACTIONS
from stoker.api.cfn.call import Action
from stoker.api.cfn.faults import STATUSES
from stoker.api.values import Field
from stoker_reference.markdown import code, page, sentence, table

_EXAMPLES = Path(__file__).with_name("query_examples.json")


def pages() -> Iterator[tuple[str, str]]:
    """Yield the path and content of the page about the Query API, and of the page of each action."""
    examples: Mapping[str, Any] = json.loads(_EXAMPLES.read_text(encoding="utf-8"))
    names = sorted(ACTIONS)
    contents = "\n".join(f"{name} <query/{name.lower()}>" for name in names)
    yield (
        "query-api.md",
        page(
            "CloudFormation Query API",
            INTRODUCTION,
            "`policy.yaml` decides which roles pass a policy rule; the actions that Heat does not have use the rule of "
            "the corresponding Heat action. The examples are recorded from boto3 and the API on the emulated cloud: "
            "IDs and times are replaced, and lists are shortened to two members.",
            "## Actions",
            table(
                ("Action", "What it does"),
                [(f"[{code(name)}](/generated/query/{name.lower()}.md)", _summary(name)) for name in names],
            ),
            "## Actions that are missing",
            f"CloudFormation has {len(missing_actions())} more actions, as botocore knows them, which Stoker lacks: "
            f"{', '.join(map(code, missing_actions()))}. A request for one of them is refused with `InvalidAction`.",
            "## Unsupported parameters",
            "AWS's clients can send these parameters. A request with one of them is refused with `ValidationError` and "
            "the reason.",
            table(("Action", "Parameter", "Reason"), sorted(_refused())),
            "## Error codes",
            table(("Code", "Status"), [(code(name), str(status)) for name, status in STATUSES.items()]),
            f"```{{toctree}}\n:hidden:\n\n{contents}\n```",
        ),
    )
    for name in names:
        yield f"query/{name.lower()}.md", _page(name, ACTIONS[name], examples.get(name))


def missing_actions() -> list[str]:
    """Return the actions of CloudFormation that botocore knows and Stoker does not have."""
    known = botocore.session.get_session().get_service_model("cloudformation").operation_names
    return sorted(set(known) - ACTIONS.keys())


def _page(name: str, action: Action, example: Mapping[str, Any] | None) -> str:
    taken = {key: each for key, each in action.parameters.items() if not each.refused}
    return page(
        name,
        _summary(name),
        f"{{.facts}}\nPolicy rule {_rule(action)}",
        "## Parameters\n\n" + "\n".join(f"- {_name(key, each)}" for key, each in taken.items()) if taken else "",
        _example(example) if example else "",
    )


def _summary(name: str) -> str:
    described = inspect.getdoc(ACTIONS[name].handler) or _UNDESCRIBED[name]
    return sentence(described.partition("\n")[0])


_UNDESCRIBED = {"CancelUpdateStack": "Cancel the update of a stack, and roll it back."}


def _example(example: Mapping[str, Any]) -> str:
    sent = urlencode(example["request"]).replace("&", "\n&")
    return f"## Example\n\nRequest:\n\n```text\n{sent}\n```\n\nAnswer:\n\n```xml\n{example['answer']}\n```"


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


def _name(name: str, parameter: Field) -> str:
    return f"{code(name)}, **required**" if parameter.required else code(name)


def _refused() -> Iterator[tuple[str, str, str]]:
    for name, action in ACTIONS.items():
        for parameter, each in action.parameters.items():
            if each.refused:
                yield code(name), code(parameter), sentence(each.refused)
