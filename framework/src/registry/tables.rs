//! The registry's contents: an immutable snapshot.

use std::cmp::Ordering;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{KernelFilter, NodeQuery};
use crate::attr::{AttrMap, AttrValue};
use crate::collect::OpEntry;
use crate::dtype::DataType;
use crate::kernel::{AttrConstraint, ConstraintValues, DeviceType, KernelDef};
use crate::sort::CompactSort as _;

/// Ops and kernels by the name of the op. A change makes a copy, which shares what is unchanged.
#[derive(Clone, Default)]
pub(super) struct Tables {
    pub(super) ops: FxHashMap<&'static str, &'static OpEntry>,
    pub(super) kernels: FxHashMap<&'static str, Arc<OpKernels>>,
    /// How many kernels were ever registered.
    registrations: u64,
}

/// The kernels of one op.
#[derive(Clone, Default)]
pub(super) struct OpKernels {
    registered: Vec<Registered>,
    /// The device types and labels that occur.
    buckets: Vec<(DeviceType, &'static str)>,
    removals: Vec<Removal>,
}

#[derive(Clone, Copy)]
struct Registered {
    def: &'static KernelDef,
    /// Which registration it was, counted from 0.
    number: u64,
    /// Which of [`OpKernels::buckets`] it is in.
    bucket: usize,
}

/// A removal of kernels, which can be undone.
#[derive(Clone)]
struct Removal {
    filter: KernelFilter,
    /// It concerns the registrations before this one.
    before: u64,
}

/// What a lookup finds.
pub(super) enum Found {
    None,
    One(&'static KernelDef),
    /// Two that match at the same priority.
    Several(&'static KernelDef, &'static KernelDef),
}

impl Tables {
    pub(super) fn kernels_of(&self, op: &str) -> Option<&OpKernels> {
        self.kernels.get(op).map(|kernels| &**kernels)
    }

    /// Adds a kernel without a check.
    pub(super) fn add(&mut self, def: &'static KernelDef) {
        if let Some(kernels) = self.kernels.get_mut(def.op) {
            // A removed kernel that is registered again leaves its former position.
            Arc::make_mut(kernels).registered.retain(|registered| !std::ptr::eq(registered.def, def));
        }
        self.add_kernels(def.op, &[def]);
    }

    /// Adds kernels of one op that are not there, without a check.
    pub(super) fn add_kernels(&mut self, op: &'static str, defs: &[&'static KernelDef]) {
        let kernels = Arc::make_mut(self.kernels.entry(op).or_default());
        kernels.registered.reserve(defs.len());
        for &def in defs {
            let key = (def.device, def.label);
            let bucket = kernels.buckets.iter().position(|bucket| *bucket == key).unwrap_or_else(|| {
                kernels.buckets.push(key);
                kernels.buckets.len() - 1
            });
            kernels.registered.push(Registered { def, number: self.registrations, bucket });
            self.registrations += 1;
        }
    }

    /// Takes a kernel out for good.
    pub(super) fn forget(&mut self, def: &'static KernelDef) {
        if let Some(kernels) = self.kernels.get_mut(def.op) {
            Arc::make_mut(kernels).registered.retain(|registered| !std::ptr::eq(registered.def, def));
        }
    }

    /// How many kernels in use match.
    pub(super) fn count(&self, filter: &KernelFilter) -> usize {
        let kernels = self.kernels_of(&filter.op);
        kernels.map_or(0, |kernels| kernels.in_use().filter(|def| kernels.reaches(filter, def)).count())
    }

    /// Removes the kernels that match; returns how many there were.
    pub(super) fn remove(&mut self, filter: &KernelFilter) -> usize {
        let (before, count) = (self.registrations, self.count(filter));
        if let Some(kernels) = self.kernels.get_mut(filter.op.as_str()).filter(|_| count > 0) {
            let removals = &mut Arc::make_mut(kernels).removals;
            removals.retain(|removal| removal.filter != *filter);
            removals.push(Removal { filter: filter.clone(), before });
        }
        count
    }

    /// The removals of an op's kernels.
    pub(super) fn removals(&self, op: &str) -> impl Iterator<Item = &KernelFilter> {
        self.kernels_of(op).into_iter().flat_map(|kernels| &kernels.removals).map(|removal| &removal.filter)
    }

