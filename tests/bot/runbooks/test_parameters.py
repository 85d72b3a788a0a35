"""What varies in a sequence of commands becomes an input; a secret is kept nowhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.runbooks.parameters import SecretStaysError, parametrise
from gate.redact import redact, redact_command
from gate.supervise.binding import Bound, bind_command, placeholders
from gate.supervise.domain import InputType


@pytest.mark.parametrize(
    ("commands", "templates", "inputs"),
    [
        (
            ["systemctl stop caddy", "systemctl start caddy"],
            ["systemctl stop {{ inputs.service }}", "systemctl start {{ inputs.service }}"],
            {"service": "caddy"},
        ),
        (
            ["tar -czf /srv/backup/blog.tgz /srv/blog", "ls /srv/blog"],
            ["tar -czf /srv/backup/blog.tgz {{ inputs.path }}", "ls {{ inputs.path }}"],
            {"path": "/srv/blog"},
        ),
        (
            ["docker pull nginx:1.25", "echo 1.25 1.25"],
            ["docker pull nginx:{{ inputs.version }}", "echo {{ inputs.version }} {{ inputs.version }}"],
            {"version": "1.25"},
        ),
        (
            ["ping -c1 web7.example.org", "curl web7.example.org", "ping -c1 10.0.0.7", "dig 10.0.0.7"],
            [
                "ping -c1 {{ inputs.host }}",
                "curl {{ inputs.host }}",
                "ping -c1 {{ inputs.host_2 }}",
                "dig {{ inputs.host_2 }}",
            ],
            {"host": "web7.example.org", "host_2": "10.0.0.7"},
        ),
        (
            ["pct start 120", "pct status 120"],
            ["pct start {{ inputs.number }}", "pct status {{ inputs.number }}"],
            {"number": "120"},
        ),
        (
            ["mkdir /srv/blog", "touch /srv/blog/index", "ls /srv/blog /srv/blogs"],
            ["mkdir {{ inputs.path }}", "touch {{ inputs.path }}/index", "ls {{ inputs.path }} /srv/blogs"],
            {"path": "/srv/blog"},
        ),
        (
            ["systemctl stop caddy", "cat /etc/caddy/Caddyfile"],
            ["systemctl stop {{ inputs.service }}", "cat /etc/{{ inputs.service }}/Caddyfile"],
            {"service": "caddy"},
        ),
        # In one of the places no input can stand, so it varies in none of them.
        (
            ["pct start 120", "pct status 120", "echo $(pct config 120)"],
            ["pct start 120", "pct status 120", "echo $(pct config 120)"],
            {},
        ),
        (["make --jobs=4 x=4"], ["make --jobs=4 x=4"], {}),  # a single digit says nothing
        (["systemctl restart caddy"], ["systemctl restart caddy"], {}),  # once is not repeatedly
        (["cat /etc/a.conf", "echo $(cat /etc/a.conf)"], ["cat /etc/a.conf", "echo $(cat /etc/a.conf)"], {}),
        (["/opt/x/run a", "/opt/x/run b"], ["/opt/x/run a", "/opt/x/run b"], {}),  # what is run is no input
        (["ls /dev/sda", "cat /dev/sda"], ["ls /dev/sda", "cat /dev/sda"], {}),
        (["cp a.conf b.conf", "cat a.conf"], ["cp a.conf b.conf", "cat a.conf"], {}),
    ],
)
def test_what_varies(commands: list[str], templates: list[str], inputs: dict[str, str]) -> None:
    made = parametrise(commands)
    assert list(made.commands) == templates
    assert {one.name: one.default for one in made.inputs} == inputs
    assert not any(one.secret or one.required for one in made.inputs)
    values = {one.name: one.default for one in made.inputs}
    specs = {one.name: one for one in made.inputs}
    assert [bind_command(one, values, inputs=specs) for one in made.commands] == [
        Bound(text=one) for one in commands
    ]


SECRET = "hunter2-hunter2"


@pytest.mark.parametrize(
    "commands",
    [
        [f"mysql -p{SECRET} -e status"],
        [f"curl -u ana:{SECRET} https://x.example"],
        [f"curl -H 'Authorization: Bearer {SECRET}' https://x.example"],
        [f"app --password={SECRET} deploy", f"app --password={SECRET} status"],
        [f"app --token '{SECRET}' deploy"],
        [f"PASSWORD={SECRET} app deploy"],
        [f"app deploy {SECRET}"],
        [f"echo {SECRET} | passwd --stdin ana"],
    ],
)
def test_secrets_are_kept_nowhere(commands: list[str]) -> None:
    try:
        made = parametrise(commands, secrets=(SECRET,))
    except SecretStaysError:
        return
    assert SECRET not in repr(made)
    assert any(one.secret and one.default is None and one.type is InputType.TEXT for one in made.inputs)
    for template in made.commands:
        placeholders(template)


@pytest.mark.parametrize("command", [f"mysql -p{SECRET} -e status", f"app --password={SECRET} deploy"])
def test_a_secret_that_is_recognised_needs_nobody_to_name_it(command: str) -> None:
    made = parametrise([command])
    assert SECRET not in repr(made)
    assert [one.name for one in made.inputs] == ["secret"]


def test_the_same_secret_is_one_input_and_another_is_another() -> None:
    made = parametrise(
        ["app --password=aaaa1111bbbb x", "app --password=cccc2222dddd y --token=aaaa1111bbbb"]
    )
    assert [one.name for one in made.inputs] == ["secret", "secret_2"]
    assert made.commands[1].count("{{ inputs.secret") == 2


@pytest.mark.parametrize("command", [f"app $(cat <<< {SECRET})", f"{SECRET} deploy"])
def test_a_secret_where_no_input_can_stand_is_refused(command: str) -> None:
    with pytest.raises(SecretStaysError):
        parametrise([command], secrets=(SECRET,))


WORDS = st.sampled_from(
    [
        "caddy",
        "systemctl restart caddy",
        "/srv/blog",
        "10.0.0.7",
        "1.25",
        "120",
        "'a b'",
        "|",
        "&&",
        "$(id)",
        "-x",
        ">",
    ]
)


@given(st.lists(st.lists(WORDS, min_size=1, max_size=6).map(" ".join), min_size=1, max_size=4))
def test_templates_always_bind_to_what_they_came_from(commands: list[str]) -> None:
    made = parametrise(commands)
    values = {one.name: one.default for one in made.inputs}
    specs = {one.name: one for one in made.inputs}
    for template, command in zip(made.commands, commands, strict=True):
        if template != command:
            assert bind_command(template, values, inputs=specs) == Bound(text=command)


@given(st.lists(WORDS, min_size=1, max_size=5).map(" ".join))
def test_nothing_that_looks_like_a_secret_is_left(command: str) -> None:
    told = f"{command} --password=abcd1234efgh"
    try:
        made = parametrise([told])
    except SecretStaysError:
        return
    for template in made.commands:
        assert "abcd1234efgh" not in template
        plain = template.replace("{{ inputs.secret }}", "$SECRET")
        assert not redact_command(plain).count
        assert not redact(plain).count
