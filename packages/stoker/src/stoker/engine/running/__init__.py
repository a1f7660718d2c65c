"""Run operations: steps, lifecycle methods, nested stacks, and the end of operations."""
