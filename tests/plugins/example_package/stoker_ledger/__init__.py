"""Plug-ins for a ledger service: a part for each entry point of Stoker."""
