"""Configurations of Terraform, made on the emulated cloud as its provider makes them, and imported as stacks."""
