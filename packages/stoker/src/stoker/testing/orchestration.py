"""The REST API of an engine for that engine itself: its stacks have others in the same cloud (`OS::Heat::Stack`).

The application is that of real API processes, which waits for engines on threads of its own. There are no threads
here, so it waits for nothing: each request is served again and again, each time with one answer of the engine more,
until the application has all that it asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from io import BytesIO
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes
from wsgiref.util import setup_testing_defaults

from openstack_emulator.core.faults import Fault
from openstack_emulator.core.http import Request, Response
from stoker import __version__
from stoker.base.context import RequestContext
from stoker.contract.request import Answer
from stoker.contract.request import Request as Asked
from stoker.engine.running.stop import RESOURCE
from stoker.rpc.contract import EngineService, Reply, answer_of, json_copy, reply_of, unpacked

if TYPE_CHECKING:
    from stoker.api.auth import WSGIApplication

MOUNT = "/orchestration"
"""The first part of the path of its requests."""
URL = f"http://stoker{MOUNT}/v1/%(tenant_id)s"
"""Its URL in the catalog; nothing listens there."""

Identify = Callable[[str], Mapping[str, Any] | None]
"""Returns what the identity service says about a token; None for one that it does not know."""


class _Pending(BaseException):
    """The application asks for something that has not been answered yet."""

    def __init__(self, context: RequestContext, request: Asked[object], seconds: float) -> None:
        super().__init__()
        self.context = context
        self.request = request
        self.seconds = seconds


class _Replies:
    """An `EngineClient` that knows the replies of the engine so far. Raises _Pending for the next one."""

    def __init__(self) -> None:
        self._known: list[Reply] = []
        self._used = 0

    def begin(self, known: list[Reply]) -> None:
        """Serve a request from its beginning."""
        self._known, self._used = known, 0

    def call(self, context: RequestContext, request: Asked[Answer], timeout: float = 60.0) -> Answer:
        """See `EngineClient.call`."""
        if self._used == len(self._known):
            raise _Pending(context, request, timeout)
        self._used += 1
        return answer_of(request, self._known[self._used - 1])


class Orchestration:
    """The orchestration service of a cloud: `service` is the engine.

    `parents` are the stack and the name of the resource for which the engine has asked for each stack, by its ID.
    """

    service: EngineService

    def __init__(self, identify: Identify) -> None:
        self.parents: dict[str, tuple[str, str]] = {}
        self._identify = identify

    async def answered(self, sent: Request, fault: Fault | None) -> Response | None:
        """Return the answer to a request, with the fault rule that applies to it; None if the connection breaks."""
        if fault is not None and fault.do in ("fail", "rate_limit"):
            return _failure(fault)
        if fault is not None and fault.do == "drop":
            return None
        response = await self._served(sent)
        if fault is not None and fault.do == "act_and_drop":
            return None
        return _failure(fault) if fault is not None and fault.do == "succeed_but_fail" else response

    async def _served(self, sent: Request) -> Response:
        parent, known = RESOURCE.get(), list[Reply]()
        former = RESOURCE.set(None)  # what the operation sends is not for the resource that has asked for it
        try:
            identity = self._identity(sent.headers.get("x-auth-token", ""))
            while True:
                try:
                    return _run(sent, identity, known)
                except _Pending as pending:
                    known.append(await self._reply(pending))
                    if parent is not None and pending.request.method == "stack_create" and "answer" in known[-1]:
                        self.parents[unpacked(known[-1]["answer"])["id"]] = parent
        finally:
            RESOURCE.reset(former)

    def _identity(self, token: str) -> Mapping[str, Any]:
        """Return what the check of tokens adds to the environment of a request; nothing for a token nobody knows."""
        identity = self._identify(token)
        if identity is None:
            return {}
        user, project = identity["user"], identity["project"]
        trust = identity.get("OS-TRUST:trust", {}).get("id")
        return {
            "HTTP_X_IDENTITY_STATUS": "Confirmed",
            "HTTP_X_AUTH_TOKEN": token,
            "HTTP_X_USER_ID": user["id"],
            "HTTP_X_USER_NAME": user["name"],
            "HTTP_X_USER_DOMAIN_ID": user["domain"]["id"],
            "HTTP_X_PROJECT_ID": project["id"],
            "HTTP_X_PROJECT_NAME": project["name"],
            "HTTP_X_PROJECT_DOMAIN_ID": project["domain"]["id"],
            "HTTP_X_ROLES": ",".join(role["name"] for role in identity["roles"]),
            "keystone.token_auth": SimpleNamespace(user=SimpleNamespace(trust_id=trust)),
        }

    async def _reply(self, pending: _Pending) -> Reply:
        request = pending.request
        arguments = json_copy(request.arguments())
        return await reply_of(self.service, pending.context, request.method, arguments, __version__, pending.seconds)


@cache
def _application() -> tuple[WSGIApplication, _Replies]:
    from stoker.api.app import make_app
    from stoker.base.config import load_config

    replies = _Replies()
    return make_app(load_config([], []), replies, lambda application: application), replies


def _run(sent: Request, identity: Mapping[str, object], known: list[Reply]) -> Response:
    """Have the application serve a request. Raises _Pending."""
    application, replies = _application()
    replies.begin(known)
    environ: dict[str, object] = {
        "REQUEST_METHOD": sent.method,
        "SCRIPT_NAME": MOUNT,
        "PATH_INFO": unquote_to_bytes(sent.path.removeprefix(MOUNT)).decode("latin-1"),
        "QUERY_STRING": sent.query_string,
        "HTTP_HOST": "stoker",
        "HTTP_ACCEPT": "application/json",
        "CONTENT_LENGTH": str(len(sent.body)),
        "CONTENT_TYPE": "application/json",
        "wsgi.input": BytesIO(sent.body),
        **identity,
    }
    setup_testing_defaults(environ)
    begun: list[tuple[str, list[tuple[str, str]]]] = []
    content = b"".join(application(environ, lambda status, headers, *_: begun.append((status, headers))))
    [(status, headers)] = begun
    names = {{"content-type": "Content-Type"}.get(name.lower(), name): value for name, value in headers}
    return Response(content or None, int(status.split()[0]), names)


def _failure(fault: Fault) -> Response:
    """Return the answer of a fault rule, in the form of the service."""
    error = fault.error()
    body = {"code": error.status, "title": "Error", "error": {"message": error.message, "type": "Error"}}
    return Response(body, error.status, dict(error.headers or {}))
