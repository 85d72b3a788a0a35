"""Assent: quoted words are somebody's words, never the speaker's yes (N29)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.domain import AssentVerdict
from tests.gate.assent_cases import GRANTS, heard


@given(st.sampled_from(GRANTS))
def test_quoting_a_yes_is_nothing(grant: str) -> None:
    own = grant.rsplit("\n", maxsplit=1)[-1]
    for quoted in (f"> {own}", f"&gt; {own}", f'"{own}"', f"```{own}```", f"\u00ab{own}\u00bb"):
        if "`" in own:
            continue
        assert heard(quoted).verdict is not AssentVerdict.GRANT


def test_code_is_strange_where_nothing_is_pending() -> None:
    assert heard("`restart` yes", ()).verdict is not AssentVerdict.GRANT


MARKS = [
    "'yes'",
    "\u2018yes\u2019",
    "\u201eyes\u201c",
    "\u201eyes\u201d",
    "\u201dyes\u201d",
    "\u00bbyes\u00ab",
    "\u2039yes\u203a",
    "\u300cyes\u300d",
    "\u201ayes\u2018",
]


@pytest.mark.parametrize("text", [*MARKS, '"yes', 'yes"', "\u201cyes", "go ahead, 'yes'", "'go ahead'"])
def test_every_kind_of_quotation_mark_makes_a_quote(text: str) -> None:
    assert heard(text).verdict is not AssentVerdict.GRANT


@pytest.mark.parametrize(
    "text", ["don't wait, go ahead", "vas-y, c'est bon", "yes, let's do it", "'tis fine, do it, let's go"]
)
def test_an_apostrophe_is_no_quotation_mark(text: str) -> None:
    assert heard(text).verdict is not AssentVerdict.REFUSE


def test_words_that_an_action_quotes_may_be_named() -> None:
    pending = ("sh -c 'systemctl restart caddy' on web1", 'sh -c "apt upgrade" on web2')
    assert heard("only caddy", pending).selects == (1,)
    assert heard("only the upgrade", pending).selects == (2,)
