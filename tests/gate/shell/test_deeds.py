"""Verdicts: what a command does to what, what would undo it, and how it is tried."""

import pytest

from gate.domain import Deed, Touch, TouchKind
from tests.gate.shell.conftest import Judge


@pytest.mark.parametrize(
    ("command", "deed", "touch"),
    [
        (
            "pct destroy 112 --purge",
            Deed(verb="destroy", object="ct-112"),
            Touch(kind=TouchKind.CONTAINER, name="ct-112"),
        ),
        (
            "systemctl restart caddy",
            Deed(verb="restart", object="caddy"),
            Touch(kind=TouchKind.SERVICE, name="caddy"),
        ),
        ("rm -rf /srv/x", Deed(verb="delete", object="/srv/x"), Touch(kind=TouchKind.PATH, name="/srv/x")),
        ("reboot", Deed(verb="reboot"), Touch(kind=TouchKind.HOST, name="self")),
        (
            "sudo rm -rf /srv/x",
            Deed(verb="delete", object="/srv/x"),
            Touch(kind=TouchKind.PATH, name="/srv/x"),
        ),
        (
            "uptime; docker restart web",
            Deed(verb="restart", object="web"),
            Touch(kind=TouchKind.CONTAINER, name="web"),
        ),
        (
            "apt-get install -y caddy",
            Deed(verb="install", object="caddy"),
            Touch(kind=TouchKind.PACKAGE, name="caddy"),
        ),
    ],
)
def test_deed_and_touches(command: str, deed: Deed, touch: Touch, judge: Judge) -> None:
    verdict = judge(command)
    assert verdict.deed == deed
    assert touch in verdict.touches


def test_what_is_not_known_is_not_named(judge: Judge) -> None:
    verdict = judge("rm -rf $(cat list)")
    assert verdict.deed == Deed(verb="delete")
    assert verdict.touches == ()


def test_what_reads_touches_nothing(judge: Judge) -> None:
    assert judge("systemctl status caddy").touches == ()


def test_undo_and_dry_run(judge: Judge) -> None:
    assert judge("systemctl stop caddy").undo == "systemctl start caddy"
    assert judge("rm -rf /srv/x").undo == "cannot be undone"
    assert judge("apt-get install caddy").dry_run == "apt-get -s install caddy"
    assert judge("uptime").undo is None


@pytest.mark.parametrize(
    ("command", "dry_run"),
    [
        ("rsync /a /b", "rsync -n /a /b"),
        ("rsync -a --delete /a/ /b/", None),
        ("rsync '/a b' /c", None),
        ("rsync $A /b", None),
        ("apt-get install -y caddy", "apt-get -s install caddy"),
        ("apt-get -y upgrade", "apt-get -s upgrade"),
        ("apt-get upgrade -y -t sid", None),
        ("zfs destroy tank/x", "zfs destroy -nv tank/x"),
        ("zfs destroy -r tank/x", None),
        ("kubectl delete pod x", "kubectl delete pod x --dry-run=client"),
        ("kubectl delete -n prod pod x", None),
        ("kubectl apply -f a.yaml", "kubectl apply -f a.yaml --dry-run=server"),
        ("kubectl apply -f 'a b.yaml'", None),
        ("git -C /srv clean -f", None),
        ("apk add caddy", None),
        ("apt-get dist-upgrade", None),
        ("apt-get autoremove", None),
    ],
)
def test_a_dry_run_tries_what_the_command_would_do_or_there_is_none(
    judge: Judge, command: str, dry_run: str | None
) -> None:
    assert judge(command).dry_run == dry_run
