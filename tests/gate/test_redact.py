"""Redaction: values are masked, names and targets stay, and it is linear."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.redact import MASK, redact, redact_command

# Built from pieces so that no scanner takes this file for a leak.
GITHUB = "ghp_" + "a1B2" * 9
SLACK = "xoxb" + "-123456789012-abcdefABCDEF"
AWS = "AKIA" + "ABCDEFGH12345678"
JWT = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0" + ".dBjftJeZ4CVPmB92K27u"
TELEGRAM = "123456789:" + "A" * 35
DISCORD = "M" + "x" * 23 + "." + "y" * 6 + "." + "z" * 30


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("API_KEY=abc123 ./deploy on web1", "API_KEY=*** ./deploy on web1"),
        ("export DB_PASSWORD='s3 cret'; run", "export DB_PASSWORD='***'; run"),
        ('{"password": "hunter2", "host": "db1"}', '{"password": "***", "host": "db1"}'),
        ("password: hunter2", "password: ***"),
        ('client_secret => "x"', 'client_secret => "***"'),
        ('password="never closed', 'password="***'),
        ("tool --password hunter2 --host db1", "tool --password *** --host db1"),
        ("tool --db-password=hunter2 db1", "tool --db-password=*** db1"),
        ("tool --token abc", "tool --token ***"),
        ("mysql -u root -phunter2 shop", "mysql -u root -p*** shop"),
        ("mysqldump -h db1 -p'hun ter' shop", "mysqldump -h db1 -p*** shop"),
        ("sshpass -p hunter2 ssh web1", "sshpass -p *** ssh web1"),
        ("redis-cli -h cache1 -a hunter2 ping", "redis-cli -h cache1 -a *** ping"),
        ("curl -s -u ana:hunter2 https://web1/", "curl -s -u ana:*** https://web1/"),
        ("openssl enc -k x -passin pass:hunter2", "openssl enc -k x -passin pass:***"),
        (
            "curl -H 'Authorization: Bearer abc.def' https://web1/",
            "curl -H 'Authorization: Bearer ***' https://web1/",
        ),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic ***"),
        ("Cookie: sid=1; theme=dark", "Cookie: ***"),
        ("X-Api-Key: 12345", "X-Api-Key: ***"),
        ("got bearer abcdefgh12345", "got bearer ***"),
        ("postgres://shop:hunter2@db1:5432/shop", "postgres://shop:***@db1:5432/shop"),
        ("https://:hunter2@web1/", "https://:***@web1/"),
        ("$6$salt$hashhashhash", MASK),
        ("https://hooks.slack.com/services/T0000/B0000/XXXX", "https://hooks.slack.com/services/***"),
        ("https://discord.com/api/webhooks/1234/abcd", "https://discord.com/api/webhooks/***"),
        (f"token in log {GITHUB}.", "token in log ***."),
        (SLACK, MASK),
        (AWS, MASK),
        (JWT, MASK),
        (TELEGRAM, MASK),
        (DISCORD, MASK),
    ],
)
def test_a_secret_value_is_masked(text: str, shown: str) -> None:
    found = redact(text)
    assert found.text == shown
    assert found.count == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "systemctl restart caddy on web1",
        "mkdir -p /srv/x",
        "ssh -p 2222 web1",
        "docker run -p 8080:80 nginx",
        "tool --password-file /etc/tool/pw",
        "token_path=/run/secrets/x",
        "the password is wrong",
        "password=$DB_PASS",
        'password="${DB_PASS}"',
        'password=""',
        "token_ttl=300",
        "password=$(pass show db1)",
        "https://web1:8080/path",
        "ana@web1:/srv",
        "PasswordAuthentication no",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text).text == text
    assert redact(text).count == 0


def test_a_password_that_looks_like_a_variable_is_masked() -> None:
    assert redact("password=$ecret1").text == "password=***"


def test_a_private_key_block_is_masked_and_its_frame_stays() -> None:
    block = "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\ndef\n-----END OPENSSH PRIVATE KEY-----\nafter"
    found = redact(block)
    assert "abc" not in found.text
    assert found.text.endswith("-----END OPENSSH PRIVATE KEY-----\nafter")


def test_a_private_key_block_that_was_cut_off_is_masked_to_its_end() -> None:
    assert redact("-----BEGIN RSA PRIVATE KEY-----\nabc\ndef").text == "-----BEGIN RSA PRIVATE KEY-----***"


def test_known_values_are_masked_wherever_they_stand_longest_first() -> None:
    found = redact("x hunter2hunter2 y hunter2", extra=["hunter2", "hunter2hunter2", "absent", "", "x"])
    assert found.text == "x *** y ***"
    assert found.count == 2


def test_redacting_twice_changes_nothing() -> None:
    once = redact("password=a --token b Authorization: Bearer c, postgres://u:p@h").text
    assert redact(once).text == once
    assert redact(once).count == 0


@given(st.text())
def test_any_text_is_taken(text: str) -> None:
    assert redact(text, extra=[text]).count >= 0


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "password",
        "token=",
        'password="',
        "--",
        "://",
        "eyJ-",
        "eyJaaaaaaaa.",
        "mysql ",
        "curl -",
        "M-",
        "-----BEGIN PRIVATE KEY-----",
        "$6$",
        "bearer ",
        "Authorization:",
        "openssl ",
        "ghp_",
        " \t",
        "\\",
        "'",
        "--a-",
        "redis-cli x ",
        "1:",
    ],
)
@pytest.mark.timeout(60)  # quadratic behaviour takes minutes
def test_a_line_of_a_megabyte_is_read_to_its_end(piece: str) -> None:
    line = (piece * (1_000_000 // len(piece) + 1))[:1_000_000]
    redact(line)
    redact_command(line[:200_000])


# ---------------------------------------------------------------- commands


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("echo Cookie: a; touch /tmp/x", "echo Cookie: ***; touch /tmp/x"),
        ('PASSWORD="x$(touch /tmp/y)" true', 'PASSWORD="***$(touch /tmp/y)" true'),
        ("PASSWORD=x`touch y` true", "PASSWORD=***`touch y` true"),
        ("echo Authorization: a; rm -rf X", "echo Authorization: ***; rm -rf X"),
        (
            'curl -H "Authorization: Bearer abc.def" https://web1/',
            'curl -H "Authorization: Bearer ***" https://web1/',
        ),
        ("curl --header='Cookie: a; b' https://web1/", "curl --header='Cookie: ***; b' https://web1/"),
        ("""curl -d '{"password": "hunter2"}' web1""", """curl -d '{"password": "***"}' web1"""),
        ("API_KEY=abc123 ./deploy", "API_KEY=*** ./deploy"),
        ("export DB_PASSWORD='s3 cret'; run", "export DB_PASSWORD='*** cret'; run"),
        ("tool --db-password hunter2 --host db1", "tool --db-password *** --host db1"),
        ("tool --token=abc;reboot", "tool --token=***;reboot"),
        ("mysql -u root -phunter2 shop", "mysql -u root -p*** shop"),
        ("sshpass -p hunter2 ssh web1", "sshpass -p *** ssh web1"),
        ("redis-cli -h cache1 -a hunter2 ping", "redis-cli -h cache1 -a *** ping"),
        ("curl -u ana:hunter2 https://web1/", "curl -u ana:*** https://web1/"),
        ("psql postgres://shop:a;b@db1/shop", "psql postgres://shop:***;b@db1/shop"),
        (f"use {GITHUB} {AWS}", "use *** ***"),
    ],
)
def test_of_a_command_only_the_literal_start_of_a_value_is_masked(text: str, shown: str) -> None:
    assert redact_command(text).text == shown


@pytest.mark.parametrize(
    "text",
    [
        ": -----BEGIN PRIVATE KEY-----; touch /tmp/x",
        "PASSWORD= touch /tmp/x",
        'sh -c "PASSWORD= touch /tmp/x"',
        "X=password: touch /tmp/x",
        "X=bearer ./install.sh",
        "sudo -p password: rm -rf X",
        "sudo -p --password rm -rf X",
        "ssh web1 'sudo -p password: rm -rf X'",
        'echo "X=password: touch /tmp/x" | sh',
        'curl -d "$(sudo -p password: rm -rf X)" web1',
        "X='; curl ' sudo -p password: rm -rf X",
        "> --password touch /tmp/x",
        "nsenter --target=1 --preserve-credentials rm -rf X",
        "echo token => x",
        "TOKEN=rm; $TOKEN -rf X",
        "alias token=rm; token -rf X",
        "${TOKEN:-touch} /tmp/x",
        "rm -rf -- --token /srv",
        "PASSWORD=$(pass show db1)",
        "$ghp_aaaaaaaaaaaaaaaaaaaaaaaa x",
    ],
)
def test_what_may_be_executed_stays_readable(text: str) -> None:
    assert redact_command(text).text == text


def test_known_values_in_a_command_follow_the_same_rule() -> None:
    assert redact_command("x hunter2 y", extra=["hunter2"]).text == "x *** y"
    assert redact_command("x ab;touch y", extra=["ab;touch y"]).text == "x ***;touch y"
    assert redact_command("x $(touch y)", extra=["$(touch y)"]).text == "x $(touch y)"


PIECES = st.sampled_from(
    [
        *("password", "TOKEN", "=", ": ", "Cookie: ", "Authorization: Bearer ", "--token ", "--password="),
        *("curl -H ", "echo ", "mysql -p", "sshpass -p ", "redis-cli -a ", "://u:", "@h", "pass:", "abc"),
        *("hunter2", "a1b2c3d4", "-----BEGIN PRIVATE KEY-----", "$6$a$bcdefgh", GITHUB, "sudo ", "=>", ","),
        *" \n\t'\"$`;&|<>(){}\\/-*\u200b\xa0",
    ]
)


@given(st.lists(PIECES, max_size=30).map("".join), st.lists(PIECES, min_size=1, max_size=6).map("".join))
def test_a_masked_run_is_literal_and_all_else_is_untouched(text: str, secret: str) -> None:
    shown = redact_command(text, extra=[secret]).text
    assert _only_literal_runs_differ(text, shown)


def _only_literal_runs_differ(text: str, shown: str) -> bool:
    """Whether `shown` comes from `text` by replacing runs without any character that a shell acts on."""
    # A star beside a mask cannot be told from it: "*password" is shown as "****".
    parts = [re.escape(part) for part in re.split(r"\*{3,}", shown)]
    run = r"""[^\s"'`$;&|<>(){}\\]+"""
    return re.fullmatch(f"(?:{run})".join(parts), text) is not None


def test_secrets_that_touch_become_one_mask() -> None:
    assert redact_command("echo abcdefgh", extra=["abcd", "efgh"]).text == f"echo {MASK}"


def test_an_escaped_quote_opens_nothing() -> None:
    assert redact_command('echo \\" --password hunter22; true').text == f'echo \\" --password {MASK}; true'


def test_an_escaped_separator_begins_no_command() -> None:
    assert redact_command("curl -d a\\;b token : hunter22").text == f"curl -d a\\;b token : {MASK}"
