"""Stoker: an orchestration engine for OpenStack clouds."""

__version__ = "0.2.0.dev0"
