"""Tools for template authors: check, format, draw and convert templates without a server."""
