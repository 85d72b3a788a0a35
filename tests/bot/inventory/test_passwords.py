from pathlib import Path

from bot.inventory import TargetConfig
from bot.inventory.passwords import lacking, passwords


def _warned(file: Path) -> list[str]:
    tables = {"web1": TargetConfig(become=True, become_password_file=str(file)), "web2": TargetConfig()}
    return list(lacking(passwords(tables)))


def test_one_that_is_private_warns_of_nothing(tmp_path: Path) -> None:
    file = tmp_path / "web1.sudo"
    file.write_text("open sesame\n")
    file.chmod(0o600)
    assert _warned(file) == []


def test_one_that_others_can_read_is_warned_of(tmp_path: Path) -> None:
    file = tmp_path / "web1.sudo"
    file.write_text("open sesame\n")
    file.chmod(0o644)
    (warning,) = _warned(file)
    assert warning.startswith("targets.web1.become_password_file: others on this machine can read")
    assert warning.endswith(f"chmod 600 {file}")


def test_one_that_is_missing_is_warned_of(tmp_path: Path) -> None:
    (warning,) = _warned(tmp_path / "nothing")
    assert "cannot be read (No such file or directory). Nothing runs there" in warning


def test_a_line_break_of_another_system_is_not_part_of_it(tmp_path: Path) -> None:
    file = tmp_path / "web1.sudo"
    file.write_bytes(b"open sesame \r\n")
    found = passwords({"web1": TargetConfig(become=True, become_password_file=str(file))})
    assert [one.read() for one in found.values()] == ["open sesame "]
