"""Barbican: secrets, containers of secrets, and orders that generate them."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.barbican.containers import CertificateContainer, GenericContainer, RSAContainer
from stoker.resources.barbican.order import Order
from stoker.resources.barbican.secret import Secret

TYPES: tuple[type[ResourceType], ...] = (Secret, Order, GenericContainer, CertificateContainer, RSAContainer)
