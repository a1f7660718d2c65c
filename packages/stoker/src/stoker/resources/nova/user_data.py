"""A server's user data: unchanged, or in a MIME message with what Heat's agents need."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from email import message_from_string
from functools import lru_cache
from hashlib import sha256
from typing import Any
from urllib.parse import quote, urlsplit

from stoker.base.errors import BadValue, NoEndpoint
from stoker.base.json_text import read_json
from stoker.cloud.finders import is_uuid
from stoker.plugins.resource import Call
from stoker.resources.mime import decoded_payload, text_part
from stoker.resources.nova.guest import BOOT_HOOK, CLOUD_CONFIG, PART_HANDLER, RUN_USER_DATA

RAW, CFN_TOOLS, SOFTWARE_CONFIG = "RAW", "HEAT_CFNTOOLS", "SOFTWARE_CONFIG"
_AGENT_FILE = "x-cfninitdata"
_AGENT_FOLDERS = ("/var/lib/heat-cfntools", "/var/lib/cloud/data")


async def boot_data(call: Call, login_user: str | None = None) -> str:
    """Return the server's user data, "" for none.

    login_user: the name that cloud-init gives to the image's default user, who may log in with the server's key pair.
    """
    style = call.properties["user_data_format"]
    content = call.properties.get("user_data") or ""
    if style != CFN_TOOLS:
        content = await _stored_config(call, content)
    if style == RAW:
        return content
    if style == SOFTWARE_CONFIG and (ignition := _ignition(content)) is not None:
        return json.dumps(_with_metadata(ignition, call.metadata))
    return _message(list(_parts(call, style, content, login_user)))


async def _stored_config(call: Call, given: str) -> str:
    """Return the content of the software config whose ID is given; any other string unchanged."""
    if not is_uuid(given):
        return given
    stored = await call.engine.configs.get(given)
    if stored is None:
        return given
    found = stored.get("config")
    return found if isinstance(found, str) else json.dumps(found or "")


def _message(parts: list[str]) -> str:
    """Return a MIME message whose boundary depends on its parts only, so that the result is reproducible."""
    boundary = f"==============={sha256(''.join(parts).encode()).hexdigest()[:32]}=="
    body = f"\n--{boundary}\n".join(parts)
    return (
        f'Content-Type: multipart/mixed; boundary="{boundary}"\nMIME-Version: 1.0\n\n'
        f"--{boundary}\n{body}\n--{boundary}--\n"
    )


def _parts(call: Call, style: str, text: str, login_user: str | None) -> Iterator[str]:
    user = f"user: {login_user}\n" if login_user else ""
    yield _common_part(f"{user}{CLOUD_CONFIG}", "cloud-config", "cloud-config")
    yield _common_part(BOOT_HOOK, "cloud-boothook", "boothook.sh")
    yield _common_part(PART_HANDLER, "part-handler", "part-handler.py")
    if style == CFN_TOOLS:
        yield _part(text, _AGENT_FILE, "cfn-userdata")
        yield _common_part(RUN_USER_DATA, "x-shellscript", "loguserdata.py")
    else:
        yield from _user_parts(text)
    if call.metadata:
        yield _part(json.dumps(call.metadata), _AGENT_FILE, "cfn-init-data")
    if style == CFN_TOOLS and (url := metadata_url(call)) is not None:
        yield _common_part(url, _AGENT_FILE, "cfn-metadata-server")
        yield _common_part(_boto_config(call, url), _AGENT_FILE, "cfn-boto-cfg")


def _part(content: str, subtype: str, filename: str | None = None) -> str:
    return text_part(content, subtype, filename).as_string()


@lru_cache(maxsize=64)
def _common_part(content: str, subtype: str, filename: str) -> str:
    """Return a part that other servers have, too: writing one takes longer than the rest of the message."""
    return _part(content, subtype, filename)


def _user_parts(text: str) -> Iterator[str]:
    """Yield the user's own parts; user data that is no MIME message is one part."""
    message = message_from_string(text)
    if not message.is_multipart():
        yield _part(text, "plain")
        return
    for inner in message.walk():
        if not inner.is_multipart():
            yield _part(decoded_payload(inner), inner.get_content_subtype(), inner.get_filename())


def metadata_url(call: Call) -> str | None:
    """Return the URL of the CloudFormation API for metadata, with a trailing slash; None if there is none."""
    url = call.stack.options.get("heat_metadata_server_url")
    if not url:
        try:
            url = call.cloud.endpoint("heat-cfn")
        except NoEndpoint:
            return None
    url = str(url).rstrip("/")
    return f"{url}/" if url.endswith("/v1") else f"{url}/v1/"


def _boto_config(call: Call, url: str) -> str:
    options = call.stack.options
    return (
        "[Boto]\n"
        "debug = 0\n"
        f"is_secure = {options.get('instance_connection_is_secure', '0')}\n"
        f"https_validate_certificates = {options.get('instance_connection_https_validate_certificates', '1')}\n"
        "cfn_region_name = heat\n"
        f"cfn_region_endpoint = {urlsplit(url).hostname}\n"
    )


def _ignition(text: str) -> dict[str, object] | None:
    """Parse a configuration for Ignition, which accepts no MIME message; None if it is not one."""
    try:
        found = read_json(text)
    except ValueError:
        return None
    if isinstance(found, dict) and isinstance(found.get("ignition"), dict) and "version" in found["ignition"]:
        return found
    return None


def _with_metadata(ignition: Mapping[str, Any], metadata: Mapping[str, object]) -> dict[str, object]:
    """Return the configuration with the metadata among its files, where the agents expect it."""
    if not metadata:
        return dict(ignition)
    storage = ignition.get("storage") or {}
    files = storage.get("files") or [] if isinstance(storage, dict) else None
    if not isinstance(files, list):
        raise BadValue("In the Ignition configuration in user_data, storage must be a map and storage.files a list.")
    source = "data:," + quote(json.dumps(metadata), safe="")
    added = [
        {
            "filesystem": "root",
            "path": f"{folder}/cfn-init-data",
            "mode": 0o640,
            "user": {"name": "root"},
            "group": {"name": "root"},
            "contents": {"source": source},
        }
        for folder in _AGENT_FOLDERS
    ]
    return {**ignition, "storage": {**storage, "files": [*files, *added]}}
