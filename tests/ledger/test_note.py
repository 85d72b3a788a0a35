import pytest

from ledger.note import KeyFormatError, NoteError, Signer, Verifier, check_name, open_note

# The example of Go's golang.org/x/mod/sumdb/note, and the one of the C2SP specification.
GO_SIGNER = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
GO_VERIFIER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO_TEXT = (
    "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
)
GO_NOTE = (
    f"{GO_TEXT}\n— PeterNeumann"
    " x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
C2SP_VERIFIER = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
C2SP_NOTE = (
    "This is an example message.\n\n— example.com/foo"
    " Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n"
)


def test_signs_byte_for_byte_like_the_reference() -> None:
    signer = Signer.parse(GO_SIGNER)
    assert signer.sign(GO_TEXT) == GO_NOTE
    assert signer.verifier.text == GO_VERIFIER
    assert signer.text == GO_SIGNER


@pytest.mark.parametrize(
    ("note", "key", "text"),
    [(GO_NOTE, GO_VERIFIER, GO_TEXT), (C2SP_NOTE, C2SP_VERIFIER, "This is an example message.\n")],
)
def test_opens_notes_of_others(note: str, key: str, text: str) -> None:
    assert open_note(note, [Verifier.parse(key)]) == text


def test_every_changed_byte_of_a_note_is_noticed() -> None:
    key = Verifier.parse(GO_VERIFIER)
    for at in range(len(GO_NOTE)):
        for other in {GO_NOTE[at].swapcase(), chr(ord(GO_NOTE[at]) ^ 1), "\n", "="} - {GO_NOTE[at]}:
            with pytest.raises(NoteError):
                open_note(GO_NOTE[:at] + other + GO_NOTE[at + 1 :], [key])
        with pytest.raises(NoteError):
            open_note(GO_NOTE[:at], [key])


def test_every_changed_character_of_a_key_is_noticed() -> None:
    for text, parse in ((GO_VERIFIER, Verifier.parse), (GO_SIGNER, Signer.parse)):
        for at in range(len(text)):
            with pytest.raises(KeyFormatError):
                parse(text[:at] + chr(ord(text[at]) ^ 1) + text[at + 1 :])
            with pytest.raises(KeyFormatError):
                parse(text[:at])


def test_signatures_of_unknown_keys_are_ignored() -> None:
    stranger = GO_NOTE + C2SP_NOTE.rpartition("\n\n")[2]
    assert open_note(stranger, [Verifier.parse(GO_VERIFIER)]) == GO_TEXT
    with pytest.raises(NoteError, match="No known key"):
        open_note(GO_NOTE, [Verifier.parse(C2SP_VERIFIER)])


def test_a_wrong_signature_of_a_known_key_refuses_the_note() -> None:
    forged = GO_NOTE.replace("answer", "remedy")
    with pytest.raises(NoteError, match="changed or forged"):
        open_note(forged, [Verifier.parse(GO_VERIFIER)])


@pytest.mark.parametrize("text", ["no newline", "a\n\nb\n"])
def test_what_is_no_note_text_is_not_signed(text: str) -> None:
    with pytest.raises(NoteError):
        Signer.parse(GO_SIGNER).sign(text)


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\n", "\u200b"])
def test_names_that_a_note_cannot_carry(name: str) -> None:
    with pytest.raises(KeyFormatError):
        check_name(name)


def test_a_signer_does_not_show_its_seed() -> None:
    assert repr(Signer.parse(GO_SIGNER)) == "Signer('PeterNeumann')"


@pytest.mark.parametrize(
    "line", ["— a", "— a b c", "x a AAAAAAAA", "—  AAAAAAAA", "— a AAAA", "— a ü", "— a A"]
)
def test_malformed_signature_lines(line: str) -> None:
    with pytest.raises(NoteError, match="malformed"):
        open_note(f"text\n\n{line}\n", [Verifier.parse(GO_VERIFIER)])
