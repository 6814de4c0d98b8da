//! Kernels: one registration for each choice of the generic parameters.

use std::marker::PhantomData;
use std::sync::Arc;

use kernlink::Result;
use kernlink::attr::AttrMap;
use kernlink::collect::linked_kernels;
use kernlink::dtype::{DataType, Element, Number};
use kernlink::graph::Graph;
use kernlink::kernel::{
    Attrs, ConstraintValues, DeviceType, KernelConstruction, KernelContext, KernelDef, KernelState, OpKernel,
    RawConstruction, RawContext,
};
use kernlink::op::{Op, Signature};
use kernlink::registry::Registry;
use kernlink::tensor::Tensor;
use kernlink_macros::{register_kernel, register_op};

use super::ops::ZeroOut;

fn kernels_of(op: &str) -> Vec<&'static KernelDef> {
    let mut kernels: Vec<_> = linked_kernels().filter(|kernel| kernel.op == op).collect();
    kernels.sort_by_key(|kernel| kernel.type_name);
    kernels
}

fn names(op: &str) -> Vec<&'static str> {
    kernels_of(op).iter().map(|kernel| kernel.type_name).collect()
}

struct ZeroOutKernel<T>(PhantomData<T>);

#[register_kernel(device = Cpu, T = [f32, double, i32])]
impl<T: Number> OpKernel<ZeroOut> for ZeroOutKernel<T> {
    fn new(ctx: &KernelConstruction<'_, ZeroOut>) -> Result<Self> {
        let _ = (ctx.attrs().preserve_index, ctx.attrs().T);
        Ok(Self(PhantomData))
    }
    fn compute(&self, _: &mut KernelContext<'_, ZeroOut>) -> Result<()> {
        Ok(())
    }
}

#[test]
fn one_registration_for_each_dtype() {
    let kernels = kernels_of("ZeroOut");
    let shown: Vec<_> = kernels.iter().map(|kernel| kernel.to_string()).collect();
    assert_eq!(shown.len(), 3);
    assert!(shown[0].starts_with("ZeroOut on CPU, T in [float], registered at"), "{}", shown[0]);
    assert_eq!(names("ZeroOut"), ["ZeroOutKernel<f32>", "ZeroOutKernel<f64>", "ZeroOutKernel<i32>"]);
    assert!(kernels[0].location.file.ends_with("kernels.rs"));
    assert_eq!((kernels[0].label, kernels[0].priority, kernels[0].host_memory.len()), ("", 0, 0));
    assert!(std::ptr::eq(kernels[0].provider, &crate::KERNLINK_PROVIDER));
}

/// Takes attrs of every kind that a kernel may be registered for.
#[register_op(
    attr("T: numbertype"),
    attr("Tidx: {int32, int64}"),
    attr("types: list(type) >= 0"),
    attr("padding: {'SAME', 'VALID'}"),
    attr("mode: string"),
    attr("size: int"),
    attr("flag: bool"),
    input("x: T"),
    input("indices: Tidx"),
    input("any: types"),
    output("y: T")
)]
pub(crate) struct Many;

/// Stands for any kernel of `Many`.
struct ManyKernel<T, I, const SIZE: i64, const FLAG: bool>(PhantomData<(T, I)>);

impl<T: Element, I: Element, const SIZE: i64, const FLAG: bool> OpKernel<Many> for ManyKernel<T, I, SIZE, FLAG> {
    fn new(_: &KernelConstruction<'_, Many>) -> Result<Self> {
        Ok(Self(PhantomData))
    }
    fn compute(&self, _: &mut KernelContext<'_, Many>) -> Result<()> {
        Ok(())
    }
}

#[register_kernel(
    device = "TPU",
    op = Many,
    host_memory = ["indices", "y"],
    requires = ["f16", "subgroups"],
    T = [f32, kernlink::dtype::bf16],
    Tidx = [int32, i64],
    size = [1, -2],
    flag = [true],
    padding = ["SAME"],
    mode = ["anything"],
    types = [string, variant, Complex<f32>],
    label = "special",
    priority = -3,
)]
#[register_kernel(device = Default, op = Many, T = [complex64], Tidx = [i32], size = [3], flag = [false, true])]
type ManyAlias<T, Tidx, const size: i64, const flag: bool> = ManyKernel<T, Tidx, size, flag>;

