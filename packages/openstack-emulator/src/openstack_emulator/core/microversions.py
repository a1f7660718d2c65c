"""Microversions: which one a request asks for, and the headers of the answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.cloud import Microversions
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Request, Version

HEADER = "OpenStack-API-Version"
_FORM = re.compile(r"(\d+)\.(\d+)\Z", re.ASCII)


class Unsupported(ApiError):
    """A request asks for a version that the service does not have."""

    def __init__(self, rules: Microversions, version: str) -> None:
        self.rules, self.version = rules, version
        least, most = version_text(rules.minimum), version_text(rules.maximum)
        self.sentence = (
            f"Version {version} was requested but the minor version is not supported by this service. The supported "
            f"version range is: [{least}, {most}]."
        )
        super().__init__(
            406, f"Version {version} is not supported by the API. Minimum is {least} and maximum is {most}."
        )

    def described(self, code: str) -> dict[str, Any]:
        """Return the error as the guideline of OpenStack's API working group on microversions has it."""
        kind, least, most = self.rules.type, version_text(self.rules.minimum), version_text(self.rules.maximum)
        return {
            "code": code,
            "title": "Requested microversion is unsupported",
            "description": f"Version {self.version} was requested but the minor version is not supported by this "
            f"service. The supported version range is: [{kind} {least}, {kind} {most}].",
            "min_version": least,
            "max_version": most,
            "links": [{"href": "http://docs.openstack.org/api-guide/compute/microversions.html", "rel": "help"}],
        }


class Malformed(ApiError):
    """A request asks for a version that is not of the form X.Y.

    Nova has a message of its own; services with the status 406 leave the check to a library.
    """

    names_versions = False

    def __init__(self, rules: Microversions, version: str) -> None:
        if rules.malformed == 400:
            sentence = f"API Version String {version} is of invalid format. Must be of format MajorNum.MinorNum."
        else:
            sentence = f"Invalid value for {rules.legacy_header or HEADER} header"
        super().__init__(rules.malformed, sentence)


def negotiate(rules: Microversions, request: Request) -> None:
    """Set the version in which a request is served. Raises Malformed, and Unsupported for one out of range."""
    requested = _requested(rules, request.headers)
    if requested is None:
        request.version = rules.default
        return
    if requested == "latest":
        request.version = rules.maximum
        return
    found = _FORM.match(requested)
    if found is None:
        raise Malformed(rules, requested)
    version = (int(found[1]), int(found[2]))
    supported = rules.minimum <= version <= rules.maximum
    if supported or rules.names_refused:
        request.version = version
    if not supported:
        raise Unsupported(rules, requested)


def answer_headers(rules: Microversions, version: Version) -> dict[str, str]:
    """The headers that name the version that was served."""
    headers = {} if rules.alone else {HEADER: f"{rules.type} {version_text(version)}"}
    if rules.legacy_header is not None:
        headers[rules.legacy_header] = version_text(version)
    return {**headers, "Vary": ", ".join(headers)} if rules.varies else headers


def range_headers(rules: Microversions) -> dict[str, str]:
    """The headers that name the oldest and the newest version, for services that send them."""
    if rules.range_headers is None:
        return {}
    prefix = f"{rules.type} " if rules.legacy_header is None else ""
    versions = (prefix + version_text(version) for version in (rules.minimum, rules.maximum))
    return dict(zip(rules.range_headers, versions, strict=True))


def version_text(version: Version) -> str:
    """A version as headers have it: `2.79`."""
    return f"{version[0]}.{version[1]}"


def _requested(rules: Microversions, headers: Mapping[str, str]) -> str | None:
    for part in headers.get(HEADER.lower(), "").split(","):
        kind, _, version = part.strip().partition(" ")
        if kind.lower() in (rules.type, *rules.aliases):
            return version.strip().lower()
    if rules.legacy_header is not None:
        return headers.get(rules.legacy_header.lower())
    return None
