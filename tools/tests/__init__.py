"""Tests of the programs of `tools`."""
