"""Notify others of what has happened to stacks: the message bus and the event sinks."""
