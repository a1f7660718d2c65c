"""Policies on plans: conditions, written in CEL, that the plan of every operation must satisfy.

The policies of update policies (`engine.planning.decide`) are Python code of installed packages; these are data.
"""
