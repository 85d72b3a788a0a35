"""Certificates and SSH keys: the real openssl, a real TLS server, a real sshd. Only systemd is simulated."""

import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from gate.supervise.state import RunState
from tests import needs
from tests.library.drive import Answer, Drive, agree, asks_as_it_says, laid_open, play, refuse
from tests.simulators.systemd.host import Machine, machine, unit
from tests.sshd import Server, free_port, running


def shell(line: str, folder: Path) -> str:
    return subprocess.run(
        ["bash", "-ec", line], cwd=folder, check=True, capture_output=True, text=True, timeout=60
    ).stdout


def run(name: str, on: Machine | None = None, /, answer: Answer = agree, **inputs: Any) -> Drive:
    """Play a runbook; whoever is asked is asked as its document says."""
    before = inputs.pop("before", lambda _: None)
    path = "/usr/sbin:/usr/bin:/sbin:/bin" if on is None else on.path
    drive = play(name, inputs, path=path, answer=answer, before=before)
    assert asks_as_it_says(laid_open(name), drive) == []
    return drive


# ---------------------------------------------------------------- expiry


@pytest.mark.parametrize(
    ("lasts", "days", "outcome", "last"),
    [(90, 30, "completed", "lasts"), (20, 30, "escalated", "lasts"), (-1, 1, "escalated", "valid")],
)
def test_expiry_is_found_in_time(tmp_path: Path, lasts: int, days: int, outcome: str, last: str) -> None:
    now = datetime.now(tz=UTC)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "web")])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    ends = now + timedelta(days=lasts)
    made = builder.not_valid_before(now - timedelta(days=60)).not_valid_after(ends).sign(key, hashes.SHA256())
    (tmp_path / "c").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    done = run("certificate-expiry", file=str(tmp_path / "c"), days=days)
    assert (done.outcome, done.steps[-1], done.asked) == (outcome, last, [])


