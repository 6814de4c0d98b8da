//! Indices that cannot be mixed up: a handle says by its type which tables it is an index of.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::{Index, IndexMut, Range};

/// What is counted, and by which handles. The kinds have no values.
pub(super) mod kind {
    pub(in crate::runtime) enum Node {}
    pub(in crate::runtime) enum Output {}
    pub(in crate::runtime) enum Edge {}
    pub(in crate::runtime) enum Control {}
    pub(in crate::runtime) enum Slot {}
    pub(in crate::runtime) enum Count {}
    pub(in crate::runtime) enum Child {}
    pub(in crate::runtime) enum Frame {}
    pub(in crate::runtime) enum Constant {}
    pub(in crate::runtime) enum Feed {}
    pub(in crate::runtime) enum External {}
    pub(in crate::runtime) enum Loop {}
    pub(in crate::runtime) enum Iteration {}
    pub(in crate::runtime) enum Waiting {}
}

/// A node of a plan.
pub(super) type NodeIndex = Handle<kind::Node>;
/// A tensor's place in an iteration of a frame.
pub(super) type SlotIndex = Handle<kind::Slot>;
/// A node's position among the nodes of its frame.
pub(super) type CountIndex = Handle<kind::Count>;
/// A frame of a plan: a loop, or what is in none.
pub(super) type FrameIndex = Handle<kind::Frame>;
/// A frame's position among those that are in the same frame.
pub(super) type ChildIndex = Handle<kind::Child>;
/// A constant of a plan.
pub(super) type ConstantIndex = Handle<kind::Constant>;
/// A feed of a plan.
pub(super) type FeedIndex = Handle<kind::Feed>;
/// A loop that is under way.
pub(super) type LoopIndex = Handle<kind::Loop>;
/// An iteration that is under way, or the one that stands for what is in no loop.
pub(super) type IterationIndex = Handle<kind::Iteration>;
/// A kernel that waits.
pub(super) type WaitingIndex = Handle<kind::Waiting>;

/// An index of tables of one kind.
#[repr(transparent)]
pub(super) struct Handle<K> {
    index: u32,
    kind: PhantomData<fn() -> K>,
}

impl<K> Handle<K> {
    /// Stands for "no node", "no slot" and the like: it is in no table.
    pub(super) const NONE: Handle<K> = Handle { index: u32::MAX, kind: PhantomData };

    /// The first entry.
    pub(super) const FIRST: Handle<K> = Handle { index: 0, kind: PhantomData };

    /// The handle of a position, which is below `u32::MAX`.
    #[inline]
    pub(super) fn new(position: usize) -> Handle<K> {
        debug_assert!(position < u32::MAX as usize);
        Handle { index: position as u32, kind: PhantomData }
    }

    #[inline]
    pub(super) fn position(self) -> usize {
        self.index as usize
    }

    #[inline]
    pub(super) fn is_none(self) -> bool {
        self == Handle::NONE
    }

    /// How far it is behind an earlier one.
    #[inline]
    pub(super) fn offset_from(self, earlier: Handle<K>) -> usize {
        (self.index - earlier.index) as usize
    }
}

impl<K> Clone for Handle<K> {
    #[inline]
    fn clone(&self) -> Handle<K> {
        *self
    }
}

impl<K> Copy for Handle<K> {}

impl<K> PartialEq for Handle<K> {
    #[inline]
    fn eq(&self, other: &Handle<K>) -> bool {
        self.index == other.index
    }
}

impl<K> Eq for Handle<K> {}

impl<K> PartialOrd for Handle<K> {
    fn partial_cmp(&self, other: &Handle<K>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K> Ord for Handle<K> {
    fn cmp(&self, other: &Handle<K>) -> Ordering {
        self.index.cmp(&other.index)
    }
}

impl<K> Hash for Handle<K> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.index.hash(hasher);
    }
}

impl<K> fmt::Debug for Handle<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_none() { f.write_str("none") } else { self.index.fmt(f) }
    }
}

/// Entries that follow each other in a table.
pub(super) struct Span<K> {
    pub(super) start: Handle<K>,
    end: Handle<K>,
}

impl<K> Span<K> {
    pub(super) const EMPTY: Span<K> = Span { start: Handle::FIRST, end: Handle::FIRST };

    #[inline]
    pub(super) fn new(start: Handle<K>, end: Handle<K>) -> Span<K> {
        Span { start, end }
    }

    #[inline]
    pub(super) fn len(self) -> usize {
        (self.end.index - self.start.index) as usize
    }

    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.start == self.end
    }

    #[inline]
    pub(super) fn positions(self) -> Range<usize> {
        self.start.position()..self.end.position()
    }

    /// The entry after `offset` others.
    #[inline]
    pub(super) fn at(self, offset: usize) -> Handle<K> {
        Handle { index: self.start.index + offset as u32, kind: PhantomData }
    }
}

