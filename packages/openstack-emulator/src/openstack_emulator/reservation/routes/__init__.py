"""The reservation service over HTTP."""
