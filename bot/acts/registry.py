"""The families of acts there are, in the order in which a message is offered to them."""

from bot.acts import (
    cancelling,
    facts,
    guidance,
    keeping,
    posts,
    reminders,
    schedules,
    settings,
    trust,
    watches,
)
from bot.acts.handler import ActHandler

HANDLERS: tuple[ActHandler, ...] = (
    settings.HANDLER,
    cancelling.HANDLER,
    keeping.HANDLER,
    reminders.HANDLER,
    facts.HANDLER,
    posts.HANDLER,
    watches.HANDLER,
    schedules.HANDLER,
    trust.HANDLER,
    guidance.HANDLER,
)