// Kernels with fixed types: every list is a constraint of the one registration.
#[register_kernel(device = Gpu, op = Many, T = [numbertype], Tidx = [int32, int64], padding = ["SAME", "VALID"], priority = 1)]
#[register_kernel(device = Gpu, op = Many, T = [numbertype], Tidx = [int32, int64], padding = ["SAME"], priority = 2)]
#[register_kernel(device = Gpu, op = Many, T = [numbertype], Tidx = [int32, int64], types = [numbertype], priority = 3)]
#[register_kernel(device = Gpu, op = Many)]
type Fixed = ManyKernel<f32, i32, 0, false>;

#[test]
fn every_combination_is_registered() {
    let kernels: Vec<_> = kernels_of("Many").into_iter().filter(|kernel| kernel.device.0 == "TPU").collect();
    let names: Vec<_> = kernels.iter().map(|kernel| kernel.type_name).collect();
    assert_eq!(
        names,
        [
            "ManyAlias<bf16, i32, -2, true>",
            "ManyAlias<bf16, i32, 1, true>",
            "ManyAlias<bf16, i64, -2, true>",
            "ManyAlias<bf16, i64, 1, true>",
            "ManyAlias<f32, i32, -2, true>",
            "ManyAlias<f32, i32, 1, true>",
            "ManyAlias<f32, i64, -2, true>",
            "ManyAlias<f32, i64, 1, true>",
        ]
    );
    let kernel = kernels[0];
    assert_eq!((kernel.op, kernel.label, kernel.priority), ("Many", "special", -3));
    assert_eq!(kernel.host_memory, ["indices", "y"]);
    assert_eq!(kernel.requires, ["f16", "subgroups"]);
    let constraint = |attr: &str| kernel.constraints.iter().find(|found| found.attr == attr).unwrap().values;
    assert_eq!(constraint("T"), ConstraintValues::Types(&[DataType::Bfloat16]));
    assert_eq!(constraint("Tidx"), ConstraintValues::Types(&[DataType::Int32]));
    assert_eq!(constraint("size"), ConstraintValues::Ints(&[-2]));
    assert_eq!(constraint("flag"), ConstraintValues::Bools(&[true]));
    assert_eq!(constraint("padding"), ConstraintValues::Strings(&["SAME"]));
    assert_eq!(constraint("mode"), ConstraintValues::Strings(&["anything"]));
    let types: &[DataType] = &[DataType::String, DataType::Variant, DataType::Complex64];
    assert!(matches!(constraint("types"), ConstraintValues::Types(listed) if listed == types));
}

#[test]
fn several_attributes_on_one_item_and_lists_that_are_no_parameters() {
    let kernels = kernels_of("Many");
    let on = |device: &str| kernels.iter().filter(|kernel| kernel.device.0 == device).copied().collect::<Vec<_>>();
    let names: Vec<_> = on("DEFAULT").iter().map(|kernel| kernel.type_name).collect();
    assert_eq!(names, ["ManyAlias<Complex32, i32, 3, false>", "ManyAlias<Complex32, i32, 3, true>"]);
    let fixed = on("GPU");
    assert_eq!(fixed.len(), 4);
    assert!(fixed.iter().all(|kernel| kernel.type_name == "Fixed"));
    let most = fixed.iter().map(|kernel| kernel.constraints.len()).max();
    assert_eq!(most, Some(3));
    assert!(fixed.iter().any(|kernel| kernel.constraints.is_empty()));
    let ConstraintValues::Types(types) = fixed.iter().find(|k| k.constraints.len() == 3).unwrap().constraints[0].values
    else {
        panic!("no types")
    };
    assert_eq!(types, kernlink::dtype::NUMBER_TYPES);
}

/// All dtypes of TensorFlow 2.21.
#[register_op(attr("T: type"), input("x: T"))]
pub(crate) struct AnyType;

struct AnyKernel<T>(PhantomData<T>);

