"""An alert that is over while what it led to waits for its turn: what nobody said yes to runs no more."""

from pathlib import Path

from bot.signals.cards import OVER
from bot.signals.rules import SignalRule
from tests.bot.signals.alerting import Sender, alert, alerting, at_rest, cards
from tests.bot.test_lowered import RESTART, RESTARTS, Busy, busy, deploying, has, over, says

RULE = SignalRule(labels={"alertname": "CaddyDown"}, command=RESTART)


async def test_what_runs_by_itself_does_not_start_once_its_alert_is_over(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="run", executor=Busy, policy=RESTARTS, signal_rules=(RULE,)) as kit:
        await deploying(kit)
        await Sender(kit).hand_over(alert("CaddyDown"))
        await has(kit, lambda: kit.states() == ["queued"])
        await Sender(kit).hand_over(alert("CaddyDown", status="resolved"), event="r")
        await has(kit, lambda: "signal:resolved" in kit.kinds())
        await over(kit)
        assert RESTART not in busy(kit).ran
        assert kit.states() == ["cancelled"]
        assert "withdrawn: the alert is over, nothing ran" in cards(kit, OVER)[0]


async def test_what_somebody_said_yes_to_starts_all_the_same(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="propose", executor=Busy, signal_rules=(RULE,)) as kit:
        await deploying(kit)
        await Sender(kit).hand_over(alert("CaddyDown"))
        await has(kit, lambda: kit.states() == ["waiting"])
        await says(kit, f"approve {kit.newest_id()}", until="approval:granted")
        await has(kit, lambda: kit.states() == ["queued"])
        await Sender(kit).hand_over(alert("CaddyDown", status="resolved"), event="r")
        await has(kit, lambda: "signal:resolved" in kit.kinds())
        await over(kit)
        assert busy(kit).ran[-1] == RESTART
        await at_rest(kit)
