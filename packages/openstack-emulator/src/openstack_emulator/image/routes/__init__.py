"""The image service over HTTP."""
