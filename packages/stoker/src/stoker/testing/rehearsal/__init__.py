"""Rehearsals: a stack is created, updated and deleted again and again, and each time something else goes wrong."""
