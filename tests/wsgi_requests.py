"""Requests that no client sends, for Hypothesis: any method, path, query, headers and body, as a WSGI server hands them
over.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from hypothesis import strategies as st

METHODS = (*["GET"] * 5, *["POST"] * 3, "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "BREW")
BYTES = st.binary(max_size=12).map(lambda raw: raw.decode("latin-1"))
"""What WSGI makes of any octets in a path or a header."""

LINE = st.text(st.characters(max_codepoint=255, exclude_characters="\r\n\0"), max_size=40)
"""A header's value, as far as a server lets it through."""

HEADERS: Mapping[str, Sequence[str]] = {
    "CONTENT_TYPE": (
        "application/json", "application/json; charset=utf-16", "application/x-www-form-urlencoded", "text/plain",
        "multipart/form-data; boundary=x", ";", "application/xml",
    ),
    "HTTP_ACCEPT": ("application/json", "text/xml", "application/vnd.openstack.orchestration-v2", "*/*;q=x"),
    "HTTP_CONTENT_ENCODING": ("gzip", "deflate", "identity"),
    "HTTP_TRANSFER_ENCODING": ("chunked",),
    "HTTP_HOST": ("", "a b", "[::1", "h:99999", "h:port"),
    "HTTP_X_FORWARDED_FOR": ("unknown", "1.2.3.4, x"),
    "HTTP_FORWARDED": ("for=;;", 'host="'),
    "HTTP_RANGE": ("bytes=5-1",),
    "HTTP_COOKIE": ("a=b; c", "="),
    "HTTP_IF_NONE_MATCH": ("*", '"'),
    "HTTP_ORIGIN": ("null", "http://[", ""),
    "HTTP_EXPECT": ("100-continue",),
    "HTTP_AUTHORIZATION": (
        "AWS4-HMAC-SHA256 Credential=k/20260101/RegionOne/cloudformation/aws4_request, SignedHeaders=host, Signature=0",
        "AWS4-HMAC-SHA256 Credential=k, SignedHeaders=, Signature=", "AWS4-HMAC-SHA256", "Basic Og==", "Bearer",
    ),
    "HTTP_X_AMZ_DATE": ("20260101T000000Z", "20261399T000000Z", "yesterday"),
    "HTTP_X_OPENSTACK_REQUEST_ID": ("req-x",),
}  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """What a WSGI application gave back."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def environs(paths: st.SearchStrategy[str], queries: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    """WSGI environments; `queries` and bodies are likely ones or anything at all, and so are headers."""
    header = st.sampled_from(sorted(HEADERS)).flatmap(
        lambda name: st.tuples(st.just(name), st.sampled_from(HEADERS[name]) | LINE)
    )
    headers = st.lists(header, max_size=3).map(dict)
    bodies = st.one_of(
        st.just(b""),
        st.binary(max_size=60),
        st.sampled_from(
            [b"{", b"[]", b"null", b'{"a": NaN}', b'{"\\ud800": 1}', b"\xef\xbb\xbf{}", b"[" * 5000, b"{}"]
        ),
        queries.map(lambda query: query.encode("latin-1", "replace")),
    )
    return st.builds(
        _environ, st.sampled_from(METHODS), paths, st.just("") | queries | queries | BYTES, headers, bodies
    )


def _environ(method: str, path: str, query: str, headers: dict[str, str], body: bytes) -> dict[str, Any]:
    return {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": path,
        "RAW_URI": quote(path, encoding="latin-1"),
        "QUERY_STRING": query,
        "SERVER_NAME": "stoker.test",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_HOST": "stoker.test",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": io.StringIO(),
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        **headers,
    }


def answer(application: Callable[..., Any], environ: dict[str, Any]) -> Answer:
    """Have the application answer, as a server would."""
    begun: list[tuple[str, list[tuple[str, str]]]] = []
    chunks = application(environ, lambda status, headers, _error=None: begun.append((status, headers)))
    body = b"".join(chunks)
    status, headers = begun[-1]
    for name, value in headers:
        assert not set("\r\n\0") & set(name + value), (name, value)
    return Answer(int(status[:3]), dict(headers), body)
