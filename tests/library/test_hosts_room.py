"""Runbooks of a host that real programs carry out, in namespaces of their own: the machine is not touched.

useradd, userdel, nft, apt-get, dpkg, renice, ps, df, du, find, truncate and tar are the real ones; systemd
and logrotate are simulated.
"""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from gate.supervise.state import RunState
from tests import needs
from tests.library.drive import Answer, Drive, agree, asks_as_it_says, laid_open, play, refuse
from tests.simulators.systemd.host import Machine, has_rooms, machine, unit

pytestmark = pytest.mark.skipif(not has_rooms(), reason="no namespaces with private mounts here")


def run(host: Machine, name: str, answer: Answer = agree, **inputs: Any) -> Drive:
    """Play a runbook in the room of `host`; whoever is asked is asked as its document says."""
    before = inputs.pop("before", lambda _: None)
    drive = play(name, inputs, path=host.path, answer=answer, before=before)
    assert asks_as_it_says(laid_open(name), drive) == []
    return drive


# ---------------------------------------------------------------- disk


def fill(host: Machine) -> None:
    """Let packages, journals and a log take most of the disk of /var."""
    host.do("head -c 60M /dev/zero > /var/cache/apt/archives/x_1_amd64.deb")
    host.do("mkdir /var/log/journal/m && head -c 20M /dev/zero > /var/log/journal/m/system@1.journal")
    host.do("head -c 10M /dev/zero > /var/log/journal/m/system@2.journal")


def test_what_fills_a_disk_is_found_and_nothing_is_cleaned(tmp_path: Path) -> None:
    with machine(tmp_path / "m", room=True, var_mib=96) as host:
        fill(host)
        host.do("(exec 3> /var/tmp/held; rm /var/tmp/held; exec sleep 60) > /dev/null 2>&1 &")
        done = run(host, "free-disk", path="/var")
        assert (done.outcome, done.asked) == ("completed", [])
        assert "/var/cache\n" in "".join(done.output("folders").splitlines(keepends=True)[:4])
        assert "62914560 /var/cache/apt/archives/x_1_amd64.deb" in done.output("files")
        assert "/var/tmp/held (deleted)" in done.output("deleted")
        assert "30.0M" in done.output("journals")
        assert host.run("test -f /var/cache/apt/archives/x_1_amd64.deb").returncode == 0


def test_packages_and_journals_are_cleaned_each_after_a_yes(tmp_path: Path) -> None:
    with machine(tmp_path / "m", room=True, var_mib=96) as host:
        fill(host)
        done = run(host, "free-disk", path="/var", clean="both", keep="100M")
        assert (done.outcome, done.asked) == ("completed", ["apt", "vacuum"])
        assert int(done.state.inputs["used"]) < 40  # type: ignore[arg-type] # a word of digits
        assert host.run("ls /var/cache/apt/archives/x_1_amd64.deb").returncode == 2
        assert "freed 0.0M" in done.output("vacuum"), "less than it is to keep"


def test_a_disk_that_stays_full_is_for_a_person(tmp_path: Path) -> None:
    with machine(tmp_path / "m", room=True, var_mib=96) as host:
        host.do("head -c 93M /dev/zero > /var/log/app.log")
        done = run(host, "free-disk", path="/var", clean="packages")
        assert (done.outcome, done.asked) == ("escalated", ["apt"])
        host.do("mkdir /var/log/journal/m && touch /var/log/journal/m/system@1.journal")
        refused = run(host, "free-disk", refuse("vacuum"), path="/var", clean="journals")
        assert (refused.outcome, refused.asked) == ("aborted", ["vacuum"])


def test_a_log_is_emptied_and_its_end_is_kept(tmp_path: Path) -> None:
    with machine(tmp_path / "m", room=True) as host:
        host.do("seq 1 200000 > /var/log/app.log")
        done = run(host, "empty-log", file="/var/log/app.log", lines=3)
        assert (done.outcome, done.asked) == ("completed", ["copy", "empty"])
        assert (
            host.do("cat /var/log/app.log.tail; stat -c %s /var/log/app.log") == "199998\n199999\n200000\n0\n"
        )


