"""The version, known without importing anything; the same as in pyproject.toml, which a test holds it to."""

VERSION = "0.1.0"
