"""Whether a service really says that an object does not exist.

A status of 404 alone is no proof. A service whose policy or extensions are not loaded yet, and a proxy in front of a
service that restarts, answer it for objects that exist; Neutron does so for an object that the caller may not see. Such
a response is generic: it names nothing. A response to a request for an object is a proof if its message contains the
ID or name of the object, as those of almost all services do, or if it has one of the error codes or sentences of
`FORMS`. After any other, the service is asked again: for the object, for the objects that contain it, and for the list
of a service whose lists are complete. The forms are those of the real services (docs/reference/real-services.md), which
the tests of the emulator record.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any
from urllib.parse import unquote

from stoker.base.errors import CloudError, Unconfirmed
from stoker.cloud.errors import request_id_of, words
from stoker.cloud.paging import next_page, query_of
from stoker.cloud.refusals import error_code
from stoker.cloud.transport import Answer

CloudRefresh = Callable[[str, str, Mapping[str, Any] | None], Awaitable[Answer]]
"""Sends a request without a body, `(method, path, query)`, and returns the response, whatever its status."""

_CHANGES = frozenset({"PATCH", "POST", "PUT"})
_MOST_PAGES = 100
_GENERIC = frozenset(
    {
        "",
        "404 not found",
        "not found",
        "page not found",
        "resource could not be found",
        "the requested resource could not be found",
        "the requested url was not found on the server if you entered the url manually please check your spelling and "
        "try again",
        "the resource could not be found",
    }
)
"""Messages of web frameworks and servers for a path that leads nowhere, in lower case and without punctuation."""


@dataclass(frozen=True, slots=True)
class Forms:
    """How a service says that an object does not exist, other than by a message that names the object.

    `codes` are the endings of its error codes, `sentences` complete messages. `lists` tells whether a successful list
    without an object proves that it does not exist: the list contains all that the caller may see, and refuses a caller
    who may not list. `look` is the method that asks for one object, `prefix` the parameter that limits a list to names.
    """

    codes: tuple[str, ...] = ()
    sentences: frozenset[str] = frozenset()
    lists: bool = False
    look: str = "GET"
    prefix: str = ""


FORMS: Mapping[str, Forms] = {
    **dict.fromkeys(
        ("aodh", "blazar", "cinder", "congress", "heat-cfn", "ironic", "keystone", "magnum", "mistral",
         "murano", "neutron", "nova", "octavia", "openstack", "trove", "zaqar", "zun"),
        Forms(),
    ),
    "barbican": Forms(
        sentences=frozenset(
            {
                "Consumer not found.",
                "Not Found. Provided container id is invalid.",
                "Not Found. Provided order id is invalid.",
                "Not Found. Provided secret id is invalid.",
                "Not Found. Sorry but your container is in another castle.",
                "Not Found. Sorry but your order is in another castle.",
                "Not Found. Sorry but your secret is in another castle.",
                "Order not found.",
                "Project quotas not found.",
                "Secret not found.",
                "Secrets container not found.",
            }
        )
    ),
    "designate": Forms(codes=("_not_found",)),
    "glance": Forms(lists=True),  # only the response for a tag names nothing; the image lists its tags
    "heat": Forms(codes=("EntityNotFound", "SnapshotNotFound")),
    "manila": Forms(sentences=frozenset({"Share type not found."}), lists=True),
    "swift": Forms(lists=True, look="HEAD", prefix="prefix"),
}  # fmt: skip
"""Forms by service. A service that is not here is a plug-in's; its lists count as complete."""

_OF_A_PLUG_IN = Forms(lists=True)


class Evidence(Enum):
    """What a response with status 404 says."""

    NAMED = auto()
    """The object of the request does not exist."""
    SPECIFIC = auto()
    """Something does not exist, but not necessarily that object."""
    NONE = auto()
    """Nothing: the response is generic."""


def evidence_of(service: str, path: str, body: Any) -> Evidence:
    """Return what the body of a response to a request for `path` says."""
    message = words(body) if isinstance(body, Mapping) else None
    if message is None or _plain(message) in _GENERIC:
        return Evidence.NONE
    forms = FORMS.get(service, _OF_A_PLUG_IN)
    code = _code(body)
    if message in forms.sentences or any(code.endswith(ending) for ending in forms.codes):
        return Evidence.NAMED
    return Evidence.NAMED if any(_contains(message, name) for name in _names(path)) else Evidence.SPECIFIC


