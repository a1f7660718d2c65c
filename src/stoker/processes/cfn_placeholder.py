"""What answers at the address of the CloudFormation interface, which this version of Stoker does not have."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

_DOCUMENT = b"""<?xml version="1.0" encoding="UTF-8"?>
<ErrorResponse><Error><Type>Receiver</Type><Code>NotImplemented</Code>\
<Message>This version of Stoker has no CloudFormation interface: neither its actions nor signals and wait conditions \
over it. Use the REST API of the catalog's orchestration service.</Message></Error></ErrorResponse>
"""


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answers 501 to everything, with an error document in CloudFormation's form."""
    headers = [("Content-Type", "application/xml"), ("Content-Length", str(len(_DOCUMENT)))]
    start_response("501 Not Implemented", headers)
    return [_DOCUMENT]
