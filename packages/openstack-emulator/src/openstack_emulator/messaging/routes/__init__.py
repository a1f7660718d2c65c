"""The messaging service over HTTP."""