def test_what_is_no_certificate_is_said(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("nothing\n")
    done = run("certificate-expiry", file=str(tmp_path / "c"))
    assert (done.outcome, done.steps) == ("failed", ["dates"])


# ---------------------------------------------------------------- renewal

CA = """
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem \
        -subj /CN=ours -days 900
    openssl ecparam -genkey -name prime256v1 -noout -out web.key
    openssl req -x509 -key web.key -subj /CN=localhost -days 3 -out web.pem
"""
SERVE = """
    test ! -e pid || kill "$(cat pid)"
    openssl x509 -in web.pem -noout || exit 1
    setsid openssl s_server -accept 127.0.0.1:{port} -cert web.pem -key web.key -quiet \
        > log 2>&1 < /dev/null &
    echo $! > pid
    until openssl s_client -connect 127.0.0.1:{port} < /dev/null > /dev/null 2>&1; do sleep 0.05; done
"""


@pytest.fixture
def tls(tmp_path: Path) -> Iterator[tuple[Machine, dict[str, Any]]]:
    """A TLS server that a simulated systemd starts anew, its CA, and the inputs of a renewal."""
    folder = tmp_path / "tls"
    folder.mkdir()
    shell(CA, folder)
    port = free_port()
    serve = f"cd {folder}; {SERVE.format(port=port)}"
    with machine(tmp_path / "m", units={"web.service": unit(hook=serve)}) as host:
        files = {name: str(folder / file) for name, file in FILES.items()}
        try:
            shell(serve, folder)
            yield host, {**files, "host": "localhost", "service": "web", "port": port}
        finally:
            shell('kill "$(cat pid)" || true', folder)


FILES = {"file": "web.pem", "key": "web.key", "ca": "ca.pem", "ca_key": "ca.key"}


def issuer(inputs: dict[str, Any]) -> str:
    """Whose certificate the server shows."""
    line = f"openssl s_client -connect 127.0.0.1:{inputs['port']} < /dev/null 2> /dev/null"
    return shell(f"{line} | openssl x509 -noout -issuer", Path("/")).strip()


def test_a_certificate_is_renewed_and_served(tls: tuple[Machine, dict[str, Any]]) -> None:
    host, inputs = tls
    assert issuer(inputs) == "issuer=CN = localhost"
    done = run("renew-certificate", host, **inputs)
    assert (done.outcome, done.asked) == ("completed", ["make", "put", "reload", "served"])
    assert issuer(inputs) == "issuer=CN = ours"
    assert run("certificate-expiry", file=inputs["file"], days=80).outcome == "completed"


def test_a_service_that_keeps_the_old_one_gets_it_back(tls: tuple[Machine, dict[str, Any]]) -> None:
    host, inputs = tls
    before = Path(inputs["file"]).read_bytes()
    host.change(units={"web.service": unit()})  # its reload reads nothing
    done = run("renew-certificate", host, **inputs)
    assert (done.outcome, done.asked[-2:]) == ("aborted", ["served", "restore"])
    assert Path(inputs["file"]).read_bytes() == before
    assert issuer(inputs) == "issuer=CN = localhost"


def test_a_certificate_that_is_not_good_is_never_put_in_place(tls: tuple[Machine, dict[str, Any]]) -> None:
    host, inputs = tls
    before = Path(inputs["file"]).read_bytes()

    def meddle(state: RunState) -> None:
        if state.current == "signed":
            Path(f"{inputs['file']}.new").write_bytes(before)

    done = run("renew-certificate", host, before=meddle, **inputs)
    assert (done.outcome, done.steps[-1], done.asked) == ("failed", "signed", ["make"])
    refused = run("renew-certificate", host, answer=refuse("put"), **inputs)
    assert (refused.outcome, Path(inputs["file"]).read_bytes()) == ("aborted", before)


def test_a_reload_that_fails_puts_the_old_one_back(tls: tuple[Machine, dict[str, Any]]) -> None:
    host, inputs = tls
    hook = host.unit("web.service")["hook"]
    host.change(units={"web.service": unit(hook=hook, fails=1)})
    done = run("renew-certificate", host, **inputs)
    assert (done.outcome, done.asked[-2:]) == ("aborted", ["reload", "restore"])
    assert issuer(inputs) == "issuer=CN = localhost"


# ---------------------------------------------------------------- SSH keys


@pytest.fixture
def sshd(tmp_path: Path) -> Iterator[Server]:
    with running(tmp_path / "ssh") as server:
        yield server


def rotation(server: Server) -> dict[str, Any]:
    """Return the inputs of a rotation."""
    return {
        "key": str(server.client_key),
        "account": server.user,
        "host": "127.0.0.1",
        "port": server.port,
        "server": "box",
        "allowed": str(server.folder / "authorized_keys"),
    }


def ssh_host(folder: Path, server: Server) -> Machine:
    """Return a path on which ssh knows the server's host key, and reads nothing of this user."""
    (folder / "bin").mkdir(parents=True)
    launcher = folder / "bin" / "ssh"
    launcher.write_text(
        f'#!/bin/sh\nexec /usr/bin/ssh -F none -o UserKnownHostsFile={server.known_hosts} "$@"\n'
    )
    launcher.chmod(0o755)
    return Machine(folder=folder)


def lets_in(server: Server, host: Machine, key: str) -> bool:
    line = (
        f"ssh -i {key} -o BatchMode=yes -o IdentitiesOnly=yes -p {server.port} {server.user}@127.0.0.1 true"
    )
    return host.run(line).returncode == 0


@needs.openssh
def test_a_key_is_rotated_and_the_old_one_opens_nothing(sshd: Server, tmp_path: Path) -> None:
    host = ssh_host(tmp_path / "m", sshd)
    old = sshd.client_key.read_bytes()
    done = run("rotate-ssh-key", host, **rotation(sshd))
    assert done.outcome == "completed"
    assert done.steps.index("login") < done.steps.index("withdraw") < done.steps.index("refused")
    assert sshd.client_key.read_bytes() != old
    assert Path(f"{sshd.client_key}.old").read_bytes() == old
    assert lets_in(sshd, host, str(sshd.client_key))
    assert not lets_in(sshd, host, f"{sshd.client_key}.old")


@needs.openssh
def test_the_steps_of_a_rotation_know_their_targets() -> None:
    targets = {step.id: step.target for step in laid_open("rotate-ssh-key").steps if step.command}
    there = {"install", "withdraw", "undo"}
    assert {name for name, target in targets.items() if target} == there


@needs.openssh
def test_a_new_key_that_does_not_open_leaves_the_old_one(sshd: Server, tmp_path: Path) -> None:
    host = ssh_host(tmp_path / "m", sshd)
    allowed = sshd.folder / "authorized_keys"
    before = allowed.read_bytes()

    def meddle(state: RunState) -> None:
        if state.current == "login":
            allowed.write_bytes(before)  # as if another file were read

    done = run("rotate-ssh-key", host, before=meddle, **rotation(sshd))
    assert (done.outcome, done.asked[-2:]) == ("aborted", ["login", "undo"])
    assert "withdraw" not in done.steps
    assert allowed.read_bytes() == before
    assert lets_in(sshd, host, str(sshd.client_key))


@needs.openssh
def test_an_old_key_that_opens_still_undoes_the_rotation(sshd: Server, tmp_path: Path) -> None:
    host = ssh_host(tmp_path / "m", sshd)
    allowed = sshd.folder / "authorized_keys"
    before = allowed.read_bytes()

    def meddle(state: RunState) -> None:
        if state.current == "refused":
            allowed.write_bytes(before + allowed.read_bytes())

    done = run("rotate-ssh-key", host, before=meddle, **rotation(sshd))
    assert (done.outcome, done.asked[-2:]) == ("aborted", ["refused", "undo"])
    assert allowed.read_bytes() == before


@needs.openssh
def test_a_key_that_opens_nothing_is_not_rotated(sshd: Server, tmp_path: Path) -> None:
    host = ssh_host(tmp_path / "m", sshd)
    (sshd.folder / "authorized_keys").write_text("")
    done = run("rotate-ssh-key", host, **rotation(sshd))
    assert (done.outcome, done.steps) == ("failed", ["works"])


@needs.openssh
def test_a_no_to_withdrawing_leaves_both_keys(sshd: Server, tmp_path: Path) -> None:
    host = ssh_host(tmp_path / "m", sshd)
    done = run("rotate-ssh-key", host, answer=refuse("withdraw"), **rotation(sshd))
    assert (done.outcome, done.state.undo) == ("aborted", "undo")
    assert lets_in(sshd, host, str(sshd.client_key))
    assert lets_in(sshd, host, f"{sshd.client_key}.new")
