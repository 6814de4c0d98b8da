//! Which kernel a node gets, against a direct reading of TensorFlow's own KernelList: for nodes drawn at random.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;

use kernlink::attr::{AttrMap, AttrValue};
use kernlink::dtype::DataType;
use kernlink::error::{Code, Result};
use kernlink::kernel::{CPU, DeviceType, DynKernel, KernelDef, KernelDefBuilder, RawConstruction, check_against_op};
use kernlink::op::{AllowedValues, AttrBase, AttrDef, OpDef};
use kernlink::proto::{self, Message, attr_value::Value};
use kernlink::registry::{NodeQuery, Registry};

use crate::support;
use crate::support::Random;

const NODES: usize = 30_000;

fn kernel_list() -> Vec<proto::KernelDef> {
    let file = std::fs::File::open(support::path("tests/tensorflow/kernels.pb.gz")).unwrap();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(file).read_to_end(&mut bytes).unwrap();
    proto::KernelList::decode(bytes.as_slice()).unwrap().kernel
}

fn op_list() -> BTreeMap<String, OpDef> {
    let bytes = std::fs::read(support::path("tests/tensorflow/ops.pb")).unwrap();
    let list = proto::OpList::decode(bytes.as_slice()).unwrap();
    list.op.iter().map(|op| (op.name.clone(), proto::op_from_proto(op).unwrap())).collect()
}

fn no_kernel(_: &RawConstruction<'_>) -> Result<Box<dyn DynKernel>> {
    Err(kernlink::Error::unimplemented("it stands for TensorFlow's"))
}

fn list(constraint: &proto::kernel_def::AttrConstraint) -> &proto::attr_value::ListValue {
    match constraint.allowed_values.as_ref().and_then(|value| value.value.as_ref()) {
        Some(Value::List(list)) => list,
        other => panic!("{constraint:?}: {other:?}"),
    }
}

fn dtypes(list: &proto::attr_value::ListValue) -> Vec<DataType> {
    list.r#type.iter().map(|&number| DataType::from_number(number).unwrap()).collect()
}

/// A registration of Kernlink's for one of TensorFlow's.
fn registration(kernel: &proto::KernelDef) -> &'static KernelDef {
    let device = DeviceType(kernel.device_type.clone().leak());
    let mut builder = KernelDefBuilder::new(&kernel.op, device).label(&kernel.label).priority(kernel.priority);
    for constraint in &kernel.constraint {
        let (attr, list) = (&constraint.name, list(constraint));
        let strings: Vec<&str> = list.s.iter().map(|text| std::str::from_utf8(text).unwrap()).collect();
        builder = match (!list.r#type.is_empty(), !strings.is_empty(), !list.i.is_empty()) {
            (true, ..) => builder.types(attr, &dtypes(list)),
            (_, true, _) => builder.strings(attr, &strings),
            (_, _, true) => builder.ints(attr, &list.i),
            _ => builder.bools(attr, &list.b),
        };
    }
    kernel.host_memory_arg.iter().fold(builder, |builder, argument| builder.host_memory(argument)).create(no_kernel)
}

