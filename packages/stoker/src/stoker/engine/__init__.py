"""Plan operations, run them, and recover them. Resource types are accessed only through `plugins`.

Everything in this package runs on one event loop, and waits only for futures of that loop.
"""
