"""Whether the rules know a line to its last word; what they do not know is a doubt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.loading.rules import load_rules
from gate.shell.certain import argv_of, doubt

RULES = load_rules()


@pytest.mark.parametrize(
    "command",
    [
        "systemctl restart caddy",
        "systemctl restart 'caddy'",
        "apt-get install -y nginx",
        "docker restart web",
        "sync /srv",
        "ntpq localhost",
    ],
)
def test_what_is_known_to_its_last_word_is_certain(command: str) -> None:
    assert doubt(command, rules=RULES) is None


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("", "more than one plain command"),
        ("systemctl restart caddy && reboot", "more than one plain command"),
        ("systemctl restart cad*", "more than one plain command"),
        ("systemctl restart $X", "more than one plain command"),
        ("systemctl restart caddy > /tmp/x", "more than one plain command"),
        ("FOO=1 systemctl restart caddy", "more than one plain command"),
        ("systemctl restart caddy\nreboot", "more than one plain command"),
        ("systemctl restart caddy # quickly", "more than one plain command"),
        ("frobnicate x", "frobnicate is not known"),
        ("/usr/bin/systemctl restart caddy", "/usr/bin/systemctl is not known"),
        ("./systemctl restart caddy", "./systemctl is not known"),
        ("systemctl frobnicate caddy", "frobnicate is not known"),
        ("systemctl restart --frobnicate caddy", "--frobnicate is not known"),
        ("sudo systemctl restart caddy", "runs what stands in its arguments"),
        ("bash deploy.sh", "runs what stands in its arguments"),
        ("python3 x.py", "runs what stands in its arguments"),
        ("ssh web2", "runs what stands in its arguments"),
        ("docker exec web reboot", "runs what stands in its arguments"),
        ("curl http://example.org", "carry data away"),
        ("hostname a b c", "is not known here"),
        ("ntpq localhost elsewhere", "elsewhere is not known here"),
        ("ntpq elsewhere", "elsewhere is not known here"),
    ],
)
def test_what_is_not_is_doubted(command: str, why: str) -> None:
    assert why in (doubt(command, rules=RULES) or "")


def test_the_words_of_a_line_are_those_its_program_gets() -> None:
    assert argv_of("systemctl  restart 'caddy' \"web\"") == ("systemctl", "restart", "caddy", "web")
    assert argv_of("a; b") == argv_of("a $(b)") == argv_of("") == argv_of("(pruned)") == ()


@given(st.text(alphabet="systemctl restart;&|$`(){}<>*?[]~#!\n\\\"'=", max_size=40))
def test_no_line_of_several_commands_is_certain(line: str) -> None:
    """Whatever bash would take as more than words is no one plain command."""
    if doubt(line, rules=RULES) is None:
        assert argv_of(line)
        bare = line.replace("'", "").replace('"', "")
        assert not set(";&|`()<>\n\\") & set(bare) or "'" in line or '"' in line
