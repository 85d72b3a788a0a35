"""Resolving a command: the never list and the folder it runs in, before any card (K13, C3, D15).

What may never run is what the classifier of `gate.shell` says, read in the folder where the command would
run; there is no second list. A command that came as a list of words is joined first, so that what is judged
is what runs. Posture, phrase and approval are not asked here, see `gate.route`.
"""

import shlex
from collections.abc import Iterable, Sequence

from gate.domain import Reason, ReasonCode
from gate.policy import Catastrophic
from gate.resolve.decision import Allow, Clarify, Decision, Deny, Option, Slots
from gate.shell import paths
from gate.shell.classify import classify
from gate.shell.model import Rules

#: Where a command runs that names no folder: the home of whoever it runs as.
HOME = "~"
#: Folders offered on one card.
MAX_OPTIONS = 5


def resolve(
    slots: Slots,
    *,
    rules: Rules,
    roots: Iterable[str],
    argv: Sequence[str] = (),
    catastrophic: Catastrophic = Catastrophic.DENY,
    as_root: bool = False,
) -> Decision:
    """Return what becomes of a command.

    Args:
        slots: "command" as one line, or "" with `argv`; "workdir", "" for the target's own; others are kept.
        rules: what is known about programs.
        roots: folders that commands may name to run in, with all below them, as real paths on the target.
            With none, whatever folder is named is asked about.
        argv: the command as a list of words, joined here; it wins over the slot.
        catastrophic: what the owner set for the never list; PHRASE leaves it to the phrase.
        as_root: the command runs as root already.
    """
    command = shlex.join(argv) if argv else slots.get("command", "")
    bound = {**slots, "command": command}
    if not command.strip():
        return Clarify(question="Which command?", slots=bound, free="command", because="lacks command")
    workdir = slots.get("workdir", "")
    never = never_reason(command, workdir=workdir, rules=rules, as_root=as_root)
    if never is not None and catastrophic is Catastrophic.DENY:
        text = f"Never: {never}. Nothing ran, and no yes changes that here."
        return Deny(reason=Reason(code=ReasonCode.NEVER_LIST, text=text), slots=bound, because="never list")
    known = [paths.normalise(root) for root in roots]
    if workdir and not any(is_within(workdir, root) for root in known):
        return Clarify(
            question=f"{workdir} is not among the folders that commands run in. Which one shall it be?",
            slots=bound,
            options=tuple(
                Option(id=f"folder_{index}", label=root, patch={"workdir": root})
                for index, root in enumerate(known[:MAX_OPTIONS], start=1)
            ),
            free="workdir",
            because="folder outside",
        )
    return Allow(slots=bound, because=f"never list, by phrase: {never}" if never else "")


def never_reason(command: str, *, workdir: str, rules: Rules, as_root: bool = False) -> str | None:
    """Return why `command` may never run in `workdir`, None where the never list says nothing of it.

    `rm -rf .` is on it in a home, which is where a command runs that names no folder, and not in a project.
    """
    plain = classify(command, rules=rules, as_root=as_root).never
    if plain is not None:
        return plain
    folder = paths.normalise(workdir or HOME, cwd=HOME)
    entered = shlex.quote(folder)
    return classify(f"cd {entered}\nPWD={entered}\n{command}", rules=rules, as_root=as_root).never


def is_within(path: str, root: str) -> bool:
    """Whether `path` is `root` or below it, by whole parts: /srv/app-evil is not within /srv/app.

    A relative path is one below the home. Nothing is looked up: give real paths, links followed.
    """
    inner, outer = (_parts(one) for one in (path, root))
    return ".." not in inner and inner[: len(outer)] == outer


def _parts(path: str) -> list[str]:
    head, *rest = paths.normalise(path, cwd=HOME).split("/")
    return [head, *(part for part in rest if part)]
