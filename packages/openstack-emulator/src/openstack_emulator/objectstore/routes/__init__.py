"""The object store over HTTP."""
