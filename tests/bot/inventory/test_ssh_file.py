"""What is read of an SSH config is what asyncssh reads."""

import random
from pathlib import Path

import pytest
from asyncssh.config import ConfigParseError, SSHClientConfig

from bot.inventory.ssh_config import SshConfig
from bot.inventory.ssh_file import Recording

HOSTS = ("h0", "h1", "h2", "h12")
PATTERNS = (*HOSTS, "h*", "!h2", "h?", "*", "h[12]", "H1")
MATCHES = (
    *("host h1", "originalhost h2,h12", "user root", "all", "localuser ana", "!host h1"),
    *("host *.example user bo", "final", "canonical"),
)
VALUES = {
    "hostname": ("%h.example", "10.0.0.1", "x-%n"),
    "port": ("22", "2200", "much"),
    "user": ("bo", "root"),
    "identityfile": ("~/.ssh/a", "/k/%h", "'~/my key'"),
    "proxycommand": ("nc %h %p # x", "none"),
    "proxyjump": ("j1,u@j2:22", "none"),
    "identitiesonly": ("yes", "no", "maybe"),
    "ciphers": ("aes128-ctr",),
    "certificatefile": ("/c/%r",),
    "userknownhostsfile": ("/a /b",),
    "setenv": ("A=1 B=2",),
    "canonicalizehostname": ("yes",),
}


def config(dice: random.Random, includes: list[Path]) -> str:
    """Return a config of a few lines, some of them odd."""
    lines = []
    for _ in range(dice.randint(3, 14)):
        chance = dice.random()
        if chance < 0.35:
            lines.append("Host " + " ".join(dice.choices(PATTERNS, k=dice.randint(1, 3))))
        elif chance < 0.45:
            lines.append(f"Match {dice.choice(MATCHES)}")
        elif chance < 0.5 and includes:
            lines.append(f"Include {dice.choice(includes)}")
        elif chance < 0.56:
            lines.append(dice.choice(["# a word", "", "  ", "Unknown thing", "Port", "Host", 'User "bo']))
        else:
            option = dice.choice(list(VALUES))
            said = dice.choice([option, option.upper(), option.title()])
            equals = dice.choice([" ", "=", " = ", "  "])
            lines.append(f"{dice.choice(['  ', ''])}{said}{equals}{dice.choice(VALUES[option])}")
    return "\n".join(lines) + "\n"


def read(cls: type[SSHClientConfig], paths: list[Path], host: str, user: str) -> object:
    try:
        found = cls.load(None, paths, False, False, False, "ana", user or (), host, ())
    except ConfigParseError as error:
        return str(error)
    return found._options


@pytest.mark.parametrize("seed", range(120))
def test_it_is_read_as_asyncssh_reads_it(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    included = [tmp_path / "one", tmp_path / "two"]
    for path in included:
        path.write_text(config(dice, []))
    main = tmp_path / "config"
    main.write_text(config(dice, included))
    for host in HOSTS:
        for user in ("", "kim"):
            wanted = read(SSHClientConfig, [main], host, user)
            assert read(Recording, [main], host, user) == wanted
            if isinstance(wanted, str):
                continue
            ours = SshConfig(path=main, local_user="ana")
            if str(wanted.get("Port", 22)).isdigit():  # type: ignore[attr-defined] # the options, if no error
                said = ours.host(host, user=user).said
                assert said is None or said._options == wanted


@pytest.mark.parametrize(
    "names",
    [
        *(
            "web7",
            "*",
            "web?",
            "!web7",
            "* !web7",
            "web1,web7",
            "!web1,*",
            "!*",
            "web[7]",
            "web[0-9]",
            "WEB7",
        ),
        *("[web]", "a web7", "web7 !web7", "?eb7,", ",", "**", "!", "*7 !?*7", "web7*", "*.web7", "web!7"),
    ],
)
def test_whom_a_host_line_means_is_as_asyncssh_has_it(names: str, tmp_path: Path) -> None:
    main = tmp_path / "config"
    main.write_text(f"Host {names}\n  Hostname found\nHost *\n  User bo\n")
    for host in ("web7", "web1", "web", "web[7]", "[web]", "a", "WEB7", "", "web77", "x.web7", "web!7"):
        assert read(Recording, [main], host, "") == read(SSHClientConfig, [main], host, ""), (names, host)


@pytest.mark.parametrize("again", ["Match final host *.example\n  User bo\n", "CanonicalizeHostname yes\n"])
def test_what_has_to_be_asked_again_is_left_whole(again: str, tmp_path: Path) -> None:
    main = tmp_path / "config"
    main.write_text(again)
    assert SshConfig(path=main, local_user="ana").host("web7").said is None


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    main = tmp_path / "config"
    main.write_text("User bo\n")
    ours = SshConfig(path=main, local_user="ana")
    assert ours.host("web7").user == "bo"
    main.write_text("User kimberley\n")
    assert ours.host("web7").user == "kimberley"
