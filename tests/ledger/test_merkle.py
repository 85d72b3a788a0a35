from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.merkle import (
    EMPTY_ROOT,
    Frontier,
    Tree,
    leaf_hash,
    node_hash,
    verify_consistency,
    verify_inclusion,
)

# The example leaves and roots of the reference implementation of RFC 6962.
EXAMPLE_LEAVES = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
EXAMPLE_ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
LEAVES = [sha256(number.to_bytes(4)).digest() for number in range(2600)]
WHOLE = Tree(LEAVES)
SIZES = st.integers(1, 70)


def by_definition(leaves: list[bytes]) -> bytes:
    """RFC 6962 section 2.1, word for word."""
    if len(leaves) <= 1:
        return leaf_hash(leaves[0]) if leaves else EMPTY_ROOT
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return node_hash(by_definition(leaves[:split]), by_definition(leaves[split:]))


def flip(proof: list[bytes], at: int) -> list[bytes]:
    return [bytes([part[0] ^ 1]) + part[1:] if i == at else part for i, part in enumerate(proof)]


@pytest.mark.parametrize("size", range(1, 9))
def test_roots_of_the_reference_implementation(size: int) -> None:
    assert Tree(EXAMPLE_LEAVES[:size]).root().hex() == EXAMPLE_ROOTS[size - 1]


def test_the_empty_tree() -> None:
    assert Tree().root() == Frontier().root() == EMPTY_ROOT


@given(st.integers(0, 300))
def test_root_is_that_of_the_definition(size: int) -> None:
    frontier = Frontier()
    for leaf in LEAVES[:size]:
        frontier.push(leaf)
    assert frontier.root() == by_definition(LEAVES[:size]) == WHOLE.root(size)


@given(st.lists(st.integers(0, 1300), max_size=4))
def test_a_frontier_grown_in_any_pieces_has_the_same_root(pieces: list[int]) -> None:
    frontier, done = Frontier(), 0
    for piece in pieces:
        taken = LEAVES[done : done + piece]
        frontier.extend(taken)
        done += len(taken)
        assert frontier.size == done
        assert frontier.root() == WHOLE.root(done)
        frontier = Frontier(frontier.size, frontier.peaks)


def test_a_frontier_with_the_wrong_number_of_peaks_is_refused() -> None:
    with pytest.raises(ValueError, match="3 leaves have 2 peaks"):
        Frontier(3, [LEAVES[0]])


@given(SIZES, st.data())
def test_inclusion_proofs_hold_and_tampered_ones_do_not(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    proof, root = WHOLE.inclusion(index, size), WHOLE.root(size)
    leaf = LEAVES[index]
    assert verify_inclusion(leaf, index=index, size=size, proof=proof, root=root)
    assert not verify_inclusion(LEAVES[-1], index=index, size=size, proof=proof, root=root)
    assert not verify_inclusion(leaf, index=index, size=size, proof=[*proof, root], root=root)
    assert not verify_inclusion(leaf, index=index, size=size, proof=proof, root=EMPTY_ROOT)
    for at in range(len(proof)):
        assert not verify_inclusion(leaf, index=index, size=size, proof=flip(proof, at), root=root)
    if proof:
        assert not verify_inclusion(leaf, index=index, size=size, proof=proof[:-1], root=root)


def test_no_proof_shows_a_leaf_beyond_the_end() -> None:
    assert not verify_inclusion(LEAVES[0], index=1, size=1, proof=[], root=leaf_hash(LEAVES[0]))
    assert not verify_inclusion(LEAVES[0], index=-1, size=1, proof=[], root=leaf_hash(LEAVES[0]))


@given(SIZES, st.data())
def test_consistency_proofs_hold_and_tampered_ones_do_not(size: int, data: st.DataObject) -> None:
    old = data.draw(st.integers(1, size))
    proof, old_root, root = WHOLE.consistency(old, size), WHOLE.root(old), WHOLE.root(size)

    def holds(*, proof: list[bytes] = proof, old_root: bytes = old_root, root: bytes = root) -> bool:
        return verify_consistency(old=old, size=size, proof=proof, old_root=old_root, root=root)

    assert holds()
    assert not holds(old_root=EMPTY_ROOT)
    assert not holds(root=EMPTY_ROOT)
    assert not holds(proof=[*proof, root])
    for at in range(len(proof)):
        assert not holds(proof=flip(proof, at))
    if proof:
        assert not holds(proof=proof[:-1])
        assert not holds(proof=[])


@pytest.mark.parametrize(("old", "size"), [(0, 3), (4, 3), (-1, 3)])
def test_no_consistency_with_nothing_or_with_the_future(old: int, size: int) -> None:
    assert not verify_consistency(old=old, size=size, proof=[], old_root=EMPTY_ROOT, root=EMPTY_ROOT)
    with pytest.raises(ValueError, match="no consistency"):
        WHOLE.consistency(old, size)


def test_no_inclusion_of_a_leaf_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="no leaf 3 among 3"):
        WHOLE.inclusion(3, 3)


def test_a_tree_knows_no_size_beyond_its_own() -> None:
    with pytest.raises(ValueError, match="not 3"):
        Tree(LEAVES[:2]).root(3)


def test_a_tree_gives_proofs_of_its_present_size() -> None:
    tree = Tree(LEAVES[:5])
    assert len(tree) == 5
    assert tree.inclusion(4) == tree.inclusion(4, 5)
    assert tree.consistency(3) == tree.consistency(3, 5)
