"""Several platforms in one process: asked on one, answered on another, by people with several accounts."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gate.policy import Policy
from tests.adapters.alike import alike
from tests.adapters.play import Play, heard, place_words
from tests.adapters.stage import surface_opener
from tests.kit import Kit, conversation
from tests.transcript import operators_of

PEOPLE: dict[str, Any] = {"operators": {"ana": [], "bo": [], "kim": []}}


@dataclass(frozen=True)
class Together:
    """One core, and a player on each platform."""

    kit: Kit
    on: dict[str, Play]

    async def do(self, platform: str, **turn: Any) -> None:
        """Take one turn on a platform, as a transcript would."""
        await self.on[platform].take(turn, f"{platform}: {turn}")

    def reads(self, platform: str, *, by: str = "ana", place: str = "ops") -> str:
        """Return everything that a person can read somewhere."""
        return "\n".join(one.text for one in self.on[platform].surface.screen(by=by, place=place))


@asynccontextmanager
async def together(folder: Path, *platforms: str, **policy: Any) -> AsyncIterator[Together]:
    """Open platforms and one core that listens to all of them; `route` is (key, platform, place)."""
    async with AsyncExitStack() as stack:
        surfaces = {}
        for name in platforms:
            (folder / name).mkdir()
            surfaces[name] = await stack.enter_async_context(surface_opener(name)(folder / name))
        if "route" in policy:
            key, platform, place = policy.pop("route")
            policy["routes"] = ((key, place_words(surfaces[platform].place(place))),)
        kit = await stack.enter_async_context(
            conversation(
                folder / "state",
                operators=operators_of(
                    PEOPLE, lambda name: [one.account(name).key for one in surfaces.values()]
                ),
                policy=Policy(revision="r" * 64, **policy),
                ports=[one.port for one in surfaces.values()],
            )
        )
        scratch = folder / "scratch"
        scratch.mkdir()
        on = {
            name: Play(surface=surface, kit=kit, scratch=scratch, onlookers=("ana", "bo", "kim"))
            for name, surface in surfaces.items()
        }
        for name, surface in surfaces.items():
            await stack.enter_async_context(heard(surface.port, on[name].sink))
        yield Together(kit, on)


async def test_a_card_asked_for_on_slack_is_approved_in_a_group_of_telegram(tmp_path: Path) -> None:
    route = ("config_mutation", "telegram", "security")
    async with together(tmp_path, "slack", "telegram", route=route) as both:
        await both.do("slack", say="run touch {dir}/a on local", states=["waiting"])
        assert "waits in" in both.reads("slack")
        assert "◔ local · touch" not in both.reads("slack")
        assert "◔ local · touch" in both.reads("telegram", by="bo", place="security")

        await both.do("slack", say="go ahead", missing=["a"], states=["waiting"])
        await both.do(
            "telegram", say="go ahead", by="bo", place="security", missing=["a"], states=["waiting"]
        )
        await both.do(
            "telegram", press="Approve", by="bo", place="security", shows=["approved by bo"], exists=["a"]
        )
        assert "ok in" in both.reads("slack")
        (granted,) = [
            line
            for line in alike(both.kit.core.ledger.reader(), folder=str(tmp_path))
            if "approval:granted" in line
        ]
        assert '"decider": "bo"' in granted


async def test_a_person_counts_once_through_two_platforms(tmp_path: Path) -> None:
    async with together(
        tmp_path, "slack", "discord", "telegram", quorum=(("config_mutation", 2),)
    ) as all_three:
        await all_three.do("slack", say="run touch {dir}/a on local", shows=["takes 2 people"])
        await all_three.do("slack", say="go ahead", shows=["1 of 2: ana"], missing=["a"], states=["waiting"])
        for platform in ("discord", "telegram"):
            await all_three.do(
                platform, say="approve {id}", shows=["Your yes counts already: 1 of 2."], states=["waiting"]
            )
        await all_three.do("discord", say="approve {id}", by="kim", exists=["a"], states=["succeeded"])
        assert "approved by ana and kim" in all_three.reads("slack")


async def test_an_account_that_was_linked_by_a_code_speaks_for_its_person(tmp_path: Path) -> None:
    async with together(tmp_path, "slack", "telegram", quorum=(("config_mutation", 2),)) as both:
        await both.do("telegram", say="run touch {dir}/a on local", by="phone", nothing=True)
        await both.do("slack", say="pair", place="dm-ana")
        (said,) = [line for line in both.reads("slack", place="dm-ana").splitlines() if "pair " in line]
        code = said.split("pair ")[1].split()[0].strip(".")
        await both.do("telegram", say=f"pair {code}", by="phone", place="dm-phone")
        await both.do("telegram", say="run touch {dir}/a on local", by="phone", states=["waiting"])
        await both.do("telegram", say="go ahead", by="phone", shows=["1 of 2: ana"], states=["waiting"])
        await both.do("slack", say="approve {id}", shows=["Your yes counts already: 1 of 2."], missing=["a"])
        await both.do("slack", say="approve {id}", by="bo", exists=["a"])


async def test_words_on_one_platform_never_answer_a_card_on_another(tmp_path: Path) -> None:
    async with together(tmp_path, "slack", "discord") as both:
        await both.do("slack", say="run touch {dir}/a on local", states=["waiting"])
        await both.do("discord", say="go ahead", missing=["a"], states=["waiting"])
        await both.do("discord", say="approve {id}", exists=["a"], states=["succeeded"])
        assert 'approved by ana, "approve' in both.reads("slack")
