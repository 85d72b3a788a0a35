"""Attestations: whatever is changed, removed, added or put elsewhere is found, and named."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.runbooks.attest import AttestationError, verify
from ledger.note import Signer
from tests.bot.runbooks.attesting import ANA, EVE, Whole, made, made_anew, problems, rehash
from tests.bot.runbooks.made import RUN, SECRET, wrote
from tests.ledger.story import Story


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    return wrote(tmp_path_factory.mktemp("ledger"))


def test_what_was_not_touched_is_whole(story: Story) -> None:
    found = verify(json.dumps(made(story)), keys=(ANA.verifier,))
    assert (found.ok, found.run, found.signed_by, found.claims) == (True, RUN, ("ana",), ("ana",))
    assert found.entries == len(story.queries.run_entries(RUN))


def test_it_covers_the_answers_and_ends_of_the_proposals_too(story: Story) -> None:
    kinds = [one["kind"] for one in made(story)["entries"]]
    assert kinds[0] == "run:started"
    assert kinds[-1] == "run:ended"
    assert {"proposal:made", "approval:granted", "action:started", "action:succeeded"} <= set(kinds)


def test_no_secret_is_in_an_attestation(story: Story) -> None:
    assert SECRET not in json.dumps(made(story))


def test_there_are_no_entries_of_what_never_ran(story: Story) -> None:
    assert story.queries.run_entries("zzzzzz") == ()


def test_nothing_signs_by_itself(story: Story) -> None:
    whole = made(story, signer=None)
    found = verify(json.dumps(whole))
    assert (found.ok, found.signed_by, found.claims) == (True, (), ())
    assert problems(whole, ANA.verifier) == ["The statement is not signed."]


# ---------------------------------------------------------------- tampering


def change_body(whole: Whole) -> None:
    entry = whole["entries"][3]
    entry["body"] = entry["body"].replace("look", "loot", 1)


def change_body_and_hash(whole: Whole) -> None:
    change_body(whole)
    rehash(whole["entries"][3])


def change_time(whole: Whole) -> None:
    whole["entries"][3]["at"] = "2026-03-02T15:00:00.000000Z"


def change_kind(whole: Whole) -> None:
    whole["entries"][3]["kind"] = "run:consumed2"


def remove_one(whole: Whole) -> None:
    del whole["entries"][3]


def remove_last(whole: Whole) -> None:
    del whole["entries"][-1]


def swap(whole: Whole) -> None:
    entries = whole["entries"]
    entries[3], entries[4] = entries[4], entries[3]


def twice(whole: Whole) -> None:
    whole["entries"].insert(4, dict(whole["entries"][3]))


def add(whole: Whole) -> None:
    entry = dict(whole["entries"][-1], seq=999)
    rehash(entry)
    whole["entries"].append(entry)


def change_report(whole: Whole) -> None:
    whole["report"]["entries"][1]["decided_by"] = "eve"


def drop_from_report(whole: Whole) -> None:
    del whole["report"]["deviations"][0]


TAMPERED: list[tuple[Callable[[Whole], None], str]] = [
    (change_body, "Entry 4 (run:consumed) was changed: its hash is another one than in the statement."),
    (
        change_body_and_hash,
        "Entry 4 (run:consumed) was changed: its hash is another one than in the statement.",
    ),
    (change_time, "Entry 4 (run:consumed) was changed: its hash is another one than in the statement."),
    (change_kind, "Entry 4 (run:consumed2) was changed: its hash is another one than in the statement."),
    (remove_one, "Entry 4 (run:consumed) was removed."),
    (remove_last, "Entry 18 (run:ended) was removed."),
    (swap, "Entry 4 (run:consumed) stands in another place than it was written in."),
    (twice, "Entry 4 (run:consumed) stands there twice."),
    (add, "Entry 999 (run:ended) was added: the statement does not name it."),
    (change_report, "The report was changed: its digest is another one than in the statement."),
    (drop_from_report, "The report was changed: its digest is another one than in the statement."),
]


@pytest.mark.parametrize("signer", [ANA, None], ids=["signed", "unsigned"])
@pytest.mark.parametrize(("tamper", "wanted"), TAMPERED, ids=[one.__name__ for one, _ in TAMPERED])
def test_tampering_is_found_and_named(
    story: Story, tamper: Callable[[Whole], None], wanted: str, signer: Signer | None
) -> None:
    whole = made(story, signer)
    tamper(whole)
    assert wanted in problems(whole, *([] if signer is None else [signer.verifier]))


UNHURRIED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


def restated(whole: Whole, change: Callable[[str], str]) -> Whole:
    """Change the statement and leave its signature as it was."""
    text, blank, signature = whole["statement"].rpartition("\n\n")
    return {**whole, "statement": f"{change(text)}{blank}{signature}"}


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (lambda text: text.replace("completed", "failed"), "The statement is about outcome failed"),
        (lambda text: text.replace("r4m8n2", "r4m8n3", 1), "The statement is about run r4m8n3"),
        (
            lambda text: text.replace("\n4 run:consumed", "\n4 run:consumer"),
            "its entries do not come to its chain",
        ),
        (lambda text: text.replace("entries 18", "entries 17"), "its entries do not come to its chain"),
        (lambda text: text[: text.rindex("\n")], "its entries do not come to its chain"),
    ],
    ids=["outcome", "run", "kind", "count", "cut"],
)
def test_a_changed_statement_is_found_and_breaks_its_signature(
    story: Story, change: Callable[[str], str], wanted: str
) -> None:
    whole = restated(made(story), change)
    found = problems(whole, ANA.verifier)
    assert any(wanted in one for one in found), found
    assert any(one.startswith("The signature does not hold.") for one in found), found
    unsigned = {**whole, "statement": whole["statement"].rpartition("\n\n")[0] + "\n"}
    assert any(wanted in one for one in problems(unsigned)), unsigned["statement"]


def test_a_forgery_needs_the_key(story: Story) -> None:
    whole = made(story, None)
    whole["report"]["entries"][1]["title"] = "Look away"
    whole = made_anew(whole)
    text = whole["statement"]
    assert "The statement is not signed." in problems(whole, ANA.verifier)
    whole["statement"] = EVE.sign(text)
    assert any("No known key signed" in one for one in problems(whole, ANA.verifier))
    whole["statement"] = Signer("ana", b"\x03" * 32).sign(text)  # her name, another key
    assert any("does not hold" in one for one in problems(whole, ANA.verifier))


def test_another_report_under_a_good_signature_is_found(story: Story, tmp_path: Path) -> None:
    other = wrote(tmp_path, deviates=False)
    whole = {**made(other), "statement": made(story)["statement"]}
    assert any("The report was changed" in one for one in problems(whole, ANA.verifier))


@settings(max_examples=60, suppress_health_check=UNHURRIED)
@given(data=st.data())
def test_no_order_but_the_written_one_and_no_part_of_it_passes(story: Story, data: st.DataObject) -> None:
    whole = made(story)
    entries = whole["entries"]
    whole["entries"] = data.draw(st.lists(st.sampled_from(entries), max_size=len(entries) + 1))
    if whole["entries"] != entries:
        assert problems(whole, ANA.verifier)


@settings(max_examples=80, suppress_health_check=UNHURRIED)
@given(data=st.data())
def test_no_changed_character_passes(story: Story, data: st.DataObject) -> None:
    text = json.dumps(made(story), ensure_ascii=False)
    at = data.draw(st.integers(0, len(text) - 1))
    char = data.draw(st.sampled_from('0aZ {}"\\,:\n'))
    changed = text[:at] + char + text[at + 1 :]
    try:
        same = json.loads(changed) == json.loads(text)
        found = verify(changed, keys=(ANA.verifier,))
    except (AttestationError, ValueError):
        return
    assert same or not found.ok


@pytest.mark.parametrize(
    "change",
    [
        lambda _: {},
        lambda _: [],
        lambda whole: {**whole, "format": "sayso-run-attestation/2"},
        lambda whole: {**whole, "summary": "all is well"},
        lambda whole: {key: value for key, value in whole.items() if key != "entries"},
        lambda whole: {**whole, "entries": [{}]},
        lambda whole: {**whole, "entries": [{**whole["entries"][0], "seq": "1"}]},
        lambda whole: {**whole, "entries": [{**whole["entries"][0], "seq": True}]},
        lambda whole: {**whole, "statement": ""},
        lambda whole: {**whole, "statement": "hello\nworld\n"},
        lambda whole: {**whole, "statement": whole["statement"].replace("chain", "chair", 1)},
        lambda whole: {**whole, "statement": whole["statement"].replace("\nrun", "\n\nrun", 1)},
    ],
)
def test_what_is_no_attestation_is_told_to_be_none(story: Story, change: Callable[[Whole], object]) -> None:
    with pytest.raises(AttestationError):
        verify(json.dumps(change(made(story))))


@pytest.mark.parametrize(
    "change",
    [
        lambda whole: whole["report"].update(entries=5),
        lambda whole: whole["report"].update(deviations=5),
        lambda whole: whole["report"]["entries"][0].update(number=[1]),
        lambda whole: whole["entries"][0].update(kind="\ud800"),
        lambda whole: whole["entries"][3].update(body="\ud800"),
        lambda whole: whole["entries"][3].update(body="[" * 100_000),
        lambda whole: whole.update(statement=whole["statement"].replace("\n4 run", f"\n{'4' * 5000} run")),
        lambda whole: whole.update(statement=whole["statement"].replace("\n4 run", "\n4 \ud800run")),
    ],
)
def test_whatever_is_in_a_file_is_told_or_refused(story: Story, change: Callable[[Whole], object]) -> None:
    for signer, keys in ((None, ()), (ANA, (ANA.verifier,))):
        whole = made(story, signer)
        change(whole)
        try:
            found = verify(json.dumps(whole), keys=keys)
        except AttestationError:
            continue
        assert not found.ok


def test_a_key_that_stands_there_twice_is_refused(story: Story) -> None:
    text = json.dumps(made(story))
    with pytest.raises(AttestationError, match="twice"):
        verify(text[:-1] + ', "report": {}}')
    with pytest.raises(AttestationError, match="no JSON"):
        verify("{")
