"""The service for container clusters over HTTP."""
