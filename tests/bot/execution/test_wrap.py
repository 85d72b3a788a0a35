import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bot.execution.wrap import problems, sweep, wrap
from gate.domain import Action, ActionId, Target, TargetId, TargetKind


def _action(
    command: str, *, env: tuple[tuple[str, str], ...] = (), workdir: str = "", **target: Any
) -> Action:
    fields: dict[str, Any] = {"kind": TargetKind.SSH, **target}
    return Action(
        id=ActionId("t.1"),
        index=1,
        target=Target(id=TargetId("t"), **fields),
        command=command,
        purpose="test",
        env=env,
        workdir=workdir,
    )


def _run_line(action: Action) -> str:
    line = wrap(action, token="tok", kill_after_s=5).line
    done = subprocess.run(
        ["sh", "-c", line], capture_output=True, timeout=60, check=False, env={"HOME": "/", "EVIL": "1"}
    )
    return done.stdout.decode()


def _command_sent(action: Action) -> str:
    return wrap(action, token="tok", kill_after_s=5).argv[-1]


def test_environment_is_constructed_and_the_logins_one_is_gone() -> None:
    lines = _run_line(_action("env", env=(("GREETING", "a b"),))).splitlines()
    names = {line.partition("=")[0] for line in lines}
    assert "GREETING=a b" in lines
    assert "PAGER=cat" in lines
    assert "HOME=/" in lines
    assert "EVIL" not in names


def test_standard_error_is_in_the_output_and_input_is_empty() -> None:
    assert _run_line(_action("cat; echo out; echo err >&2")) == "out\nerr\n"


def test_working_directory_is_where_it_starts() -> None:
    assert _run_line(_action("pwd", workdir="/usr/lib")) == "/usr/lib\n"
    assert "x" not in _run_line(_action("echo x", workdir="/no/such folder"))


@pytest.mark.parametrize(
    ("command", "sent"),
    [
        ("sudo systemctl restart caddy", "systemctl restart caddy"),
        ("sudo -n df -h /", "df -h /"),
        ("sudo -u postgres psql", "sudo -u postgres psql"),
        ("sudo A=b env", "sudo A=b env"),
        ("sudo df; sudo df", "sudo df; sudo df"),
        ("sudo df | cat", "sudo df | cat"),
        ("sudo echo $HOME", "sudo echo $HOME"),
        ("sudo df\nsudo df", "sudo df\nsudo df"),
        ("sudo  df", "sudo  df"),
        ("sudo", "sudo"),
        ("sudoedit /etc/fstab", "sudoedit /etc/fstab"),
    ],
)
def test_only_a_lone_plain_sudo_is_taken_off_when_we_become_root(command: str, sent: str) -> None:
    assert _command_sent(_action(command, become="root")) == sent
    assert _command_sent(_action(command)) == command
    assert _command_sent(_action(command, become="postgres")) == command


def test_become_and_wrapper_stand_outside_the_shell() -> None:
    argv = wrap(
        _action("df", kind=TargetKind.DOCKER, wrapper=("docker", "exec", "app"), become="web", shell="sh"),
        token="tok",
        kill_after_s=5,
    ).argv
    assert argv[:9] == ("docker", "exec", "app", "sudo", "-n", "-H", "-u", "web", "--")
    assert argv[-7:] == ("timeout", "-k", "5", "600", "sh", "-c", "df")


def test_bash_reads_no_start_files() -> None:
    argv = wrap(_action("df"), token="tok", kill_after_s=5).argv
    assert argv == ("timeout", "-k", "5", "600", "bash", "--noprofile", "--norc", "-c", "df")


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (_action("echo \0"), "NUL"),
        (_action("echo \ud800"), "not valid Unicode"),
        (_action("x" * 200_000), "too long"),
        (_action("df", env=(("A B", "x"),)), "no name"),
        (_action("df", env=(("A=;reboot;", "x"),)), "no name"),
    ],
)
def test_what_no_shell_can_take_is_named(action: Action, words: str) -> None:
    found = list(problems(action, wrap(action, token="tok", kill_after_s=5), max_bytes=120_000))
    assert any(words in problem for problem in found)


@pytest.mark.parametrize(
    ("key", "value", "question"),
    [
        ("format.pretty", "%G?", "git log -3"),
        ("log.showSignature", "true", "git log -3"),
        ("core.fsmonitor", "{program}", "git ls-files"),
    ],
)
def test_a_repository_cannot_start_programs_through_its_settings(
    tmp_path: Path, key: str, value: str, question: str
) -> None:
    """With a signed commit, and the settings that started a program before ours overruled them."""
    told = tmp_path / "told"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {told}\n")
    program.chmod(0o755)

    def git(*words: str, stdin: str = "") -> str:
        done = subprocess.run(
            ["git", "-C", str(tmp_path), *words], input=stdin, text=True, check=True, capture_output=True
        )
        return done.stdout.strip()

    git("init", "-q")
    tree = git("mktree")
    signed = git("hash-object", "-t", "commit", "-w", "--stdin", stdin=_SIGNED.format(tree=tree, blank=" "))
    git("update-ref", "HEAD", signed)
    git("config", "gpg.program", str(program))
    git("config", key, value.format(program=program))
    assert subprocess.run(question.split(), cwd=tmp_path, check=False, capture_output=True).returncode == 0
    assert told.exists()
    told.unlink()
    wrapped = wrap(_action(question, workdir=str(tmp_path)), token="tok", kill_after_s=5)
    subprocess.run(wrapped.argv, cwd=tmp_path, env=dict(wrapped.env), check=True, capture_output=True)
    assert not told.exists()


_SIGNED = """tree {tree}
author A <a@example.org> 1700000000 +0000
committer A <a@example.org> 1700000000 +0000
gpgsig -----BEGIN PGP SIGNATURE-----
{blank}
 abc
 -----END PGP SIGNATURE-----

signed
"""


def test_a_sweep_finds_only_the_processes_of_its_run() -> None:
    mine = subprocess.Popen(["sleep", "60"], env={"SAYSO_RUN": "0123456789"})
    other = subprocess.Popen(["sleep", "60"], env={"SAYSO_RUN": "9876543210"})
    try:
        swept = sweep(_action("x"), "0123456789", "KILL")
        subprocess.run(swept.argv, check=True, timeout=60, stdin=subprocess.DEVNULL)
        assert mine.wait(timeout=60) == -9
        assert other.poll() is None
        assert shlex.split(swept.line)[0] == "exec"
    finally:
        other.kill()
        other.wait()
