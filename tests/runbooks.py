"""Runbooks for tests: documents as text, and the library that they make."""

from bot.loading.library import put_together, read_text
from bot.planning.library import Library

PROVISION = """\
version: 1
id: provision
title: provision a container with {package} on {target}
aliases:
  - "new container with {package}"
inputs:
  package: {type: name}
  hostname: {type: host, title: name of the new machine}
  vmid: {type: integer, min: 100, max: 999999999}
  size: {enum: [small, large]}
  start: {type: boolean, default: true}
  note: {type: text, required: false, default: none}
steps:
  - id: create
    title: Create it
    risk: mutating
    rollback: none
    command: pct create {{ inputs.vmid }} debian --hostname {{ inputs.hostname }} --tags {{ inputs.note }}
  - id: install
    title: Install {{ inputs.package }}
    risk: mutating
    command: pct exec {{ inputs.vmid }} -- apt-get install -y {{ inputs.package }}
"""
ROTATE = """\
version: 1
id: rotate
title: rotate the database password
inputs:
  user: {type: name, default: app}
  password: {type: text, secret: true}
steps:
  - id: set
    title: Set it for {{ inputs.user }}
    risk: mutating
    command: set-password {{ inputs.user }} {{ inputs.password }}
"""
FIND = """\
version: 1
id: free-vmid
title: find a free vmid
inputs:
  vmid: {type: integer, required: false, min: 100, max: 999999999}
result: vmid
steps:
  - id: ask
    kind: check
    title: Ask the cluster
    risk: read-only
    target: web2
    command: pvesh get /cluster/nextid
    capture: {input: vmid}
"""
DISK = """\
version: 1
id: disk
title: disk space
steps:
  - {id: df, title: Show it, risk: read-only, command: df -hT}
"""


def library_of(*texts: str) -> Library:
    """Return the library of these documents."""
    library, faults = put_together(read_text(text.encode()) for text in texts)
    assert not faults, [str(fault) for fault in faults]
    return library
