"""The commands, one module for each group of them, and what carries them out."""