impl<K> Clone for Span<K> {
    #[inline]
    fn clone(&self) -> Span<K> {
        *self
    }
}

impl<K> Copy for Span<K> {}

impl<K> Default for Span<K> {
    fn default() -> Span<K> {
        Span::EMPTY
    }
}

/// A list whose entries are known by handles of one kind.
pub(super) struct Table<K, T> {
    entries: Vec<T>,
    kind: PhantomData<fn(Handle<K>)>,
}

impl<K, T> Table<K, T> {
    pub(super) const fn new() -> Table<K, T> {
        Table { entries: Vec::new(), kind: PhantomData }
    }

    /// Adds an entry at the end.
    pub(super) fn push(&mut self, entry: T) -> Handle<K> {
        let handle = self.end();
        self.entries.push(entry);
        handle
    }

    /// The handle of the entry that is added next.
    pub(super) fn end(&self) -> Handle<K> {
        Handle::new(self.entries.len())
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The entry; `None` for [`Handle::NONE`].
    #[inline]
    pub(super) fn get(&self, handle: Handle<K>) -> Option<&T> {
        self.entries.get(handle.position())
    }

    #[inline]
    pub(super) fn get_mut(&mut self, handle: Handle<K>) -> Option<&mut T> {
        self.entries.get_mut(handle.position())
    }

    pub(super) fn handles(&self) -> impl DoubleEndedIterator<Item = Handle<K>> + use<K, T> {
        (0..self.entries.len()).map(Handle::new)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Handle<K>, &T)> {
        self.entries.iter().enumerate().map(|(position, entry)| (Handle::new(position), entry))
    }

    #[inline]
    pub(super) fn values(&self) -> &[T] {
        &self.entries
    }

    #[inline]
    pub(super) fn values_mut(&mut self) -> &mut [T] {
        &mut self.entries
    }

    /// Two entries to change at once; `None` if they are one, or one is not there.
    #[inline]
    pub(super) fn two_mut(&mut self, one: Handle<K>, other: Handle<K>) -> Option<[&mut T; 2]> {
        self.entries.get_disjoint_mut([one.position(), other.position()]).ok()
    }

    /// Some entries and another one, to change at once; `None` if it is one of them.
    #[inline]
    pub(super) fn span_and_one_mut(&mut self, span: Span<K>, one: Handle<K>) -> Option<(&mut [T], &mut [T])> {
        let one = one.position()..one.position() + 1;
        let [span, one] = self.entries.get_disjoint_mut([span.positions(), one]).ok()?;
        Some((span, one))
    }

    /// Keeps the first entries.
    pub(super) fn truncate(&mut self, count: usize) {
        self.entries.truncate(count);
    }
}

impl<K, T: Clone> Table<K, T> {
    /// A table of equal entries.
    pub(super) fn filled(entry: T, count: usize) -> Table<K, T> {
        vec![entry; count].into()
    }
}

impl<K, T: Clone> Clone for Table<K, T> {
    fn clone(&self) -> Table<K, T> {
        self.entries.clone().into()
    }
}

impl<K, T> Default for Table<K, T> {
    #[inline]
    fn default() -> Table<K, T> {
        Table::new()
    }
}

impl<K, T> From<Vec<T>> for Table<K, T> {
    #[inline]
    fn from(entries: Vec<T>) -> Table<K, T> {
        Table { entries, kind: PhantomData }
    }
}

impl<K, T> IntoIterator for Table<K, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<K, T> FromIterator<T> for Table<K, T> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Table<K, T> {
        entries.into_iter().collect::<Vec<T>>().into()
    }
}

impl<K, T> Extend<T> for Table<K, T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, entries: I) {
        self.entries.extend(entries);
    }
}

impl<K, T> Index<Handle<K>> for Table<K, T> {
    type Output = T;

    #[inline]
    fn index(&self, handle: Handle<K>) -> &T {
        &self.entries[handle.position()]
    }
}

impl<K, T> IndexMut<Handle<K>> for Table<K, T> {
    #[inline]
    fn index_mut(&mut self, handle: Handle<K>) -> &mut T {
        &mut self.entries[handle.position()]
    }
}

impl<K, T> Index<Span<K>> for Table<K, T> {
    type Output = [T];

    #[inline]
    fn index(&self, span: Span<K>) -> &[T] {
        &self.entries[span.positions()]
    }
}

impl<K, T> IndexMut<Span<K>> for Table<K, T> {
    #[inline]
    fn index_mut(&mut self, span: Span<K>) -> &mut [T] {
        &mut self.entries[span.positions()]
    }
}
