"""What the owner of a server has to click, as text. Pure: nothing is asked of Discord.

The rule it owns: the bot asks for no permission that it does not use.
"""

import base64
import binascii
import re
from urllib.parse import urlencode

from adapters.discord.settings import TOKEN_VARIABLE, NoTokenError, Settings

#: The word after `sayso discord`.
VERB = "invite-url"

#: What the bot uses. https://discord.com/developers/docs/topics/permissions
PERMISSIONS = {
    "View Channels": 1 << 10,
    "Send Messages": 1 << 11,
    "Attach Files": 1 << 15,
    "Read Message History": 1 << 16,
    "Send Messages in Threads": 1 << 38,
}


def page(settings: Settings) -> str:
    """Return the steps from nothing to a bot that answers; with the invite link where its id is known."""
    number = application_id(settings)
    link = invite_url(number or "APPLICATION_ID")
    needs_id = (
        "" if number else "\n   (APPLICATION_ID is on the page General Information of your application.)"
    )
    intent = (
        "3. On the same page, under Privileged Gateway Intents, switch on Message Content Intent. Save."
        if settings.message_content
        else "3. Message Content Intent stays off: the bot understands direct messages, mentions and replies."
    )
    rights = ", ".join(PERMISSIONS)
    missing = "\n".join(f"- {one}" for one in settings.problems()) or "Nothing that can be seen from here."
    return f"""\
Discord, step by step. It takes about five minutes.

1. Open https://discord.com/developers/applications and press New Application.
2. On the page Bot press Reset Token. Put the token into a file that only sayso can read,
   and name it in the config, or set {TOKEN_VARIABLE}:
     [adapters.discord]
     token_file = "/etc/sayso/discord-token"
{intent}
4. On the page Installation set Install Link to None. Then, on the page Bot, switch off Public Bot,
   so that nobody else can add it.
5. On the page General Information, leave Interactions Endpoint URL empty: buttons come over the gateway.
6. Open this link, choose your server and press Authorize:
   {link}{needs_id}
   It asks for: {rights}.
7. In Discord, switch on User Settings > Advanced > Developer Mode. Then right-click your name and
   Copy User ID. Add it to your operator in the config:
     [operators.ana]
     accounts = ["discord::123456789012345678"]
8. Start sayso serve, and look at sayso status. Then write to the bot: @sayso help

Still missing
{missing}
"""


def invite_url(application: str) -> str:
    """Return the link that adds the bot to a server."""
    query = {"client_id": application, "scope": "bot", "permissions": str(sum(PERMISSIONS.values()))}
    return f"https://discord.com/oauth2/authorize?{urlencode(query)}"


def application_id(settings: Settings) -> str:
    """Return the application's id: as set, else as the first part of the token tells it; "" for unknown."""
    if settings.application_id:
        return settings.application_id
    try:
        first = settings.token().partition(".")[0]
        found = base64.urlsafe_b64decode(first + "=" * (-len(first) % 4)).decode("ascii")
    except (NoTokenError, binascii.Error, ValueError):
        return ""
    return found if re.fullmatch(r"\d{15,20}", found) else ""
