"""Stories: lives of one ledger, each killed at a moment of its own, told side by side. Checks no promise."""

import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.crash.order import Order
from tests.crash.zygote import Zygote

#: A named moment, and the how-many-th time of it at which a life is killed.
Moment = tuple[str, int]


def tell(base: Path, script: str, moments: Sequence[Moment]) -> dict[str, int]:
    """Tell one story for each moment and one of several kills; return how often each was killed.

    Every story begins with a copy of `base`/template and ends with a life that nobody kills.
    """
    stories = {f"at-{number}": [moment] for number, moment in enumerate(moments)}
    stories["again-and-again"] = list(moments[::4])
    zygotes = [Zygote(base), Zygote(base)]
    shares = [list(stories.items())[at::2] for at in (0, 1)]

    def lived(zygote: Zygote, share: list[tuple[str, list[Moment]]]) -> dict[str, int]:
        return {name: _story(base / name, zygote, script, kills) for name, kills in share}

    try:
        with ThreadPoolExecutor(len(zygotes)) as pool:
            killed = {name: count for one in pool.map(lived, zygotes, shares) for name, count in one.items()}
    finally:
        for zygote in zygotes:
            zygote.close()
    assert not [moment for number, moment in enumerate(moments) if not killed[f"at-{number}"]]
    return killed


def _story(folder: Path, zygote: Zygote, script: str, kills: Sequence[Moment]) -> int:
    """Let one story be killed at `kills`, then let it end; return how often it was killed."""
    shutil.copytree(folder.parent / "template", folder)
    killed = 0
    for moment, nth in [*kills, ("", 0)]:
        ended = zygote.live(Order(folder=str(folder), script=script, moment=moment, nth=nth))["ended"]
        assert ended in {0, -9}, (folder.name, ended, (folder / "stderr").read_text()[-2000:])
        killed += ended == -9
    return killed
