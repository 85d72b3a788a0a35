"""Randomness for ids and tokens, from the operating system."""

import secrets

#: No 0/o, 1/l/i, 5/s, 8/b, u/v or 2/z: what people confuse when they read an id aloud or type it on a phone.
ALPHABET = "34679acdefghjkmnpqrtwxy"
_LENGTH = 6


class RandomIds:
    """The IdSource of a running bot."""

    def short_id(self) -> str:
        """Return six characters with at least one digit, so that no word of a language is an id."""
        while True:
            drawn = "".join(secrets.choice(ALPHABET) for _ in range(_LENGTH))
            if any(char.isdigit() for char in drawn):
                return drawn

    def token(self) -> str:
        """Return 24 URL-safe characters, 144 bits."""
        return secrets.token_urlsafe(18)

    def code(self, alphabet: str, length: int) -> str:
        """Return that many characters of `alphabet`."""
        return "".join(secrets.choice(alphabet) for _ in range(length))
