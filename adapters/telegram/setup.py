"""Setup: what to do where, as text. Pure; docs/setup-telegram.md says more about each step."""

from adapters.telegram.settings import PUBLIC_API, TOKEN_VARIABLE, Settings

#: The word after `sayso telegram`.
VERB = "setup"

_STEPS = """\
Telegram, step by step. docs/setup-telegram.md says more about each.

1  Make the bot
   In Telegram, open @BotFather (the one with the blue mark) and send:  /newbot
   It asks for a name and a username, and answers with the token. The token is the bot: keep it secret.

2  Give sayso the token
   {token}

3  Let it hear your group, or leave it private
   Privacy mode is on by default: in groups only /commands and replies to the bot reach it.
   That is enough to ask (/run@yourbot df -h on web1) and to decide (buttons, replies to a card).
   To say "go ahead" without either, send @BotFather:  /setprivacy, choose the bot, Disable.
   Then remove the bot from groups that it is in already, and add it again.
   To keep it out of groups, send @BotFather:  /setjoingroups, choose the bot, Disable.

4  Say who you are
   Where you are known already (sayso chat), type:  pair
   Within ten minutes send the code to the bot, in a private chat:  pair XXXX-XXXX
   Or name the account in the config, if you know its number:
   [operators.ana]
   accounts = ["telegram::123456789"]

5  Write "help" to the bot, and look at:  sayso status
"""


def page(settings: Settings) -> str:
    """Return the steps, and what is still missing."""
    place = (
        f"It is read from {settings.token_file}."
        if settings.token_file
        else (
            "Write it to a file that only sayso can read (chmod 600), and name that file in the config:\n"
            '   [adapters.telegram]\n   token_file = "/etc/sayso/telegram.token"\n'
            f"   Or set the environment variable {TOKEN_VARIABLE}."
        )
    )
    shown = _STEPS.format(token=place)
    if settings.api_url != PUBLIC_API:
        shown += (
            f"\nThe Bot API is {settings.api_url}. A bot that was used at {PUBLIC_API} before has to leave"
            f"\nthere first, once:  curl {PUBLIC_API}/bot<token>/logOut\n"
        )
    problems = settings.problems()
    missing = "".join(f"- {problem}\n" for problem in problems) or "Nothing that can be seen from here.\n"
    return f"{shown}\nStill missing\n{missing}"
