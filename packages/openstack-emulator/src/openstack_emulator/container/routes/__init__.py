"""The service for single containers over HTTP."""
