"""Recorded stacks in memory: inputs, resources, types, and views of them."""
