"""The database service over HTTP."""
