"""Carry out operations: steps, lifecycle methods, nested stacks, and how operations end."""
