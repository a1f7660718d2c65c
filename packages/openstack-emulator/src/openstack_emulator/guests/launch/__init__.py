"""Starts a guest in namespaces of its own, or holds the networks of a cloud.

Run as a program by the drivers; it imports nothing of Stoker but this package.

The argument is a JSON object:

directory: of the guest.
ids: `{"uid": […], "gid": […], "helpers": bool, "deny": bool}`: the lines of the namespace's ID maps. `helpers`: they
are written by newuidmap and newgidmap, which may use the subordinate IDs of an unprivileged user. `deny`: groups
cannot be changed, which the kernel demands of a user who maps only the own ID.
parent: the process that must live as long as the guest.
task: `boot`; or `delete` to delete directories (names); or `copy` to copy one (names: from, to); or `unpack` to unpack
the tar file on the standard input into the directory `root`; or `run` to run a command with the users of guests; or
`networks` to obey the orders that arrive at the socket `control` (see `networks`).
For `boot` also: within (the descriptor of a user namespace in which that of the guest is made), disk (its directory),
layers (`[[source, target], …]`: read-only directories of this machine below the disk), links (path → destination),
files (path → content; programs in directories `bin`), binds (read-only: `[[source, target], …]`), volumes
(`[[source, target, layered], …]`; layered: a disk with the same layers), hostname, environment, command, listen
(`[[address, port], …]`) and control: the descriptor of a socket that gets the guest's namespaces (network, user,
mounts) and the sockets that listen there, with the message `wired`, and waits for an answer; then the message `ready`.
Another message says why the guest was not started.

For `virtual`, which replaces the process by a program that runs a virtual machine: within, listen and control as for
`boot`; opened (name → path of a file to open for reading), monitor (a descriptor that the program gets), command (words
in which `@name@` is the number of a descriptor), environment, and groups: those of the process; null: its user's.

For the other tasks, the process that is started waits for the guest and ends with its status, 128 and the number of the
signal if a signal ended it. SIGTERM is passed on to the guest's first process; SIGHUP kills the guest.
"""
