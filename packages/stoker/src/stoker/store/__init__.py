"""The record of everything: tables, queries, group commit, sealing. The only place with SQL.

Reads go through `Database.read`; every change of a running operation goes through the `Journal`, which commits
many changes at once and refuses those of an engine that no longer owns the operation.
"""
