"""[signals] and [[signals.match]]: what is read, and what could never do what it says."""

from pathlib import Path

import pytest

from bot.settings.config import Config, load
from bot.settings.errors import ConfigError
from bot.settings.paths import Paths
from bot.signals.rules import SignalRule

START = '[targets.web1]\nkind = "local"\n[places]\nops = "console::ana"\n'
WEBHOOK = "[adapters.webhook]\n"


def config(folder: Path, text: str) -> Config:
    file = folder / "config.toml"
    file.write_text(text)
    return load(file=file, environ={}, flags=(), login="ana", paths=Paths(folder / "state"))


def problems(folder: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        config(folder, text)
    return "\n".join(str(one) for one in caught.value.problems)


def test_rules_are_read_in_their_order_beside_the_settings(tmp_path: Path) -> None:
    text = f"""{START}
[signals]
autonomy = "propose"
place = "ops"
[[signals.match]]
labels = {{ alertname = "CaddyDown", env = "prod" }}
target = "web1"
command = "systemctl restart caddy"
verify = "systemctl is-active caddy"
[[signals.match]]
labels = {{ alertname = "Disk*" }}
runbook = "free-disk"
inputs = {{ path = "/var" }}
"""
    found = config(tmp_path, text)
    assert found.text("signals.autonomy") == "propose"
    first, second = found.signal_rules
    assert first == SignalRule(
        labels={"alertname": "CaddyDown", "env": "prod"},
        target="web1",
        command="systemctl restart caddy",
        verify="systemctl is-active caddy",
    )
    assert (second.runbook, dict(second.inputs), second.target) == ("free-disk", {"path": "/var"}, "")


def test_rules_may_stand_alone(tmp_path: Path) -> None:
    text = f'{START}[[signals.match]]\nlabels = {{ alertname = "x" }}\ntarget = "web1"\n'
    assert len(config(tmp_path, text).signal_rules) == 1
    assert config(tmp_path, START).signal_rules == ()


def test_a_rule_fits_by_every_label_that_it_names() -> None:
    rule = SignalRule(labels={"alertname": "Disk*", "env": "prod"})
    assert rule.fits({"alertname": "DiskFull", "env": "prod", "more": "x"})
    assert not rule.fits({"alertname": "DiskFull"})
    assert not rule.fits({"alertname": "Diskless", "env": "Prod"})


@pytest.mark.parametrize(
    ("rule", "what"),
    [
        ('labels = { a = "b" }\ntarget = "web9"', '"web9"'),
        ('labels = { a = "b" }\nrunbook = "x"\ncommand = "y"', "a runbook and a command"),
        ('labels = { a = "b" }', "neither a target, nor a runbook, nor a command"),
        ('labels = { a = "b" }\ntarget = "web1"\ninputs = { a = "b" }', "inputs belong to a runbook"),
        ('labels = { a = "b" }\nrunbook = "x"\nverify = "y"', "verify belongs to a command"),
        ('labels = { }\ntarget = "web1"', "signals.match.0.labels"),
        ('target = "web1"', "signals.match.0.labels"),
        ('labels = { a = "b" }\ntargett = "web1"', "targett"),
    ],
)
def test_a_rule_that_could_never_do_what_it_says_is_an_error(tmp_path: Path, rule: str, what: str) -> None:
    assert what in problems(tmp_path, f"{START}[[signals.match]]\n{rule}\n")


def test_an_error_names_its_line(tmp_path: Path) -> None:
    first = '[[signals.match]]\nlabels = { a = "b" }\ntarget = "web1"\n'
    found = problems(tmp_path, START + first + first.replace("target", "targett"))
    assert "config.toml:10" in found
    assert "Nearest: target" in found


def test_alerts_need_a_place_where_somebody_reads_them(tmp_path: Path) -> None:
    assert "Alerts need a place" in problems(tmp_path, START + WEBHOOK)
    assert '"opps"' in problems(tmp_path, f'{START}[signals]\nplace = "opps"\n')
    assert config(tmp_path, f'{START}{WEBHOOK}[signals]\nplace = "ops"\n').adapters == {"webhook": {}}
