//! Graphs as short text, a node a line: what tests of rewrites are written in.
//!
//! ```text
//! x = Placeholder() dtype=float shape=[?,2]
//! b = Const() dtype=float value=[1, 2.5]
//! both = IdentityN([x, b])
//! y = AddV2(both, both:1, ^x)
//! fetch y
//! ```
//!
//! Inputs stand in parentheses, those of an argument that is a list in brackets; attrs behind them, without quotes around
//! strings of letters. Attrs that follow from inputs and defaults need not be said. Lines `feed` and `fetch` name what a run
//! feeds, beside placeholders, and fetches; without, what nothing else uses.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::attr::AttrValue;
use crate::dtype::{DataType, TString, bf16, f16};
use crate::error::{Error, Result};
use crate::graph::{Graph, Node, NodeBuilder, NodeClass, NodeInput, Operand, Output, default_value};
use crate::op::{ArgDef, ArgType, AttrBase, AttrDef, AttrType};
use crate::optimize::Ends;
use crate::registry::Registry;
use crate::shape::{PartialShape, Shape};
use crate::sort::CompactSort as _;
use crate::tensor::Tensor;

/// The graph that a text describes, with what it feeds and fetches.
///
/// # Errors
/// INVALID_ARGUMENT, with the line, for what cannot be read; those of building a node.
pub fn graph_from_lines(text: &str, registry: &Arc<Registry>) -> Result<(Graph, Ends)> {
    let mut graph = Graph::new(registry);
    let (mut feeds, mut fetches): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let names = |list: &str| list.split(',').map(|name| name.trim().to_owned()).collect::<Vec<_>>();
        match (line.strip_prefix("feed "), line.strip_prefix("fetch ")) {
            (Some(list), _) => feeds.extend(names(list)),
            (_, Some(list)) => fetches.extend(names(list)),
            _ => add(&mut graph, line).map_err(|error| error.context(format!("line `{line}`")))?,
        }
    }
    let outputs = |names: &[String]| names.iter().map(|name| graph.output(name)).collect::<Result<Vec<_>>>();
    let mut fed = outputs(&feeds)?;
    fed.extend(graph.ids().filter(|&id| graph.is_placeholder(id)).map(|node| Output { node, index: 0 }));
    let mut fetched = outputs(&fetches)?;
    if fetched.is_empty() {
        let ends = graph.sinks().into_iter();
        fetched = ends
            .flat_map(|node| (0..graph.node(node).signature.outputs.len()).map(move |index| Output { node, index }))
            .collect();
        fetched.retain(|output| !fed.contains(output));
    }
    let ends = Ends::new(fed, fetched, Vec::new());
    Ok((graph, ends))
}

/// The text of a graph's nodes, in their order, as [`graph_from_lines`] reads it.
pub fn graph_to_lines(graph: &Graph) -> String {
    graph.nodes().iter().map(|node| line(graph, node) + "\n").collect()
}

fn line(graph: &Graph, node: &Node) -> String {
    let name = |output: &Output| graph.output_name(*output);
    let args = node.op.def.inputs.iter().zip(&node.signature.input_ranges).map(|(arg, range)| {
        let names: Vec<String> = node.inputs[range.clone()].iter().map(name).collect();
        if arg.is_list() { format!("[{}]", names.join(", ")) } else { names.join(", ") }
    });
    let controls = node.control_inputs.iter().map(|&id| format!("^{}", graph.node(id).name));
    let inputs: Vec<String> = args.chain(controls).collect();
    let mut line = format!("{} = {}({})", node.name, node.op.def.name, inputs.join(", "));
    // The dtype of a constant stands before its value.
    let mut attrs: Vec<&AttrDef> = node.op.def.attrs.iter().collect();
    attrs.compact_sort_by_key(|def| def.ty.base == AttrBase::Tensor);
    for def in attrs {
        let Some(value) = node.attrs.get(&def.name) else { continue };
        let default = def.default.as_ref().and_then(|default| default_value(default).ok());
        let is_default = default.is_some_and(|default| default.to_string() == value.to_string());
        let follows = node.op.def.inputs.iter().any(|arg| refers_to(arg, &def.name));
        if !is_default && !follows {
            let _ = write!(line, " {}={}", def.name, value_text(value));
        }
    }
    if !node.device.is_empty() {
        let _ = write!(line, " device={}", node.device);
    }
    line
}

/// Whether the attr follows from what is given for an argument.
fn refers_to(arg: &ArgDef, attr: &str) -> bool {
    let is_dtype = matches!(&arg.ty, ArgType::Attr(name) | ArgType::ListAttr(name) if name == attr);
    is_dtype || arg.number_attr.as_deref() == Some(attr)
}

