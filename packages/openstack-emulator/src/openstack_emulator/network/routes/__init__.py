"""The routes of the network service, and their handlers."""
