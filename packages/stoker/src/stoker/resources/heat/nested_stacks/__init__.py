"""Stacks as resources: templates as types, and stacks in other regions and clouds."""