fn value_text(value: &AttrValue) -> String {
    let word = |text: &TString| match text.to_string_lossy() {
        text if !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => text.into_owned(),
        text => format!("\"{text}\""),
    };
    match value {
        AttrValue::String(text) => word(text),
        AttrValue::ListString(list) => format!("[{}]", list.iter().map(word).collect::<Vec<_>>().join(", ")),
        AttrValue::Type(dtype) => dtype.name().to_owned(),
        AttrValue::ListType(list) => format!("[{}]", list.iter().map(|t| t.name()).collect::<Vec<_>>().join(", ")),
        AttrValue::Shape(shape) if shape.rank().is_none() => "?".to_owned(),
        AttrValue::Tensor(tensor) => tensor_text(tensor),
        value => value.to_string(),
    }
}

/// A value, or nested lists of values.
fn tensor_text(tensor: &Tensor) -> String {
    fn nested(sizes: &[usize], values: &mut dyn Iterator<Item = String>) -> String {
        match sizes {
            [] => values.next().unwrap_or_default(),
            [size, inner @ ..] => {
                let items: Vec<String> = (0..*size).map(|_| nested(inner, values)).collect();
                format!("[{}]", items.join(", "))
            }
        }
    }
    let values: Vec<String> = match tensor.as_slice::<TString>() {
        Ok(values) => values.iter().map(|text| format!("\"{}\"", text.to_string_lossy())).collect(),
        Err(_) => {
            let text = tensor.values_text().replace(['[', ']', ','], " ");
            text.split_whitespace().map(str::to_owned).collect()
        }
    };
    nested(tensor.shape().dims(), &mut values.into_iter())
}

/// Adds the node of a line.
fn add(graph: &mut Graph, line: &str) -> Result<()> {
    let fault = |what: &str| Error::invalid_argument(format!("{what}: expected `name = Op(input, [list]) attr=value`"));
    let (name, rest) = line.split_once(" = ").ok_or_else(|| fault("there is no ` = `"))?;
    let (op, rest) = rest.split_once('(').ok_or_else(|| fault("there is no `(`"))?;
    let (inputs, attrs) = rest.split_once(')').ok_or_else(|| fault("there is no `)`"))?;
    let def = graph.registry().op(op.trim())?.def;
    let mut operands = Vec::new();
    let mut controls = Vec::new();
    for part in split(inputs, ',') {
        let output = |name: &str| graph.output(name.trim()).map(Operand::Value);
        match (part.strip_prefix('^'), part.strip_prefix('[').and_then(|part| part.strip_suffix(']'))) {
            (Some(control), _) => controls.push(graph.find_or_suggest(control)?),
            (_, Some(list)) => {
                let list = split(list, ',').into_iter().map(output).collect::<Result<_>>()?;
                operands.push(NodeInput::List(list));
            }
            _ => operands.push(NodeInput::Single(output(part)?)),
        }
    }
    let attrs: Vec<(&str, &str)> = split(attrs, ' ').into_iter().filter_map(|attr| attr.split_once('=')).collect();
    let mut builder = NodeBuilder::new(graph, def);
    builder.name(name.trim());
    operands.into_iter().for_each(|operand| _ = builder.operands(operand));
    controls.into_iter().for_each(|control| _ = builder.control_input(control));
    let dtype = attrs.iter().find(|(name, _)| *name == "dtype").and_then(|(_, word)| DataType::from_name(word));
    for (name, text) in attrs {
        match def.attr(name) {
            _ if name == "device" => _ = builder.device(text),
            None if name.starts_with('_') => _ = builder.attr(name, unquoted(text)),
            Some(attr) if attr.ty.base == AttrBase::Tensor && NodeClass::of(&def.name) == NodeClass::Constant => {
                let dtype = dtype.ok_or_else(|| fault("a constant says its `dtype` first"))?;
                builder.attr(name, tensor(text, dtype)?);
            }
            Some(attr) => _ = builder.attr(name, value(text, attr.ty)?),
            None => _ = builder.attr(name, unquoted(text)),
        }
    }
    builder.build().map(|_| ())
}

