"""What the rules of the shared file systems service share: the back end's name, and the times that changes take."""

from __future__ import annotations

BACKEND_HOST = "devstack@generic#pool"
ADDRESS = "10.254.0.3"
ZONE = "nova"
PROTOCOLS = ("NFS", "CIFS", "GLUSTERFS", "HDFS", "CEPHFS")

SHORT = 0.05
LONG = 0.15