    /// Undoes the removals that the filter covers. Of kernels that would then be chosen for the same node the first to
    /// be registered stays. Returns how many removals there were.
    pub(super) fn restore(&mut self, filter: &KernelFilter) -> usize {
        let Some(kernels) = self.kernels.get_mut(filter.op.as_str()) else { return 0 };
        let covered = kernels.removals.iter().filter(|removal| filter.covers(&removal.filter)).count();
        if covered > 0 {
            let kernels = Arc::make_mut(kernels);
            kernels.removals.retain(|removal| !filter.covers(&removal.filter));
            let mut kept: Vec<Registered> = Vec::new();
            let mut replacements = Vec::new();
            for &registered in kernels.registered.iter().filter(|registered| kernels.is_used(registered)) {
                match kept.iter().any(|first| kernels.clash(first, &registered)) {
                    true => replacements.push(registered.number),
                    false => kept.push(registered),
                }
            }
            kernels.registered.retain(|registered| !replacements.contains(&registered.number));
        }
        covered
    }
}

impl OpKernels {
    /// All that were registered, sorted by device, label, constraints, priority and location.
    pub(super) fn all(&self) -> Vec<&'static KernelDef> {
        let mut all: Vec<_> = self.registered.iter().map(|registered| registered.def).collect();
        all.compact_sort_by(|a, b| order(a, b));
        all
    }

    /// Those that some node may get, sorted as [`OpKernels::all`].
    pub(super) fn in_use_sorted(&self) -> Vec<&'static KernelDef> {
        let mut kernels: Vec<_> = self.in_use().collect();
        kernels.compact_sort_by(|a, b| order(a, b));
        kernels
    }

    /// Those that some node may get, in the order of registration.
    pub(super) fn in_use(&self) -> impl Iterator<Item = &'static KernelDef> {
        self.registered.iter().filter(|registered| self.is_used(registered)).map(|registered| registered.def)
    }

    fn is_used(&self, registered: &Registered) -> bool {
        registered.def.selected && !self.is_gone(registered)
    }

    /// One in use that would be chosen for the same node as a new kernel, at the same priority.
    pub(super) fn clashing(&self, new: &KernelDef) -> Option<&'static KernelDef> {
        let clashing = self.registered.iter().filter(|registered| self.is_used(registered));
        let mut clashing =
            clashing.filter(|registered| clash(registered.def, &self.removed_dtypes(registered), new, &[]));
        clashing.next().map(|registered| registered.def)
    }

    fn clash(&self, a: &Registered, b: &Registered) -> bool {
        clash(a.def, &self.removed_dtypes(a), b.def, &self.removed_dtypes(b))
    }

    /// The dtypes for which a kernel was removed.
    fn removed_dtypes(&self, registered: &Registered) -> Vec<DataType> {
        self.removals_of(registered).filter_map(|filter| filter.dtype).collect()
    }

    /// The best of those for exactly this device type.
    pub(super) fn find(&self, query: &NodeQuery<'_>, label: &[u8], device: DeviceType) -> Found {
        let is_wanted = |bucket: &(DeviceType, &str)| bucket.0 == device && bucket.1.as_bytes() == label;
        let Some(bucket) = self.buckets.iter().position(is_wanted) else { return Found::None };
        let mut attrs = Attrs::new(query.attrs);
        let (mut best, mut tie): (Option<&'static KernelDef>, Option<&'static KernelDef>) = (None, None);
        for registered in &self.registered {
            let def = registered.def;
            if registered.bucket != bucket || !def.selected {
                continue;
            }
            let order = best.map_or(Ordering::Greater, |best| def.priority.cmp(&best.priority));
            if order == Ordering::Less
                || !def.requires.iter().all(|required| query.capabilities.contains(required))
                || !attrs.satisfy(def.constraints)
                || (!self.removals.is_empty() && self.is_removed_for(registered, query.attrs))
            {
                continue;
            }
            match order {
                Ordering::Equal => tie = Some(def),
                _ => (best, tie) = (Some(def), None),
            }
        }
        match (best, tie) {
            (None, _) => Found::None,
            (Some(best), None) => Found::One(best),
            (Some(best), Some(tie)) => Found::Several(best, tie),
        }
    }

    /// Whether this kernel was removed for all nodes.
    fn is_gone(&self, registered: &Registered) -> bool {
        let dtypes = registered.def.constraints.iter().filter_map(|constraint| match constraint.values {
            ConstraintValues::Types(types) => Some(types),
            _ => None,
        });
        let mut removals = self.removals_of(registered).peekable();
        if removals.peek().is_none() {
            return false;
        }
        let removed: Vec<_> = removals.map(|filter| filter.dtype).collect();
        removed.contains(&None)
            || dtypes.into_iter().any(|types| types.iter().all(|dtype| removed.contains(&Some(*dtype))))
    }

    /// Whether this kernel was removed for a node with these attrs.
    pub(super) fn is_removed(&self, def: &'static KernelDef, attrs: &AttrMap) -> bool {
        let registered = self.registered.iter().find(|registered| std::ptr::eq(registered.def, def));
        registered.is_some_and(|registered| self.is_removed_for(registered, attrs))
    }

    fn is_removed_for(&self, registered: &Registered, attrs: &AttrMap) -> bool {
        self.removals_of(registered).any(|filter| {
            filter.dtype.is_none_or(|dtype| {
                let types = registered.def.constraints.iter();
                let mut types = types.filter(|constraint| matches!(constraint.values, ConstraintValues::Types(_)));
                types.any(|constraint| match attrs.get(constraint.attr) {
                    Some(AttrValue::Type(found)) => *found == dtype,
                    Some(AttrValue::ListType(found)) => found.contains(&dtype),
                    _ => false,
                })
            })
        })
    }

    fn removals_of(&self, registered: &Registered) -> impl Iterator<Item = &KernelFilter> {
        let (def, number) = (registered.def, registered.number);
        let removals = self.removals.iter().filter(move |removal| number < removal.before);
        removals.map(|removal| &removal.filter).filter(move |filter| filter.matches(def))
    }

    /// Whether a filter would remove a kernel that is in use, at least for one dtype.
    fn reaches(&self, filter: &KernelFilter, def: &'static KernelDef) -> bool {
        let Some(registered) = self.registered.iter().find(|registered| std::ptr::eq(registered.def, def)) else {
            return false;
        };
        let is_removed = filter.dtype.is_some()
            && self.removals_of(registered).any(|removed| removed.dtype.is_none() || removed.dtype == filter.dtype);
        filter.matches(def) && !is_removed
    }
}

