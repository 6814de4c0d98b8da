//! What graphs need of a program's ops and kernels: the content of a selection file.

mod asked;
mod derived;
mod made;
mod selected;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use kernlink_spec::{SelectedKernel, SelectedLine, SelectedValue, Selection};

use self::derived::{Callee, Derived};
pub use self::derived::{DeriveGradient, DerivedGradient};
use self::selected::{devices, selected};
use super::same_function::distinct;
use super::{MissingOps, NodeClass, default_value};
use crate::attr::{AttrMap, AttrValue, FunctionRef};
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::kernel::CPU;
use crate::op::{ArgType, AttrBase, AttrDef, AttrDefault};
use crate::proto::{self, FunctionDef, GraphDef, NodeDef};
use crate::registry::{NodeQuery, Registry};

/// Says that a graph pass may make a node of an op out of others. System ops, which are never left out, need not be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Created {
    /// What a graph has.
    pub from: CreatedFrom,
    /// The op of the node that it may have in its place.
    pub to: &'static str,
}

/// What a graph has where a pass may make a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreatedFrom {
    /// A node of this class, whose attrs the new one has as far as it has such.
    Class(NodeClass),
    /// Nodes of all these ops, one of each list; the new one has the dtypes of the first.
    Match(&'static [&'static [&'static str]]),
    /// Several nodes of these ops; the new one has the output of any of them, whose dtype is its attr `T`.
    Several(&'static [&'static str]),
}

/// How many attr values inside functions are looked at, and how deeply functions may be handed to functions: a library
/// can be written so that it never ends.
const MAX_VALUES: usize = 4_000_000;
const MAX_DEPTH: usize = 64;

/// What graphs need of the ops and kernels of a program.
///
/// Displayed, it is the body of a selection file (see docs/selective-registration.md).
pub struct Needs<'r> {
    registry: &'r Arc<Registry>,
    created: &'static [Created],
    derive: Option<DeriveGradient>,
    /// How many attr values inside functions are looked at in a graph.
    max_values: usize,
    selection: Selection,
    unknown: MissingOps,
    missing: BTreeSet<String>,
    underived: BTreeSet<String>,
    /// The ops, with the attrs by which kernels are chosen, of which it is known whether there is a kernel.
    looked_up: HashSet<String>,
}

impl<'r> Needs<'r> {
    /// The dtype of the first output of a node of an op with these attrs, if that is known.
    fn output_dtype(&self, op: &str, attrs: &AttrMap) -> Option<crate::dtype::DataType> {
        let def = self.registry.find_op(op)?.def;
        match &def.outputs.first()?.ty {
            ArgType::Fixed(dtype) => Some(*dtype),
            ArgType::Attr(name) => match (attrs.get(name), &def.attr(name)?.default) {
                (Some(AttrValue::Type(dtype)), _) => Some(*dtype),
                (None, Some(AttrDefault::Type(dtype))) => Some(*dtype),
                _ => None,
            },
            ArgType::ListAttr(_) => None,
        }
    }

