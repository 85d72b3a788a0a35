"""What the config may say of agents, and how they are known."""

import hashlib
from pathlib import Path

import pytest

from bot.delegates import keys
from bot.delegates.config import instant
from bot.delegates.loading import delegates_of
from bot.ports import PlaceRef
from bot.settings.config import Config, load
from bot.settings.errors import ConfigError
from bot.settings.inventory import inventory_of
from bot.settings.paths import Paths
from gate.domain import PersonId, Risk, TargetId
from gate.resolve.decision import Act

PEOPLE = """
[operators.ana]
accounts = ["console::ana"]
[targets.local]
kind = "local"
[targets.web1]
tags = ["web"]
[places]
ops = "console::ana"
"""


def config(folder: Path, text: str) -> Config:
    file = folder / "config.toml"
    file.write_text(PEOPLE + text)
    return load(file=file, environ={}, flags=[], login="ana", paths=Paths(folder / "state"))


def complaint(folder: Path, text: str) -> str:
    with pytest.raises(ConfigError) as found:
        config(folder, text)
    return str(found.value)


def test_an_agent_is_what_the_config_says(tmp_path: Path) -> None:
    found = config(
        tmp_path,
        """
[agents.claude]
login = "claude"
for = "ana"
place = "ops"
targets = ["@web"]
max_risk = "reversible_low"
denied = ["exec"]
per_hour = 7
pending = 2
expires = 2027-01-31
reads = "quiet"
""",
    )
    (one,) = delegates_of(found.agents, places=found.places, inventory=inventory_of(found)).values()
    assert one.id == "agent:claude"
    assert one.on_behalf == PersonId("ana")
    assert one.place == PlaceRef(platform="console", channel="ana")
    assert one.targets == frozenset({TargetId("web1")})
    assert one.max_risk is Risk.REVERSIBLE_LOW
    assert one.denied == frozenset({Act.EXEC})
    assert (one.quota.per_hour, one.quota.pending, one.quiet) == (7, 2, True)
    assert one.expires_at == instant("2027-01-31T23:59:59+00:00")


@pytest.mark.parametrize(("spoken", "names"), [("[]", ""), ('["*"]', "local web1"), ('["local"]', "local")])
def test_targets_are_named_or_none(tmp_path: Path, spoken: str, names: str) -> None:
    found = config(tmp_path, f'[agents.x]\nlogin = "x"\nplace = "ops"\ntargets = {spoken}\n')
    (one,) = delegates_of(found.agents, places=found.places, inventory=inventory_of(found)).values()
    assert sorted(one.targets) == names.split()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[agents.ana]\nlogin = "x"\nplace = "ops"', "is an operator already"),
        ('[agents.x]\nplace = "ops"', "neither token_file nor login"),
        ('[agents.x]\nlogin = "ana"\nplace = "ops"', "can approve as ana"),
        ('[agents.x]\nlogin = "x"', "place"),
        ('[agents.x]\nlogin = "x"\nplace = "nowhere"', "no such place"),
        ('[agents.x]\nlogin = "x"\nplace = "slack:T1:C1"', "not switched on"),
        ('[agents.x]\nlogin = "x"\nplace = "ops"\nfor = "bo"', "no such operator"),
        ('[agents.x]\nlogin = "x"\nplace = "ops"\ntargets = ["web9"]', "Nearest: web1"),
        ('[agents.x]\nlogin = "x"\nplace = "ops"\nexpires = "soon"', "is no date"),
        ('[agents.x]\nlogin = "x"\nplace = "ops"\ndenied = ["rm"]', "exec"),
        ('[agents.x]\nlogin = "x"\nplace = "ops"\nper_hour = 0', "per_hour"),
        ('[agents.x]\nlogin = "x"\nplace = "ops"\nfro = "ana"', "Nearest: for"),
        ('[agents.x]\nlogin = "x"\nplace = "ops"\n[agents.y]\nlogin = "x"\nplace = "ops"', "one agent's"),
        ('[agents."agent:x"]\nlogin = "x"\nplace = "ops"', "A name has"),
    ],
)
def test_what_does_not_fit_is_said(tmp_path: Path, text: str, says: str) -> None:
    assert says in complaint(tmp_path, text)


def _with_secret(folder: Path, secret: str, *, mode: int = 0o600, name: str = "claude") -> str:
    file = folder / f"{name}.token"
    file.write_text(secret)
    file.chmod(mode)
    return f'[agents.{name}]\ntoken_file = "{file}"\nplace = "ops"\n'


def test_a_secret_is_known_and_nothing_like_it(tmp_path: Path) -> None:
    secret = "s" * 40
    found = keys.read(config(tmp_path, _with_secret(tmp_path, f"{secret}\n")).agents)
    assert found.of_secret(secret) == "claude"
    assert [found.of_secret(one) for one in ("", secret[:-1], f"{secret}x", "\udcff")] == [None] * 4
    assert found.clear == (secret,)
    assert secret not in repr(found)


def test_a_digest_will_do_and_may_be_read_by_anybody(tmp_path: Path) -> None:
    digest = hashlib.sha256(b"s" * 40).hexdigest()
    found = keys.read(config(tmp_path, _with_secret(tmp_path, f"sha256:{digest}", mode=0o644)).agents)
    assert found.of_secret("s" * 40) == "claude"
    assert found.of_secret(digest) is None
    assert found.clear == ()


@pytest.mark.parametrize(
    ("secret", "mode", "says"),
    [("tiny7", 0o600, "shorter than 32"), ("s" * 40, 0o640, "chmod 600"), ("", 0o600, "shorter than 32")],
)
def test_a_weak_secret_lets_nobody_in(tmp_path: Path, secret: str, mode: int, says: str) -> None:
    agents = config(tmp_path, _with_secret(tmp_path, secret, mode=mode)).agents
    with pytest.raises(ConfigError, match=says) as found:
        keys.read(agents)
    assert not secret or secret not in str(found.value)


def test_a_file_that_is_gone_and_a_secret_of_two_are_said(tmp_path: Path) -> None:
    gone = config(tmp_path, '[agents.x]\ntoken_file = "/nonexistent/x"\nplace = "ops"\n').agents
    with pytest.raises(ConfigError, match="cannot be read"):
        keys.read(gone)
    both = _with_secret(tmp_path, "s" * 40) + _with_secret(tmp_path, "s" * 40, name="codex")
    with pytest.raises(ConfigError, match="agent claude's secret too"):
        keys.read(config(tmp_path, both).agents)
