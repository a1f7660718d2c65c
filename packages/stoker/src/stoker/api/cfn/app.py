"""The WSGI application of the CloudFormation Query API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from types import SimpleNamespace
from urllib.parse import parse_qsl

import falcon
from oslo_config import cfg

from stoker.api.auth import Policy, WSGIApplication, identified
from stoker.api.cfn import rendering, signals
from stoker.api.cfn.actions import ACTIONS
from stoker.api.cfn.call import Action, QueryCall
from stoker.api.cfn.faults import QueryError, fault_document
from stoker.api.cfn.identity import Caller, SignatureCheck
from stoker.api.cfn.parameters import VERSION, Form, read_parameters
from stoker.api.cfn.repeating import TOKEN, once
from stoker.api.cfn.signatures import Received, Signed, read_signature, refused, require_fresh
from stoker.api.faults import BadRequest
from stoker.api.middleware import RequestLog, from_falcon, with_outer_layers, write_json
from stoker.api.requests import read_body, version_document
from stoker.api.serving.limits import RETRY_AFTER
from stoker.api.serving.shares import kept
from stoker.base.errors import forget_frames
from stoker.base.logging import request_scope
from stoker.rpc.contract import EngineClient
from stoker_foundation.clock import Clock, SystemClock

QUERY_PATHS = ("/", "/v1", "/v1/", "/v1.0", "/v1.0/")
"""The paths that accept actions: clients differ in how an endpoint ends."""

_FORM = "application/x-www-form-urlencoded"
_XML, _JSON = "application/xml", "application/json"
_CALLER = "caller"
_AMAZON_REQUEST_ID = "X-Amzn-RequestId"


def make_cfn_app(
    config: cfg.ConfigOpts,
    client: EngineClient,
    check: SignatureCheck | None = None,
    clock: Clock | None = None,
    policy: Policy | None = None,
) -> WSGIApplication:
    """Return the application, ready to serve.

    `client` reaches the engines; `check` verifies signatures, by default with the identity service of the
    configuration; `policy` has the rules of `config`, which interfaces of one process share.

    A request passes the layers of `stoker.api.middleware`. Then its parameters are parsed, and its signature, its age,
    the policy and the parameters of its action are checked before the action's handler runs. Every error becomes an
    error document.
    """
    rules, verify = policy or Policy(config), check or SignatureCheck(config)
    dispatcher = _Dispatcher(config, client, rules, verify, clock or SystemClock())
    application = falcon.App(middleware=[RequestLog()])
    for kind in (falcon.HTTPError, Exception):
        application.add_error_handler(kind, dispatcher.fault)
    query = SimpleNamespace(on_get=dispatcher.query, on_post=dispatcher.query)
    for path in QUERY_PATHS:
        application.add_route(path, query)
    application.add_route("/versions", SimpleNamespace(on_get=dispatcher.versions))
    for path, method, handler in signals.ROUTES:
        application.add_sink(dispatcher.signal(method, handler), prefix=path)
    return with_outer_layers(application, config)


@dataclass(frozen=True)
class _Dispatcher:
    """Executes requests: everything that all of them have in common."""

    config: cfg.ConfigOpts
    client: EngineClient
    policy: Policy
    check: SignatureCheck
    clock: Clock

    # -- actions ---------------------------------------------------------------------------------------------------

    def query(self, request: falcon.Request, response: falcon.Response) -> None:
        """Execute an action; without an action, return the versions at the root."""
        received, form = self._received(request)
        if not form.values and request.method == "GET" and request.path == "/":
            self.versions(request, response)
            return
        request.context.json = form.values.get("ContentType") == "JSON"
        name, action = _action(form)
        signed = read_signature(received, self.config.region_name_for_services)
        if signed.time is not None or not action.undated:
            require_fresh(signed, self.clock.now())
        call = self._call(request, signed, action, form)
        with request_scope(call.context):
            result = once(call, name, action.handler) or {}
        metadata = {"RequestId": request.context.request_id}
        _write(request, response, {f"{name}Response": {f"{name}Result": result, "ResponseMetadata": metadata}})

    def _call(self, request: falcon.Request, signed: Signed, action: Action, form: Form) -> QueryCall:
        caller = self._caller(request, signed)
        context = caller.context(request.context.request_id, self.policy)
        request.context.caller = context
        values = read_parameters(action.parameters, form.own())
        self.policy.require(action.rule(values), caller.credentials, context.project_id)
        if action.takes_types:
            context = replace(context, denied_types=self.policy.denied_types(caller.credentials))
        context = replace(context, client_request_token=values.get(TOKEN))
        return QueryCall(context, self.client, self.config, values)

    def _caller(self, request: falcon.Request, signed: Signed) -> Caller:
        """Return the signer, whose share of the threads the request uses from then on. Raises MovedToShare."""
        passed = kept(request.env)
        if _CALLER not in passed:
            passed[_CALLER] = self.check.caller(signed)
        caller: Caller = passed[_CALLER]
        identified(request.env, caller.credentials.project_id, caller.credentials.user_id)
        return caller

    # -- signals ---------------------------------------------------------------------------------------------------

    def signal(self, method: str, handler: signals.SignalHandler) -> Callable[..., None]:
        """Return a responder for the signed URLs of one kind of signal; the identity service checks their age."""

        def respond(request: falcon.Request, response: falcon.Response) -> None:
            if request.method != method:
                raise falcon.HTTPMethodNotAllowed([method])
            body = self._body(request)
            received = self._signed_parts(request, _parameters(request.query_string), b"")
            signed = read_signature(received, self.config.region_name_for_services)
            if signed.expires is not None:
                require_fresh(signed, self.clock.now())
            try:
                caller = self._caller(request, signed)
            except QueryError as error:
                raise refused(error, signed, self.clock.now()) from error
            context = caller.context(request.context.request_id, self.policy)
            request.context.caller = context
            self.policy.require(signals.POLICY, caller.credentials, context.project_id)
            with request_scope(context):
                target = signals.target(request.path)
                write_json(response, handler(QueryCall(context, self.client, self.config, {}), target, body))

        return respond

    # -- reading ---------------------------------------------------------------------------------------------------

    def _received(self, request: falcon.Request) -> tuple[Received, Form]:
        body = self._body(request)
        if request.method == "GET":
            form = _parameters(request.query_string)
            return self._signed_parts(request, form, body), form
        if request.query_string:
            # Version 4 does not sign the query string of a POST, as Keystone computes it.
            raise QueryError("MalformedQueryString", "The parameters of a POST belong in its body, not in the URL.")
        media_type = (request.content_type or "").partition(";")[0].strip().lower()
        if media_type not in ("", _FORM):
            raise QueryError("InvalidQueryParameter", f"The body of a POST must be a form ({_FORM}).")
        try:
            form = _parameters(body.decode("ascii"))
        except UnicodeDecodeError:
            raise QueryError("InvalidQueryParameter", "The form must be URL-encoded.") from None
        return self._signed_parts(request, form, body), form

    def _signed_parts(self, request: falcon.Request, form: Form, body: bytes) -> Received:
        headers = {name.title(): value for name, value in request.headers.items()}
        path = request.root_path + request.path
        return Received(request.method, headers.get("Host", ""), path, form.values, headers, body)

    def _body(self, request: falcon.Request) -> bytes:
        return read_body(request, self.config.max_json_body_size)

    # -- requests without a signature ------------------------------------------------------------------------------

    def versions(self, request: falcon.Request, response: falcon.Response) -> None:
        """Return the versions of the API."""
        response.status = HTTPStatus.MULTIPLE_CHOICES
        write_json(response, version_document(request.prefix))

    def fault(self, request: falcon.Request, response: falcon.Response, error: Exception, _path: object) -> None:
        """Respond with the error document for `error`."""
        with request_scope(request.context.caller):
            status, document = fault_document(from_falcon(request, response, error), request.context.request_id)
        response.status = HTTPStatus(status)
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            response.set_header("Retry-After", str(RETRY_AFTER))
        _write(request, response, document)
        forget_frames(error)


def _parameters(query: str) -> Form:
    try:
        return Form.of(parse_qsl(query, keep_blank_values=True, errors="strict", max_num_fields=5000))
    except UnicodeDecodeError:
        raise BadRequest("A parameter is not UTF-8.") from None
    except ValueError as error:
        raise BadRequest(f"The parameters are malformed: {error}.") from None


def _action(form: Form) -> tuple[str, Action]:
    name = form.values.get("Action", "")
    if not name:
        raise QueryError("MissingAction", "The request must have an action, for example Action=DescribeStacks.")
    if name not in ACTIONS:
        raise QueryError("InvalidAction", f"Unknown action {name}; the actions are {', '.join(sorted(ACTIONS))}.")
    if form.values.get("Version", VERSION) != VERSION:
        raise QueryError("InvalidParameterValue", f"Version must be {VERSION}.")
    if form.values.get("ContentType", "XML") not in ("XML", "JSON"):
        raise QueryError("InvalidParameterValue", "ContentType must be XML or JSON.")
    return name, ACTIONS[name]


def _write(request: falcon.Request, response: falcon.Response, document: Mapping[str, object]) -> None:
    as_json = getattr(request.context, "json", False)
    response.content_type = _JSON if as_json else _XML
    response.data = rendering.json(document) if as_json else rendering.xml(document)
    response.set_header(_AMAZON_REQUEST_ID, request.context.request_id)
