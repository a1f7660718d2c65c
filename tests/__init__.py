"""Tests of Stoker: README.md explains the suites."""

import os

# Libraries of OpenStack import eventlet, which otherwise imports modules of dnspython a second time in this process.
os.environ.setdefault("EVENTLET_NO_GREENDNS", "yes")
