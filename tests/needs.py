"""Marks of tests that need programs of the system; `.ci/run` installs these, so nothing is left out there."""

import pytest

from tests.sshd import SSHD

openssh = pytest.mark.skipif(not SSHD.exists(), reason="needs OpenSSH's sshd and programs")
