"""What the store can do, and that it is alive; at the root of the cloud, where clients look for it."""

from __future__ import annotations

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.http import Request, Response
from openstack_emulator.objectstore.routes import bulk, listing, symlinks, temp_url
from openstack_emulator.objectstore.rules import accounts, large_objects, metadata, syncing, uploads

CAPABILITIES: dict[str, object] = {
    "swift": {
        "version": "2.35.0",
        "max_file_size": 1 << 30,
        "max_object_name_length": uploads.LONGEST_NAME,
        "max_container_name_length": accounts.LONGEST_NAME,
        "max_meta_name_length": metadata.LONGEST_NAME,
        "max_meta_value_length": metadata.LONGEST_VALUE,
        "max_meta_count": metadata.MOST_ENTRIES,
        "max_meta_overall_size": metadata.LARGEST_SUM,
        "account_listing_limit": listing.LONGEST_LIST,
        "container_listing_limit": listing.LONGEST_LIST,
        "account_autocreate": True,
        "allow_account_management": False,
        "policies": [{"name": metadata.POLICY, "aliases": metadata.POLICY, "default": True}],
    },
    "account_quotas": {},
    "bulk_delete": {"max_deletes_per_request": bulk.MOST_DELETES, "max_failed_deletes": bulk.MOST_DELETES},
    "bulk_upload": {"max_containers_per_extraction": 10000, "max_failed_extractions": 1000},
    "container_quotas": {},
    "container_sync": {
        "realms": {realm: {"clusters": {name: {} for name in names}} for realm, names in syncing.REALMS.items()}
    },
    "copy": {},
    "crossdomain": {},
    "dlo": {"max_segments": listing.LONGEST_LIST},
    "formpost": {"allowed_digests": list(temp_url.DIGESTS)},
    "slo": {
        "max_manifest_segments": large_objects.MOST_SEGMENTS,
        "max_manifest_size": 8 << 20,
        "min_segment_size": 1,
        "allow_async_delete": False,
    },
    "staticweb": {},
    "symlink": {"symloop_max": symlinks.MOST_LINKS, "static_links": True},
    "tempurl": {
        "methods": list(temp_url.METHODS),
        "allowed_digests": list(temp_url.DIGESTS),
        "incoming_remove_headers": ["x-timestamp"],
        "incoming_allow_headers": [],
        "outgoing_remove_headers": ["x-object-meta-*"],
        "outgoing_allow_headers": ["x-object-meta-public-*"],
    },
    "versioned_writes": {"allowed_flags": ["x-versions-location", "x-history-location"]},
}


class NoRecords(Records):
    """These routes keep nothing."""

    service = "swift-info"


def info(nothing: Records, request: Request) -> Response:
    return Response(CAPABILITIES)


def is_healthy(nothing: Records, request: Request) -> Response:
    return Response(b"OK", 200, {"Content-Type": "text/plain"})


def cross_domain_policy(nothing: Records, request: Request) -> Response:
    """What plug-ins of browsers ask before they read from another site than the page's: anybody may."""
    policy = (
        '<?xml version="1.0"?>\n'
        '<!DOCTYPE cross-domain-policy SYSTEM "http://www.adobe.com/xml/dtds/cross-domain-policy.dtd" >\n'
        "<cross-domain-policy>\n"
        '<allow-access-from domain="*" secure="false" />\n'
        "</cross-domain-policy>"
    )
    return Response(policy.encode(), 200, {"Content-Type": "application/xml"})
