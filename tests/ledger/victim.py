"""A ledger to attack, and what its verification found."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ledger.audit import Fault, Report
from ledger.engine import open_reader, snapshot
from ledger.export import export
from ledger.note import Verifier
from ledger.verify import verify_export, verify_live

SIZE = 12


@dataclass(frozen=True)
class Victim:
    """A ledger of twelve entries with checkpoints after 4, 8 and 12, and the one after 8 kept elsewhere."""

    folder: Path
    verifier: Verifier
    kept: str

    @property
    def path(self) -> Path:
        return self.folder / "ledger.db"

    def verify(self, *, held: str = "") -> Report:
        return verify_live(self.path, keys=[self.verifier], held={"mine": held} if held else {})

    def lines(self, *, with_payloads: bool = True) -> list[str]:
        with closing(open_reader(self.path)) as connection, snapshot(connection):
            return list(export(connection, with_payloads=with_payloads))

    def verify_lines(self, lines: list[str], *, held: str = "") -> Report:
        file = self.folder / "export.jsonl"
        file.write_bytes("".join(lines).encode())
        return verify_export(file, keys=[self.verifier], held={"mine": held} if held else {})


def found(report: Report) -> tuple[Fault, int | None, int | None]:
    """Return what was found first, guards that the attack had to drop aside."""
    assert not report.ok
    finding = next((each for each in report.findings if each.fault is not Fault.GUARD), report.findings[0])
    return finding.fault, finding.first, finding.last
