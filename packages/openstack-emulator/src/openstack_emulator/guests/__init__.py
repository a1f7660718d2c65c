"""Guests: systems that run in the servers of the emulated cloud."""
