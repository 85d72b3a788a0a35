import re
from pathlib import Path

import pytest

from bot.loading.faults import Fault, FaultyError
from bot.loading.library import load_library, put_together, read_built_in, read_file, read_text
from bot.planning.library import Document, LibraryError

GOOD = """\
version: 1
id: disk
title: disk space
aliases: [our disk]
steps:
  - {id: df, title: Show it, risk: read-only, command: df -hT, timeout: 30s}
"""
CALLED = """\
version: 1
id: free-vmid
title: a free vmid
inputs:
  vmid: {type: integer, required: false, min: 100, max: 999999999}
  node: {type: name}
result: vmid
steps:
  - id: ask
    kind: check
    title: Ask the cluster
    risk: read-only
    target: "{{ inputs.node }}"
    command: pvesh get /cluster/nextid
    capture: {input: vmid}
"""
CALLER = """\
version: 1
id: provision
title: provision a container with {package} on {target}
inputs:
  package: {type: name}
  vmid: {type: integer, required: false, min: 100, max: 999999999}
steps:
  - id: pick
    title: Find a free VMID
    call: free-vmid
    with: {node: pve1}
    capture: {input: vmid}
  - id: create
    title: Create it
    risk: mutating
    rollback: none
    command: pct create {{ inputs.vmid }} local:vztmpl/debian.tar.zst
"""


