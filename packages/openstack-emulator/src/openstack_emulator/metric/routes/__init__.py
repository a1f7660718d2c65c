"""The metric service over HTTP."""
