"""The DNS service over HTTP."""