def overlay(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


def refused(folder: Path) -> tuple[Fault, ...]:
    with pytest.raises(FaultyError) as caught:
        load_library(folder)
    assert str(folder) in str(caught.value)
    return caught.value.faults


def loaded(*texts: str) -> dict[str, Document]:
    library, faults = put_together(read_text(text.encode()) for text in texts)
    assert not faults, faults
    return dict(library.documents)


def test_every_document_that_comes_with_sayso_is_sound() -> None:
    _, faults = put_together(read_built_in())
    assert faults == []


def test_overlay_replaces_a_document_by_id_and_adds_new_ones(tmp_path: Path) -> None:
    added = (
        GOOD.replace("id: disk", "id: mine").replace("disk space", "my things").replace("our disk", "mine")
    )
    library = load_library(overlay(tmp_path, a=GOOD, b=added))
    assert library.documents["disk"].steps[0].command == "df -hT"
    assert library.documents["disk"].steps[0].timeout_s == 30
    assert "mine" in library.documents
    assert len(library.documents) == len(load_library().documents) + 1


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("hello", encoding="utf-8")
    assert load_library(tmp_path).documents.keys() == load_library().documents.keys()


def test_revision_names_the_content(tmp_path: Path) -> None:
    first = load_library().documents["disk"].revision
    changed = load_library(overlay(tmp_path, a=GOOD)).documents["disk"].revision
    assert len(first) == 64
    assert first == load_library().documents["disk"].revision
    assert first != changed


def test_revision_does_not_depend_on_how_the_file_is_laid_out() -> None:
    compact = '{"version": 1, "id": "disk", "title": "disk space", "aliases": ["our disk"], "steps": [{"id":'
    compact += ' "df", "risk": "read-only", "title": "Show it", "timeout": "30s", "command": "df -hT"}]}'
    laid_out, same = (loaded(text)["disk"] for text in (GOOD + "# a remark\n", compact))
    assert laid_out.revision == same.revision
    assert laid_out.spec is not None
    assert laid_out.spec.digest == laid_out.revision


@pytest.mark.parametrize(
    ("old", "new", "line", "field", "said"),
    [
        ("version: 1", "version: 2", 1, "version", "1"),
        ("version: 1\n", "", 1, "version", "missing"),
        ("title: disk space", "title: 5", 3, "title", "quotes"),
        ("title: disk space", "title: on", 3, "title", "no word"),
        ("risk: read-only", "risk: harmless", 6, "steps.df.risk", "read-only, reversible"),
        ("risk: read-only, ", "", 6, "steps.df.risk", "missing"),
        ("timeout: 30s", "timeout: soon", 6, "steps.df.timeout", "30s"),
        ("timeout: 30s", "timeout: 2d", 6, "steps.df.timeout", "24h"),
        ("timeout: 30s", "retry: 3", 6, "steps.df.retry", "fields"),
        ("timeout: 30s", "retry: {max: 0}", 6, "steps.df.retry.max", "1"),
        ("timeout: 30s", "timeuot: 30s", 6, "steps.df.timeuot", "timeout"),
        ("aliases: [our disk]", "alias: [our disk]", 4, "alias", "aliases"),
        ("aliases: [our disk]", "aliases: ['disk of {ghost}']", 4, "aliases.0", "ghost"),
        ("aliases: [our disk]", "aliases: ['what is the']", 4, "aliases.0", "no word"),
        ("df -hT", '"df {{ inputs.ghost }}"', 6, "steps.df.command", "ghost"),
        ("df -hT", '"df $({{ inputs.ghost }})"', 6, "steps.df.command", "ghost"),
        ("id: disk", "id: Disk Space", 2, "id", "lower-case"),
        ("id: disk", "id: disk\nid: other", 3, "id", "twice"),
        ("steps:", "inputs: {n: {type: number}}\nsteps:", 5, "inputs.n.type", "integer"),
        ("steps:", "inputs: {n: {type: integer, default: x}}\nsteps:", 5, "inputs.n.default", "'x'"),
        ("steps:", "inputs: {n: {type: integer, min: 5, max: 1}}\nsteps:", 5, "inputs.n.min", "max"),
        ("steps:", "inputs: {n: {min: 5}}\nsteps:", 5, "inputs.n", "integers"),
        ("steps:", "inputs: {n: {type: path, enum: [x]}}\nsteps:", 5, "inputs.n.enum", "path"),
        ("steps:", "inputs: {n: {secret: true, default: x}}\nsteps:", 5, "inputs.n.secret", "secret"),
        ("[our disk]", "['disk of {n}']\ninputs: {n: {secret: true}}", 4, "aliases.0", "secret n"),
        ("steps:", "x: &a [*a]\nsteps:", 5, "x", "anchor"),
        ("version: 1", "version: !!python/object/apply:os.getcwd []", 1, "version", "tag"),
        ("30s}", "30s, expect: {}}", 6, "steps.df.expect", "nothing"),
        ("30s}", "30s, expect: {stdout: {contains: a, equals: b}}}", 6, "steps.df.expect.stdout", "2 ways"),
        ("30s}", "30s, expect: {exit_code: 256}}", 6, "steps.df.expect.exit_code", "255"),
        ("30s}", "30s, expect: {json: {path: .a}}}", 6, "steps.df.expect.json", "nothing to compare"),
        ("30s}", "30s, expect: {json: {path: .a, equal: 1}}}", 6, "steps.df.expect.json.equal", "equals"),
        ("30s}", "30s, capture: {input: ghost}}", 6, "steps.df.capture.input", "ghost"),
        ("30s}", "30s, with: {a: b}}", 6, "steps.df.with", "call"),
        ("df -hT, timeout: 30s", '""', 6, "steps.df.command", "empty"),
        ("steps:", "steps: []\nx:", 5, "steps", ""),
        ("steps:", "limits: {approval: 2h}\nsteps:", 5, "limits.approval", "1h"),
        (GOOD, "", 1, "", "fields"),
        (GOOD, "- a", 1, "", "fields"),
        (GOOD, "{", 2, "", "YAML"),
        (GOOD, "a: \x07", 0, "", "printable"),
    ],
)
def test_malformed_document_is_refused_by_file_line_and_field(  # noqa: PLR0917  # rows of a table
    tmp_path: Path, old: str, new: str, line: int, field: str, said: str
) -> None:
    assert old in GOOD
    faults = refused(overlay(tmp_path, bad=GOOD.replace(old, new)))
    assert faults[0].file == str(tmp_path / "bad.yaml")
    found = [fault for fault in faults if (fault.line, fault.field) == (line, field)]
    assert found, faults
    assert any(said in str(fault) for fault in found), found


RUNBOOK = """\
version: 1
id: tidy
title: tidy up the cache
inputs:
  folder: {type: path}
  token: {secret: true}
steps:
  - id: look
    kind: check
    title: Look
    risk: read-only
    command: du -s {{ inputs.folder }}
    expect: {stdout: {regex: "[0-9]+"}}
  - id: clear
    title: Clear {{ inputs.folder }}
    risk: destructive
    rollback: none
    command: rm -r {{ inputs.folder }}
    on_fail: end:escalate
  - id: rest
    kind: wait
    title: Let it settle
    duration: 5s
    next: end:success
"""


def test_a_sound_runbook_is_loaded() -> None:
    spec = loaded(RUNBOOK)["tidy"].spec
    assert spec is not None
    assert [step.id for step in spec.steps] == ["look", "clear", "rest"]


@pytest.mark.parametrize(
    ("old", "new", "line", "field"),
    [
        ("    kind: check\n", "    kind: check\n    colour: red\n", 10, "steps.look.colour"),
        ("id: rest", "id: look", 8, "steps.look.id"),
        ("next: end:success", "next: nowhere", 24, "steps.rest.next"),
        ("next: end:success", "next: end:happily", 24, "steps.rest.next"),
        ("on_fail: end:escalate", "on_fail: nowhere", 19, "steps.clear.on_fail"),
        ("on_fail: end:escalate", "retry: {max: 1, target: nowhere}", 19, "steps.clear.retry.target"),
        ("on_fail: end:escalate", "next: end:success", 20, "steps.rest.id"),
        ("next: end:success", "next: look", 24, "steps.rest.next"),
        ("    command: du", "    tool: browse\n    command: du", 12, "steps.look.tool"),
        ("    rollback: none\n", "", 14, "steps.clear.rollback"),
        ("rm -r {{ inputs.folder }}", "rm -r {{ inputs.fodler }}", 18, "steps.clear.command"),
        ("Clear {{ inputs.folder }}", "Clear {{ inputs.token }}", 15, "steps.clear.title"),
        ('regex: "[0-9]+"', 'contains: "{{ inputs.token }}"', 13, "steps.look.expect"),
        ("    duration: 5s\n", "", 20, "steps.rest.duration"),
        ("on_fail: end:escalate", "retry: {max: 0}", 19, "steps.clear.retry.max"),
        ("    duration: 5s\n", "    duration: 5s\n    command: date\n", 24, "steps.rest.command"),
        ('regex: "[0-9]+"', 'regex: "("', 13, "steps.look.expect"),
        ("tidy up the cache", "tidy up the cache of {token}", 3, "title"),
    ],
)
def test_every_refusal_of_a_procedure_names_its_line(old: str, new: str, line: int, field: str) -> None:
    assert RUNBOOK.count(old) == 1
    _, faults = put_together([read_text(RUNBOOK.replace(old, new).encode(), file="tidy.yaml")])
    found = [fault for fault in faults if (fault.line, fault.field) == (line, field)]
    assert found, [str(fault) for fault in faults]
    assert all(fault.what and fault.mend and fault.file == "tidy.yaml" for fault in found)


def test_every_fault_of_every_file_is_told_at_once(tmp_path: Path) -> None:
    first = GOOD.replace("risk: read-only", "risk: mild").replace("timeout: 30s", "timeout: 9d, colour: red")
    second = (
        GOOD.replace("id: disk", "id: other")
        .replace("disk space", "on")
        .replace("our disk", "'{ghost} of x'")
    )
    faults = refused(overlay(tmp_path, a=first, b=second))
    assert [(Path(one.file).name, one.field) for one in faults] == [
        ("a.yaml", "steps.df.colour"),
        ("a.yaml", "steps.df.risk"),
        ("b.yaml", "title"),
        ("b.yaml", "aliases.0"),
    ]


def test_two_files_that_claim_the_same_words_are_refused(tmp_path: Path) -> None:
    other = GOOD.replace("id: disk", "id: other").replace("our disk", "other things")
    (fault,) = refused(overlay(tmp_path, a=GOOD, b=other))
    assert "both claim the words: disk space" in str(fault)
    assert (Path(fault.file).name, fault.line) == ("b.yaml", 3)


def test_words_of_a_built_in_document_give_way_to_the_operators(tmp_path: Path) -> None:
    own = GOOD.replace("id: disk", "id: mine").replace("our disk", "memory usage")
    library = load_library(overlay(tmp_path, a=own))
    for words in (("disk", "space"), ("memory", "usage")):
        assert [pattern.document.id for pattern in library.exact[words]] == ["mine"]
    assert library.exact[("memory",)][0].document.id == "memory"


def test_two_files_with_one_id_are_refused(tmp_path: Path) -> None:
    (fault,) = refused(overlay(tmp_path, a=GOOD, b=GOOD))
    assert "one id" in str(fault)
    assert fault.file.endswith("b.yaml")


def test_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LibraryError, match=r"a\.yaml"):
        load_library(tmp_path)


