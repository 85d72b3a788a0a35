"""The RFC 6962 Merkle tree over entry hashes: roots, and proofs that others can check.

A leaf is an entry's 32-byte hash. `Frontier` grows to the right and knows the root in O(log n) memory;
checkpoints are made with it. `Tree` keeps every node and gives inclusion and consistency proofs. The chain is
the truth and the tree is derived from it (D10).

Source: https://www.rfc-editor.org/rfc/rfc6962#section-2.1 and, for checking proofs, RFC 9162 section 2.1.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import islice

EMPTY_ROOT = sha256(b"").digest()


def leaf_hash(data: bytes) -> bytes:
    """Return the hash of one leaf."""
    return sha256(b"\0" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of an inner node."""
    return sha256(b"\1" + left + right).digest()


class Frontier:
    """The right edge of a growing tree: the roots of its perfect subtrees, largest first.

    Args:
        size: number of leaves.
        peaks: one root for each bit set in `size`.
    """

    __slots__ = ("peaks", "size")

    def __init__(self, size: int = 0, peaks: Sequence[bytes] = ()) -> None:
        if len(peaks) != size.bit_count():
            raise ValueError(f"{size} leaves have {size.bit_count()} peaks, not {len(peaks)}")
        self.size = size
        self.peaks = list(peaks)

    def push(self, data: bytes) -> None:
        """Add one leaf."""
        node, size = leaf_hash(data), self.size
        while size & 1:
            node = node_hash(self.peaks.pop(), node)
            size >>= 1
        self.peaks.append(node)
        self.size += 1

    def extend(self, leaves: Iterable[bytes]) -> None:
        """Add leaves in order; several times faster than `push` for many."""
        source = iter(leaves)
        while chunk := list(islice(source, _RUN - self.size % _RUN)):
            hashes = [sha256(b"\0" + data).digest() for data in chunk]
            for level in _aligned(self.size, hashes):
                self._push_subtree(level)

    def root(self) -> bytes:
        """Return the tree's root."""
        if not self.peaks:
            return EMPTY_ROOT
        root = self.peaks[-1]
        for peak in reversed(self.peaks[:-1]):
            root = node_hash(peak, root)
        return root

    def _push_subtree(self, level: list[bytes]) -> None:
        """Add a perfect subtree, given its leaf hashes, aligned to its own size."""
        size = len(level)
        self.size += size
        while len(level) > 1:
            level = [
                sha256(b"\1" + left + right).digest()
                for left, right in zip(level[::2], level[1::2], strict=True)
            ]
        node, before = level[0], self.size - size
        while before & size:
            node = node_hash(self.peaks.pop(), node)
            size <<= 1
        self.peaks.append(node)


#: Leaves that `extend` hashes level by level at a time; a power of two.
_RUN = 1024


def _aligned(at: int, hashes: list[bytes]) -> Iterator[list[bytes]]:
    """Cut hashes that start at leaf `at`, and end by the next multiple of _RUN, into perfect subtrees."""
    done = 0
    while done < len(hashes):
        largest = 1 << ((len(hashes) - done).bit_length() - 1)
        size = min(largest, (at + done) & -(at + done) or _RUN)
        yield hashes[done : done + size]
        done += size


class Tree:
    """A tree with all its nodes in memory (64 bytes a leaf and their overhead), for proofs."""

    __slots__ = ("_levels",)

    def __init__(self, leaves: Iterable[bytes] = ()) -> None:
        self._levels: list[list[bytes]] = [[]]
        for data in leaves:
            self.append(data)

    def __len__(self) -> int:
        return len(self._levels[0])

    def append(self, data: bytes) -> None:
        """Add one leaf."""
        node, height = leaf_hash(data), 0
        self._levels[0].append(node)
        while len(self._levels[height]) % 2 == 0:
            node = node_hash(*self._levels[height][-2:])
            height += 1
            if height == len(self._levels):
                self._levels.append([])
            self._levels[height].append(node)

    def root(self, size: int | None = None) -> bytes:
        """Return the root over the first `size` leaves, all of them by default."""
        count = len(self) if size is None else size
        self._check(count)
        return self._range(0, count) if count else EMPTY_ROOT

    def inclusion(self, index: int, size: int | None = None) -> list[bytes]:
        """Return the audit path of leaf `index` (from 0) in the tree of the first `size` leaves."""
        count = len(self) if size is None else size
        self._check(count)
        if not 0 <= index < count:
            raise ValueError(f"no leaf {index} among {count}")
        low, high, path = 0, count, list[bytes]()
        while high - low > 1:
            middle = low + _split(high - low)
            if index < middle:
                path.append(self._range(middle, high))
                high = middle
            else:
                path.append(self._range(low, middle))
                low = middle
        return path[::-1]

    def consistency(self, old: int, size: int | None = None) -> list[bytes]:
        """Return the proof that the first `old` leaves are a prefix of the first `size`."""
        count = len(self) if size is None else size
        self._check(count)
        if not 0 < old <= count:
            raise ValueError(f"no consistency between {old} and {count} leaves")
        low, high, whole, path = 0, count, True, list[bytes]()
        while old != high:
            middle = low + _split(high - low)
            if old <= middle:
                path.append(self._range(middle, high))
                high = middle
            else:
                path.append(self._range(low, middle))
                low, whole = middle, False
        if not whole:
            path.append(self._range(low, high))
        return path[::-1]

    def _range(self, low: int, high: int) -> bytes:
        """Return the root over leaves low..high-1, where low is aligned as in any subtree of the tree."""
        size = high - low
        if size & (size - 1) == 0 and low % size == 0:
            height = size.bit_length() - 1
            return self._levels[height][low >> height]
        middle = low + _split(size)
        return node_hash(self._range(low, middle), self._range(middle, high))

    def _check(self, count: int) -> None:
        if not 0 <= count <= len(self):
            raise ValueError(f"this tree has {len(self)} leaves, not {count}")


def _split(size: int) -> int:
    """Return the largest power of two below `size`."""
    return 1 << ((size - 1).bit_length() - 1)


def verify_inclusion(data: bytes, *, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Return whether `proof` shows that leaf `index` of the tree with `size` leaves and `root` is `data`."""
    if not 0 <= index < size:
        return False
    node, at, last = leaf_hash(data), index, size - 1
    for sibling in proof:
        if last == 0:
            return False
        if at & 1 or at == last:
            node = node_hash(sibling, node)
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            node = node_hash(node, sibling)
        at, last = at >> 1, last >> 1
    return last == 0 and node == root


def verify_consistency(*, old: int, size: int, proof: Sequence[bytes], old_root: bytes, root: bytes) -> bool:
    """Return whether `proof` shows that the tree with `old` leaves is a prefix of the one with `size`."""
    if not 0 < old <= size:
        return False
    if old == size:
        return not proof and old_root == root
    path = [old_root, *proof] if old & (old - 1) == 0 else list(proof)
    if not path:
        return False
    at, last = old - 1, size - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    first = second = path[0]
    for sibling in path[1:]:
        if last == 0:
            return False
        if at & 1 or at == last:
            first, second = node_hash(sibling, first), node_hash(sibling, second)
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            second = node_hash(second, sibling)
        at, last = at >> 1, last >> 1
    return last == 0 and first == old_root and second == root
