"""Which paths are secret, system or a disk."""

import pytest

from gate.shell import paths
from gate.shell.model import Rules
from gate.shell.words import Word, decode


@pytest.mark.parametrize(
    ("path", "cwd", "clean"),
    [
        ("/etc/../etc//shadow", "", "/etc/shadow"),
        ("/../..", "", "/"),
        ("a/./b/", "", "a/b"),
        ("../x", "", "../x"),
        ("../x", "/a/b", "/a/x"),
        ("~/../x", "", "~/../x"),
        ("", "", "."),
        (".", "~", "~"),
        ("*", "/", "/*"),
        ("/x", "/y", "/x"),
    ],
)
def test_normalise(path: str, cwd: str, clean: str) -> None:
    assert paths.normalise(path, cwd=cwd) == clean


@pytest.mark.parametrize(
    "path",
    [
        "/etc/shadow",
        "//etc/./shadow",
        "/etc/ssl/private/x.pem",
        "~/.ssh/id_rsa",
        "/srv/a/.env",
        ".env.local",
        "x/server.key",
        "/proc/self/environ",
        "/home/ana/.aws/credentials",
        "/etc/sh*",
        "/etc/*",
        "/srv/*.key",
        ".env?",
        "/srv/*/x",
        "/root/.netrc",
        "*",
    ],
)
def test_secret(path: str, rules: Rules) -> None:
    assert paths.holds_secret(decode(path), rules.places)


@pytest.mark.parametrize(
    "path",
    [
        "/etc/hosts",
        "/var/log/x.key",
        "/etc/nginx/*.conf",
        "/proc/loadavg",
        "/var/log/*",
        "README",
        "/etc/ssh/ssh_host_rsa_key.pub",
    ],
)
def test_not_secret(path: str, rules: Rules) -> None:
    assert not paths.holds_secret(decode(path), rules.places)


@pytest.mark.parametrize(
    "path",
    ["/", "/*", "/.*", "/etc", "/etc/", "/etc/*", "~", "~/", "~/*", "/home/ana", "/usr/lib", "/./", "//"],
)
def test_system(path: str, rules: Rules) -> None:
    assert paths.is_system(path, rules.places)


@pytest.mark.parametrize("path", ["/srv", "/srv/x", "/etc/nginx/old", "~/x", "/tmp/*", "x", "*", "."])
def test_not_system(path: str, rules: Rules) -> None:
    assert not paths.is_system(path, rules.places)


def test_everything_in_a_system_folder(rules: Rules) -> None:
    assert paths.is_system("*", rules.places, cwd="/")
    assert paths.is_system(".", rules.places, cwd="~")
    assert not paths.is_system("*", rules.places, cwd="/srv/x")


@pytest.mark.parametrize(
    ("path", "system"),
    [("/dev/sda", True), ("of=/dev/nvme0n1p2", True), ("/dev/sdb1", False), ("/dev/sda2", True)],
)
def test_disks(path: str, system: bool, rules: Rules) -> None:  # noqa: FBT001 - a table's column
    assert paths.is_device(path, rules.places)
    assert paths.is_system_disk(path, rules.places) is system


@pytest.mark.parametrize(
    ("path", "may"),
    [
        ("/etc", True),
        (".", True),
        ("/srv/x", True),
        ("/etc/nginx", False),
        ("/var/log/app", False),
        ("/srv/a.conf", False),
    ],
)
def test_descending(path: str, may: bool, rules: Rules) -> None:  # noqa: FBT001 - a table's column
    assert paths.may_hold_secrets_below(path, rules.places) is may


def test_a_plain_word_is_no_glob(rules: Rules) -> None:
    assert not paths.holds_secret(Word(text="/etc/s*", raw="'/etc/s*'"), rules.places)
