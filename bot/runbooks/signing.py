"""Keys that people sign reports with: their own, in the forms that they have them in.

Reads an Ed25519 key as C2SP text, as OpenSSH writes it (`ssh-keygen -t ed25519`) or as PEM. A file that
others can read is refused, and so is one that takes a passphrase, since nobody is there to type it. The
ledger's own key is never looked for: a report is signed by whoever asks for it, or not at all (C18).
"""

import base64
import hashlib
import stat
from pathlib import Path

from ledger.kinds import LedgerError
from ledger.note import KeyFormatError, Signer, Verifier, check_name

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_C2SP = "PRIVATE+KEY+"


class KeyFileError(LedgerError):
    """No report can be signed or checked with this key."""


def signer_in(file: Path, *, name: str = "") -> Signer:
    """Return the private key in `file`.

    Args:
        name: what it signs under; "" for that of the file, where the key has none of its own.

    Raises:
        KeyFileError: it holds none that can be used; says why.
    """
    try:
        mode, raw = file.stat().st_mode, file.read_bytes()
    except OSError as error:
        raise KeyFileError(f"{file} cannot be read: {error.strerror}.") from error
    if mode & _OTHERS:
        raise KeyFileError(f"{file} can be read by others, so nothing is signed with it. chmod 600 {file}")
    if raw.lstrip().startswith(_C2SP.encode()):
        return _parsed(raw)
    return Signer(_named(name or file.stem), _seed(raw, file))


def _parsed(raw: bytes) -> Signer:
    try:
        return Signer.parse(raw.decode("ascii", "replace"))
    except KeyFormatError as error:
        raise KeyFileError(str(error)) from error


def _named(name: str) -> str:
    try:
        return check_name("-".join(name.replace("+", " ").split()))
    except KeyFormatError as error:
        raise KeyFileError(str(error)) from error


def _seed(raw: bytes, file: Path) -> bytes:
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - only for whoever signs
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

    readers = (serialization.load_ssh_private_key, serialization.load_pem_private_key)
    for read in readers:
        try:
            key = read(raw, password=None)
        except (ValueError, UnsupportedAlgorithm):
            continue
        except TypeError as error:
            raise KeyFileError(f"{file} takes a passphrase, and nobody is asked for it here.") from error
        if isinstance(key, Ed25519PrivateKey):
            return key.private_bytes_raw()
    raise KeyFileError(
        f"{file} holds no Ed25519 private key. Make one: ssh-keygen -t ed25519 -N '' -f {file}"
    )


def fingerprint(public: bytes) -> str:
    """Return the fingerprint of a public key as `ssh-keygen -l` shows it."""
    blob = b"".join(len(part).to_bytes(4, "big") + part for part in (b"ssh-ed25519", public))
    return f"SHA256:{base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip('=')}"


def verifiers_in(given: str) -> tuple[Verifier, ...]:
    """Return the public keys in a file, or in the text itself; one that has no name has "" for it.

    Raises:
        KeyFileError: there is none.
    """
    file = Path(given)
    try:
        text = file.read_text("utf-8") if file.is_file() else given
    except (OSError, UnicodeDecodeError) as error:
        raise KeyFileError(f"{given} cannot be read: {error}.") from error
    if "-----BEGIN" in text:
        return (_public(text.encode(), given),)
    found = [_verifier(line, given) for line in text.splitlines() if line.strip()]
    if not found:
        raise KeyFileError(f"{given} holds no public key.")
    return tuple(found)


def _verifier(line: str, given: str) -> Verifier:
    if line.startswith("ssh-"):
        return _public(line.encode(), given)
    try:
        return Verifier.parse(line)
    except KeyFormatError as error:
        raise KeyFileError(f"{given} holds no public key. {error}") from error


def _public(raw: bytes, given: str) -> Verifier:
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - only for whoever checks
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    read = serialization.load_ssh_public_key if raw.startswith(b"ssh-") else serialization.load_pem_public_key
    try:
        key = read(raw)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise KeyFileError(f"{given} holds no public key: {error}.") from error
    if not isinstance(key, Ed25519PublicKey):
        raise KeyFileError(f"{given} holds no Ed25519 public key.")
    return Verifier("", key.public_bytes_raw())