#[register_kernel(device = Cpu, T = [
    f32, f64, f16, bf16, i8, i16, i32, i64, u8, u16, u32, u64, bool, TString, Complex32, Complex64, QInt8, QInt16, QInt32,
    QUInt8, QUInt16, Int2, Int4, UInt2, UInt4, Float8E5M2, Float8E4M3Fn, Float8E4M3Fnuz, Float8E4M3B11Fnuz,
    Float8E5M2Fnuz, Float4E2M1Fn, ResourceHandle, Variant,
])]
#[register_kernel(device = Gpu, T = [
    float, double, half, bfloat16, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool, string, complex64,
    complex128, qint8, qint16, qint32, quint8, quint16, int2, int4, uint2, uint4, float8_e5m2, float8_e4m3fn,
    float8_e4m3fnuz, float8_e4m3b11fnuz, float8_e5m2fnuz, float4_e2m1fn, resource, variant,
])]
impl<T: Element> OpKernel<AnyType> for AnyKernel<T> {
    fn new(ctx: &KernelConstruction<'_, AnyType>) -> Result<Self> {
        assert_eq!(ctx.attrs().T, T::DTYPE);
        Ok(Self(PhantomData))
    }
    fn compute(&self, ctx: &mut KernelContext<'_, AnyType>) -> Result<()> {
        let _ = ctx;
        Ok(())
    }
}

#[test]
fn dtypes_have_names_in_both_languages() {
    assert_eq!(AnyType::DEF.attrs.len(), 1);
    for device in ["CPU", "GPU"] {
        let mut dtypes: Vec<_> = kernels_of("AnyType")
            .iter()
            .filter(|kernel| kernel.device.0 == device)
            .map(|kernel| match kernel.constraints[0].values {
                ConstraintValues::Types([dtype]) => *dtype,
                other => panic!("{other:?}"),
            })
            .collect();
        dtypes.sort();
        assert_eq!(dtypes, DataType::ALL[..33]);
    }
}

/// Two ops with the same arguments and attrs.
#[register_op(attr("T: {float, double, int32}"), attr("size: int = 2"), input("x: T"), output("y: T"))]
pub(crate) struct Old;
#[register_op(attr("T: {float, double, int32}"), attr("size: int = 2"), input("x: T"), output("y: T"))]
pub(crate) struct New;

#[register_kernel(device = "A", op = [Old, New], T = [i32])]
fn whatever_it_is(ctx: &mut RawContext<'_>) -> Result<()> {
    let value = ctx.take_input_at(0)?;
    ctx.set_output_at(0, value)
}

#[register_kernel(device = "A", op = [Old, New], T = [f32, f64], cheap)]
fn for_each_dtype<O: Op, T>(ctx: &mut KernelContext<'_, O>) -> Result<()>
where
    T: Number,
{
    let sum = ctx.input_at(0)?.as_slice::<T>()?.iter().fold(T::ZERO, |sum, &x| sum.wrapping_add(x));
    ctx.set_output_at(0, Tensor::scalar(sum))
}

#[register_kernel(device = "B", T = [i32])]
fn of_one_op(ctx: &mut KernelContext<'_, New>) -> Result<()> {
    let value = ctx.input(New::X)?.clone();
    ctx.set_output(New::Y, value)
}

// Written once for each op, so that its arguments and attrs have their names.
#[register_kernel(device = "C", op = [Old, New])]
fn by_name(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let value = ctx.input(O::X)?.clone();
    ctx.set_output(O::Y, value)
}

#[register_kernel(device = "D", op = [Old, New])]
async fn waits(ctx: &mut RawContext<'_>) -> Result<()> {
    let value = ctx.take_input_at(0)?;
    ctx.set_output_at(0, value)
}

struct Size<T>(i64, PhantomData<fn() -> T>);

impl<T: 'static> KernelState for Size<T> {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        Ok(Self(ctx.attrs.required("size")?, PhantomData))
    }
}

#[register_kernel(device = "H", op = [Old, New], T = [i32])]
fn keeps<T: 'static>(size: &Size<T>, ctx: &mut RawContext<'_>) -> Result<()> {
    ctx.set_output_at(0, Tensor::scalar(size.0 as i32))
}

