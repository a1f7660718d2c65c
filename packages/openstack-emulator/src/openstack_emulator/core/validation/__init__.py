"""Validation of request bodies.

A check (`fields`) finds the problem of a value as data (`problems`). A converter (`converting`) also gives the value in
its normal form. A dialect (`objects`) is how a service checks the fields of an object: in which order, with which
sentences (`sentences`), and in which error.
"""
