"""Validation of request bodies.

A check (`fields`) finds the problem of a value as data (`problems`). A dialect (`dialects`) is how a service checks the
fields of an object: in which order, with which sentences (`sentences`), and in which error.
"""
