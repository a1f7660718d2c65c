"""Decide, plan, run, recover. Meets resource types only through `plugins`.

Everything in this package runs on one event loop; nothing in it waits for anything but that loop's futures.
"""
