"""The DNS service, Designate."""
