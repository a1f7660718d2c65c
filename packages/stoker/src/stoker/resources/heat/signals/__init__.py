"""Handles and conditions that wait for signals, and the ways in which signals arrive."""