def test_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LibraryError, match="nowhere"):
        load_library(tmp_path / "nowhere")


def test_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").mkdir()
    (fault,) = read_file(tmp_path / "a.yaml").faults
    assert "cannot be read" in fault.what


def test_two_steps_with_one_id_are_refused() -> None:
    step = GOOD.splitlines()[-1]
    _, faults = put_together([read_text((GOOD + step).encode())])
    assert any("two steps" in str(fault) for fault in faults), faults


def test_optional_input_without_default_is_refused_where_a_command_needs_it() -> None:
    text = GOOD.replace("df -hT", '"echo {{ inputs.n }}"').replace(
        "steps:", "inputs: {n: {required: false}}\nsteps:"
    )
    _, faults = put_together([read_text(text.encode())])
    assert any("no default" in str(fault) for fault in faults), faults


# ---------------------------------------------------------------- runbooks


def test_plain_commands_go_their_way_and_a_procedure_is_run_step_by_step() -> None:
    two = GOOD + GOOD.splitlines()[-1].replace("id: df", "id: df2")
    documents = loaded(
        GOOD,
        two.replace("id: disk", "id: looks").replace("disk space", "look twice").replace("our disk", "looks"),
        two.replace("read-only", "mutating")
        .replace("id: disk", "id: changes")
        .replace("disk space", "change twice")
        .replace("our disk", "changes"),
    )
    assert {name: one.supervised for name, one in documents.items()} == {
        "disk": False,
        "looks": False,
        "changes": True,
    }
    assert [len(one.steps) for one in documents.values()] == [1, 2, 0]
    assert all(one.spec is not None for one in documents.values())


