"""C2SP signed notes with Ed25519: the text, a blank line, "— name base64(key id || signature)".

Keys have the text form of that specification: a verifier key is "name+id+base64(1 || public key)", a signer
key "PRIVATE+KEY+name+id+base64(1 || seed)". Base64 is taken only in its canonical form, so that no byte of a
note can change unseen. Signatures of unknown keys are ignored; a bad one of a known key refuses the note.

Source: https://c2sp.org/signed-note
"""

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from ledger.kinds import LedgerError

_ED25519 = b"\x01"
_DASH = "\N{EM DASH}"
_PRIVATE = "PRIVATE+KEY+"
_KEY_ID_BYTES = 4
_KEY_BYTES = 32


class NoteError(LedgerError):
    """This is no signed note, or no known key signed it."""


class KeyFormatError(LedgerError):
    """This is no key in the C2SP text form; print one with `sayso ledger key`."""


@dataclass(frozen=True, slots=True)
class Verifier:
    """A public key and the name it signs under."""

    name: str
    public: bytes

    @classmethod
    def parse(cls, text: str) -> "Verifier":
        """Read "name+id+key".

        Raises:
            KeyFormatError: it is not that, or the id does not belong to name and key.
        """
        name, key = _parse_key(text.strip())
        verifier = cls(name, key)
        if verifier.text != text.strip():
            raise KeyFormatError(f"{KeyFormatError.__doc__} Its id is not that of its name and key.")
        return verifier

    @property
    def key_id(self) -> bytes:
        """The four bytes that name this key in a signature."""
        return sha256(self.name.encode() + b"\n" + _ED25519 + self.public).digest()[:_KEY_ID_BYTES]

    @property
    def text(self) -> str:
        """The key in text form, to be handed to whoever verifies."""
        return f"{self.name}+{self.key_id.hex()}+{_encode(_ED25519 + self.public)}"

    def accepts(self, signature: bytes, text: str) -> bool:
        """Return whether `signature` is this key's over `text`."""
        # Imported here: what prints help or tails entries need not load a cryptography library.
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415  see above
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, text.encode())
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True, slots=True)
class Signer:
    """A private key and the name it signs under. Never logged; `repr` hides the seed."""

    name: str
    _seed: bytes

    def __repr__(self) -> str:
        return f"Signer({self.name!r})"

    @classmethod
    def parse(cls, text: str) -> "Signer":
        """Read "PRIVATE+KEY+name+id+seed".

        Raises:
            KeyFormatError: it is not that, or the id does not belong to it.
        """
        stripped = text.strip()
        if not stripped.startswith(_PRIVATE):
            raise KeyFormatError("This is no signing key: it does not begin with PRIVATE+KEY.")
        name, seed = _parse_key(stripped.removeprefix(_PRIVATE))
        signer = cls(name, seed)
        if signer.text != stripped:
            raise KeyFormatError("This is no signing key: its id is not that of its name and key.")
        return signer

    @property
    def verifier(self) -> Verifier:
        """The public half."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

        return Verifier(
            self.name, Ed25519PrivateKey.from_private_bytes(self._seed).public_key().public_bytes_raw()
        )

    @property
    def text(self) -> str:
        """The key in text form, for its file."""
        return f"{_PRIVATE}{self.name}+{self.verifier.key_id.hex()}+{_encode(_ED25519 + self._seed)}"

    def sign(self, text: str) -> str:
        """Return the signed note of `text`, which ends with a newline and holds no blank line."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

        if not text.endswith("\n") or "\n\n" in text:
            raise NoteError("A note's text ends with a newline and holds no blank line.")
        signature = Ed25519PrivateKey.from_private_bytes(self._seed).sign(text.encode())
        return f"{text}\n{_DASH} {self.name} {_encode(self.verifier.key_id + signature)}\n"


def check_name(name: str) -> str:
    """Return `name` if a key may carry it: not empty, printable, without spaces or "+"."""
    if not name or not name.isprintable() or any(char.isspace() or char == "+" for char in name):
        raise KeyFormatError(f"A key's name holds no space and no plus sign: {name!r}.")
    return name


def open_note(note: str, keys: Iterable[Verifier]) -> str:
    """Return the text of `note` once at least one of `keys` is found to have signed it.

    Raises:
        NoteError: it is malformed, no known key signed it, or a known key's signature is wrong.
    """
    text, blank, lines = note.rpartition("\n\n")
    if not blank or not lines.endswith("\n"):
        raise NoteError("This is no signed note: it has no signature after a blank line.")
    text += "\n"
    known = {(key.name, key.key_id): key for key in keys}
    signed = False
    for line in lines[:-1].split("\n"):
        name, key_id, signature = _parse_signature(line)
        key = known.get((name, key_id))
        if key is None:
            continue
        if not key.accepts(signature, text):
            raise NoteError(f"The signature of {name} is wrong: the note was changed or forged.")
        signed = True
    if not signed:
        raise NoteError("No known key signed this note.")
    return text


def _parse_signature(line: str) -> tuple[str, bytes, bytes]:
    dash, name, code = (*line.split(" ", 2), "", "")[:3]
    raw = _decode(code) if dash == _DASH and name else None
    if raw is None or len(raw) <= _KEY_ID_BYTES:
        raise NoteError(f"This is no signed note: malformed signature line {line[:80]!r}.")
    return name, raw[:_KEY_ID_BYTES], raw[_KEY_ID_BYTES:]


def _parse_key(text: str) -> tuple[str, bytes]:
    name, _, code = (*text.split("+", 2), "", "")[:3]
    raw = _decode(code)
    if raw is None or len(raw) != 1 + _KEY_BYTES or raw[:1] != _ED25519:
        raise KeyFormatError(KeyFormatError.__doc__)
    return check_name(name), raw[1:]


def _encode(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _decode(code: str) -> bytes | None:
    """Return the bytes of `code`; None unless it is their canonical base64."""
    try:
        raw = base64.b64decode(code.encode("ascii"), validate=True)
    except (UnicodeEncodeError, binascii.Error):
        return None
    return raw if _encode(raw) == code else None