    /// No needs. The ops and kernels of `registry` say by which attrs kernels are chosen and which values they have by
    /// default.
    pub fn new(registry: &'r Arc<Registry>) -> Needs<'r> {
        Needs {
            registry,
            created: &[],
            derive: None,
            max_values: MAX_VALUES,
            selection: Selection::default(),
            unknown: MissingOps::new(),
            missing: BTreeSet::new(),
            underived: BTreeSet::new(),
            looked_up: HashSet::new(),
        }
    }

    /// Has graphs also need what passes may make of their nodes; see [`optimize::created`](crate::optimize::created).
    #[must_use]
    pub fn with_created(mut self, created: &'static [Created]) -> Needs<'r> {
        self.created = created;
        self
    }

    /// Has graphs also need what gradients are made of that are derived as their nodes run (`SymbolicGradient`); see
    /// [`gradient::derive_gradient`](crate::gradient::derive_gradient).
    #[must_use]
    pub fn with_gradients(mut self, derive: DeriveGradient) -> Needs<'r> {
        self.derive = Some(derive);
        self
    }

    /// Takes in what a graph needs, and what the functions need that it can come to call.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for an attr that its op declares and that is malformed, and for two functions of one name that differ;
    /// RESOURCE_EXHAUSTED if functions call each other with ever new attrs; FAILED_PRECONDITION if a gradient is derived as the
    /// graph runs and nobody has said how ([`Needs::with_gradients`]).
    pub fn add(&mut self, def: &GraphDef) -> Result<()> {
        let GraphDef { library, .. } = def;
        let functions = library.as_ref().map(distinct).transpose()?.unwrap_or_default().into_iter();
        let gradients = library.iter().flat_map(|library| &library.gradient);
        let mut walk = Walk {
            functions: functions.filter_map(|f| Some((f.signature.as_ref()?.name.as_str(), f))).collect(),
            gradients: gradients.map(|g| (g.function_name.as_str(), g.gradient_func.as_str())).collect(),
            derived: Derived::of(def),
            seen: HashSet::new(),
            todo: Vec::new(),
            values: self.max_values,
            lines: Vec::new(),
            roots: HashMap::new(),
            counts: HashMap::new(),
            several: HashMap::new(),
            needs: self,
        };
        walk.nodes(&def.node, None)?;
        while let Some((function, attrs)) = walk.todo.pop() {
            let name = function.signature.as_ref().map_or("", |signature| &signature.name);
            walk.nodes(&function.node_def, Some(&attrs)).map_err(|error| error.context(format!("function {name}")))?;
        }
        walk.matches();
        let lines = walk.lines;
        self.selection.extend(lines);
        Ok(())
    }

    /// The ops that the registry lacks, with the nodes that use them. What they need is known from the attrs that the
    /// nodes hold alone.
    pub fn unknown_ops(&self) -> &MissingOps {
        &self.unknown
    }

    /// Says of each kernel that the registry lacks why, as a lookup for the first node that needs it would.
    pub fn missing_kernels(&self) -> impl Iterator<Item = &str> {
        self.missing.iter().map(String::as_str)
    }

    /// Says of each gradient that could not be derived why; what it is made of is not among the needs.
    pub fn missing_gradients(&self) -> impl Iterator<Item = &str> {
        self.underived.iter().map(String::as_str)
    }
}

impl fmt::Display for Needs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.selection.fmt(f)
    }
}

struct Walk<'a, 'n, 'r> {
    functions: HashMap<&'a str, &'a FunctionDef>,
    gradients: HashMap<&'a str, &'a str>,
    derived: Derived<'a>,
    /// The functions that were called, with their attrs.
    seen: HashSet<(String, String)>,
    todo: Vec<(Callee<'a>, AttrMap)>,
    /// How many attr values of functions may still be looked at.
    values: usize,
    lines: Vec<SelectedLine>,
    /// By op, which nodes of it there are, as far as others can be made of them: what devices they ask for, and their
    /// dtypes.
    roots: HashMap<String, HashSet<Root>>,
    /// By op, how many nodes of it there are, or may be.
    counts: HashMap<String, usize>,
    /// By what may be made of several nodes, and by the device that they ask for, how many there are, and of which kinds.
    several: HashMap<usize, HashMap<String, (usize, HashSet<Root>)>>,
    needs: &'n mut Needs<'r>,
}

/// What is known of a node of which another may be made: its device, and its attrs that are dtypes.
type Root = (String, Vec<(String, DataType)>);

impl<'a> Walk<'a, '_, '_> {
    /// Looks at nodes; inside a function, `bound` are its attrs.
    fn nodes(&mut self, nodes: &[NodeDef], bound: Option<&AttrMap>) -> Result<()> {
        for node in nodes {
            let attrs = self.attrs(node, bound).map_err(|error| error.at_node(&node.name, &node.op, &node.device))?;
            for FunctionRef { name, attrs } in attrs.functions() {
                self.call(name, attrs.iter().map(|(name, value)| (name.clone(), value.clone())).collect())?;
            }
            if self.function(&node.op).is_some() {
                self.call(&node.op, attrs)?;
                continue;
            }
            if NodeClass::of(&node.op) == NodeClass::SymbolicGradient {
                self.derive(node, &attrs)?;
            }
            self.node(node, &node.op, &attrs, true)?;
            let dtypes = attrs.iter().filter_map(|(name, value)| match value {
                AttrValue::Type(dtype) => Some((name.to_owned(), *dtype)),
                _ => None,
            });
            let root: Root = (node.device.clone(), dtypes.collect());
            // A function may be called several times.
            let many = if bound.is_some() { usize::MAX } else { 1 };
            let counted = self.counts.entry(node.op.clone()).or_default();
            *counted = counted.saturating_add(many);
            for (index, created) in self.needs.created.iter().enumerate() {
                if let CreatedFrom::Several(ops) = created.from
                    && ops.contains(&node.op.as_str())
                {
                    let output = self.needs.output_dtype(&node.op, &attrs).map(|dtype| ("T".to_owned(), dtype));
                    let (count, kinds) = self.several.entry(index).or_default().entry(node.device.clone()).or_default();
                    *count = count.saturating_add(many);
                    kinds.insert((node.device.clone(), output.into_iter().collect()));
                }
            }
            self.roots.entry(node.op.clone()).or_default().insert(root);
            let of_class = CreatedFrom::Class(NodeClass::of(&node.op));
            for created in self.needs.created.iter().filter(|created| created.from == of_class) {
                if self.needs.registry.find_op(created.to).is_some() {
                    self.node(node, created.to, &attrs, false)?;
                }
            }
        }
        Ok(())
    }

