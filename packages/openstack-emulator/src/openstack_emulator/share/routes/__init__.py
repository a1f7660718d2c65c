"""The shared file systems service over HTTP."""
