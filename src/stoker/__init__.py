"""Stoker: an orchestration engine for OpenStack clouds."""

__version__ = "0.1.0"
