"""What a word or phrase does in an answer, and which of these a yes may consist of."""

from enum import StrEnum


class Sense(StrEnum):
    """What a word or phrase does in an answer. docs/assent.md explains each with examples."""

    YES = "yes"  # consents by itself
    ORDER = "order"  # consents by telling to act: go ahead, do it
    YES_ALONE = "yes_alone"  # consents where it is the whole clause ("go", "si")
    ACK = "ack"  # heard; consents only where bare acknowledgements count
    FINE = "fine"  # a good word; consents after SEEMS
    SEEMS = "seems"  # "sounds", "would be"
    SUITS = "suits"  # a predicate that consents when it is said of the proposal: works for me, good to go
    WANT = "want"  # "you can", "I want", "let's": what follows is wished
    DO = "do"  # carries out whatever is pending: do, run, apply
    REF = "ref"  # the pending thing: it, that, the command
    ALL = "all"  # all of them, both
    POLITE = "polite"
    AHEAD = "ahead"  # harmless ahead of a yes; behind one it answers something else: hello, seen
    ELSEWHERE = "elsewhere"  # as a whole clause it answers another question: it is, we can
    ADDRESS = "address"
    FILLER = "filler"
    BEFORE_NAME = "before_name"  # a small word, only right before a name or value: Portuguese "no web1"
    NOTE = "note"  # what statements are made of ("is", "I", "stuck"): harmless beside a yes, never the yes
    ME = "me"  # the speaker in a remark; right after a deed they do it themselves: German "mach ich"
    TELLS = "tells"  # what happened, so the clause is a remark: have, finished, broke
    TOLD = "told"  # a remark that ends in names: "I told kim", "checked with the dba team"
    AGO = "ago"  # a time gone by: harmless in a remark, never beside the yes ("approved yesterday")
    IS = "is"  # makes a statement of what it stands in: "restart is done" asks for nothing
    THEREFORE = "therefore"  # joins a remark and its consequence, so it ends a clause: so, because
    AND = "and"
    # everything below keeps an answer from being a grant
    NO = "no"  # refuses as a clause of its own
    REFUSE = "refuse"  # refuses wherever it stands
    SKIP = "skip"  # leaves something out: skip, keep, not
    NOT = "not"
    ONLY = "only"
    EXCEPT = "except"
    REST = "rest"
    BUT = "but"
    IF = "if"
    HEDGE = "hedge"
    DEFER = "defer"
    HOLD = "hold"
    ASK = "ask"  # asks wherever it stands: what, why, which
    ASK_FIRST = "ask_first"  # asks at the start of a clause: is it, can we
    CHANGE = "change"
    BEYOND = "beyond"  # asks for more than what waits: everywhere, twice, from now on
    WARN = "warn"  # speaks against it without a no: still, risky, in use
    SELF = "self"  # the speaker does it, or somebody else said it


#: Senses that every grant may consist of.
HARMLESS = frozenset(
    {
        Sense.YES, Sense.YES_ALONE, Sense.ACK, Sense.FINE, Sense.SEEMS, Sense.WANT, Sense.DO, Sense.REF,
        Sense.ALL, Sense.POLITE, Sense.ADDRESS, Sense.FILLER, Sense.BEFORE_NAME, Sense.NOTE, Sense.AND,
        Sense.THEREFORE, Sense.IS, Sense.SUITS, Sense.ME, Sense.TELLS, Sense.TOLD, Sense.AHEAD,
        Sense.ELSEWHERE,
    }
)  # fmt: skip
#: Words of these senses are never what a typo is mended to.
GUARDED = frozenset(
    {
        Sense.NO, Sense.NOT, Sense.SKIP, Sense.ONLY, Sense.EXCEPT, Sense.REST, Sense.BUT, Sense.IF,
        Sense.HEDGE,
        Sense.DEFER, Sense.HOLD, Sense.ASK, Sense.ASK_FIRST,
        Sense.SELF, Sense.BEYOND, Sense.WARN,
    }
)  # fmt: skip
#: What an unknown word of a remark must neither be, in any language, nor be a slip of.
RESTRAINING = GUARDED - {Sense.ONLY} | {Sense.REFUSE, Sense.CHANGE}
