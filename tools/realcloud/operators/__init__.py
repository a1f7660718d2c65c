"""Stoker on real services as an operator runs it: a cluster beside the services, found through the catalog."""
