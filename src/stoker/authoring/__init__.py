"""Tools for people who write templates: checking, laying out, drawing and converting them without a server."""
