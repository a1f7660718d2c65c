"""The messaging service."""