async def is_absent(
    look: CloudRefresh, service: str, method: str, path: str, answer: Answer, *, expected: bool
) -> bool:
    """Return whether the response with status 404 to `method` `path` says that the object does not exist.

    `expected` means that the caller has asked for the status, and would take it as a proof. A specific refusal of a
    creation or change is about another object, to which the request refers. Raises Unconfirmed.
    """
    evidence = evidence_of(service, path, answer.body)
    if evidence is Evidence.NAMED:
        return True
    subject = path.rpartition("/")[0] if method == "POST" else path
    creates = method == "POST" and not expected and next(_levels(subject), None) is None
    if creates or (method in _CHANGES and evidence is Evidence.SPECIFIC):
        return False
    if await _is_gone(look, service, subject):
        return True
    raise Unconfirmed(service, words(answer.body) or "", request_id_of(answer.headers, answer.body))


async def _is_gone(look: CloudRefresh, service: str, path: str) -> bool:
    """Ask a second time, also for what contains the object. Errors and contradictions leave it unknown: False."""
    forms = FORMS.get(service, _OF_A_PLUG_IN)
    names: list[str] = []
    for parent, name in _levels(path):
        names.append(unquote(name))
        try:
            shown = await look(forms.look, f"{parent}/{name}", None)
            if shown.status < 300:
                return False
            if shown.status == 404 and evidence_of(service, f"{parent}/{name}", shown.body) is Evidence.NAMED:
                return True
            if forms.lists and (listed := await _lists(look, forms, parent, names)) is not None:
                return not listed
        except CloudError:
            return False
    return False


def _levels(path: str) -> Iterator[tuple[str, str]]:
    """Yield the path before its last segment and that segment, then the same for the path before it, and so on."""
    parent = path.partition("?")[0]
    while "/" in parent:
        parent, _, name = parent.rpartition("/")
        if name and not _is_version(name):
            yield parent, name


def _is_version(segment: str) -> bool:
    return segment[:1] == "v" and segment[1:].replace(".", "").isdecimal()


async def _lists(look: CloudRefresh, forms: Forms, parent: str, names: Sequence[str]) -> bool | None:
    """Return whether what is at `parent` contains one of the names, the last of which is the one directly below it.

    None if nothing is shown there, or more than can be read.
    """
    if not forms.prefix and (not parent or _is_version(parent.rpartition("/")[2])):
        return None
    query: Mapping[str, object] | None = {forms.prefix: names[-1], "format": "json"} if forms.prefix else None
    for _ in range(_MOST_PAGES):
        answer = await look("GET", parent, query)
        if answer.status >= 300 or not (answer.body is None or isinstance(answer.body, Mapping | list)):
            return None
        if any(value in names or value.rpartition("/")[2] in names for value in _strings(answer.body)):
            return True
        following = next_page(answer.body)
        if following is None:
            return False
        query = query_of(following)
    return None


def _names(path: str) -> list[str]:
    """Return the segments of a path that can be an object's name or ID: the last, and those before it with a digit."""
    *before, last = [unquote(segment) for segment in path.partition("?")[0].split("/")]
    ids = [segment for segment in before if any(map(str.isdigit, segment)) and not _is_version(segment)]
    return [name for name in (*ids, last) if name]


def _contains(message: str, name: str) -> bool:
    """Return whether a message contains a name as a whole, and not as a part of the URL that was requested."""
    position = message.find(name)
    while position >= 0:
        before, after = message[position - 1 : position], message[position + len(name) : position + len(name) + 1]
        if not (before.isalnum() or before in ("_", "-", "/")) and not (after.isalnum() or after in ("_", "-", "/")):
            return True
        position = message.find(name, position + 1)
    return False


def _plain(message: str) -> str:
    """Return a message in lower case, without markup and punctuation."""
    text = message.lower().replace("<br />", " ")
    return " ".join("".join(sign if sign.isalnum() else " " for sign in text).split())


def _code(body: Mapping[str, object]) -> str:
    """Return the service's name of the error, in the body or in the object that it contains; "" if there is none."""
    own = body.get("type")
    return own if isinstance(own, str) else error_code(body) or ""


def _strings(value: object) -> Iterator[str]:
    """Yield all strings in JSON, without the names of fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