/// A node's attrs. Kernels of one op mostly constrain the same one or two, which are looked up once.
struct Attrs<'a> {
    attrs: &'a AttrMap,
    recent: [Option<(&'static str, Option<&'a AttrValue>)>; 2],
}

impl<'a> Attrs<'a> {
    fn new(attrs: &'a AttrMap) -> Attrs<'a> {
        Attrs { attrs, recent: [None; 2] }
    }

    fn satisfy(&mut self, constraints: &'static [AttrConstraint]) -> bool {
        constraints.iter().enumerate().all(|(position, constraint)| {
            let recent = &mut self.recent[position % 2];
            let value = match *recent {
                Some((attr, value)) if std::ptr::eq(attr, constraint.attr) || attr == constraint.attr => value,
                _ => recent.insert((constraint.attr, self.attrs.get(constraint.attr))).1,
            };
            value.is_some_and(|value| allows(constraint.values, value))
        })
    }
}

/// Whether an attr's value is among those of a constraint. Of a list of dtypes every element must be.
pub(super) fn allows(values: ConstraintValues, value: &AttrValue) -> bool {
    match (values, value) {
        (ConstraintValues::Types(types), AttrValue::Type(dtype)) => types.contains(dtype),
        (ConstraintValues::Types(types), AttrValue::ListType(list)) => list.iter().all(|dtype| types.contains(dtype)),
        (ConstraintValues::Types(_), AttrValue::EmptyList) => true,
        (ConstraintValues::Strings(strings), AttrValue::String(text)) => {
            strings.iter().any(|string| string.as_bytes() == text.as_bytes())
        }
        (ConstraintValues::Ints(ints), AttrValue::Int(int)) => ints.contains(int),
        (ConstraintValues::Bools(bools), AttrValue::Bool(bool)) => bools.contains(bool),
        _ => false,
    }
}

/// Whether a node could match both kernels at the same priority; removed dtypes do not count.
pub(super) fn clash(a: &KernelDef, removed_a: &[DataType], b: &KernelDef, removed_b: &[DataType]) -> bool {
    fn meet<T: PartialEq>(a: &[T], b: &[T]) -> bool {
        a.iter().any(|item| b.contains(item))
    }
    let is_left = |dtype: &&DataType| !removed_a.contains(dtype) && !removed_b.contains(dtype);
    // Constraints come first: they tell most pairs apart, and dtypes are compared faster than names.
    let meets = |(position, first): (usize, &AttrConstraint)| {
        let is_same = |second: &&AttrConstraint| std::ptr::eq(first.attr, second.attr) || first.attr == second.attr;
        let second = b.constraints.get(position).filter(is_same).or_else(|| b.constraints.iter().find(is_same));
        second.is_none_or(|second| match (first.values, second.values) {
            (ConstraintValues::Types(a), ConstraintValues::Types(b)) => {
                a.iter().filter(is_left).any(|dtype| b.contains(dtype))
            }
            (ConstraintValues::Strings(a), ConstraintValues::Strings(b)) => meet(a, b),
            (ConstraintValues::Ints(a), ConstraintValues::Ints(b)) => meet(a, b),
            (ConstraintValues::Bools(a), ConstraintValues::Bools(b)) => meet(a, b),
            _ => true,
        })
    };
    a.constraints.iter().enumerate().all(meets) && (a.device, a.label, a.priority) == (b.device, b.label, b.priority)
}

fn order(a: &KernelDef, b: &KernelDef) -> Ordering {
    let key = |def: &KernelDef| (def.device, def.label);
    let constraints = |def: &KernelDef| def.constraints.iter().map(ToString::to_string).collect::<Vec<_>>();
    key(a)
        .cmp(&key(b))
        .then_with(|| constraints(a).cmp(&constraints(b)))
        .then_with(|| b.priority.cmp(&a.priority))
        .then_with(|| a.location.cmp(&b.location))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, Result};
    use crate::kernel::{CPU, DynKernel, KernelDefBuilder, RawConstruction};

