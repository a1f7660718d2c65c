"""Configurations of Terraform and OpenTofu: their states become templates, and stacks become configurations."""
