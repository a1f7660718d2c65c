"""The key manager over HTTP."""
