"""The SDK, imported once and quietly.

Before Python 3.13 it imports `audioop` for voice, which warns; sayso never speaks aloud. The rule it owns:
everything here gets the SDK from this module, so that `discord` is never this package and never warns.
"""

import logging
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import discord
    from discord.gateway import DiscordWebSocket
    from discord.http import HTTPClient, MultipartParameters, Route
    from discord.webhook.async_ import AsyncWebhookAdapter, interaction_response_params

__all__ = [
    "AsyncWebhookAdapter",
    "DiscordWebSocket",
    "HTTPClient",
    "MultipartParameters",
    "Route",
    "discord",
    "interaction_response_params",
]

# It would complain in the log that voice does not work.
discord.VoiceClient.warn_nacl = False
discord.VoiceClient.warn_dave = False
# At the debug level it logs whole messages, and the token with the first frame of a session.
_log = logging.getLogger("discord")
_log.setLevel(max(_log.level, logging.INFO))