/// The parts between separators that stand outside of brackets and quotes, without empty ones.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut depth, mut is_quoted, mut start, mut parts) = (0usize, false, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '"' => is_quoted = !is_quoted,
            '[' if !is_quoted => depth += 1,
            ']' if !is_quoted => depth = depth.saturating_sub(1),
            c if c == separator && depth == 0 && !is_quoted => {
                parts.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

fn bad(text: &str, what: &str) -> Error {
    Error::invalid_argument(format!("`{text}` is no {what}"))
}

fn value(text: &str, ty: AttrType) -> Result<AttrValue> {
    if ty.list {
        let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).ok_or_else(|| bad(text, "list"))?;
        let items = split(inner, ',');
        if items.is_empty() {
            return Ok(AttrValue::EmptyList);
        }
        return Ok(match ty.base {
            AttrBase::String => AttrValue::ListString(items.iter().map(|text| TString::from(unquoted(text))).collect()),
            AttrBase::Int => AttrValue::ListInt(each(&items, "integer")?),
            AttrBase::Float => AttrValue::ListFloat(each(&items, "float")?),
            AttrBase::Bool => AttrValue::ListBool(each(&items, "bool")?),
            AttrBase::Type => AttrValue::ListType(items.iter().map(|text| dtype(text)).collect::<Result<_>>()?),
            AttrBase::Shape => AttrValue::ListShape(items.iter().map(|text| shape(text)).collect::<Result<_>>()?),
            AttrBase::Tensor | AttrBase::Func => return Err(bad(text, "list that can be read here")),
        });
    }
    Ok(match ty.base {
        AttrBase::String => AttrValue::String(TString::from(unquoted(text))),
        AttrBase::Int => AttrValue::Int(one(text, "integer")?),
        AttrBase::Float => AttrValue::Float(one(text, "float")?),
        AttrBase::Bool => AttrValue::Bool(one(text, "bool")?),
        AttrBase::Type => AttrValue::Type(dtype(text)?),
        AttrBase::Shape => AttrValue::Shape(shape(text)?),
        AttrBase::Tensor | AttrBase::Func => return Err(bad(text, "value that can be read here")),
    })
}

fn one<T: std::str::FromStr>(text: &str, what: &str) -> Result<T> {
    text.parse().map_err(|_| bad(text, what))
}

fn each<T: std::str::FromStr>(items: &[&str], what: &str) -> Result<Vec<T>> {
    items.iter().map(|text| one(text, what)).collect()
}

fn dtype(text: &str) -> Result<DataType> {
    DataType::from_name(text).ok_or_else(|| bad(text, "dtype"))
}

/// `[2,?]`, or `?` if not even the rank is known.
fn shape(text: &str) -> Result<PartialShape> {
    let Some(inner) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) else {
        return if text == "?" { Ok(PartialShape::unknown()) } else { Err(bad(text, "shape")) };
    };
    let dims = split(inner, ',').into_iter().map(|dim| if dim == "?" { Ok(None) } else { one(dim, "size").map(Some) });
    Ok(PartialShape::from_known(dims.collect::<Result<Vec<_>>>()?))
}

/// A number, or nested lists of numbers.
fn tensor(text: &str, dtype: DataType) -> Result<Tensor> {
    let (mut sizes, mut items) = (Vec::new(), vec![text]);
    while let Some(inner) = items.first().and_then(|first| first.strip_prefix('[')) {
        let _ = inner;
        let mut inside = Vec::new();
        for item in &items {
            let inner =
                item.strip_prefix('[').and_then(|item| item.strip_suffix(']')).ok_or_else(|| bad(text, "tensor"))?;
            inside.extend(split(inner, ','));
        }
        sizes.push(inside.len() / items.len());
        items = inside;
    }
    let shape = Shape::from(sizes);
    macro_rules! read {
        ($($dtype:ident: $t:ty as $read:ty),* $(,)?) => {
            match dtype {
                $(DataType::$dtype => {
                    let values: Vec<$read> = each(&items, dtype.name())?;
                    let values: Vec<$t> = values.into_iter().map(|value| <$t>::from(value)).collect();
                    Tensor::from_elements(shape, &values)
                })*
                DataType::Half => {
                    let values: Vec<f32> = each(&items, "float")?;
                    Tensor::from_elements(shape, &values.into_iter().map(f16::from_f32).collect::<Vec<_>>())
                }
                DataType::Bfloat16 => {
                    let values: Vec<f32> = each(&items, "float")?;
                    Tensor::from_elements(shape, &values.into_iter().map(bf16::from_f32).collect::<Vec<_>>())
                }
                DataType::String => {
                    let values: Vec<TString> = items.iter().map(|text| TString::from(unquoted(text))).collect();
                    Tensor::from_elements(shape, &values)
                }
                _ => Err(bad(text, "tensor of a dtype that can be read here")),
            }
        };
    }
    read! {
        Float: f32 as f32, Double: f64 as f64, Int8: i8 as i8, Int16: i16 as i16, Int32: i32 as i32, Int64: i64 as i64,
        Uint8: u8 as u8, Uint16: u16 as u16, Uint32: u32 as u32, Uint64: u64 as u64, Bool: bool as bool,
    }
}
