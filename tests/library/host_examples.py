"""Writes docs/examples: each runbook of a host, run by sayso itself in a room, and the report of that run.

    python -m tests.library.host_examples docs/examples

sayso runs inside the room and is talked to as a person would in `sayso chat`; every question is agreed to, a
destructive one with its phrase. It takes root and about two minutes, since waits are waited for.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.library.test_hosts_keys import CA, SERVE
from tests.library.test_hosts_room import KEY, RULES, package
from tests.library.test_hosts_services import LOG, PROCESSES
from tests.simulators.systemd.host import Machine, machine, unit

CONFIG = """\
[operators.ana]
accounts = ["console::root"]
roles = ["owner"]
may = [{ risk = "destructive", targets = ["*"] }]
[targets.web1]
kind = "local"
[targets.db1]
kind = "local"
"""
TLS = "cd /etc/ssl/ours; " + SERVE.format(port=443)
SSHD = """
    ssh-keygen -q -t ed25519 -N '' -f /srv/host; ssh-keygen -q -t ed25519 -N '' -f /srv/keys/backup
    mkdir -p /run/sshd /etc/ssh; cp /srv/keys/backup.pub /srv/authorized_keys
    echo "[127.0.0.1]:2222 $(cut -d ' ' -f 1,2 /srv/host.pub)" > /etc/ssh/ssh_known_hosts
    echo 'sshd:x:105:65534::/run/sshd:/usr/sbin/nologin' >> /etc/passwd
    /usr/sbin/sshd -p 2222 -h /srv/host -f /dev/null \\
        -o AuthorizedKeysFile=/srv/authorized_keys -o StrictModes=no
"""
ROTATE = "key=/srv/keys/backup, host=127.0.0.1, port=2222, server=db1, allowed=/srv/authorized_keys"
FILES = {"file": "web.pem", "key": "web.key", "ca": "ca.pem", "ca_key": "ca.key"}
RENEW = ", ".join(f"{name}=/etc/ssl/ours/{file}" for name, file in FILES.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One run: what is so before it, and the values that it is asked for with."""

    values: str = ""
    before: str = "true"
    so: Mapping[str, Any] = field(default_factory=dict)


EXAMPLES = {
    "add-user": Example(values=f'user=anna, group=adm, key="{KEY}"'),
    "certificate-expiry": Example(
        values="file=/etc/ssl/ours/web.pem",
        before=f"mkdir /etc/ssl/ours; cd /etc/ssl/ours; {CA}",
    ),
    "check-log-rotation": Example(
        values="act=rotate",
        before="echo weekly > /etc/logrotate.conf",
        so={"units": {"logrotate.timer": unit()}},
    ),
    "check-timers": Example(so={"units": {"cron.service": unit(), "backup.timer": unit()}}),
    "empty-log": Example(values="file=/var/log/app.log", before="seq 1 200000 > /var/log/app.log"),
    "firewall-close": Example(
        values="port=8080",
        before=f"nft '{RULES}; insert rule inet filter input tcp dport 8080 counter accept'",
    ),
    "firewall-open": Example(values="port=8080, source=10.0.0.0/8", before=f"nft '{RULES}'"),
    "fix-clock": Example(so={"units": {"systemd-timesyncd.service": unit()}}),
    "free-disk": Example(
        values="path=/var, clean=both",
        before="head -c 60M /dev/zero > /var/cache/apt/archives/x_1_amd64.deb",
        so={"var_mib": 96},
    ),
    "high-load": Example(values="act=calm", before="sh -c 'while :; do :; done' > /dev/null 2>&1 & sleep 1"),
    "install-updates": Example(),
    "memory-pressure": Example(
        values="act=restart",
        so={
            "units": {"java.service": unit()},
            "processes": PROCESSES,
            "available": [4, 4, 60],
            "simulated": ("ps", "free"),
        },
    ),
    "remove-user": Example(values="user=anna", before="useradd --create-home anna"),
    "renew-certificate": Example(
        values=f"{RENEW}, host=localhost, service=web",
        before=f"mkdir /etc/ssl/ours; cd /etc/ssl/ours; {CA}\n{TLS}",
        so={"units": {"web.service": unit(hook=TLS)}},
    ),
    "repair-failed-units": Example(so={"units": {"caddy.service": unit("failed")}, "journal": LOG}),
    "restart-with-check": Example(values="service=caddy", so={"units": {"caddy.service": unit(slow=1)}}),
    "rotate-ssh-key": Example(values=ROTATE, before=f"mkdir -p /srv/keys; {SSHD}"),
    "swap-activity": Example(so={"simulated": ("free", "vmstat"), "swap": [1000, 100, 900]}),
    "triage-service": Example(
        values="service=caddy", so={"units": {"caddy.service": unit()}, "journal": LOG}
    ),
}
_SAYSO = f"SAYSO_CONFIG=/srv/config.toml SAYSO_HOME=/srv/state {Path(sys.executable).parent / 'sayso'}"


def write(name: str, example: Example, folder: Path) -> None:
    """Run one and write its report to `folder`."""
    with tempfile.TemporaryDirectory() as made, machine(Path(made) / "m", room=True, **example.so) as host:
        _install(host)
        (host.folder / "root/srv/config.toml").write_text(CONFIG)
        if name == "install-updates":
            package(host, "1.0", "true")
            host.do("dpkg -i /srv/repo/demo_1.0_all.deb")
            package(host, "1.1", "touch /run/reboot-required")
        host.do(example.before)
        run = _converse(
            host, f"run runbook {name} on web1" + (f" with {example.values}" if example.values else "")
        )
        (folder / f"{name}.md").write_text(host.do(f"{_SAYSO} runbook report {run}"))


def _install(host: Machine) -> None:
    """Put the simulated programs where sayso's own path finds them, in the room alone."""
    host.do(
        f"cd {host.folder}/bin; mount --bind . /usr/local/bin; for one in *; do "
        'real=$(PATH=/usr/sbin:/usr/bin command -v "$one") || continue; '
        'test "$one" = bash || mount --bind "$one" "$real"; done'
    )


def _converse(host: Machine, request: str) -> str:
    """Ask for a run, agree to all of it, and return the run's id."""
    command = [str(host.folder / "bin/bash"), "-c", f"{_SAYSO} chat"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as chat:
        assert chat.stdin is not None
        assert chat.stdout is not None

        def say(words: str) -> None:
            print(words, file=chat.stdin, flush=True)

        say(request)
        run = ""
        for line in chat.stdout:
            if phrase := re.search(r"To run it, type:  (.+)", line):
                say(phrase[1].strip())
            elif asked := re.match(r"until .* · #([a-z0-9]+) · asked by", line):
                say(f"approve {asked[1]}")
            elif over := re.search(r" on web1: .* · #([a-z0-9]+)$", line.strip()):
                run = over[1]
                chat.stdin.close()
                break
        chat.kill()  # what it has to say is in the ledger; the room ends what is left
    assert run, f"no end of: {request}"
    return run


def main(folder: Path, *names: str) -> None:
    """Write the examples of `names`, of all where none is named."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or EXAMPLES:
        write(name, EXAMPLES[name], folder)
        print(name, (folder / f"{name}.md").read_text().splitlines()[2], flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
