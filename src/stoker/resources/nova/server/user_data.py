"""A server's user data: as they are, or with what Heat's agents need around them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from email import message_from_string
from email.message import Message
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from hashlib import sha256
from typing import Any
from urllib.parse import quote, urlsplit

from stoker.base.errors import BadValue, CloudError
from stoker.cloud.finders import is_uuid
from stoker.plugins.resource import Call
from stoker.resources.nova.guest import BOOT_HOOK, CLOUD_CONFIG, PART_HANDLER, RUN_USER_DATA

RAW, CFN_TOOLS, SOFTWARE_CONFIG = "RAW", "HEAT_CFNTOOLS", "SOFTWARE_CONFIG"
_AGENT_FILE = "x-cfninitdata"
_AGENT_FOLDERS = ("/var/lib/heat-cfntools", "/var/lib/cloud/data")


async def boot_data(call: Call) -> str:
    """What the server of this call boots with, "" for nothing."""
    style = call.properties["user_data_format"]
    text = call.properties.get("user_data") or ""
    if style != CFN_TOOLS:
        text = await _config_text(call, text)
    if style == RAW:
        return text
    if style == SOFTWARE_CONFIG and (ignition := _ignition(text)) is not None:
        return json.dumps(_with_metadata(ignition, call.metadata))
    return _message(list(_parts(call, style, text)))


async def _config_text(call: Call, text: str) -> str:
    """The text of the software config whose id is given; what is no such id stays as it is."""
    if not is_uuid(text):
        return text
    stored = await call.configs.get(text)
    if stored is None:
        return text
    found = stored.get("config")
    return found if isinstance(found, str) else json.dumps(found or "")


def _message(parts: list[Message]) -> str:
    """A MIME message whose text depends on its parts only, so that asking twice gives the same."""
    digest = sha256("".join(part.as_string() for part in parts).encode()).hexdigest()
    return MIMEMultipart("mixed", boundary=f"==============={digest[:32]}==", _subparts=parts).as_string()


def _parts(call: Call, style: str, text: str) -> Iterator[Message]:
    yield _part(CLOUD_CONFIG, "cloud-config", "cloud-config")
    yield _part(BOOT_HOOK, "cloud-boothook", "boothook.sh")
    yield _part(PART_HANDLER, "part-handler", "part-handler.py")
    if style == CFN_TOOLS:
        yield _part(text, _AGENT_FILE, "cfn-userdata")
        yield _part(RUN_USER_DATA, "x-shellscript", "loguserdata.py")
    else:
        yield from _user_parts(text)
    if call.metadata:
        yield _part(json.dumps(call.metadata), _AGENT_FILE, "cfn-init-data")
    if style == CFN_TOOLS and (url := metadata_url(call)) is not None:
        yield _part(url, _AGENT_FILE, "cfn-metadata-server")
        yield _part(_boto_config(call, url), _AGENT_FILE, "cfn-boto-cfg")


def _part(content: str, subtype: str, filename: str = "") -> Message:
    part = MIMEText(content, subtype, "us-ascii" if content.isascii() else "utf-8")
    if filename:
        part.add_header("Content-Disposition", "attachment", filename=filename)
    return part


def _user_parts(text: str) -> Iterator[Message]:
    """The user's own parts; a text that is no MIME message is one part."""
    message = message_from_string(text)
    if not message.is_multipart():
        yield _part(text, "plain")
        return
    for inner in message.walk():
        if not inner.is_multipart():
            payload = inner.get_payload(decode=True)
            content = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else str(payload)
            yield _part(content, inner.get_content_subtype(), inner.get_filename() or "")


def metadata_url(call: Call) -> str | None:
    """Where servers ask for their metadata: the CloudFormation API, with a slash at the end; None without one."""
    url = call.stack.options.get("heat_metadata_server_url")
    if not url:
        try:
            url = call.cloud.endpoint("heat-cfn")
        except CloudError as error:
            if error.not_found:
                return None
            raise
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


def _ignition(text: str) -> dict[str, Any] | None:
    """The configuration for Ignition, which takes no MIME message; None when the text is something else."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    if isinstance(found, dict) and isinstance(found.get("ignition"), dict) and "version" in found["ignition"]:
        return found
    return None


def _with_metadata(ignition: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration with the metadata among its files, where the agents look for them."""
    if not metadata:
        return dict(ignition)
    storage = ignition.get("storage") or {}
    files = storage.get("files") or [] if isinstance(storage, dict) else None
    if not isinstance(files, list):
        raise BadValue(
            "The Ignition configuration in user_data has a storage that is no map, or files that are no list."
        )
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