    /// The attrs that a node states, but for tensors, by which no kernel is chosen. What depends on an attr of the
    /// function that nobody gave stays a placeholder.
    fn attrs(&mut self, node: &NodeDef, bound: Option<&AttrMap>) -> Result<AttrMap> {
        let entry = self.needs.registry.find_op(&node.op);
        let mut attrs = AttrMap::new();
        for (name, value) in &node.attr {
            if matches!(value.value, Some(proto::attr_value::Value::Tensor(_))) {
                continue;
            }
            match proto::attr_from_proto(value) {
                Ok(value) => {
                    let value = match bound {
                        Some(bound) => self.resolve(&value, bound, 0)?,
                        None => value,
                    };
                    attrs.insert(name, value);
                }
                // As when the graph is imported.
                Err(_) if entry.is_none_or(|entry| entry.def.attr(name).is_none()) => {}
                Err(error) => return Err(error.context(format!("attr `{name}`"))),
            }
        }
        Ok(attrs)
    }

    /// The value, with the function's attrs in place of placeholders.
    fn resolve(&mut self, value: &AttrValue, bound: &AttrMap, depth: usize) -> Result<AttrValue> {
        if self.values == 0 || depth > MAX_DEPTH {
            return Err(Error::resource_exhausted(
                "the graph's functions call each other with ever new attrs: what they need has no end",
            ));
        }
        self.values -= 1;
        let mut function = |function: &FunctionRef| -> Result<FunctionRef> {
            let attrs =
                function.attrs.iter().map(|(name, value)| Ok((name.clone(), self.resolve(value, bound, depth + 1)?)));
            Ok(FunctionRef { name: function.name.clone(), attrs: attrs.collect::<Result<_>>()? })
        };
        Ok(match value {
            AttrValue::Placeholder(name) => match bound.get(name) {
                Some(AttrValue::Placeholder(_)) | None => value.clone(),
                // It is resolved; this counts what is copied.
                Some(value) => self.resolve(value, &AttrMap::new(), depth)?,
            },
            AttrValue::Func(value) => AttrValue::Func(function(value)?),
            AttrValue::ListFunc(values) => AttrValue::ListFunc(values.iter().map(function).collect::<Result<_>>()?),
            value => value.clone(),
        })
    }

    /// Notes that a function is called, unless the same was noted before, and its gradient with it.
    fn call(&mut self, name: &str, attrs: AttrMap) -> Result<()> {
        let mut next = Some(name);
        // A gradient may have a gradient; one that is its own ends at what was seen.
        while let Some((name, function)) = next.and_then(|name| Some((name, self.function(name)?))) {
            let mut attrs = attrs.clone();
            for def in function.signature.iter().flat_map(|signature| &signature.attr) {
                if attrs.get(&def.name).is_none()
                    && let Some(default) = &def.default_value
                {
                    attrs.insert(&def.name, proto::attr_from_proto(default)?);
                }
            }
            if !self.seen.insert((name.to_owned(), format!("{attrs:?}"))) {
                break;
            }
            self.todo.push((function, attrs));
            next = self.gradients.get(name).copied();
        }
        Ok(())
    }

