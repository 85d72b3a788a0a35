"""Marks of tests that need programs of the system; `.ci/run` installs these, so nothing is left out there."""

import shutil

import pytest

from tests.sshd import SSHD

openssh = pytest.mark.skipif(not SSHD.exists(), reason="needs OpenSSH's sshd and programs")
nftables = pytest.mark.skipif(shutil.which("nft", path="/usr/sbin:/sbin") is None, reason="needs nftables")