@pytest.mark.parametrize(
    "file",
    ["/etc/passwd", "/var/log/../../etc/passwd", "/var/log/link", "/var/log/journal/m.journal", "/var/log"],
)
def test_what_is_no_log_is_never_emptied(tmp_path: Path, file: str) -> None:
    with machine(tmp_path / "m", room=True) as host:
        host.do("ln -s /etc/passwd /var/log/link; echo x > /var/log/journal/m.journal")
        done = run(host, "empty-log", file=file)
        assert (done.outcome, done.asked) == ("failed", [])
        assert host.run("test -s /etc/passwd -a -s /var/log/journal/m.journal").returncode == 0


def test_a_log_that_fills_again_is_for_a_person(tmp_path: Path) -> None:
    with machine(tmp_path / "m", room=True) as host:
        host.do("seq 1 10 > /var/log/app.log")

        def write(state: RunState) -> None:
            if state.current == "small":
                host.do("head -c 2M /dev/zero > /var/log/app.log")

        assert run(host, "empty-log", file="/var/log/app.log", before=write).outcome == "escalated"


def test_log_rotation_is_checked_and_done(tmp_path: Path) -> None:
    units = {"logrotate.timer": unit()}
    with machine(tmp_path / "m", room=True, units=units, rotated=["/var/log/app.log"]) as host:
        host.do("printf 'weekly\\nrotate 4\\n' > /etc/logrotate.conf; echo x > /var/log/app.log")
        late = run(host, "check-log-rotation")
        assert (late.outcome, late.asked, late.steps[-1]) == ("escalated", [], "lately")
        done = run(host, "check-log-rotation", act="rotate")
        assert (done.outcome, done.asked) == ("completed", ["rotate"])
        assert host.do("ls /var/log/app.log.1") == "/var/log/app.log.1\n"
        host.do("touch -d '3 days ago' /var/lib/logrotate/status")
        assert run(host, "check-log-rotation").outcome == "escalated"
        host.do("echo 'weekyl' >> /etc/logrotate.conf")
        broken = run(host, "check-log-rotation", act="rotate")
        assert (broken.outcome, broken.steps) == ("escalated", ["config"])
        assert "unknown option 'weekyl'" in broken.output("config")


def test_log_rotation_that_nothing_starts_is_for_a_person(tmp_path: Path) -> None:
    units = {"logrotate.timer": unit(enabled="disabled")}
    with machine(tmp_path / "m", room=True, units=units) as host:
        host.do("echo weekly > /etc/logrotate.conf")
        done = run(host, "check-log-rotation", act="rotate")
        assert (done.outcome, done.steps) == ("escalated", ["config", "scheduled"])


# ---------------------------------------------------------------- load


def test_the_busiest_process_is_calmed_and_can_be_put_back(tmp_path: Path) -> None:
    with machine(tmp_path / "m", room=True) as host:
        busy = int(host.do("sh -c 'while :; do :; done' > /dev/null 2>&1 & echo $!; sleep 0.3"))
        done = run(host, "high-load", act="calm")
        assert done.asked == ["calm"]
        assert (done.state.inputs["pid"], done.state.undo) == (str(busy), "restore")
        assert host.do(f"ps -o ni= -p {busy}").strip() == "10"
        assert done.outcome in {"completed", "escalated"}, "that depends on how busy this machine is"
        assert (done.outcome == "completed") is (int(done.state.inputs["waited"]) < 20)  # type: ignore[arg-type]


def test_load_is_only_looked_at_unless_it_is_said(tmp_path: Path) -> None:
    with machine(tmp_path / "m", room=True) as host:
        done = run(host, "high-load")
        assert done.asked == []
        assert "load average" in done.output("load")
        assert "sleep" in done.output("who")


