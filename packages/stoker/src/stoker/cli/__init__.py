"""The `stoker` command: short functions over HTTP."""
