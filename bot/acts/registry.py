"""The families of acts there are, in the order in which a message is offered to them."""

from bot.acts.handler import ActHandler

HANDLERS: tuple[ActHandler, ...] = ()
