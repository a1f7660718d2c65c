"""OS::Heat::MultipartMime"""

from __future__ import annotations

import json
from collections.abc import Mapping
from email import message_from_string
from email.message import Message
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

from stoker.plugins.resource import Call
from stoker.resources.declare import one_of
from stoker.resources.heat.software_config import GROUP
from stoker.resources.heat.software_config_base import StoredConfig
from stoker.schema.property import Property, Support, Type


class MultipartMime(StoredConfig):
    """Several configurations in one MIME message, as cloud-init takes them."""

    type_name = "OS::Heat::MultipartMime"
    description = "Several configurations put together in one MIME message for cloud-init."
    support = Support(version="2014.1")

    properties = {
        "parts": Property(
            Type.LIST,
            "The configurations, in order.",
            default=[],
            items=Property(
                Type.MAP,
                schema={
                    "config": Property(
                        description="The content, or the id of a software config that has it.", required=True
                    ),
                    "filename": Property(description="The name of the part as a file."),
                    "type": Property(
                        description="Whether the content is a text or itself a MIME message, whose parts are added.",
                        default="text",
                        constraints=one_of("text", "multipart"),
                    ),
                    "subtype": Property(description="The kind of text (`x-shellscript`)."),
                },
            ),
        ),
        "group": Property(description=GROUP.description, default=GROUP.default, support=Support(version="14.0.0")),
    }

    async def body(self, call: Call) -> dict[str, Any]:
        message, makers = MIMEMultipart(), []
        for part in call.properties["parts"]:
            content, stacks = await _content(call, part["config"])
            makers += stacks
            for inner in _messages(part, content):
                message.attach(inner)
        return {"group": call.properties["group"], "config": message.as_string(), "stacks": makers}


async def _content(call: Call, config: str) -> tuple[str, list[str]]:
    """The text itself, or that of the software config with this id; and the ids of the stacks that made the latter."""
    try:
        UUID(config)
    except ValueError:
        return config, []
    stored = await call.configs.get(config)
    if stored is None:
        return config, []
    found = stored.get("config")
    return found if isinstance(found, str) else json.dumps(found or ""), list(stored.get("stacks") or ())


def _messages(part: Mapping[str, Any], content: str) -> list[Message]:
    if part["type"] == "multipart":
        message = message_from_string(content)
        inner = message.get_payload()
        if message.is_multipart() and isinstance(inner, list):
            return [piece for piece in inner if isinstance(piece, Message)]
        return [message]
    filename = part["filename"]
    subtype = part["subtype"] or (PurePosixPath(filename).stem if filename else "plain")
    text = MIMEText(content, subtype, "us-ascii" if content.isascii() else "utf-8")
    if filename:
        text.add_header("Content-Disposition", "attachment", filename=filename)
    return [text]
