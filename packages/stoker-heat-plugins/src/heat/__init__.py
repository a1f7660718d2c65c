"""The import names of Heat's plug-in interface, for modules that were written against it.

This is not Heat: the classes here are Stoker's own, and exist only to be used and derived from by plug-ins. What each
means to a plug-in is described in docs/how-to/heat-plug-ins.md.
"""
