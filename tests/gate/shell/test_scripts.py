"""Programs in little languages: only what certainly prints passes."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.shell.scripts import objection, strings_in

HARMLESS = {
    "sed": [
        "1,5p",
        "$p",
        "/listen/p",
        "/a/,/b/p",
        "s/a/b/g",
        "s|/x|/y|",
        "s#a#b#2p",
        "1!d",
        "/x/{s/a/b/;p}",
        "y/abc/xyz/",
        "10q",
        "1~2d",
        "/a\\/b/d",
        "5,+3p",
        "s,a,b,;s:a:b:",
        "=",
        "/x/I p",
        "",
        "s/[[:space:]]*$//",
        "s/^[^a-z\\t]*[.,]//",
        "/^$/b;G",
        ":a;N;$!ba;s/\\n/,/g",
        "{:a;N;$!ba;s/\\n/,/g}",
    ],
    "awk": [
        "{print $1}",
        "$3 > 5",
        "$3 > 5 {print $1, $NF}",
        "/a|b/ {n++} END {print n}",
        "NR==2{print $5}",
        '{printf "%s|%s\\n", $1, $2}',
        "{s += $1 / 1024} END {print s}",
        "{if ($1 > 5) print}",
        "$1 || $2",
        "!/x/",
        '{gsub(/[ab]/, ""); print}',
        '{gsub(/^[ \\t]+|[ \\t]+$/, ""); print}',
        "/^[[:space:]]*[^#]/",
        "/PID/{print; getline; print}",
        "{getline}",
        '$1 ~ "a>b"',
        "{print $1/2; print $2/3}",
    ],
    "jq": [".", ".[] | select(.a == 1)", ".a.b[0]", "input_filename", '"a" + .b'],
}

DOUBTFUL = {
    "sed": [
        "w f",
        "1w f",
        "s/a/b/w f",
        "s/a/b/e",
        "e",
        "1e id",
        "r /etc/shadow",
        "R x",
        "W x",
        "s/a/b/gw f",
        "a\\\nx",
        "i x",
        "$!{w f\n}",
        "}w x",
        "p;w f",
        "p\nw f",
        "p}w f",
        "s/a/b/;e id",
        "y/a/b/w f",
        "F;w x",
        "l 5;w x",
        "s/a/b",
        "p w f",
        "b;w f",
        ": a;w f",
        "0,/x/w f",
        "v",
        "z",
        "s~a~b~e",
    ],
    "awk": [
        'BEGIN{system("id")}',
        '{print | "sh"}',
        '{print |& "sh"}',
        '"id" | getline x',
        '{print > "f"}',
        '{print >> "f"}',
        '{printf("a") > "b"}',
        '{print $1, ($2 > 5) > "f"}',
        '@include "x"',
        '/a[/]/ {print > "f"}',
        '{f = "system"; @f("id")}',
        '{print ENVIRON["A"]}',
        '{print "open',
        "/open",
        '{x = 1 / 2; print x / 3 > "f"}',
        '# a\n{print > "f"}',
        '{print $1\\\n> "f"}',
        '{getline < "/etc/shadow"}',
        '{printf "x" | "sh" || 1}',
        '{a = b /c/ d > "f"}',
        '/a[/ {print > "f"} /]/',
    ],
    "jq": [
        "env",
        "$ENV.PATH",
        'import "a" as a; .',
        'include "a"; .',
        "input",
        "[inputs]",
        "modulemeta",
        "get_search_list",
    ],
}


@pytest.mark.parametrize(
    ("checker", "code"), [(name, code) for name, codes in HARMLESS.items() for code in codes]
)
def test_programs_that_only_print(checker: str, code: str) -> None:
    assert objection(checker, code) is None


@pytest.mark.parametrize(
    ("checker", "code"), [(name, code) for name, codes in DOUBTFUL.items() for code in codes]
)
def test_programs_that_may_do_more(checker: str, code: str) -> None:
    assert objection(checker, code) is not None


def test_no_checker_has_no_objection() -> None:
    assert objection("", "anything") is None


@given(st.sampled_from(["sed", "awk", "jq"]), st.text(max_size=60))
def test_never_raises(checker: str, code: str) -> None:
    objection(checker, code)


def test_strings_of_a_program() -> None:
    assert strings_in('os.system(\'rm -rf /\'); print("a\\"b") + `id`') == ["rm -rf /", 'a\\"b', "id"]
    assert strings_in("no strings") == []


#: Ways to open a bracket, each followed by a regex's end that one may read where another reads on.
OPENINGS = [
    "[",
    "[]",
    "[^]",
    "[]x",
    "[[:alpha:]",
    "[[:alpha:]x",
    "[a[]",
    "[a",
    "[\\]",
    "[\\/",
    "[^",
    "[x]",
    "[^^]",
]
CONTINUATIONS = {
    "sed": [
        "s/{0}/]/;s/w out/x/g",
        "s/{0}/;s/w out/x/g;s/]/",
        "s|{0}|]|;s|w out|x|g",
        "/{0}/p;s/]/w out/g",
        "/{0}/]/w out/;p",
        "y/{0}/]/;s/w out/x/g",
        "s/{0}/e/;p",
        "s/a{0}/b/;p",
    ],
    "awk": [
        '/{0}/ " ]|h/{{print > "out"}}#"',
        '/{0}/ " ]/{{print > "out"}}#"',
        '!/{0}/ " ]/{{print > "out"}}#"',
        '{{gsub(/{0}/ ,") ]/, "");print > "out"}}#")}}',
        "/{0}/ {{print}}",
    ],
}


@pytest.mark.parametrize("checker", CONTINUATIONS)
def test_what_passes_writes_no_file(checker: str, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("a/b ]\nhello\n")
    if checker == "sed":  # its names reach to the line's end: out/x/g
        (tmp_path / "out" / "x").mkdir(parents=True)
    programs = [form.format(opening) for form in CONTINUATIONS[checker] for opening in OPENINGS]
    passing = [program for program in programs if objection(checker, program) is None]
    assert 0 < len(passing) < len(programs)
    for program in passing:
        subprocess.run(
            [checker, program, "in"], cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "in"]
