"""Keys that people sign reports with: read in the forms they have them in, refused where they are none."""

import json
import subprocess
from pathlib import Path

import pytest

from bot.runbooks import signing
from bot.runbooks.attest import verify
from bot.runbooks.signing import KeyFileError
from tests.bot.runbooks.attesting import ANA, made, problems
from tests.bot.runbooks.made import wrote
from tests.ledger.story import Story


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    return wrote(tmp_path_factory.mktemp("ledger"))


def private(file: Path, text: str) -> Path:
    file.write_text(text)
    file.chmod(0o600)
    return file


def test_a_key_of_ssh_signs_and_its_public_half_verifies(story: Story, tmp_path: Path) -> None:
    file = tmp_path / "ana key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file], check=True)
    signer = signing.signer_in(file)
    assert signer.name == "ana-key"
    found = verify(json.dumps(made(story, signer)), keys=signing.verifiers_in(f"{file}.pub"))
    told = subprocess.run(["ssh-keygen", "-lf", f"{file}.pub"], check=True, capture_output=True, text=True)
    assert (found.ok, found.signed_by) == (True, (f"{told.stdout.split()[1]} under the name ana-key",))
    wrong = tmp_path / "other"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", wrong], check=True)
    assert problems(made(story, signer), *signing.verifiers_in(f"{wrong}.pub"))


def test_keys_in_pem_and_c2sp_text(story: Story, tmp_path: Path) -> None:
    c2sp = private(tmp_path / "c2sp", f"{ANA.text}\n")
    assert signing.signer_in(c2sp).name == "ana"
    keys = signing.verifiers_in(ANA.verifier.text)
    assert problems(made(story, signing.signer_in(c2sp)), *keys) == []
    pem = tmp_path / "pem"
    subprocess.run(
        ["openssl", "genpkey", "-algorithm", "ed25519", "-out", pem], check=True, capture_output=True
    )
    pem.chmod(0o600)
    public = tmp_path / "pem.pub"
    subprocess.run(["openssl", "pkey", "-in", pem, "-pubout", "-out", public], check=True)
    assert problems(made(story, signing.signer_in(pem, name="kim")), *signing.verifiers_in(str(public))) == []


def test_keys_that_cannot_be_used(tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "secret!", "-f", locked], check=True)
    rsa = tmp_path / "rsa"
    subprocess.run(["ssh-keygen", "-q", "-t", "rsa", "-b", "2048", "-N", "", "-f", rsa], check=True)
    open_file = private(tmp_path / "open", ANA.text)
    open_file.chmod(0o644)
    for file, why in (
        (locked, "passphrase"),
        (rsa, "no Ed25519 private key"),
        (open_file, "chmod 600"),
        (tmp_path / "gone", "cannot be read"),
        (private(tmp_path / "junk", "junk"), "no Ed25519 private key"),
        (private(tmp_path / "cut", ANA.text[:-4]), "no key"),
    ):
        with pytest.raises(KeyFileError, match=why):
            signing.signer_in(file)
    for text in (f"{rsa}.pub", "junk", str(private(tmp_path / "empty", "")), "-----BEGIN PUBLIC KEY-----\n"):
        with pytest.raises(KeyFileError):
            signing.verifiers_in(text)
