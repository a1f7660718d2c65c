"""Which versions of the Identity API there are."""

from __future__ import annotations

from openstack_emulator.core.versions import ApiVersion, all_versions, media_type, one_version, own

_VERSION = ApiVersion(
    "v3.14",
    (own("/v3/"),),
    "stable",
    {"updated": "2020-04-07T00:00:00Z", "media-types": [media_type("identity-v3")]},
)
versions = all_versions(_VERSION, status=300, nested=True, located=True)
version = one_version(_VERSION)