@pytest.mark.parametrize(
    "field",
    ["expect: {exit_code: 1}", "requires_approval: true", "target: web1", "preview: df", "kind: check"],
)
def test_one_field_of_a_procedure_makes_it_one(field: str) -> None:
    assert loaded(GOOD.replace("timeout: 30s", field))["disk"].supervised


def test_a_secret_makes_it_a_procedure() -> None:
    assert loaded(GOOD.replace("steps:", "inputs: {n: {secret: true}}\nsteps:"))["disk"].supervised


def test_a_call_is_checked_against_what_it_calls() -> None:
    documents = loaded(CALLED, CALLER)
    spec = documents["provision"].spec
    assert spec is not None
    assert spec.steps[0].call is not None
    assert dict(spec.steps[0].call.inputs) == {"node": "pve1"}


@pytest.mark.parametrize(
    ("old", "new", "field", "said"),
    [
        ("call: free-vmid", "call: ghost", "steps.pick.call", "there is no runbook 'ghost'"),
        ("with: {node: pve1}", "with: {node: pve1, x: y}", "steps.pick.with.x", "no such input"),
        ("    with: {node: pve1}\n", "", "steps.pick.with.node", "needs it"),
        ("call: free-vmid", "call: provision", "steps.pick.call", "a call of itself"),
    ],
)
def test_a_call_that_cannot_be_made_is_refused(old: str, new: str, field: str, said: str) -> None:
    _, faults = put_together(read_text(text.encode()) for text in (CALLED, CALLER.replace(old, new)))
    assert any(fault.field == field and said in str(fault) for fault in faults), faults


def test_a_call_without_a_result_captures_nothing() -> None:
    texts = (CALLED.replace("result: vmid\n", ""), CALLER)
    _, faults = put_together(read_text(text.encode()) for text in texts)
    assert any(fault.field == "steps.pick.capture" for fault in faults), faults


def test_calls_in_a_circle_are_refused_on_both_sides() -> None:
    back = CALLED.replace(
        "    command: pvesh get /cluster/nextid\n", "    call: provision\n    with: {package: x}\n"
    )
    _, faults = put_together(read_text(text.encode()) for text in (back, CALLER))
    assert {fault.field for fault in faults if "call of itself" in fault.what} == {
        "steps.ask.call",
        "steps.pick.call",
    }


def test_the_revision_of_a_caller_covers_what_it_calls() -> None:
    before = loaded(CALLED, CALLER)
    after = loaded(CALLED.replace("Ask the cluster", "Ask the cluster again"), CALLER)
    assert before["provision"].revision != after["provision"].revision
    assert before["provision"].revision == loaded(CALLED, CALLER)["provision"].revision


def test_the_example_of_the_page_about_the_format_is_sound() -> None:
    page = (Path(__file__).parents[3] / "docs" / "runbook-format.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```yaml\n(version.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert examples
    _, faults = put_together(read_text(one.encode()) for one in examples)
    assert faults == []
