"""Horizon's settings for a walk over its pages: as in production, with sessions in the memory of the one process."""

import os

DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1"]
SECRET_KEY = os.environ["HORIZON_SECRET_KEY"]
OPENSTACK_KEYSTONE_URL = os.environ["HORIZON_KEYSTONE_URL"]
SESSION_ENGINE = "django.contrib.sessions.backends.cache"
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
STATIC_ROOT = os.environ["HORIZON_STATIC_ROOT"]
COMPRESS_OFFLINE = True
TIME_ZONE = "UTC"
