"""Steering: carries out the control words that `bot.control_words` reads.

It only sends each to whoever handles it; what tightens comes first and takes one word (D19).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot import (
    commands,
    controls,
    forms,
    learned,
    loosening,
    pairing,
    recalling,
    requests,
    showing,
    teaching,
    trusting,
)
from bot.acts import cancelling, jobs, settings
from bot.answering import Speaker
from bot.cards import Cards
from bot.core import Core
from bot.deciding import Named, answer_about
from bot.fanout import again
from bot.outcome import Outcome
from bot.runbooks import listing
from bot.runbooks import steering as run_steering
from bot.runbooks import stopping as run_stopping
from bot.signals import showing as signal_showing
from bot.text import Text
from gate.decide import Choice
from gate.domain import Facts, ProposalId
from gate.resolve.decision import Act


@dataclass(frozen=True, slots=True, kw_only=True)
class Steering:
    """Carries out control words. `behind` is what queued proposals wait behind, in words."""

    core: Core
    cards: Cards
    behind: Mapping[ProposalId, str] = field(default_factory=dict)

    def tighten(self, outcome: Outcome, speaker: Speaker, command: commands.Command | None) -> bool:
        """Carry out what tightens, at once; False for everything else."""
        match command:
            case commands.Stop():
                controls.stop(self.core, outcome, speaker)
            case commands.AutoOff():
                controls.auto_off(self.core, outcome, speaker)
            case commands.NeverAuto(target=target):
                controls.never_auto(self.core, outcome, speaker, target)
            case commands.RevokeTrust(rule=rule):
                trusting.revoke(self.core, outcome, speaker, rule)
            case _:
                return False
        return True

    def carry_out(self, outcome: Outcome, facts: Facts, speaker: Speaker, command: commands.Command) -> None:
        """Carry out everything else."""
        core = self.core
        match command:
            case commands.Approve(ref=ref):
                answer_about(
                    core,
                    outcome,
                    facts,
                    speaker,
                    Named(choice=Choice.APPROVE, proposal=ref.proposal, index=ref.index),
                )
            case commands.Deny(ref=ref, reason=reason):
                answer_about(
                    core,
                    outcome,
                    facts,
                    speaker,
                    Named(choice=Choice.DENY, reason=reason, proposal=ref.proposal, index=ref.index),
                )
            case commands.Resume() | commands.AutoOn() | commands.AllowAuto() | commands.SetPosture():
                loosening.steer(core, outcome, speaker, command)
            case commands.SetSetting() | commands.UnsetSetting():
                settings.change(core, outcome, speaker)
            case (
                commands.StopRun()
                | commands.RollBack()
                | commands.PlanRun()
                | commands.ShowRuns()
                | commands.ShowRun()
                | commands.ShowSignals()
                | commands.ShowWatches()
                | commands.StopWatching()
                | commands.Maintain()
                | commands.MaintainNoMore()
            ):
                self._go_on(outcome, speaker, command)
            case commands.Pair() | commands.Unpair() | commands.ShowAccounts():
                pairing.steer(core, outcome, speaker, command)
            case (
                commands.ShowTrust()
                | commands.ShowGuidance()
                | commands.ShowRunbooks()
                | commands.ShowLearned()
                | commands.ShowReport()
                | commands.RetireRunbook()
                | commands.ShowMemory()
                | commands.ShowJobs()
            ):
                self._tell(outcome, speaker, command)
            case commands.Cancel(ref=None) | commands.RetryFailed(ref=None):
                self._here(outcome, facts, speaker, command)
            case (
                commands.Cancel()
                | commands.Settle()
                | commands.Again()
                | commands.RetryFailed()
                | commands.Preview()
                | commands.Edit()
            ):
                self._on_proposal(outcome, speaker, command)
            case _:
                showing.show(core, self.cards, outcome, speaker, command, behind=self.behind)

    def _go_on(
        self, outcome: Outcome, speaker: Speaker, command: commands.OfRuns | commands.OfSignals
    ) -> None:
        """Carry out what is about runs, or about alerts and watches."""
        match command:
            case (
                commands.StopRun()
                | commands.RollBack()
                | commands.PlanRun()
                | commands.ShowRuns()
                | commands.ShowRun()
            ):
                run_steering.steer(self.core, outcome, speaker, command)
            case _:
                signal_showing.steer(self.core, outcome, speaker, command)

    def _tell(
        self,
        outcome: Outcome,
        speaker: Speaker,
        command: commands.Taught | commands.ShowMemory | commands.ShowJobs,
    ) -> None:
        """Tell what was allowed, taught, told or promised."""
        match command:
            case commands.ShowTrust():
                trusting.show(self.core, outcome, speaker)
            case commands.ShowGuidance():
                teaching.show(self.core, outcome, speaker)
            case commands.ShowRunbooks(name=name):
                listing.show(self.core, outcome, speaker, name)
            case commands.ShowLearned():
                learned.show(self.core, outcome, speaker)
            case commands.ShowReport(run=run):
                learned.show_report(self.core, outcome, speaker, run)
            case commands.RetireRunbook(name=name):
                learned.retire(self.core, outcome, speaker, name)
            case commands.ShowJobs(all_kinds=all_kinds):
                jobs.show(self.core, outcome, speaker, act=None if all_kinds else Act.REMIND)
            case commands.ShowMemory(about=about):
                recalling.show(self.core, outcome, speaker, about)

    def _on_proposal(self, outcome: Outcome, speaker: Speaker, command: commands.Command) -> None:
        core = self.core
        match command:
            case (
                commands.Cancel(ref=commands.Ref() as ref)
                | commands.Settle(ref=ref)
                | commands.Again(ref=ref)
                | commands.RetryFailed(ref=commands.Ref() as ref)
                | commands.Preview(ref=ref)
                | commands.Edit(ref=ref)
            ):
                view = core.queries.proposal(ref.proposal)
            case _:
                raise TypeError(f"no proposal in {command!r}")
        if view is None:
            cancels = isinstance(command, commands.Cancel)
            if not cancels or not (
                run_steering.stop(core, outcome, speaker, ref.proposal)
                or cancelling.by_id(core, outcome, speaker, ref.proposal)
            ):
                controls.unknown_id(core, outcome, speaker, ref.proposal)
            return
        match command:
            case commands.Cancel():
                controls.cancel(core, outcome, speaker, view, ref.index)
            case commands.Settle():
                controls.settle(outcome, speaker, view, command)
            case commands.Again():
                controls.again(core, outcome, speaker, view, ref.index)
            case commands.RetryFailed():
                again.failed(core, outcome, speaker, view)
            case commands.Edit(request=request):
                forms.edit(core, outcome, speaker, view, request)
            case _:
                controls.preview(core, outcome, speaker, view)

    def _here(
        self,
        outcome: Outcome,
        facts: Facts,
        speaker: Speaker,
        command: commands.Cancel | commands.RetryFailed,
    ) -> None:
        """Carry out what names no id and means something of this place."""
        if isinstance(command, commands.Cancel):
            self._cancel_any(outcome, facts, speaker)
        else:
            self._retry_here(outcome, speaker)

    def _retry_here(self, outcome: Outcome, speaker: Speaker) -> None:
        """`retry the failed ones` without an id: of the card replied to, else of the newest fan-out here."""
        replied = speaker.about if speaker.reply_to is not None else None
        view = again.newest(self.core, outcome) if replied is None else self.core.queries.proposal(replied)
        if view is None:
            outcome.say(Text.of("Nothing went to several targets here. Say which one:  retry <id> failed"))
        else:
            again.failed(self.core, outcome, speaker, view)

    def _cancel_any(self, outcome: Outcome, facts: Facts, speaker: Speaker) -> None:
        """`cancel` without an id: the one thing that it can mean, else ask."""
        core = self.core
        open_ones = [
            view
            for one in core.queries.unfinished()
            if (view := core.queries.proposal(one)) is not None
            and facts.place in (view.asked_in, view.shown_in)
        ]
        if len(open_ones) == 1:
            controls.cancel(core, outcome, speaker, open_ones[0], None)
        elif requests.drop(core, outcome, speaker):
            outcome.say(Text.of("Dropped. Nothing ran."))
        elif not open_ones and not run_stopping.stop_here(core, outcome, speaker):
            outcome.say(Text.of("Nothing runs or waits here."))
        elif open_ones:
            outcome.say(showing.which(core, "cancel", open_ones))
