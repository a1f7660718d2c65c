"""Scripts that a server runs at boot so that Heat's agents in it find their data.

They are parts of the MIME message that cloud-init reads: a configuration of cloud-init's own, a script that
runs on every boot, and a handler that stores the parts of type `text/x-cfninitdata` as files.
"""

from __future__ import annotations

CLOUD_CONFIG = """\
output:
  all: '| tee -a /var/log/cloud-init-output.log'
"""

BOOT_HOOK = """\
#!/bin/sh
# The agents' programs stand under /opt/aws where the AWS tools look for them, on images that have the agents.
if command -v cfn-create-aws-symlinks >/dev/null 2>&1; then
    cfn-create-aws-symlinks || echo "cfn-create-aws-symlinks failed" >&2
fi
exit 0
"""

PART_HANDLER = '''\
# part-handler
"""Store every part of type text/x-cfninitdata as a file where the agents look for it."""

import os
import sys
import time

FOLDERS = ("/var/lib/heat-cfntools", "/var/lib/cloud/data")
LOG = "/var/log/part-handler.log"


def list_types():
    return ["text/x-cfninitdata"]


def note(text):
    with open(LOG, "a") as log:
        log.write("%s %s\\n" % (time.strftime("%Y-%m-%d %H:%M:%S"), text))


def store(folder, name, payload):
    if not os.path.isdir(folder):
        os.makedirs(folder, 0o700)
    path = os.path.join(folder, os.path.basename(name))
    data = payload if isinstance(payload, bytes) else payload.encode("utf-8")
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as out:
        out.write(data)


def handle_part(data, ctype, filename, payload):
    if ctype in ("__begin__", "__end__"):
        return
    for folder in FOLDERS:
        try:
            store(folder, filename, payload)
            note("stored %s in %s" % (filename, folder))
        except (IOError, OSError):
            note("cannot store %s in %s: %s" % (filename, folder, sys.exc_info()[1]))
'''

RUN_USER_DATA = '''\
#!/bin/sh
""":"
# Python 3 under whichever name the image has it.
for python in python3 python /usr/libexec/platform-python; do
    command -v "$python" >/dev/null 2>&1 && exec "$python" "$0" "$@"
done
echo "no Python to run the user data with" >&2
exit 1
":"""
"""Run the user data as a script, once, and keep what it says and when it was done."""

import datetime
import errno
import os
import subprocess
import sys

SCRIPT = "/var/lib/heat-cfntools/cfn-userdata"
FINISHED = "/var/lib/heat-cfntools/provision-finished"
LOG = "/var/log/heat-provision.log"
NO_PROGRAM = (errno.ENOEXEC, errno.ENOENT, errno.EACCES)


def note(log, text):
    line = "%s %s\\n" % (datetime.datetime.now().isoformat(), text)
    log.write(line.encode("utf-8"))
    log.flush()


def run(log):
    """The script's exit code; user data that are empty or no program are none to run, which is no failure."""
    if not os.path.exists(SCRIPT) or os.path.getsize(SCRIPT) == 0:
        note(log, "there are no user data")
        return 0
    os.chmod(SCRIPT, 0o700)
    try:
        return subprocess.call([SCRIPT], stdout=log, stderr=log)
    except OSError as error:
        note(log, "the user data are no program: %s" % error)
        return 0 if error.errno in NO_PROGRAM else 1


def main():
    with open(LOG, "ab") as log:
        note(log, "begin")
        code = run(log)
        note(log, "end, exit code %d" % code)
    if code == 0:
        open(FINISHED, "w").close()
    return code


if __name__ == "__main__":
    sys.exit(main())
'''
