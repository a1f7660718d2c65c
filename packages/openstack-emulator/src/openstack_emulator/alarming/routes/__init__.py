"""The alarming service over HTTP."""
