"""What Stoker and the OpenStack emulator share: clocks, and the bounded evaluation of what strangers send."""

__version__ = "0.2.0.dev0"
