"""The calls of resource types' methods, and their access to nested stacks, other resources and configurations."""
