"""Bare-metal machines: nodes with their ports, and what they are deployed with."""
