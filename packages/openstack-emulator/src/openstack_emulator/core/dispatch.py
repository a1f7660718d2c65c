"""One request through one cloud: fault rules, token, microversion, route, journal, error body, group write."""

from __future__ import annotations

import logging
import re
from itertools import chain
from uuid import uuid4

from openstack_emulator.core.cloud import Cloud, MountedService, Service
from openstack_emulator.core.errors import ApiError, RolesLacking, bad_request, keystone_body, not_found
from openstack_emulator.core.faults import Fault
from openstack_emulator.core.http import MOST_DIGITS, Request, Response
from openstack_emulator.core.journal import Entry
from openstack_emulator.core.microversions import answer_headers, negotiate, range_headers

log = logging.getLogger(__name__)
READS = frozenset({"GET", "HEAD", "OPTIONS"})
_ENDLESS_NUMBER = re.compile(rf"\d{{{MOST_DIGITS + 1}}}")


def dispatch(cloud: Cloud, request: Request, fault: Fault | None = None) -> Response | None:
    """Serve a request, with the fault rule that applies to it, if any; None means: close the connection unanswered.

    What the request changed has been written when this returns.
    """
    name, _, rest = request.path.lstrip("/").partition("/")
    mounted = cloud.service_at(name)
    if mounted is None:
        return Response(keystone_body(not_found(f"No service is mounted at /{name}.")), 404)
    service = mounted.service
    request.raw_path = f"/{rest}"
    request.base = cloud.endpoint + service.mount
    request.id = f"req-{uuid4()}"
    request.body_messages = service.body_messages
    response = _serve(cloud, mounted, request, fault)
    cloud.store.flush()
    if request.method not in READS and service.name != "control":
        cloud.journal.add(_entry(cloud, service, request, response, fault))
    return response


def _serve(
    cloud: Cloud,
    mounted: MountedService,
    request: Request,
    fault: Fault | None,
) -> Response | None:
    service = mounted.service
    refused: ApiError | None = None
    try:
        if fault is not None and fault.do in ("fail", "rate_limit"):
            raise fault.error()
        if fault is not None and fault.do == "drop":
            return None
        response = _act(cloud, mounted, request, fault)
        if fault is not None and fault.do == "act_and_drop":
            return None
        if fault is not None and fault.do == "succeed_but_fail":
            raise fault.error()
    except ApiError as error:
        response, refused = _refusal(cloud, service, request, error), error
    except Exception:
        log.exception("%s %s failed (%s).", request.method, request.path, request.id)
        failure = ApiError(500, f"The emulator failed to serve this ({request.id}).")
        response = _refusal(cloud, service, request, failure)
    response.headers |= service.headers
    if service.sends_request_id and not (service.identified_after_token and isinstance(refused, Unauthenticated)):
        response.headers["x-openstack-request-id"] = request.id
    if service.request_id_header is not None:
        response.headers[service.request_id_header] = request.id
    if service.microversions is not None and (refused is None or refused.names_versions):
        versioned = request.version > (0, 0)
        if versioned or service.microversions.legacy_header is not None:
            response.headers.update(range_headers(service.microversions))
        if versioned:
            response.headers.update(answer_headers(service.microversions, request.version))
    return response


def _act(
    cloud: Cloud,
    mounted: MountedService,
    request: Request,
    fault: Fault | None,
) -> Response:
    service = mounted.service
    target, request.vars = mounted.router.match(request.method, request.raw_path)
    _refuse_endless_numbers(request)
    token = request.headers.get("x-auth-token")
    request.caller = cloud.authenticate(token) if token else None
    if target.needs_token and request.caller is None:
        raise Unauthenticated
    if target.versioned and service.microversions is not None:
        negotiate(service.microversions, request)
    if request.caller is not None:
        cloud.admit(request.caller, service, request)
    if fault is not None and fault.do == "error_state":
        cloud.store.stamp = (service.name, fault.message)
    try:
        if target.roles and request.caller is not None:
            request.caller.require(*sorted(target.roles))
        return target.handler(mounted.records, request)
    except RolesLacking as error:
        if target.rule:
            error.message = service.refusal.format(rule=target.rule)
        raise
    finally:
        cloud.store.stamp = None


def _refuse_endless_numbers(request: Request) -> None:
    """Refuse numbers with too many digits, in the query and in headers. Raises ApiError 400."""
    for name, value in chain(request.query.pairs, request.headers.items()):
        if len(value) > MOST_DIGITS and _ENDLESS_NUMBER.search(value):
            raise bad_request(f"Invalid value for '{name}': a number may have {MOST_DIGITS} digits at most.")


class Unauthenticated(ApiError):
    """The token check refuses the request, before its version is read."""

    names_versions = False

    def __init__(self) -> None:
        super().__init__(401, "The request you have made requires authentication.")


def _refusal(cloud: Cloud, service: Service, request: Request, error: ApiError) -> Response:
    error.request_id = request.id
    error.accept = request.headers.get("accept", "")
    if isinstance(error, Unauthenticated):
        body, headers = service.token_error_body(error), {**service.token_error_headers, **error.headers}
    else:
        body, headers = service.error_body(error), {**service.error_headers, **error.headers}
        if service.error_type is not None:
            headers["Content-Type"] = service.error_type
    if error.status == 401:
        challenges = headers.get("WWW-Authenticate"), f'Keystone uri="{cloud.endpoint}/identity/v3"'
        headers["WWW-Authenticate"] = ", ".join(filter(None, challenges))
    return Response(body, error.status, headers)


def _entry(cloud: Cloud, service: Service, request: Request, response: Response | None, fault: Fault | None) -> Entry:
    caller = request.caller
    return Entry(
        time=cloud.clock.now(),
        method=request.method,
        path=request.path,
        service=service.name,
        status=None if response is None else response.status,
        request_id=request.id,
        user_id=None if caller is None else caller.user_id,
        project_id=None if caller is None else caller.project_id,
        fault=None if fault is None else fault.id,
    )
