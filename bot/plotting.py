"""A picture of how often things go well over time: a PNG with one line each, and the bounds of the first.

Draws with Pillow, which is imported only once a picture is asked for. It knows nothing of where the rates
come from, and shows none that were not handed in; more than four lines are left to the words beside it.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from gate.learning import Rate

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

WIDTH, HEIGHT = 900, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 24, 44, 84
_MOST = 4
_PAPER, _INK, _GRID = (255, 255, 255), (51, 51, 51), (224, 224, 224)
#: Told apart by people who see no red or green. Source: M. Okabe, K. Ito, jfly.uni-koeln.de/color
COLOURS = ((0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167))
_BAND = (222, 235, 243)
_LABEL_CHARS = 28


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line: rates of the newest outcomes, each at the time of the last of them, oldest first."""

    label: str
    points: Sequence[tuple[datetime, Rate]]


def png(lines: Sequence[Line], *, title: str) -> bytes:
    """Return a picture of up to four `lines`.

    Args:
        lines: with one point each at least; the first is drawn with its bounds.

    Raises:
        ValueError: there is none.
    """
    from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415 - a seventh of a second, and only for this

    shown = [line for line in lines if line.points][:_MOST]
    if not shown:
        raise ValueError("there is nothing to draw")
    image = Image.new("RGB", (WIDTH, HEIGHT), _PAPER)
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(13)
    first = min(line.points[0][0] for line in shown)
    last = max(line.points[-1][0] for line in shown)
    plane = _Plane(first=first, last=max(last, first + timedelta(seconds=1)))
    draw.text((_LEFT, 14), title, fill=_INK, font=ImageFont.load_default(16))
    _bounds(draw, plane, shown[0])
    _axes(draw, plane, font)
    for line, colour in reversed(list(zip(shown, COLOURS, strict=False))):
        _line(draw, plane, line, colour)
    _legend(draw, shown, font)
    made = io.BytesIO()
    image.save(made, "PNG", optimize=True)
    return made.getvalue()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plane:
    """Where a time and a rate stand on the picture."""

    first: datetime
    last: datetime

    def at(self, when: datetime, rate: float) -> tuple[float, float]:
        share = (when - self.first) / (self.last - self.first)
        return _LEFT + share * (WIDTH - _LEFT - _RIGHT), self.height(rate)

    def height(self, rate: float) -> float:
        return _TOP + (1 - rate) * (HEIGHT - _TOP - _BOTTOM)


def _axes(draw: "ImageDraw", plane: _Plane, font: "FreeTypeFont | ImageFont") -> None:
    for percent in (0, 25, 50, 75, 100):
        height = plane.height(percent / 100)
        draw.line((_LEFT, height, WIDTH - _RIGHT, height), fill=_GRID)
        draw.text((_LEFT - 8, height), f"{percent} %", fill=_INK, font=font, anchor="rm")
    below = HEIGHT - _BOTTOM + 8
    draw.text((_LEFT, below), f"{plane.first:%Y-%m-%d}", fill=_INK, font=font)
    draw.text((WIDTH - _RIGHT, below), f"{plane.last:%Y-%m-%d}", fill=_INK, font=font, anchor="ra")


def _bounds(draw: "ImageDraw", plane: _Plane, line: Line) -> None:
    above = [plane.at(when, rate.high) for when, rate in line.points]
    below = [plane.at(when, rate.low) for when, rate in reversed(line.points)]
    if len(above) > 1:
        draw.polygon([*above, *below], fill=_BAND)
        return
    (x, top), (_, bottom) = above[0], below[0]
    draw.rectangle((x - 6, top, x + 6, bottom), fill=_BAND)


def _line(draw: "ImageDraw", plane: _Plane, line: Line, colour: tuple[int, int, int]) -> None:
    points = [plane.at(when, rate.good / rate.total) for when, rate in line.points]
    if len(points) > 1:
        draw.line(points, fill=colour, width=2, joint="curve")
    x, y = points[-1]
    draw.ellipse((x - 4, y - 4, x + 4, y + 4), fill=colour)


def _legend(draw: "ImageDraw", shown: Sequence[Line], font: "FreeTypeFont | ImageFont") -> None:
    width = (WIDTH - _LEFT - _RIGHT) / len(shown)
    for place, (line, colour) in enumerate(zip(shown, COLOURS, strict=False)):
        left, top = _LEFT + place * width, HEIGHT - 40
        rate = line.points[-1][1]
        draw.rectangle((left, top + 2, left + 12, top + 14), fill=colour)
        words = "".join(char if char.isprintable() else "?" for char in line.label)[:_LABEL_CHARS]
        draw.text((left + 18, top), words, fill=_INK, font=font)
        draw.text((left + 18, top + 16), f"last {rate.total}: {rate.good} ok", fill=_INK, font=font)
