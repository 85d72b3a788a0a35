"""What holds for every line: no text makes it raise, and nothing that changes things runs unasked."""

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.loading.rules import load_rules
from gate.domain import Risk
from gate.shell.classify import classify, without_sudo

RULES = load_rules()
READERS = [
    "uptime",
    "df -h",
    "ls -la /srv",
    "cat /var/log/syslog",
    "systemctl status caddy",
    "grep -i error /var/log/syslog",
    "docker ps -a",
]
CHANGERS = [
    "rm -rf /srv",
    "touch x",
    "systemctl stop caddy",
    "tee x",
    "apt-get install x",
    "frobnicate",
    "echo x > f",
    "X=1",
    "sh x",
    "kill 1",
]
JOINTS = [" | ", " && ", " || ", "; ", "\n", " |& "]
QUOTES = [
    lambda w: w,
    lambda w: f"'{w}'",
    lambda w: f'"{w}"',
    lambda w: "".join(f"\\{c}" if c.isalpha() else c for c in w),
    lambda w: f"{w[:1]}''{w[1:]}",
]

shellish = st.lists(
    st.sampled_from(
        [
            *READERS,
            *CHANGERS,
            *JOINTS,
            "$(",
            ")",
            "`",
            "'",
            '"',
            "{",
            "}",
            "<<EOF\n",
            "EOF\n",
            ">",
            "<",
            "&",
            "\\",
            "*",
            "$X",
            "if ",
            "fi",
            "(",
            "[[ ",
            " ]]",
            "((",
            "))",
            "$'",
            "!",
            "#",
            "function f ",
            "case x in",
            "esac",
        ]
    ),
    max_size=14,
).map("".join)
lines = st.lists(st.sampled_from(READERS), min_size=1, max_size=5).flatmap(
    lambda parts: st.lists(st.sampled_from(JOINTS[:5]), min_size=len(parts) - 1, max_size=len(parts) - 1).map(
        lambda joints: (parts, joints)
    )
)


def joined(parts: list[str], joints: list[str]) -> str:
    return "".join(part + joint for part, joint in zip(parts, [*joints, ""], strict=True))


@given(
    st.one_of(
        st.text(max_size=80),
        shellish,
        st.binary(max_size=60).map(lambda raw: raw.decode("utf-8", "surrogateescape")),
    )
)
@settings(max_examples=400, deadline=None)
def test_no_text_makes_it_raise(text: str) -> None:
    verdict = classify(text, rules=RULES, become=True)
    assert verdict.reasons
    assert not verdict.auto_run or verdict.risk is Risk.READ_ONLY
    assert not (verdict.never and verdict.risk is not Risk.DESTRUCTIVE)
    without_sudo(f"sudo {text}", RULES)


@given(lines)
@settings(deadline=None)
def test_readers_joined_are_read_only(line: tuple[list[str], list[str]]) -> None:
    assert classify(joined(*line), rules=RULES).auto_run


@given(lines, st.sampled_from(CHANGERS), st.data())
@settings(deadline=None)
def test_one_changer_anywhere_stops_it(
    line: tuple[list[str], list[str]], changer: str, data: st.DataObject
) -> None:
    parts, joints = line
    at = data.draw(st.integers(0, len(parts)))
    joint = data.draw(st.sampled_from(JOINTS))
    verdict = classify(
        joined([*parts[:at], changer, *parts[at:]], [*joints, joint][: len(parts)]), rules=RULES
    )
    assert not verdict.auto_run
    assert verdict.risk is not Risk.READ_ONLY


@given(
    st.sampled_from(CHANGERS),
    st.sampled_from(["$({})", "`{}`", "<({})", '"$({})"', "$(echo $({}))"]),
    st.sampled_from(READERS),
)
def test_one_changer_inside_a_substitution_stops_it(changer: str, wrap: str, reader: str) -> None:
    assert not classify(f"{reader} {wrap.format(changer)}", rules=RULES).auto_run


@given(st.sampled_from([*READERS, "rm -rf /srv", "systemctl stop caddy", "reboot"]), st.data())
@settings(deadline=None)
def test_quoting_changes_nothing(command: str, data: st.DataObject) -> None:
    words = [data.draw(st.sampled_from(QUOTES))(word) for word in command.split()]
    plain, quoted = classify(command, rules=RULES), classify(" ".join(words), rules=RULES)
    assert (plain.risk, plain.auto_run, plain.never, plain.deed) == (
        quoted.risk,
        quoted.auto_run,
        quoted.never,
        quoted.deed,
    )


@given(shellish, st.sampled_from(list(Risk)), st.sampled_from(list(Risk)))
@settings(deadline=None)
def test_a_stricter_declaration_is_never_laxer(text: str, one: Risk, other: Risk) -> None:
    low, high = sorted((one, other), key=lambda risk: risk.rank)
    laxer, stricter = (
        classify(text, rules=RULES, declared_risk=low),
        classify(text, rules=RULES, declared_risk=high),
    )
    assert stricter.risk.at_least(laxer.risk)
    assert stricter.risk.at_least(high)
    assert laxer.auto_run or not stricter.auto_run
