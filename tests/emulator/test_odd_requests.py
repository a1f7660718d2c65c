"""Odd paths, queries, headers and bodies on every route of every service: never an error of the emulator itself."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from urllib.parse import quote

import orjson
import pytest

from openstack_emulator.core.cloud import Cloud, MountedService
from openstack_emulator.core.dispatch import dispatch
from openstack_emulator.core.http import Request
from openstack_emulator.services import new_cloud
from stoker_foundation.clock import ManualClock

ENDLESS = "9" * 5000
TEXTS = (
    ENDLESS,
    "-" + "9" * 18,
    "9" * 18,
    "²",
    "\u0661",
    "-",
    "1e9",
    "\r\nX-Odd: 1",
    "\0",
    "\ud7ff💣",
    "[",
    "(a+)+$",
    "../..",
    "",
    "%",
    ":",
    "a:b:c",
)
QUERIES = (
    "limit",
    "marker",
    "offset",
    "page_size",
    "sort",
    "sort_key",
    "sort_dir",
    "sort_keys",
    "name",
    "status",
    "tags",
    "tag",
    "fields",
    "format",
    "delimiter",
    "prefix",
    "end_marker",
    "reverse",
    "with_count",
    "changes-since",
    "created_at",
    "updated_at",
    "date",
    "timestamp",
    "start",
    "stop",
    "granularity",
    "aggregation",
    "minDisk",
    "minRam",
    "timeout",
    "is_public",
    "all_tenants",
    "filter",
    "q",
    "ip",
    "age",
    "temp_url_expires",
    "temp_url_sig",
    "metric",
    "resources",
    "depth",
    "project_id",
    "member_of",
    "required",
)
HEADERS = (
    "range",
    "if-modified-since",
    "if-none-match",
    "x-delete-at",
    "x-delete-after",
    "openstack-api-version",
    "x-openstack-nova-api-version",
    "x-container-meta-quota-bytes",
    "x-container-meta-quota-count",
    "x-copy-from",
    "x-object-manifest",
    "client-id",
    "x-timestamp",
    "accept",
    "content-type",
    "x-container-read",
    "x-account-meta-quota-bytes",
    "x-auth-all-projects",
    "x-versions-location",
    "x-symlink-target",
    "x-container-sync-to",
    "destination",
    "forwarded",
    "host",
)
BODIES = (
    b"",
    b"\xff",
    b"[]",
    b"null",
    b"5",
    b'"x"',
    b"{}",
    b'{"x": 1}',
    b'[{"x": [1e308, -0.0, null]}]',
    b"[" * 5000,
    b'{"a":' * 900 + b"1" + b"}" * 900,
)
DEFECT = 500
_NOT_IN_HEADERS = dict.fromkeys(map(ord, "\r\n\0"))


def _routes(mounted: MountedService) -> Iterator[tuple[str, str]]:
    service = mounted.service
    for routes, prefixes in ((service.routes, service.prefixes), (service.root, ("",))):
        for pattern, methods in routes.items():
            for method in methods:
                yield method, f"/{service.mount.strip('/')}{prefixes[0]}{pattern}"


def _filled(pattern: str, text: str) -> str:
    return "/".join(quote(text, safe="") if part.startswith("{") else part for part in pattern.split("/"))


def _requests(method: str, pattern: str) -> Iterator[Request]:
    """Requests of a route. Each has one odd part; which one comes with which name differs from route to route."""
    headers = {"content-type": "application/json"}
    parts = itertools.cycle(random.Random(f"{method} {pattern}").sample(TEXTS, len(TEXTS)))
    for text in TEXTS:
        yield Request(method, _filled(pattern, text), headers=headers, body=b"{}")
    for name in QUERIES if method == "GET" else ():
        yield Request(method, _filled(pattern, "x"), f"{name}={quote(next(parts), safe='')}", headers)
    for name in HEADERS:
        odd = next(parts).encode().decode("latin-1").translate(_NOT_IN_HEADERS)
        yield Request(method, _filled(pattern, "x"), headers={**headers, name: odd}, body=b"{}")
    for body in BODIES if method != "GET" else ():
        yield Request(method, _filled(pattern, "x"), headers=headers, body=body)


@pytest.fixture(scope="module")
def cloud() -> Iterator[Cloud]:
    made = new_cloud(clock=ManualClock())
    made.start()
    yield made
    made.close()


@pytest.fixture(scope="module")
def token(cloud: Cloud) -> str:
    """A token of an administrator."""
    domain = {"id": "default"}
    who = {"user": {"name": "admin", "password": "secret", "domain": domain}}
    scope = {"project": {"name": "admin", "domain": domain}}
    body = {"auth": {"identity": {"methods": ["password"], "password": who}, "scope": scope}}
    answer = dispatch(cloud, Request("POST", "/identity/v3/auth/tokens", body=orjson.dumps(body)))
    assert answer is not None
    return answer.headers["X-Subject-Token"]


@pytest.mark.parametrize("mount", sorted(service.mount.strip("/") for service in new_cloud().services))
def test_random_requests_cause_no_internal_error(
    cloud: Cloud, token: str, mount: str, caplog: pytest.LogCaptureFixture
) -> None:
    mounted = cloud.service_at(mount)
    assert mounted is not None
    wrong = []
    for method, pattern in _routes(mounted):
        for request in _requests(method, pattern):
            request.headers["x-auth-token"] = token
            answer = dispatch(cloud, request)
            if answer is None or answer.status == DEFECT:
                wrong.append((method, request.path[:80], request.query_string[:60], request.body[:30]))
    assert not wrong, caplog.text[-3000:]
    assert "Traceback" not in caplog.text