def test_a_process_that_ended_is_not_calmed(tmp_path: Path) -> None:
    with machine(tmp_path / "m", room=True) as host:
        busy = host.do("sh -c 'while :; do :; done' > /dev/null 2>&1 & echo $!; sleep 0.3").strip()

        def end(state: RunState) -> None:
            if state.current == "calm":
                host.do(f"kill -KILL {busy}; sleep 0.1")

        done = run(host, "high-load", act="calm", before=end)
        assert (done.outcome, done.steps[-1]) == ("failed", "calm")


# ---------------------------------------------------------------- users

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGPKXBkB8sYhZ0u3n0m1jz6l3rYl0tGm2h7v1aE1q9aP anna's laptop"


def test_a_user_is_added_with_a_key_and_removed_with_a_copy(tmp_path: Path) -> None:
    with machine(tmp_path / "m", room=True) as host:
        made = run(host, "add-user", user="anna", group="adm", key=KEY)
        assert (made.outcome, made.asked) == ("completed", ["key", "create", "put"])
        assert "anna adm" in host.do("id -Gn anna")
        assert host.do("cat /home/anna/.ssh/authorized_keys") == f"{KEY}\n"
        assert host.do("stat -c '%U %a' /home/anna/.ssh") == "anna 700\n"
        host.do("setsid -f setpriv --reuid anna --clear-groups sleep 60 > /dev/null 2>&1")
        gone = run(host, "remove-user", user="anna")
        assert (gone.outcome, gone.asked) == ("completed", ["lock", "copy", "end", "remove"])
        assert "sleep" in gone.output("processes")
        assert host.run("getent passwd anna; ls /home/anna; pgrep -x sleep -u 1000").stdout == ""
        kept = "/var/backups/home-anna.tar.gz"
        assert "home/anna/.ssh/authorized_keys" in host.do(f"tar -tzf {kept}")
        assert host.do(f"stat -c %a {kept}") == "600\n"


def test_a_user_without_a_key_is_asked_about_once(tmp_path: Path) -> None:
    with machine(tmp_path / "m", room=True) as host:
        made = run(host, "add-user", user="anna", shell="/bin/sh")
        assert (made.outcome, made.asked) == ("completed", ["create"])
        assert host.do("getent passwd anna").endswith("/home/anna:/bin/sh\n")
        again = run(host, "add-user", user="anna")
        assert (again.outcome, again.asked) == ("failed", [])


@pytest.mark.parametrize(
    ("inputs", "last"),
    [
        ({"group": "nobody-has"}, "group"),
        ({"key": "ssh-ed25519 AAAA broken"}, "key"),
        ({"user": "a" * 40}, "create"),
    ],
)
def test_a_user_that_cannot_be_made_is_not_half_made(
    tmp_path: Path, inputs: dict[str, str], last: str
) -> None:
    with machine(tmp_path / "m", room=True) as host:
        before = host.do("cat /etc/passwd /etc/group")
        done = run(host, "add-user", **{"user": "anna", **inputs})
        assert (done.outcome, done.steps[-1]) == ("failed", last)
        assert host.do("cat /etc/passwd /etc/group; ls /home") == before


def test_a_user_that_came_out_wrong_is_taken_away_again(tmp_path: Path) -> None:
    with machine(tmp_path / "m", room=True) as host:

        def meddle(state: RunState) -> None:
            if state.current == "owned":
                host.do("chmod 666 /home/anna/.ssh/authorized_keys")

        done = run(host, "add-user", user="anna", key=KEY, before=meddle)
        assert (done.outcome, done.asked[-1]) == ("aborted", "remove")
        assert host.run("getent passwd anna; ls /home/anna").stdout == ""


def test_whoever_belongs_to_the_system_is_never_removed(tmp_path: Path) -> None:
    with machine(tmp_path / "m", room=True) as host:
        for user in ("root", "daemon", "nobody", "nobody-here"):
            done = run(host, "remove-user", user=user)
            assert (done.outcome, done.steps) == ("failed", ["uid"])