#[register_kernel(device = "I", op = [Old, New], cheap)]
async fn keeps_and_waits(size: &Size<f32>, ctx: &mut RawContext<'_>) -> Result<()> {
    ctx.set_output_at(0, Tensor::scalar(size.0 as i32))
}

#[register_kernel(device = "N", op = [Old, New])]
fn keeps_attrs(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    ctx.set_output(O::Y, Tensor::scalar(attrs.size as i32))
}

// The item is written for the ops of both attributes.
#[register_kernel(device = "O", op = New, state = |ctx| Ok(ctx.attrs().size as i32))]
#[register_kernel(device = "O", op = Old)]
fn keeps_what_is_made(&size: &i32, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    ctx.set_output(O::Y, Tensor::scalar(size))
}

struct Sized(i64);

// Attributes without ops are for those of the one above.
#[register_kernel(device = "E", op = [Old, New])]
#[register_kernel(device = "K", host_memory = ["x"], T = [i32])]
impl OpKernel<O> for Sized {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        Ok(Self(ctx.attrs().size))
    }
    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let _ = ctx.input(O::X)?;
        ctx.set_output(O::Y, Tensor::scalar(self.0 as i32))
    }
}

/// Has its op as a parameter.
struct Whole<O, T>(PhantomData<fn() -> (O, T)>);

#[register_kernel(device = "F", op = [Old, New], T = [f32, f64])]
impl<O: Op, T: Number> OpKernel<O> for Whole<O, T> {
    fn new(_: &KernelConstruction<'_, O>) -> Result<Self> {
        Ok(Self(PhantomData))
    }
    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        ctx.set_output_at(0, Tensor::scalar(T::ONE))
    }
}

#[register_kernel(device = "G", op = [Old, New], T = [f32])]
#[register_kernel(device = "L", T = [f64],)]
#[register_kernel(device = "M", op = Old, T = [f64])]
type WholeAlias<O, T> = Whole<O, T>;

#[test]
fn one_attribute_registers_for_several_ops() {
    let names =
        |op: &str| kernels_of(op).iter().map(|kernel| format!("{} {}", kernel.device.0, kernel.type_name)).collect();
    let (mut old, mut new): (Vec<String>, Vec<String>) = (names("Old"), names("New"));
    old.sort();
    new.sort();
    let both = ["A for_each_dtype<Old, f32>", "A for_each_dtype<Old, f64>", "A whatever_it_is", "C by_name", "D waits"];
    let others = ["E Sized", "F Whole<Old, f32>", "F Whole<Old, f64>", "G WholeAlias<Old, f32>"];
    let keeping = ["H keeps<i32>", "I keeps_and_waits", "K Sized", "L WholeAlias<Old, f64>"];
    let of_attrs = ["N keeps_attrs", "O keeps_what_is_made"];
    let only = old.remove(old.iter().position(|name| name.starts_with('M')).unwrap());
    assert_eq!(only, "M WholeAlias<Old, f64>");
    assert_eq!(old, [&both[..], &others[..], &keeping[..], &of_attrs[..]].concat());
    let renamed = old.iter().map(|name| name.replace("Old", "New"));
    let mut expected: Vec<_> = renamed.chain(["B of_one_op".to_owned()]).collect();
    expected.sort();
    assert_eq!(new, expected);
}