    fn function(&self, name: &str) -> Option<Callee<'a>> {
        self.functions.get(name).map(|function| Callee::Given(function)).or_else(|| self.derived.function(name))
    }

    /// Notes what a node needs, if it were one of `op`.
    fn node(&mut self, node: &NodeDef, op: &str, attrs: &AttrMap, in_graph: bool) -> Result<()> {
        let label = match attrs.get("_kernel") {
            Some(AttrValue::String(label)) => label.to_string_lossy().into_owned(),
            _ => String::new(),
        };
        let (values, is_known) = match self.needs.registry.find_op(op) {
            Some(entry) => (self.declared(op, &entry.def.attrs, attrs)?, true),
            None => {
                self.needs.unknown.entry(op.to_owned()).or_default().push(node.name.clone());
                let stated =
                    attrs.iter().filter(|(name, value)| !name.starts_with('_') && matches!(value, AttrValue::Type(_)));
                (stated.map(|(name, value)| (name.to_owned(), value.clone())).collect(), false)
            }
        };
        let is_open = values.iter().any(|(_, value)| matches!(value, AttrValue::Placeholder(_)));
        let selected: Vec<(String, SelectedValue)> =
            values.iter().filter_map(|(name, value)| Some((name.clone(), selected(value)?))).collect();
        for device in devices(&node.device) {
            let kernel = SelectedKernel { device, label: label.clone(), attrs: selected.clone() };
            self.lines.push(SelectedLine { op: op.to_owned(), kernel: Some(kernel) });
        }
        if in_graph && is_known && !is_open {
            let label = attrs.get("_kernel").map(|label| ("_kernel".to_owned(), label.clone()));
            let attrs: AttrMap = values.into_iter().chain(label).collect();
            // Thousands of nodes may need one kernel, and errors list all that there are.
            if !self.needs.looked_up.insert(format!("{op} {attrs:?}")) {
                return Ok(());
            }
            let query = NodeQuery { node: &node.name, op, attrs: &attrs, device: CPU, capabilities: &[] };
            if let Err(error) = self.needs.registry.find_kernel(query) {
                self.needs.missing.insert(error.message().to_owned());
            }
        }
        Ok(())
    }

    /// The attrs by which kernels of an op are chosen, with defaults: its dtypes, and what else some kernel constrains.
    fn declared(&self, op: &str, defs: &[AttrDef], attrs: &AttrMap) -> Result<Vec<(String, AttrValue)>> {
        let kernels = self.needs.registry.kernels_of(op);
        let constrained: HashSet<&str> =
            kernels.iter().flat_map(|kernel| kernel.constraints).map(|constraint| constraint.attr).collect();
        let mut values = Vec::new();
        for def in defs {
            let is_dtype = def.ty.base == AttrBase::Type && !def.ty.list;
            if !is_dtype && !constrained.contains(&*def.name) {
                continue;
            }
            let value = match (attrs.get(&def.name), &def.default) {
                (Some(value), _) => value.clone(),
                (None, Some(default)) => default_value(default)?,
                (None, None) => continue,
            };
            values.push((def.name.to_string(), value));
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow::{Borrowed, Owned};
    use std::sync::atomic::{AtomicBool, AtomicU64};

    use super::*;
    use crate::collect::OpEntry;
    use crate::kernel::{AttrConstraint, ConstraintValues, CreateKernel, KernelDef, Location, Provider};
    use crate::op::{ArgDef, AttrType, OpDef};
    use crate::proto::{FunctionDefLibrary, GradientDef, NameAttrList, attr_to_proto};

    static PROVIDER: Provider = Provider::new("test", HERE);
    const HERE: Location = Location { file: file!(), line: line!() };
    pub(super) const FLOATS: AttrConstraint =
        AttrConstraint { attr: "T", values: ConstraintValues::Types(&[DataType::Float]) };
    const MODES: AttrConstraint = AttrConstraint { attr: "mode", values: ConstraintValues::Strings(&["a"]) };

    pub(super) fn attr(name: &'static str, base: AttrBase, list: bool, default: Option<AttrDefault>) -> AttrDef {
        let ty = AttrType { base, list };
        AttrDef { name: Borrowed(name), ty, default, description: Borrowed(""), minimum: None, allowed: None }
    }

    pub(super) fn op(name: &'static str, attrs: Vec<AttrDef>) -> &'static OpEntry {
        let of_t = ArgDef {
            name: Borrowed("y"),
            description: Borrowed(""),
            ty: ArgType::Attr(Borrowed("T")),
            number_attr: None,
            is_ref: false,
        };
        let outputs = if attrs.iter().any(|attr| attr.name == "T") { vec![of_t] } else { Vec::new() };
        let def = OpDef { name: Borrowed(name), attrs: Owned(attrs), outputs: Owned(outputs), ..OpDef::EMPTY };
        let def = Box::leak(Box::new(def));
        let entry = OpEntry {
            def,
            shape_fn: None,
            system: false,
            selected: true,
            provider: &PROVIDER,
            location: HERE,
            writable: AtomicBool::new(false),
        };
        Box::leak(Box::new(entry))
    }

    pub(super) fn kernel(op: &'static str, constraints: &'static [AttrConstraint]) -> &'static KernelDef {
        let kernel = KernelDef {
            op,
            device: CPU,
            constraints,
            host_memory: &[],
            requires: &[],
            label: "",
            priority: 0,
            system: false,
            selected: true,
            type_name: "",
            provider: &PROVIDER,
            location: HERE,
            element_wise: None,
            shader: None,
            waits: false,
            create: CreateKernel::Function(|_| Err(Error::internal("no kernel is made here"))),
            created: AtomicU64::new(0),
        };
        Box::leak(Box::new(kernel))
    }

    /// `A` with two dtypes, of which one has a default, and a mode that its kernel constrains; `Call`, which calls `f`.
    pub(super) fn registry() -> Arc<Registry> {
        let mode = AttrDefault::String(Borrowed(b"a"));
        let a = vec![
            attr("T", AttrBase::Type, false, None),
            attr("Tidx", AttrBase::Type, false, Some(AttrDefault::Type(DataType::Int32))),
            attr("mode", AttrBase::String, false, Some(mode.clone())),
            attr("other", AttrBase::String, false, Some(mode)),
        ];
        let call = vec![attr("f", AttrBase::Func, false, None), attr("Tin", AttrBase::Type, true, None)];
        let fused = vec![attr("T", AttrBase::Type, false, None)];
        let ops = [op("A", a), op("Call", call), op("_FusedA", fused)];
        Arc::new(Registry::new(ops, [kernel("A", const { &[FLOATS, MODES] }), kernel("Call", &[])]).unwrap())
    }

    pub(super) fn node(name: &str, op: &str, attrs: &[(&str, AttrValue)]) -> NodeDef {
        let attr = attrs.iter().map(|(name, value)| (name.to_string(), attr_to_proto(value).unwrap()));
        NodeDef { name: name.into(), op: op.into(), attr: attr.collect(), ..NodeDef::default() }
    }

    fn function(name: &str, nodes: Vec<NodeDef>) -> FunctionDef {
        let signature = proto::OpDef { name: name.into(), ..proto::OpDef::default() };
        FunctionDef { signature: Some(signature), node_def: nodes, ..FunctionDef::default() }
    }

    pub(super) fn graph(nodes: Vec<NodeDef>, functions: Vec<FunctionDef>) -> GraphDef {
        let library = FunctionDefLibrary { function: functions, gradient: Vec::new() };
        GraphDef { node: nodes, library: Some(library), ..GraphDef::default() }
    }

    pub(super) fn dtype(dtype: DataType) -> AttrValue {
        AttrValue::Type(dtype)
    }

    fn placeholder(name: &str) -> AttrValue {
        AttrValue::Placeholder(name.into())
    }

    fn func(name: &str, attrs: &[(&str, AttrValue)]) -> AttrValue {
        let attrs = attrs.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
        AttrValue::Func(FunctionRef { name: name.into(), attrs })
    }

    #[track_caller]
    fn needs_of(def: &GraphDef, expected: &str) {
        let registry = registry();
        let mut needs = Needs::new(&registry);
        needs.add(def).unwrap();
        assert_eq!(needs.to_string(), expected);
    }

    #[test]
    fn defaults_are_added_and_what_no_kernel_is_chosen_by_is_not_there() {
        let def = graph(
            vec![
                node("b", "A", &[("T", dtype(DataType::Float)), ("_x", dtype(DataType::Half))]),
                node("a", "A", &[("T", dtype(DataType::Float)), ("mode", "b".into()), ("_kernel", "x".into())]),
            ],
            vec![],
        );
        needs_of(&def, "A CPU T=float Tidx=int32 mode=\"a\"\nA CPU _kernel=\"x\" T=float Tidx=int32 mode=\"b\"\n");
    }

    #[test]
    fn several_graphs_are_one_selection_and_what_is_missing_is_named() {
        let registry = registry();
        let mut needs = Needs::new(&registry);
        for (dtype, op) in
            [(DataType::Float, "A"), (DataType::Float, "A"), (DataType::Half, "A"), (DataType::Half, "B")]
        {
            needs
                .add(&graph(vec![node("n", op, &[("T", AttrValue::Type(dtype)), ("Tidx", dtype.into())])], vec![]))
                .unwrap();
        }
        let expected =
            "A CPU T=float Tidx=float mode=\"a\"\nA CPU T=half Tidx=half mode=\"a\"\nB CPU T=half Tidx=half\n";
        assert_eq!(needs.to_string(), expected);
        assert_eq!(needs.unknown_ops().keys().collect::<Vec<_>>(), ["B"]);
        let missing: Vec<&str> = needs.missing_kernels().collect();
        assert!(matches!(missing[..], [text] if text.contains("node `n` (op A)")), "{missing:?}");
    }

    #[test]
    fn functions_are_looked_into_with_the_attrs_of_each_call() {
        let inner = function("Inner", vec![node("a", "A", &[("T", placeholder("U"))])]);
        let outer = function("Outer", vec![node("i", "Inner", &[("U", placeholder("V"))])]);
        let unused = function("Unused", vec![node("u", "Nowhere", &[])]);
        let functions = vec![inner, outer, unused];
        let tin = ("Tin", AttrValue::ListType(vec![DataType::Float]));
        // By name, by an attr, and with an attr that nobody gives.
        let nodes = vec![
            node("x", "Outer", &[("V", dtype(DataType::Float))]),
            node("y", "Call", &[("f", func("Inner", &[("U", dtype(DataType::Double))])), tin]),
        ];
        let call = "Call CPU\n";
        let a = |dtype: &str| format!("A CPU T={dtype} Tidx=int32 mode=\"a\"\n");
        needs_of(&graph(nodes, functions.clone()), &[a("double"), a("float"), call.into()].concat());
        let open = graph(vec![node("x", "Outer", &[])], functions);
        needs_of(&open, "A CPU Tidx=int32 mode=\"a\"\n");
    }

    #[test]
    fn a_gradient_is_called_with_its_function_and_cycles_end() {
        let mut def = graph(
            vec![node("f", "F", &[])],
            vec![
                function("F", vec![node("f", "F", &[])]),
                function("G", vec![node("a", "A", &[("T", dtype(DataType::Float))])]),
            ],
        );
        let gradient = |of: &str, is: &str| GradientDef { function_name: of.into(), gradient_func: is.into() };
        let GraphDef { library, .. } = &mut def;
        library.as_mut().unwrap().gradient = vec![gradient("F", "G"), gradient("G", "G")];
        needs_of(&def, "A CPU T=float Tidx=int32 mode=\"a\"\n");
    }

    #[test]
    fn functions_without_end_are_refused() {
        // Each call hands on a function that is larger than the last.
        let next = func("G", &[("g", placeholder("g")), ("h", placeholder("g"))]);
        let def = graph(vec![node("f", "F", &[])], vec![function("F", vec![node("f", "F", &[("g", next)])])]);
        let registry = registry();
        let mut needs = Needs::new(&registry);
        needs.max_values = 10_000;
        let error = needs.add(&def).unwrap_err();
        assert_eq!(error.code(), crate::Code::ResourceExhausted, "{error}");
    }

    #[test]
    fn attrs_that_cannot_be_read_are_refused_with_their_node() {
        let mut bad = node("a", "A", &[("T", dtype(DataType::Float))]);
        bad.attr.get_mut("T").unwrap().value = Some(proto::attr_value::Value::Type(999));
        let registry = registry();
        let error = Needs::new(&registry).add(&graph(vec![bad.clone()], vec![])).unwrap_err();
        assert_eq!(error.code(), crate::Code::InvalidArgument);
        assert!(error.to_string().contains("node `a` (op A)"), "{error}");
        let nowhere = NameAttrList { name: "nowhere".into(), ..Default::default() };
        let message = proto::AttrValue { value: Some(proto::attr_value::Value::Func(nowhere)) };
        bad.attr.insert("T".into(), message);
        assert!(Needs::new(&registry).add(&graph(vec![bad], vec![])).is_ok(), "a function that is not in the library");
    }
}