def test_without_a_copy_a_user_is_let_in_again(tmp_path: Path) -> None:
    with machine(tmp_path / "m", room=True) as host:
        host.do("useradd --create-home anna")
        done = run(host, "remove-user", user="anna", backups="/nowhere")
        assert (done.outcome, done.asked) == ("aborted", ["lock", "copy", "unlock"])
        assert host.do("getent shadow anna | cut -d: -f8") == "\n"
        refused = run(host, "remove-user", refuse("remove"), user="anna")
        assert (refused.outcome, refused.state.undo) == ("aborted", "unlock")
        assert host.do("getent shadow anna | cut -d: -f8") == "1\n"


# ---------------------------------------------------------------- firewall

RULES = (
    "add table inet filter; "
    "add chain inet filter input { type filter hook input priority 0 ; policy drop ; }; "
    "add rule inet filter input iif lo accept; add rule inet filter input tcp dport 22 accept"
)


def rules(host: Machine) -> str:
    return host.do("nft -s list ruleset")


@needs.nftables
def test_a_port_is_opened_and_closed_again(tmp_path: Path) -> None:
    with machine(tmp_path / "m", room=True) as host:
        host.do(f"nft '{RULES}'")
        before = rules(host)
        done = run(host, "firewall-open", port=8080)
        assert (done.outcome, done.asked) == ("completed", ["copy", "everybody"])
        assert "tcp dport 8080 counter accept" in rules(host)
        closed = run(host, "firewall-close", port=8080)
        assert (closed.outcome, closed.asked) == ("completed", ["copy", "arm", "remove", "disarm"])
        assert (rules(host), host.state["armed"]) == (before, {})


@needs.nftables
def test_a_port_is_opened_for_one_network_and_kept(tmp_path: Path) -> None:
    with machine(tmp_path / "m", room=True) as host:
        host.do(f"nft '{RULES}'")
        inputs = {"port": 53, "protocol": "udp", "source": "10.0.0.0/8", "keep": True}
        assert run(host, "firewall-open", **inputs).outcome == "completed"
        wanted = "ip saddr 10.0.0.0/8 udp dport 53 counter"
        assert wanted in rules(host)
        kept = rules(host)
        host.do("nft flush ruleset; nft -f /etc/nftables.conf")
        assert rules(host) == kept
        assert host.do("cat /etc/nftables.conf.before") == "#!/usr/sbin/nft -f\nflush ruleset\n"


@needs.nftables
def test_a_rule_that_cannot_be_put_in_leaves_all_as_it_was(tmp_path: Path) -> None:
    with machine(tmp_path / "m", room=True) as host:
        assert run(host, "firewall-open", port=8080).outcome == "failed"
        host.do(f"nft '{RULES}'")
        before = rules(host)
        done = run(host, "firewall-open", port=8080, source="no-network")
        assert (done.outcome, done.asked) == ("aborted", ["copy", "some", "restore"])
        assert rules(host) == before


@needs.nftables
def test_the_machine_undoes_a_closed_port_by_itself_unless_it_is_told_not_to(tmp_path: Path) -> None:
    with machine(tmp_path / "m", room=True) as host:
        host.do(f"nft '{RULES}; add rule inet filter input udp dport 53 accept'")
        before = rules(host)
        done = run(host, "firewall-close", refuse("disarm"), port=22)
        assert done.outcome == "aborted"
        assert rules(host) != before
        again = run(host, "firewall-close", port=53, protocol="udp")
        assert (again.steps[-1], again.asked) == ("free", []), "what is to be put back is not overwritten"
        host.do(" ".join(host.state["armed"]["sayso-firewall.timer"]))
        assert rules(host) == before


@needs.nftables
def test_closing_what_nothing_opens_changes_nothing(tmp_path: Path) -> None:
    with machine(tmp_path / "m", room=True) as host:
        host.do(f"nft '{RULES}'")
        done = run(host, "firewall-close", port=2)
        assert (done.outcome, done.asked) == ("failed", [])


