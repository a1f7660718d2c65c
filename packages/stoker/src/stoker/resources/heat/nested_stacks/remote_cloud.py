"""The cloud of a remote stack: another region, or another cloud with a credential of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from stoker.base.errors import BadValue, CloudError, NotSupported
from stoker.base.json_text import read_json
from stoker.cloud.credentials import PluginCredential

if TYPE_CHECKING:
    from stoker.cloud.session import Cloud


async def remote_cloud(cloud: Cloud, context: Mapping[str, Any] | None) -> Cloud:
    """Return the cloud that a resource's property `context` names.

    Raises NotSupported or BadValue for a credential that cannot be used.
    """
    context = context or {}
    region = context.get("region_name")
    secret = context.get("credential_secret_id")
    if secret:
        login = await _login(cloud, secret)
        insecure, project = bool(context.get("insecure")), cloud.project_id or ""
        credential = PluginCredential.of(*login, context.get("ca_cert"), insecure, project)
        return await cloud.acting_as(credential, region)
    return cloud.with_region(region) if region and region != cloud.region else cloud


async def _login(cloud: Cloud, secret: str) -> tuple[str, dict[str, Any]]:
    """Return the authentication plug-in and its options from the secret."""
    if not cloud.has_service("barbican"):
        raise NotSupported(
            "credential_secret_id needs a key manager (barbican), which is not in this cloud's service catalog."
        )
    identifier = quote(secret.rstrip("/").rpartition("/")[2], safe="")
    try:
        payload = await cloud.get("barbican", f"/secrets/{identifier}/payload", headers={"Accept": "text/plain"})
    except CloudError as error:
        if not error.not_found:
            raise
        # Not an error of the remote stack: a deletion must not take the stack for deleted.
        raise BadValue(f"The secret {secret} with the credential for another cloud does not exist.") from error
    try:
        login = read_json(payload) if isinstance(payload, str | bytes) else payload
        auth_type, options = str(login["auth_type"]), dict(login["auth"])
    except (ValueError, TypeError, KeyError) as error:
        raise BadValue(f"The secret {secret} must be a JSON object with auth_type and auth.") from error
    for name, value in options.items():
        if value is not None and not isinstance(value, str | int | bool):
            raise BadValue(f"The secret {secret}: the option {name!r} in auth must be a string.")
    url = options.get("auth_url")
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise BadValue(f"The secret {secret}: auth_url in auth must be the http or https URL of an identity service.")
    return auth_type, options
