"""Chaos: the simulator of crashes, and kills on a real cluster, one after the other (`python -m tools.chaos`).

It uses parts of the tests: their servers, the cluster's processes, and the simulation's user, templates and inspection.
"""
