"""The compute service over HTTP."""
