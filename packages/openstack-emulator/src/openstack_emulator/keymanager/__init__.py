"""The key manager."""
