"""Fan-out: one command on many targets, formed, started, recorded and shown as one."""
