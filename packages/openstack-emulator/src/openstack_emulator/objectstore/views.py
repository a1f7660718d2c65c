"""Accounts, containers and objects as clients see them: in headers and in lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import quote

import orjson

from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.objectstore.records import Account, Container, Link, Segment, StoredObject
from openstack_emulator.objectstore.rules.composition import ObjectStore
from openstack_emulator.objectstore.rules.metadata import CONTAINER_KEPT, POLICY, Headers, shown
from openstack_emulator.objectstore.rules.times import http_date, iso_time, timestamp


def account_headers(swift: ObjectStore, account: Account) -> Headers:
    """Counts, times and metadata of an account."""
    usages = [swift.objects.usage(container) for container in swift.containers.of(account.id)]
    project = swift.cloud.of(Identity).projects.rows.get(account.project_id)
    return {
        **usage_headers(usages),
        **usage_headers(usages, f"Storage-Policy-{POLICY}-"),
        **({} if project is None else {"X-Account-Project-Domain-Id": project.domain_id}),
        "X-Timestamp": timestamp(account.created),
        "Accept-Ranges": "bytes",
        **shown(account.headers),
    }


def usage_headers(usages: Sequence[tuple[int, int]], of: str = "") -> Headers:
    """The number of containers with so many objects and bytes, and the sums of these."""
    return {
        f"X-Account-{of}Container-Count": str(len(usages)),
        f"X-Account-{of}Object-Count": str(sum(count for count, _ in usages)),
        f"X-Account-{of}Bytes-Used": str(sum(used for _, used in usages)),
    }


def container_entry(swift: ObjectStore, container: Container) -> dict[str, object]:
    """A container in a list."""
    count, used = swift.objects.usage(container)
    return {
        "name": container.name,
        "count": count,
        "bytes": used,
        "last_modified": iso_time(container.created),
        "storage_policy": POLICY,
    }


def container_headers(swift: ObjectStore, container: Container, owned: bool) -> Headers:
    """Counts, times, metadata; what is sensitive (lists, keys) for the owner only."""
    count, used = swift.objects.usage(container)
    headers = container.headers
    if not owned:
        headers = {
            name: value for name, value in headers.items() if name not in CONTAINER_KEPT and "-temp-url-key" not in name
        }
    return {
        "X-Container-Object-Count": str(count),
        "X-Container-Bytes-Used": str(used),
        "X-Storage-Policy": POLICY,
        "X-Timestamp": timestamp(container.created),
        "Last-Modified": http_date(container.created),
        "Accept-Ranges": "bytes",
        **shown(headers),
    }


def object_entry(stored: StoredObject) -> dict[str, object]:
    """An object in a list."""
    return {
        "name": stored.name,
        "hash": stored.hash,
        "bytes": stored.bytes,
        "content_type": stored.content_type,
        "last_modified": iso_time(stored.modified),
        **({} if stored.symlink is None else {"symlink_path": path_of(stored.symlink)}),
        **({} if stored.segments is None else {"slo_etag": etag_of(stored)}),
    }


def object_headers(stored: StoredObject) -> Headers:
    """What an object is, and its metadata."""
    return {
        "Content-Type": stored.content_type,
        "ETag": etag_of(stored),
        "Last-Modified": http_date(stored.modified),
        "X-Timestamp": timestamp(stored.modified),
        "Accept-Ranges": "bytes",
        **shown(stored.headers),
        **({} if stored.segments is None else {"X-Static-Large-Object": "True"}),
        **({} if stored.symlink is None else link_headers(stored.symlink)),
        **({} if stored.delete_at is None else {"X-Delete-At": str(stored.delete_at)}),
    }


def etag_of(stored: StoredObject) -> str:
    """The ETag, in quotes for objects made of others."""
    return stored.hash if stored.segments is None else f'"{stored.hash}"'


def link_headers(link: Link) -> Headers:
    """The answer to `symlink=get` for a link."""
    headers = {
        "X-Symlink-Target": quote(f"{link.container}/{link.object}"),
        "X-Symlink-Target-Account": quote(link.account),
    }
    return headers if link.hash is None else {**headers, "X-Symlink-Target-Etag": link.hash}


def path_of(link: Link) -> str:
    """The URL path of what a link leads to."""
    return object_path(link.account, link.container, link.object)


def object_path(account: str, container: str, name: str) -> str:
    """The URL path of an object."""
    return quote(f"/v1/{account}/{container}/{name}")


def raw_manifest(segments: Iterable[Segment]) -> bytes:
    """The manifest in the form in which it was put, for `?multipart-manifest=get&format=raw`."""
    return orjson.dumps(
        [
            {
                "path": segment.name,
                "etag": segment.hash,
                "size_bytes": segment.whole_bytes,
                **({} if segment.range is None else {"range": segment.range}),
            }
            for segment in segments
        ]
    )


def shown_manifest(segments: Iterable[Segment]) -> bytes:
    """The manifest as Swift keeps it, for `?multipart-manifest=get`."""
    return orjson.dumps(
        [
            {
                "name": segment.name,
                "hash": segment.hash,
                "bytes": segment.bytes,
                "content_type": segment.content_type,
                "last_modified": segment.last_modified,
                **({} if segment.range is None else {"range": segment.range}),
            }
            for segment in segments
        ]
    )
