"""Puts processes together from configuration: the engine with its API, and the emulated cloud beside it."""
