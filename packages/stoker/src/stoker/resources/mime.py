"""Parts of MIME messages, as cloud-init reads them."""

from __future__ import annotations

from email.errors import MessageError
from email.message import Message
from email.mime.text import MIMEText

from stoker.base.errors import BadValue

_ERRORS = (MessageError, LookupError, ValueError, TypeError, AttributeError)
"""What the standard library raises for headers, encodings and character sets that it does not understand."""


def text_part(content: str, subtype: str, filename: str | None = None) -> Message:
    """Return a part of the type `text/<subtype>`. Raises BadValue for a subtype or file name that is unprintable."""
    for what, value in (("MIME subtype", subtype), ("file name", filename or "")):
        if not value.isprintable():
            raise BadValue(f"The {what} {value!r} contains a character that cannot be printed.")
    part = MIMEText(content, subtype, "us-ascii" if content.isascii() else "utf-8")
    if filename:
        part.add_header("Content-Disposition", "attachment", filename=filename)
    return part


def decoded_payload(part: Message) -> str:
    """Return the content of a part that is not multipart. Raises BadValue where its encoding is invalid."""
    try:
        payload = part.get_payload(decode=True)
    except _ERRORS as error:
        raise BadValue(f"A part of the MIME message cannot be decoded: {error}.") from error
    return payload.decode("utf-8", "replace") if isinstance(payload, bytes) else str(payload)


def message_text(message: Message) -> str:
    """Return the message as a string. Raises BadValue where a user's headers or encodings in it are invalid."""
    try:
        return message.as_string()
    except _ERRORS as error:
        raise BadValue(f"The MIME message cannot be written: {error}.") from error
