"""The families of acts there are, in the order in which a message is offered to them."""

from bot.acts import guidance, posts, settings, trust
from bot.acts.handler import ActHandler

HANDLERS: tuple[ActHandler, ...] = (
    settings.HANDLER,
    posts.HANDLER,
    trust.HANDLER,
    guidance.HANDLER,
)
