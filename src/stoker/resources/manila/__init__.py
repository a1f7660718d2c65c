"""Manila: shares, share types, share networks and security services."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.manila.security_service import SecurityService
from stoker.resources.manila.share import Share
from stoker.resources.manila.share_network import ShareNetwork
from stoker.resources.manila.share_type import ShareType

TYPES: tuple[type[ResourceType], ...] = (SecurityService, Share, ShareNetwork, ShareType)