/// What a direct reading of the list says: the positions of the kernels that match at the highest priority.
fn direct(kernels: &[(usize, &proto::KernelDef)], attrs: &AttrMap, device: &str) -> Vec<usize> {
    let label = match attrs.get("_kernel") {
        Some(AttrValue::String(label)) => label.as_bytes(),
        _ => b"",
    };
    let holds = |constraint: &proto::kernel_def::AttrConstraint| {
        let list = list(constraint);
        match attrs.get(&constraint.name) {
            Some(AttrValue::Type(dtype)) => list.r#type.contains(&dtype.number()),
            Some(AttrValue::ListType(types)) => types.iter().all(|dtype| list.r#type.contains(&dtype.number())),
            Some(AttrValue::String(text)) => list.s.iter().any(|string| **string == *text.as_bytes()),
            Some(AttrValue::Int(int)) => list.i.contains(int),
            Some(AttrValue::Bool(bool)) => list.b.contains(bool),
            _ => false,
        }
    };
    let on = |device: &str| {
        let fits = |kernel: &proto::KernelDef| {
            kernel.device_type == device && kernel.label.as_bytes() == label && kernel.constraint.iter().all(holds)
        };
        let fitting: Vec<_> = kernels.iter().filter(|(_, kernel)| fits(kernel)).collect();
        let best = fitting.iter().map(|(_, kernel)| kernel.priority).max();
        let best = fitting.into_iter().filter(|(_, kernel)| Some(kernel.priority) == best);
        best.map(|&(position, _)| position).collect::<Vec<_>>()
    };
    let found = on(device);
    let falls_back = found.is_empty() && !device.ends_with("_JIT");
    if falls_back { on("DEFAULT") } else { found }
}

/// A value that an attr may have; of dtypes half the time one that some kernel asks for.
fn draw(attr: &AttrDef, asked: &[DataType], random: &mut Random) -> Option<AttrValue> {
    let dtype = |random: &mut Random| match &attr.allowed {
        _ if !asked.is_empty() && random.below(2) == 0 => asked[random.below(asked.len())],
        Some(AllowedValues::Types(types)) => types[random.below(types.len())],
        _ => DataType::ALL[random.below(DataType::ALL.len())],
    };
    Some(match (attr.ty.base, attr.ty.list, &attr.allowed) {
        (AttrBase::Type, false, _) => AttrValue::Type(dtype(random)),
        (AttrBase::Type, true, _) => {
            let length = random.below(4);
            AttrValue::ListType((0..length).map(|_| dtype(random)).collect())
        }
        (AttrBase::String, false, Some(AllowedValues::Strings(strings))) => {
            AttrValue::from(&*strings[random.below(strings.len())])
        }
        (AttrBase::Int, false, _) => AttrValue::Int(attr.minimum.unwrap_or(0) + random.below(4) as i64),
        (AttrBase::Bool, false, _) => AttrValue::Bool(random.below(2) == 0),
        _ => return None,
    })
}

#[test]
fn nodes_get_the_kernels_that_tensorflow_lists() {
    let (ops, kernels) = (op_list(), kernel_list());
    let mut of_op: BTreeMap<&str, Vec<(usize, &proto::KernelDef)>> = BTreeMap::new();
    // TensorFlow does not check what its kernels say of their ops, and some say what is not so.
    let mut unsuitable = Vec::new();
    for (position, kernel) in kernels.iter().enumerate() {
        match ops.get(&kernel.op).map(|op| check_against_op(registration(kernel), op)) {
            Some(Ok(())) => of_op.entry(&kernel.op).or_default().push((position, kernel)),
            Some(Err(error)) => unsuitable.push(error.message().to_owned()),
            None => unsuitable.push(format!("there is no op {}", kernel.op)),
        }
    }
    println!("{} kernels do not suit their op, such as: {}", unsuitable.len(), unsuitable[0]);
    let mut random = Random::new(20_211);
    // The answer must not depend on the order of registration.
    let registries: Vec<(Registry, HashMap<*const KernelDef, usize>)> = (0..3)
        .map(|_| {
            let registry = Registry::from_ops(ops.values().cloned()).unwrap();
            let mut order: Vec<usize> = of_op.values().flatten().map(|&(position, _)| position).collect();
            random.shuffle(&mut order);
            let mut positions = HashMap::new();
            let defs = order.iter().map(|&position| {
                let def = registration(&kernels[position]);
                positions.insert(std::ptr::from_ref(def), position);
                def
            });
            registry.register_kernels(defs.collect::<Vec<_>>()).unwrap();
            (registry, positions)
        })
        .collect();

    let names: Vec<&str> = of_op.keys().copied().collect();
    let (mut found, mut ambiguous) = (0, 0);
    for round in 0..NODES {
        let op = names[round % names.len()];
        let listed = &of_op[op];
        let mut attrs = AttrMap::new();
        for attr in ops[op].attrs.iter() {
            let constraints = listed.iter().flat_map(|(_, kernel)| &kernel.constraint);
            let asked: Vec<_> = constraints.filter(|c| c.name == *attr.name).flat_map(|c| dtypes(list(c))).collect();
            if let Some(value) = draw(attr, &asked, &mut random) {
                attrs.insert(&*attr.name, value);
            }
        }
        let device = match random.below(4) {
            0 => ["CPU", "GPU", "TPU", "XLA_CPU_JIT"][random.below(4)],
            _ => listed[random.below(listed.len())].1.device_type.as_str(),
        };
        let label = listed[random.below(listed.len())].1.label.as_str();
        if !label.is_empty() && random.below(2) == 0 {
            attrs.insert("_kernel", label);
        }
        let expected = direct(listed, &attrs, device);
        let device_type = DeviceType(device.to_owned().leak());
        let query = NodeQuery { node: "node", op, attrs: &attrs, device: device_type, capabilities: &[] };
        for (registry, positions) in &registries {
            match registry.find_kernel(query) {
                Ok(def) => assert_eq!([positions[&std::ptr::from_ref(def)]], *expected, "{op} on {device}"),
                Err(error) if error.code() == Code::NotFound => assert!(expected.is_empty(), "{device}: {error}"),
                Err(error) => assert!(error.code() == Code::InvalidArgument && expected.len() > 1, "{device}: {error}"),
            }
        }
        found += usize::from(expected.len() == 1);
        ambiguous += usize::from(expected.len() > 1);
    }
    println!(
        "{NODES} nodes over {} ops and {} kernels: {found} have a kernel, {ambiguous} are ambiguous, {} have none",
        names.len(),
        of_op.values().map(Vec::len).sum::<usize>(),
        NODES - found - ambiguous
    );
    assert!(found > NODES / 3 && found < NODES, "{found} tell too little");
}

/// TensorFlow compares each match with the best so far: two equal ones that come before a better one are reported.
#[test]
fn a_better_kernel_settles_what_lesser_ones_tie_on() {
    let mut op = OpDef::EMPTY;
    op.name = "Op".into();
    op.attrs = vec![AttrDef {
        name: "Toutput_types".into(),
        ty: kernlink::op::AttrType { base: AttrBase::Type, list: true },
        default: None,
        description: "".into(),
        minimum: Some(0),
        allowed: None,
    }]
    .into();
    let kernels = [(DataType::Float, 1), (DataType::Int32, 1), (DataType::Half, 2), (DataType::Bool, 0)];
    let orders = [[0, 1, 2, 3], [2, 0, 1, 3], [0, 2, 1, 3], [3, 1, 0, 2], [3, 2, 1, 0]];
    for order in orders {
        let registry = Registry::new([], []).unwrap();
        registry.register_op(op.clone(), None).unwrap();
        let defs = kernels.map(|(dtype, priority)| {
            KernelDefBuilder::new(&*op.name, CPU).types("Toutput_types", &[dtype]).priority(priority).create(no_kernel)
        });
        registry.register_kernels(order.map(|position: usize| defs[position])).unwrap();
        // Every kernel is for nodes without outputs.
        for (types, expected) in [(vec![], defs[2]), (vec![DataType::Int32], defs[1])] {
            let mut attrs = AttrMap::new();
            attrs.insert("Toutput_types", types);
            let query = NodeQuery { node: "node", op: &op.name, attrs: &attrs, device: CPU, capabilities: &[] };
            assert!(std::ptr::eq(registry.find_kernel(query).unwrap(), expected), "{order:?}");
        }
    }
}
