"""Processing of every request before routing, and of every error after it."""

from __future__ import annotations

import logging
import time
from http import HTTPStatus
from typing import Any

import falcon

from stoker.api.auth import credentials, request_context
from stoker.api.faults import (
    BadRequest,
    MethodNotAllowed,
    NoSuchPath,
    as_stoker_error,
    fault_body,
    status_of,
)
from stoker.api.paths import VersionDocument, negotiate, version_document
from stoker.api.policy import Policy
from stoker.api.serving.limits import RETRY_AFTER
from stoker.api.serving.shares import identified
from stoker.api.v1 import openapi
from stoker.base.errors import forget_frames
from stoker.base.ids import new_request_id
from stoker.base.logging import request_scope
from stoker.rpc.contract import json_text

REQUEST_ID_HEADER = "X-Openstack-Request-Id"

_access_log = logging.getLogger("stoker.api.access")


class RequestLog:
    """Gives each request its ID and writes a log line when it has been answered."""

    def process_request(self, request: falcon.Request, response: falcon.Response) -> None:
        request.context.request_id = new_request_id()
        request.context.started = time.perf_counter()
        request.context.caller = None
        response.set_header(REQUEST_ID_HEADER, request.context.request_id)

    def process_response(
        self, request: falcon.Request, response: falcon.Response, resource: Any, succeeded: bool
    ) -> None:
        _access_log.info(
            "%s %s %s -> %s in %.0f ms",
            request.context.request_id,
            request.method,
            request.path,
            response.status_code,
            (time.perf_counter() - request.context.started) * 1000,
        )


class Negotiation:
    """Answers requests that need no token, and rewrites paths to those that are routed."""

    def process_request(self, request: falcon.Request, response: falcon.Response) -> None:
        if request.path == openapi.PATH:
            write_json(response, openapi.document(request.prefix))
            response.complete = True
            return
        path = negotiate(request.path, request.get_header("Accept", default=""))
        if isinstance(path, VersionDocument):
            response.status = HTTPStatus.MULTIPLE_CHOICES
            write_json(response, version_document(request.prefix))
            response.complete = True
        else:
            request.path = path


class Authentication:
    """Refuses requests of unknown callers, and records who the caller is."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def process_request(self, request: falcon.Request, response: falcon.Response) -> None:
        caller = credentials(request.env)
        identified(request.env, caller.project_id, caller.user_id)
        request.context.credentials = caller
        request.context.caller = request_context(request.context.request_id, request.env, caller, self._policy)


class Faults:
    """Converts every error to an error response. `challenge` is the header of a 401."""

    def __init__(self, challenge: str) -> None:
        self._challenge = challenge

    def handle(self, request: falcon.Request, response: falcon.Response, error: Exception, _path: Any) -> None:
        with request_scope(request.context.caller):
            fault = as_stoker_error(from_falcon(request, response, error))
        response.status = HTTPStatus(status_of(fault))
        if response.status_code == HTTPStatus.UNAUTHORIZED:
            response.set_header("WWW-Authenticate", self._challenge)
        if response.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
            response.set_header("Retry-After", str(RETRY_AFTER))
        write_json(response, fault_body(fault))
        forget_frames(error)


def from_falcon(request: falcon.Request, response: falcon.Response, error: Exception) -> Exception:
    """Return our error for one of falcon's; other errors unchanged."""
    match error:
        case falcon.HTTPRouteNotFound():
            return NoSuchPath(f"The path {request.path} does not exist.")
        case falcon.HTTPMethodNotAllowed():
            headers = dict(error.headers or {})
            response.set_header("Allow", headers.get("Allow", ""))
            return MethodNotAllowed(f"{request.path} does not support {request.method}, only {headers.get('Allow')}.")
        case falcon.HTTPError(status_code=status) if status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return BadRequest(error.description or error.title or "The request is malformed.")
        case _:
            return error


def write_json(response: falcon.Response, body: Any) -> None:
    """Respond with `body`."""
    response.content_type = "application/json"
    response.data = json_text(body)
