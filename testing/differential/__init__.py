"""The same requests to a real and to the emulated cloud, and the differences between their answers."""
