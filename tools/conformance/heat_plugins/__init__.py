"""Plug-ins that vendors wrote for Heat, as PyPI has them, in a Stoker with an emulated cloud."""
