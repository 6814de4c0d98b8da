//! Which of the ops that TensorFlow computes on the CPU are here, and why the others are not.
//!
//! `data/cpu_ops.txt` has TensorFlow's (`ops/tests/data/extract.py` writes it), `data/left_out.txt` the reasons: a line for
//! each family that is left out (`family: reason`), then its ops, indented. `KERNLINK_UPDATE=1` takes those out of it that
//! are registered by now.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use kernlink::registry::Registry;

use crate::support;

const CPU_OPS: &str = include_str!("data/cpu_ops.txt");
const LEFT_OUT: &str = include_str!("data/left_out.txt");

struct Family<'a> {
    name: &'a str,
    reason: &'a str,
    ops: Vec<&'a str>,
}

/// The families that are left out.
fn left_out(text: &str) -> Vec<Family<'_>> {
    let mut families: Vec<Family<'_>> = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("    ") {
            Some(ops) => families.last_mut().expect("a family first").ops.extend(ops.split_whitespace()),
            None => {
                let (name, reason) = line.split_once(": ").expect("`family: reason`");
                families.push(Family { name, reason, ops: Vec::new() });
            }
        }
    }
    families
}

fn text_of(families: &[Family<'_>]) -> String {
    let mut text = String::new();
    for family in families {
        let _ = writeln!(text, "{}: {}", family.name, family.reason);
        let mut line = String::new();
        for op in &family.ops {
            if line.len() + op.len() + 5 > 120 {
                let _ = writeln!(text, "   {line}");
                line.clear();
            }
            line = line + " " + op;
        }
        let _ = writeln!(text, "   {line}");
    }
    text
}

fn is_registered(registry: &Registry, op: &str) -> bool {
    registry.kernels_of(op).iter().any(|kernel| kernel.device == kernlink::kernel::CPU)
}

/// What is wrong with the reasons: ops without one, and reasons for what needs none.
fn faults(registry: &Registry, of_tensorflow: &BTreeSet<&str>, families: &[Family<'_>]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut excused = BTreeMap::new();
    for (family, op) in families.iter().flat_map(|family| family.ops.iter().map(move |op| (family.name, *op))) {
        if let Some(other) = excused.insert(op, family) {
            faults.push(format!("{op} stands under '{other}' and under '{family}'"));
        }
        if !of_tensorflow.contains(op) {
            faults.push(format!("{op} stands under '{family}', but TensorFlow has no kernel of it on the CPU"));
        } else if is_registered(registry, op) {
            faults.push(format!("{op} stands under '{family}', but it is registered: KERNLINK_UPDATE=1 takes it out"));
        }
    }
    let lacking = of_tensorflow.iter().filter(|op| !is_registered(registry, op) && !excused.contains_key(*op));
    faults
        .extend(lacking.map(|op| format!("{op} has a kernel in TensorFlow, none here, and no reason in left_out.txt")));
    faults
}

#[test]
fn every_op_that_tensorflow_computes_on_the_cpu_is_here_or_has_a_reason() {
    let registry = kernlink::registry().unwrap();
    let of_tensorflow: BTreeSet<&str> = CPU_OPS.split_whitespace().collect();
    let mut families = left_out(LEFT_OUT);
    if std::env::var_os("KERNLINK_UPDATE").is_some() {
        families.iter_mut().for_each(|family| family.ops.retain(|op| !is_registered(&registry, op)));
        families.retain(|family| !family.ops.is_empty());
        std::fs::write(support::path("tests/oracle/data/left_out.txt"), text_of(&families)).unwrap();
    }
    let faults = faults(&registry, &of_tensorflow, &families);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!(text_of(&left_out(LEFT_OUT)), LEFT_OUT, "left_out.txt is as KERNLINK_UPDATE=1 would write it");
}

#[test]
fn reasons_that_miss_or_are_none_are_noticed() {
    let registry = kernlink::registry().unwrap();
    let families = left_out("a: one\n    Abort MatMul\nb: two\n    Abort NoSuchOp\n");
    let found = faults(&registry, &BTreeSet::from(["Abort", "MatMul", "PyFunc"]), &families);
    let about = |text: &str| found.iter().filter(|fault| fault.starts_with(text)).count();
    assert_eq!([about("Abort "), about("MatMul "), about("NoSuchOp "), about("PyFunc ")], [1, 1, 1, 1], "{found:?}");
}

/// The table of families, then what is left out: `covered` are the ops of the golden cases.
pub(crate) fn table(registry: &Registry, covered: &BTreeSet<&str>) -> String {
    let mut families: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    let excused = left_out(LEFT_OUT);
    let reasons: BTreeMap<&str, &str> =
        excused.iter().flat_map(|family| family.ops.iter().map(|op| (*op, family.name))).collect();
    for op in CPU_OPS.split_whitespace() {
        let family = reasons.get(op).copied().or_else(|| kernlink::ops::feature_of(op)).unwrap_or("always there");
        let counts = families.entry(family).or_default();
        let [here, tested] = [is_registered(registry, op), covered.contains(op)];
        *counts = [counts[0] + 1, counts[1] + usize::from(here), counts[2] + usize::from(tested)];
    }
    let mut table =
        "| family | ops of TensorFlow with a kernel on the CPU | here | in golden cases |\n|---|---:|---:|---:|\n"
            .to_owned();
    let is_out = |family: &str| excused.iter().any(|out| out.name == family);
    let mut row = |name: &str, [all, here, tested]: [usize; 3]| {
        let _ = writeln!(table, "| {name} | {all} | {here} | {tested} |");
    };
    let sum = |rows: &mut dyn Iterator<Item = &[usize; 3]>| {
        rows.fold([0; 3], |sum, row| [sum[0] + row[0], sum[1] + row[1], sum[2] + row[2]])
    };
    families.iter().filter(|(family, _)| !is_out(family)).for_each(|(family, counts)| row(family, *counts));
    for family in &excused {
        row(&format!("left out: {}", family.name), families[family.name]);
    }
    row("**all**", sum(&mut families.values()));
    table.push_str("\nLeft out, with the reason:\n\n");
    for family in &excused {
        let _ = writeln!(table, "- **{}** ({}): {}", family.name, family.reason, family.ops.join(", "));
    }
    table
}