#[test]
fn functions_are_kernels() {
    let registry = Arc::new(Registry::linked(&[]).unwrap());
    let run = |op: &str, device: &str, input: Tensor| {
        let def = registry.op(op).unwrap().def;
        let dtype = input.dtype();
        let attrs = AttrMap::from_iter([("T".to_owned(), dtype.into()), ("size".to_owned(), 7i64.into())]);
        let signature = Signature::new(def, &attrs).unwrap();
        let suits = |values: ConstraintValues| matches!(values, ConstraintValues::Types([only]) if *only == dtype);
        let kernel = kernels_of(op).into_iter().find(|kernel| {
            kernel.device.0 == device && kernel.constraints.iter().all(|constraint| suits(constraint.values))
        });
        let node = RawConstruction {
            node: "node",
            op: def,
            attrs: &attrs,
            signature: &signature,
            registry: &registry,
            device: DeviceType("CPU"),
            constants: &[],
            surroundings: None,
        };
        let kernel = kernel.unwrap().make(&node).unwrap();
        let (mut inputs, mut outputs) = ([Some(input)], [None]);
        kernel.compute(&mut RawContext::new("node", def, &signature, &mut inputs, &mut outputs, None)).unwrap();
        let [output] = outputs;
        let output = output.unwrap();
        let floats = || -> Result<Vec<i64>> { Ok(output.as_slice::<f32>()?.iter().map(|&x| x as i64).collect()) };
        (output.to_i64_vec().or_else(|_| floats()).unwrap(), kernel.is_expensive(), kernel.is_async())
    };
    let floats = Tensor::vector(&[1.0f32, 2.0, 4.0]).unwrap();
    let ints = Tensor::vector(&[3i32, 5]).unwrap();
    for op in ["Old", "New"] {
        assert_eq!(run(op, "A", floats.clone()), (vec![7], false, false));
        assert_eq!(run(op, "A", ints.clone()), (vec![3, 5], true, false));
        assert_eq!(run(op, "C", ints.clone()), (vec![3, 5], true, false));
        assert_eq!(run(op, "D", ints.clone()), (vec![3, 5], false, true));
        assert_eq!(run(op, "E", ints.clone()), (vec![7], true, false));
        assert_eq!(run(op, "F", floats.clone()), (vec![1], true, false));
        assert_eq!(run(op, "H", ints.clone()), (vec![7], true, false));
        assert_eq!(run(op, "I", ints.clone()), (vec![7], false, true));
        assert_eq!(run(op, "N", ints.clone()), (vec![7], true, false));
        assert_eq!(run(op, "O", ints.clone()), (vec![7], true, false));
    }
    assert_eq!(run("New", "B", ints), (vec![3, 5], true, false));
}

/// Its wrapper has the name of a kernel.
#[register_op(attr("T: {float, int32}"), input("x: T"), output("y: T"), shape_fn = kernlink::shape_inference::common::unchanged_shape)]
pub(crate) struct HalveAll;

/// As `HalveAll`.
#[register_op(attr("T: {float, int32}"), input("x: T"), output("y: T"), shape_fn = kernlink::shape_inference::common::unchanged_shape)]
pub(crate) struct HalveSome;

#[register_kernel(device = Cpu, op = [HalveSome, HalveAll], T = [f32])]
#[register_kernel(device = Cpu, label = "exact", T = [i32])]
#[register_kernel(device = Gpu, op = HalveSome)]
fn halve_all(_: &mut RawContext<'_>) -> Result<()> {
    Ok(())
}

#[register_kernel(device = Gpu, op = HalveSome, priority = 1)]
#[register_kernel(device = Gpu, op = HalveAll)]
fn halve_some(_: &mut RawContext<'_>) -> Result<()> {
    Ok(())
}

#[test]
fn a_function_may_be_called_as_the_wrapper_beside_it() {
    let names = |op| {
        let mut names = names(op);
        names.sort_unstable();
        names
    };
    assert_eq!(names("HalveAll"), ["halve_all", "halve_all", "halve_some"]);
    assert_eq!(names("HalveSome"), ["halve_all", "halve_all", "halve_all", "halve_some"]);
    let mut graph = Graph::new(&Arc::new(Registry::linked(&[&crate::KERNLINK_PROVIDER]).unwrap()));
    let x = super::wrappers::source(&mut graph, DataType::Float).build().unwrap();
    let y = halve_all(&mut graph, x).build().unwrap();
    halve_some(&mut graph, y).build().unwrap();
}

mod other {
    use kernlink::kernel::RawContext;
    use kernlink_macros::{register_kernel, register_op};

    /// Has the name of another struct.
    #[register_op(name = "Other>HalveSome")]
    pub(crate) struct HalveSome;

    #[register_kernel(device = Cpu, op = HalveSome)]
    #[register_kernel(device = Gpu, op = HalveSome)]
    fn halve(_: &mut RawContext<'_>) -> kernlink::Result<()> {
        Ok(())
    }
}

#[test]
fn structs_of_one_name_are_ops_of_their_own() {
    assert_eq!(names("Other>HalveSome"), ["halve", "halve"]);
}