@needs.nftables
def test_every_rule_that_lets_a_port_in_is_asked_about(tmp_path: Path) -> None:
    with machine(tmp_path / "m", room=True) as host:
        host.do(f"nft '{RULES}'")
        host.do("nft add rule inet filter input tcp dport 22 ip saddr 10.0.0.1 accept")
        done = run(host, "firewall-close", port=22)
        assert (done.outcome, done.asked) == ("completed", ["copy", "arm", "remove", "remove", "disarm"])
        assert "dport 22" not in rules(host)


@needs.nftables
def test_rules_that_stay_are_all_put_back(tmp_path: Path) -> None:
    with machine(tmp_path / "m", room=True) as host:
        host.do(f"nft '{RULES}'")
        before = rules(host)

        def open_again(state: RunState) -> None:
            if state.current == "gone":
                host.do("nft add rule inet filter input tcp dport 22 accept")

        done = run(host, "firewall-close", port=22, before=open_again)
        assert (done.outcome, done.steps.count("remove"), done.asked[-1]) == ("aborted", 11, "restore")
        assert rules(host) == before


# ---------------------------------------------------------------- updates


CONTROL = "Package: demo\nArchitecture: all\nMaintainer: a <a@example.org>\nDescription: a demo\n"


def package(host: Machine, version: str, postinst: str) -> None:
    """Build a package in /srv/repo, which the list of sources names."""
    host.do("mkdir -p /srv/build/DEBIAN /srv/build/var/lib/demo /srv/repo")
    srv, etc = host.folder / "root/srv", host.folder / "root/etc"
    (srv / "build/var/lib/demo/version").write_text(version)
    (srv / "build/DEBIAN/control").write_text(f"{CONTROL}Version: {version}\n")
    script = srv / "build/DEBIAN/postinst"
    script.write_text(f"#!/bin/sh\n{postinst}\n")
    script.chmod(0o755)
    file = srv / f"repo/demo_{version}_all.deb"
    host.do(f"dpkg-deb --root-owner-group -Znone -b /srv/build /srv/repo/{file.name}")
    raw = file.read_bytes()
    (srv / "repo/Packages").write_text(
        f"{CONTROL}Version: {version}\nFilename: ./{file.name}\nSize: {len(raw)}\n"
        f"SHA256: {hashlib.sha256(raw).hexdigest()}\n"
    )
    (etc / "apt/sources.list").write_text("deb [trusted=yes] file:/srv/repo ./\n")
    (etc / "apt/apt.conf").write_text('APT::Sandbox::User "root";\n')


def version(host: Machine) -> str:
    return host.do("cat /var/lib/demo/version").strip()


def test_updates_are_installed_and_a_reboot_is_said_and_not_done(tmp_path: Path) -> None:
    with machine(tmp_path / "m", room=True) as host:
        package(host, "1.0", "true")
        host.do("dpkg -i /srv/repo/demo_1.0_all.deb")
        package(host, "1.1", "echo demo > /run/reboot-required.pkgs; touch /run/reboot-required")
        done = run(host, "install-updates")
        assert (done.outcome, done.asked) == ("completed", ["refresh", "install"])
        assert "demo/" in done.output("list")
        assert (version(host), done.state.inputs["reboot"], done.output("for-what")) == ("1.1", "1", "demo\n")
        again = run(host, "install-updates")
        assert (again.outcome, again.state.inputs["count"], again.asked) == ("completed", "0", ["refresh"])


def test_updates_that_fail_half_way_are_for_a_person(tmp_path: Path) -> None:
    with machine(tmp_path / "m", room=True) as host:
        package(host, "1.0", "true")
        host.do("dpkg -i /srv/repo/demo_1.0_all.deb")
        package(host, "1.1", "exit 1")
        done = run(host, "install-updates")
        assert (done.outcome, done.steps[-1]) == ("escalated", "install")
        half = run(host, "install-updates")
        assert (half.outcome, half.steps) == ("escalated", ["whole"])
