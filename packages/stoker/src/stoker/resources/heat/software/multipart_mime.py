"""OS::Heat::MultipartMime"""

from __future__ import annotations

import json
from collections.abc import Mapping
from email import message_from_string
from email.message import Message
from email.mime.multipart import MIMEMultipart
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

from stoker.plugins.resource import Call
from stoker.resources.declare import one_of
from stoker.resources.heat.software.software_config import GROUP
from stoker.resources.heat.software.software_config_base import StoredConfig
from stoker.resources.mime import message_text, text_part
from stoker.schema.property import Property, Support, Type


class MultipartMime(StoredConfig):
    """Several configurations in one MIME message for cloud-init."""

    type_name = "OS::Heat::MultipartMime"
    description = "Several configurations, combined into one MIME message for cloud-init."
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
                        description="The content, or the ID of a software configuration with the content.",
                        required=True,
                    ),
                    "filename": Property(description="File name of the part."),
                    "type": Property(
                        description="text: the content is one part; multipart: it is a MIME message with parts.",
                        default="text",
                        constraints=one_of("text", "multipart"),
                    ),
                    "subtype": Property(description="MIME subtype of the part (`x-shellscript`)."),
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
        return {"group": call.properties["group"], "config": message_text(message), "stacks": makers}


async def _content(call: Call, config: str) -> tuple[str, list[str]]:
    """Return the string itself, or the content of the software config with this ID and the IDs of its stacks."""
    try:
        UUID(config)
    except ValueError:
        return config, []
    stored = await call.engine.configs.get(config)
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
    return [text_part(content, subtype, filename)]
