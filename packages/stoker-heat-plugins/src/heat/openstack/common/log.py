"""The place of the logging functions before 2015."""

from oslo_log.log import getLogger

__all__ = ["getLogger"]
