"""Runs Stoker on real OpenStack services, and records what each resource type does there."""
