"""What asyncssh is handed for a connection says what it would have read of the config and the key files."""

from pathlib import Path
from typing import Any

import asyncssh
import pytest
from asyncssh.public_key import SSHKeyPair

from bot.execution.dialling import Dialler, Endpoint
from bot.execution.keys import offer
from bot.execution.limits import Limits
from bot.execution.unreached import UnreachedError
from bot.execution.wire import Names
from bot.inventory import build
from bot.inventory.ssh_config import SshHost
from tests.sshd import make_key

TABLE = {
    "nothing": "",
    "an address": "Hostname 10.0.0.1\nPort 2200\nUser bo\n",
    "a name of its own for the key": "Hostname 10.0.0.1\nHostKeyAlias there\n",
    "a key": "IdentityFile {0}/one\n",
    "keys": "IdentityFile {0}/one\nIdentityFile {0}/two\nIdentityFile {0}/gone\nIdentitiesOnly yes\n",
    "only a key that is not there": "IdentityFile {0}/gone\n",
    "a public key": "IdentityFile {0}/two.pub\nIdentityFile {0}/one\nIdentitiesOnly yes\n",
    "only the agent's": "IdentityFile {0}/two.pub\nIdentitiesOnly yes\n",
    "a locked key": "IdentityFile {0}/locked\nIdentityFile {0}/one\n",
    "only a locked key": "IdentityFile {0}/locked\n",
    "a certificate beside": "IdentityFile {0}/signed\n",
    "a certificate named": "IdentityFile {0}/one\nCertificateFile {0}/%r-cert\nUser bo\n",
    "a certificate for the usual keys": "CertificateFile {0}/bo-cert\n",
    "an RSA key": "IdentityFile {0}/rsa\nIdentitiesOnly yes\n",
    "only the usual keys": "IdentitiesOnly yes\n",
    "an agent": "IdentityAgent {0}/agent-%h\nIdentityFile {0}/one\n",
    "a command in between": "Hostname %h.example\nProxyCommand nc -q %h %p %r %n '# x'\nUser bo\nPort 2\n",
    "a way out": "BindAddress 127.0.0.9\nAddressFamily inet6\nTCPKeepAlive no\n",
    "ciphers": "Ciphers aes256-ctr\nMACs hmac-sha2-256\nKexAlgorithms curve25519-sha256\nCompression yes\n",
    "kinds of keys": "HostKeyAlgorithms rsa-sha2-512\nCASignatureAlgorithms ssh-ed25519\n",
    "ways in": "PreferredAuthentications publickey\nGSSAPIAuthentication no\nHostbasedAuthentication no\n",
    "no key": "PubkeyAuthentication no\n",
    "surroundings": "SetEnv A=1 B=2\nSendEnv LANG LC_*\nRemoteCommand date %h\nRequestTTY force\n",
    "when to agree on new keys": "RekeyLimit 1G 1h\n",
    "patience": "ConnectTimeout 7\nServerAliveInterval 3\nServerAliveCountMax 9\n",
    "a file included": "Include {0}/more\nUser bo\nIdentityFile {0}/one\n",
    "conditions": "Match originalhost box\nUser bo\nHost !box *\nPort 1\nHost b?x\nIdentityFile {0}/one\n",
    "what is to be looked at again": "CanonicalizeHostname no\nMatch final all\n  Port 2\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keys of all kinds, and a home with a usual one."""
    home = tmp_path / "home" / ".ssh"
    home.mkdir(parents=True)
    for path in (
        tmp_path / "one",
        tmp_path / "two",
        tmp_path / "signed",
        tmp_path / "ca",
        home / "id_ed25519",
    ):
        make_key(path)
    authority = asyncssh.read_private_key(tmp_path / "ca")
    for key, path in (
        (tmp_path / "signed", tmp_path / "signed-cert.pub"),
        (tmp_path / "one", tmp_path / "bo-cert"),
    ):
        public = asyncssh.read_public_key(str(key) + ".pub")
        authority.generate_user_certificate(public, "sayso", principals=["bo"]).write_certificate(path)
    locked = asyncssh.generate_private_key("ssh-ed25519")
    locked.write_private_key(tmp_path / "locked", "pkcs8-pem", passphrase="open sesame")
    asyncssh.generate_private_key("ssh-rsa", key_size=2048).write_private_key(tmp_path / "rsa")
    (tmp_path / "more").write_text("Host box\n  Hostname %h.example\n  IdentityFile ~/.ssh/id_ed25519\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path


class _Caught(asyncssh.Error):
    """Nothing is to be connected to."""


@pytest.mark.parametrize("what", TABLE)
async def test_what_is_handed_over_is_what_asyncssh_would_have_read(
    what: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = folder / "config"
    main.write_text(TABLE[what].format(folder))
    seen: list[dict[str, Any]] = []

    async def connect(host: str, **arguments: Any) -> None:
        seen.append({**arguments, "host": host})
        raise _Caught(1, "enough")

    monkeypatch.setattr(asyncssh, "connect", connect)
    inventory = build({}, {}, ssh_config=main)
    dialler = Dialler(identifier=inventory.identifier, limits=Limits(), names=Names())
    host = inventory.identifier.host("box")
    for _ in range(2):  # the second time with what is known from the first
        keys = inventory.identifier.trusted(host)
        with pytest.raises(UnreachedError):
            await dialler.dial(Endpoint(name="box", host=host, fingerprints=(), keys=keys), tunnel=None)
    dialler.close()
    for now in seen:
        assert _said(_options(now)) == _said(_options(now | _names(host, main)))


def _names(host: SshHost, main: Path) -> dict[str, Any]:
    """The arguments that have asyncssh read for itself."""
    offered = offer(host)
    return {
        "options": None,
        "config": [main],
        "client_keys": list(offered.files) or ([] if offered.nothing else ()),
        "client_certs": (),
        "agent_identities": list(offered.agent_only) or (),
    }


def _options(arguments: dict[str, Any]) -> asyncssh.SSHClientConnectionOptions:
    options = arguments.pop("options")
    return asyncssh.SSHClientConnectionOptions(options, **arguments)


def _said(options: asyncssh.SSHClientConnectionOptions) -> dict[str, object]:
    keys = [_key(pair) for pair in options.client_keys or ()]
    made = {**vars(options), "client_keys": keys, "config": options.config._options, "kwargs": None}
    assert not isinstance(made["tunnel"], str)
    return made


def _key(pair: SSHKeyPair) -> tuple[object, ...]:
    kinds = (pair.algorithm, pair.sig_algorithm, tuple(pair.sig_algorithms), tuple(pair.host_key_algorithms))
    return (*kinds, pair.public_data, pair.has_cert, pair.get_comment(), pair._filename, pair.use_executor)