    const FLOAT: &[DataType] = &[DataType::Float];
    const BOTH: &[DataType] = &[DataType::Float, DataType::Double];

    fn nothing(_: &RawConstruction<'_>) -> Result<Box<dyn DynKernel>> {
        Err(Error::unimplemented("nothing"))
    }

    fn kernel(types: &[DataType], change: impl FnOnce(KernelDefBuilder) -> KernelDefBuilder) -> &'static KernelDef {
        change(KernelDefBuilder::new("Op", CPU).types("T", types)).create(nothing)
    }

    fn with_priority(priority: i32) -> &'static KernelDef {
        kernel(FLOAT, |kernel| kernel.priority(priority))
    }

    fn tables(kernels: &[&'static KernelDef]) -> Tables {
        let mut tables = Tables::default();
        kernels.iter().for_each(|kernel| tables.add(kernel));
        tables
    }

    /// What a node of a dtype gets: nothing, one kernel, or two with equal right.
    fn found(tables: &Tables, dtype: DataType, capabilities: &[&'static str]) -> Vec<&'static KernelDef> {
        let attrs: AttrMap = [("T".to_owned(), AttrValue::Type(dtype))].into_iter().collect();
        let query = NodeQuery { node: "node", op: "Op", attrs: &attrs, device: CPU, capabilities };
        match tables.kernels_of("Op").map_or(Found::None, |kernels| kernels.find(&query, b"", CPU)) {
            Found::None => vec![],
            Found::One(kernel) => vec![kernel],
            Found::Several(first, second) => vec![first, second],
        }
    }

    #[track_caller]
    fn expect(tables: &Tables, dtype: DataType, expected: &[&'static KernelDef]) {
        let found = found(tables, dtype, &[]);
        let same = found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| std::ptr::eq(*a, *b));
        assert!(same, "{found:?}");
    }

    #[test]
    fn the_highest_priority_wins_in_whatever_order() {
        let [low, middle, high] = [-1, 0, 1].map(with_priority);
        for order in [[low, middle, high], [high, middle, low], [middle, high, low], [low, high, middle]] {
            expect(&tables(&order), DataType::Float, &[high]);
            expect(&tables(&order), DataType::Double, &[]);
        }
    }

    #[test]
    fn equals_are_a_tie_unless_something_is_above_them() {
        let [one, two, high] = [0, 0, 1].map(with_priority);
        expect(&tables(&[one, two]), DataType::Float, &[one, two]);
        expect(&tables(&[one, high, two]), DataType::Float, &[high]);
        expect(&tables(&[one, two, high]), DataType::Float, &[high]);
        expect(&tables(&[two, one, with_priority(-1)]), DataType::Float, &[two, one]);
    }

    #[test]
    fn a_kernel_needs_all_that_it_requires() {
        let plain = with_priority(0);
        let fast = kernel(FLOAT, |kernel| kernel.priority(1).requires("f16").requires("subgroups"));
        let tables = tables(&[plain, fast]);
        let chosen = |capabilities: &[&'static str]| {
            let found = found(&tables, DataType::Float, capabilities);
            assert_eq!(found.len(), 1);
            std::ptr::eq(found[0], fast)
        };
        assert!(!chosen(&[]) && !chosen(&["f16"]) && !chosen(&["subgroups"]));
        assert!(chosen(&["subgroups", "f16"]) && chosen(&["other", "f16", "subgroups"]));
    }

    #[test]
    fn a_removal_concerns_what_was_there() {
        let (first, second) = (with_priority(0), with_priority(0));
        let mut tables = tables(&[first]);
        let all = KernelFilter::op("Op");
        assert_eq!((tables.remove(&all), tables.remove(&all)), (1, 0));
        expect(&tables, DataType::Float, &[]);
        tables.add(second);
        expect(&tables, DataType::Float, &[second]);
        // It concerns what came between two removals of the same kind too.
        assert_eq!(tables.remove(&all), 1);
        expect(&tables, DataType::Float, &[]);
        // One that comes again is new.
        tables.add(first);
        expect(&tables, DataType::Float, &[first]);
        assert_eq!(tables.kernels_of("Op").unwrap().all().len(), 2);
    }

    #[test]
    fn a_removal_may_concern_some_dtypes() {
        let both = kernel(BOTH, |kernel| kernel);
        let mut tables = tables(&[both]);
        let of = |dtype| KernelFilter::op("Op").dtype(dtype);
        assert_eq!(tables.remove(&of(DataType::Half)), 0);
        assert_eq!(tables.remove(&of(DataType::Float)), 1);
        expect(&tables, DataType::Float, &[]);
        expect(&tables, DataType::Double, &[both]);
        assert_eq!((tables.count(&of(DataType::Float)), tables.count(&of(DataType::Double))), (0, 1));
        // Its place for that dtype is free.
        let other = kernel(FLOAT, |kernel| kernel);
        assert!(tables.kernels_of("Op").unwrap().clashing(other).is_none());
        assert!(tables.kernels_of("Op").unwrap().clashing(kernel(&[DataType::Double], |kernel| kernel)).is_some());
        assert_eq!(tables.remove(&of(DataType::Double)), 1);
        assert!(tables.kernels_of("Op").unwrap().in_use_sorted().is_empty());
    }

    #[test]
    fn removals_that_are_all_meant_are_undone() {
        let both = kernel(BOTH, |kernel| kernel);
        let of = |dtype| KernelFilter::op("Op").dtype(dtype);
        let mut tables = tables(&[both]);
        tables.remove(&of(DataType::Float));
        tables.remove(&of(DataType::Double));
        assert_eq!(tables.restore(&of(DataType::Half)), 0);
        assert_eq!(tables.restore(&KernelFilter::op("Op").device("GPU")), 0);
        assert_eq!(tables.restore(&of(DataType::Double)), 1);
        expect(&tables, DataType::Float, &[]);
        expect(&tables, DataType::Double, &[both]);
        tables.remove(&KernelFilter::op("Op"));
        // What a narrower filter means is not all that was removed.
        assert_eq!(tables.restore(&of(DataType::Double)), 0);
        expect(&tables, DataType::Double, &[]);
        assert_eq!(tables.restore(&KernelFilter::op("Op")), 2);
        expect(&tables, DataType::Float, &[both]);
    }

    #[test]
    fn what_took_a_place_goes_when_its_owner_comes_back() {
        let (owner, substitute, above) = (with_priority(0), with_priority(0), with_priority(1));
        let mut tables = tables(&[owner]);
        let all = KernelFilter::op("Op");
        tables.remove(&all);
        tables.add(substitute);
        tables.add(above);
        assert_eq!(tables.restore(&all), 1);
        expect(&tables, DataType::Float, &[above]);
        let left = tables.kernels_of("Op").unwrap().all();
        assert!(left.len() == 2 && left.iter().all(|kernel| !std::ptr::eq(*kernel, substitute)));
        assert_eq!(tables.restore(&all), 0);
    }
}
