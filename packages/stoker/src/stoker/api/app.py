"""The WSGI application of the REST API."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any

import falcon
from oslo_config import cfg

from stoker.api import auth as authentication
from stoker.api.auth import Authenticator, Policy, WSGIApplication
from stoker.api.faults import NotAllowed
from stoker.api.middleware import Authentication, Faults, Negotiation, RequestLog, with_outer_layers, write_json_text
from stoker.api.requests import PREFIX, read_json_object, stack_identifier
from stoker.api.serving.exchange import WAKE
from stoker.api.shared_answers import SharedAnswers
from stoker.api.v1.call import Action, Reply, RestCall
from stoker.api.v1.event_stream import CONTENT_TYPE, EventStreams
from stoker.api.v1.links import Links
from stoker.api.v1.routes import ROUTES
from stoker.base.context import RequestContext
from stoker.base.logging import request_scope
from stoker.rpc.contract import EngineClient, json_text


def make_app(
    config: cfg.ConfigOpts, client: EngineClient, auth: Authenticator | None = None, policy: Policy | None = None
) -> WSGIApplication:
    """Return the application, ready to serve.

    `client` reaches the engines; `auth` authenticates callers (see `stoker.api.auth`), by default keystonemiddleware
    with `[keystone_authtoken]`; `policy` has the rules of `config`, which interfaces of one process share.

    A request passes the following layers, outermost first:
    1. `with_outer_layers`: proxy headers, the health check, CORS
    2. `auth`: checks the token, marks the request and lets it through
    3. `RequestLog`: gives the request its ID, and writes the log line
    4. `Negotiation`: the API version; the list of versions and the OpenAPI document need no token
    5. `Authentication`: 401 for a request that step 2 did not mark
    6. routing: 404 and 405
    7. `_Dispatcher.checked`: project, body, policy, values, engine, response
    `Faults` converts any error on the way to an error response.
    """
    dispatcher = _Dispatcher(
        config, client, policy or Policy(config), EventStreams(client, config.heat_api.event_streams)
    )
    authenticator = auth or authentication.keystone(config)
    faults = Faults(authentication.challenge(config))
    middleware: list[Any] = [RequestLog(), Negotiation(), Authentication(dispatcher.policy)]
    application = falcon.App(middleware=middleware)
    application.req_options.strip_url_path_trailing_slash = True
    for kind in (falcon.HTTPError, Exception):  # falcon has its own handler for the first
        application.add_error_handler(kind, faults.handle)
    for path, methods in ROUTES.items():
        application.add_route(f"{PREFIX}/{{project_id}}{path}", _resource(dispatcher, methods))
    return with_outer_layers(authenticator(application), config)


def _resource(dispatcher: _Dispatcher, methods: Any) -> SimpleNamespace:
    """Return a falcon resource: an object with a responder for each method of the route."""
    responders = {f"on_{method.lower()}": dispatcher.responder(action) for method, action in methods.items()}
    return SimpleNamespace(**responders, on_options=_options(sorted(methods)))


def _options(methods: list[str]) -> Callable[..., None]:
    def respond(request: falcon.Request, response: falcon.Response, **_path: str) -> None:
        response.status = HTTPStatus.NO_CONTENT
        response.set_header("Allow", ", ".join(methods))

    return respond


@dataclass(frozen=True)
class _Dispatcher:
    """Executes actions: everything that all routes have in common."""

    config: cfg.ConfigOpts
    client: EngineClient
    policy: Policy
    streams: EventStreams
    shared: SharedAnswers = field(default_factory=SharedAnswers)

    def responder(self, action: Action) -> Callable[..., None]:
        """Return falcon's responder for `action`."""

        def respond(request: falcon.Request, response: falcon.Response, **path: str) -> None:
            chosen = action.for_client(request.get_header("Accept", default=""))
            with request_scope(request.context.caller):
                call = self.checked(chosen, request, path)
                if chosen.shared:
                    depends_on = (request.context.credentials, call.url, call.query_string)
                    write_json_text(response, self.shared.answer(depends_on, lambda: json_text(chosen.handler(call))))
                else:
                    _answer(response, chosen.success, chosen.handler(call))

        return respond

    def checked(self, action: Action, request: falcon.Request, path: dict[str, str]) -> RestCall:
        """Check the request against `action`; return the call of its handler. Raises StokerError."""
        project_id = path.pop("project_id")
        context: RequestContext = request.context.caller
        if project_id != context.project_id and not context.is_admin:
            raise NotAllowed(f"The token is for the project {context.project_id}, but the URL contains {project_id}.")
        caller = request.context.credentials
        sent = read_json_object(request, self.config.max_json_body_size)
        self.policy.require(action.rule(sent), caller, project_id)
        if action.takes_types:
            context = replace(context, denied_types=self.policy.denied_types(caller))
        return RestCall(
            context=context,
            client=self.client,
            config=self.config,
            allows=lambda rule: self.policy.allows(rule, caller, project_id),
            require=lambda rule: self.policy.require(rule, caller, project_id),
            streams=self.streams,
            links=Links(request.prefix),
            method=request.method,
            url=request.prefix + request.path,
            query_string=request.query_string,
            path={name: stack_identifier(value) for name, value in path.items()},
            query=action.query.read(request.query_string),
            body=action.body.read(sent) if action.body else {},
            sent=sent,
            last_event=request.get_header("Last-Event-ID"),
            wake=request.env.get(WAKE),
        )


def _answer(response: falcon.Response, status: int, answer: object) -> None:
    reply = answer if isinstance(answer, Reply) else Reply(answer)
    phrase = HTTPStatus(status).phrase
    response.status = HTTPStatus(status)
    for name, value in reply.headers.items():
        response.set_header(name, value)
    if status == HTTPStatus.NO_CONTENT:
        return
    if reply.stream is not None:
        response.content_type, response.stream = CONTENT_TYPE, reply.stream
        return
    note = {"code": f"{status} {phrase}", "title": phrase, "message": ""}
    body = note if status in (HTTPStatus.ACCEPTED, HTTPStatus.FOUND) else reply.body
    write_json_text(response, json_text(body))
