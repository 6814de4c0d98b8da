//! `TF_ImportGraphDefOptions`: how a message is added to a graph.

use std::ffi::{c_char, c_int};
use std::ptr;

use kernlink::graph::{Graph, ImportOptions};
use kernlink::{Error, Result};
use kernlink_library::host::{guarded, text};

use crate::abi::{TF_ImportGraphDefOptions, TF_Operation, TF_Output};
use crate::graph::{CGraph, node_in, output_in};
use crate::pointer::{borrow, borrow_mut, free, into_c, opaque};

opaque! {
    TF_ImportGraphDefOptions => Options, "import's options";
}

/// What is behind a `TF_ImportGraphDefOptions`. What it maps to are pointers until the import, which knows the graph.
#[derive(Default)]
pub(crate) struct Options {
    plain: ImportOptions,
    inputs: Vec<((String, usize), TF_Output)>,
    controls: Vec<(String, *mut TF_Operation)>,
    dependencies: Vec<*mut TF_Operation>,
    /// The first fault of an option, which the import tells.
    fault: Option<Error>,
}

impl Options {
    /// Sets an option.
    ///
    /// # Safety
    /// As said in `pointer`.
    unsafe fn set(options: *mut TF_ImportGraphDefOptions, set: impl FnOnce(&mut Options) -> Result<()>) {
        guarded((), || {
            // SAFETY: as the caller says.
            if let Ok(options) = unsafe { borrow_mut(options) }
                && let Err(error) = set(options)
            {
                options.fault.get_or_insert(error);
            }
        });
    }

    /// The options, for a graph.
    ///
    /// # Safety
    /// The operations are null or of graphs that are alive.
    ///
    /// # Errors
    /// What was wrong with an option, and INVALID_ARGUMENT for operations of other graphs.
    pub(crate) unsafe fn of(&self, graph: &CGraph, state: &Graph) -> Result<ImportOptions> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        // SAFETY: as the caller says.
        let node = |operation: *mut TF_Operation| unsafe { node_in(graph, operation) };
        let mut options = self.plain.clone();
        for (key, output) in &self.inputs {
            // SAFETY: as the caller says.
            options.input_map.insert(key.clone(), unsafe { output_in(graph, state, *output) }?);
        }
        for (name, operation) in &self.controls {
            options.control_map.insert(name.clone(), node(*operation)?);
        }
        options.control_dependencies =
            self.dependencies.iter().map(|&operation| node(operation)).collect::<Result<_>>()?;
        Ok(options)
    }

    pub(crate) fn num_return_outputs(&self) -> usize {
        self.plain.return_outputs.len()
    }
}

/// The name and index of an output.
///
/// # Safety
/// As said in `pointer`.
unsafe fn key(name: *const c_char, index: c_int) -> Result<(String, usize)> {
    // SAFETY: as the caller says.
    let name = unsafe { text("the name of an operation", name) }?;
    let index = usize::try_from(index);
    let index = index.map_err(|_| Error::invalid_argument(format!("an output of '{name}' has a negative index")))?;
    Ok((name.to_owned(), index))
}

/// Options that change nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_NewImportGraphDefOptions() -> *mut TF_ImportGraphDefOptions {
    guarded(ptr::null_mut(), || into_c(Options::default()))
}

/// Frees options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_DeleteImportGraphDefOptions(opts: *mut TF_ImportGraphDefOptions) {
    // SAFETY: as said in `pointer`.
    unsafe { free(opts) };
}

/// Setters of options: `name(arguments) = |options| what they set`.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) = |$options:ident| $set:expr;)*) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(opts: *mut TF_ImportGraphDefOptions, $($argument: $type),*) {
                // SAFETY: as said in `pointer`.
                unsafe {
                    Options::set(opts, |$options| {
                        $set;
                        Ok(())
                    });
                }
            }
        )*
    };
}

setters! {
    /// What the names of the nodes begin with, before a `/`.
    TF_ImportGraphDefOptionsSetPrefix(prefix: *const c_char) =
        |options| options.plain.prefix = text("the prefix", prefix)?.to_owned();
    /// The device that nodes ask for which ask for none.
    TF_ImportGraphDefOptionsSetDefaultDevice(device: *const c_char) =
        |options| options.plain.default_device = text("the device", device)?.to_owned();
    /// Whether a node whose name is taken gets a number; otherwise that is an error.
    TF_ImportGraphDefOptionsSetUniquifyNames(uniquify_names: u8) =
        |options| options.plain.uniquify_names = uniquify_names != 0;
    /// Whether the prefix gets a number if a node's name begins with it.
    TF_ImportGraphDefOptionsSetUniquifyPrefix(uniquify_prefix: u8) =
        |options| options.plain.uniquify_prefix = uniquify_prefix != 0;
    /// Takes an output of the graph in the place of one of the message.
    TF_ImportGraphDefOptionsAddInputMapping(src_name: *const c_char, src_index: c_int, dst: TF_Output) =
        |options| options.inputs.push((key(src_name, src_index)?, dst));
    /// Waits for an operation of the graph in the place of one of the message.
    TF_ImportGraphDefOptionsRemapControlDependency(src_name: *const c_char, dst: *mut TF_Operation) =
        |options| options.controls.push((text("the name of an operation", src_name)?.to_owned(), dst));
    /// Lets all that is added wait for an operation of the graph.
    TF_ImportGraphDefOptionsAddControlDependency(oper: *mut TF_Operation) = |options| options.dependencies.push(oper);
    /// Asks for an output of the message, which may be one that is mapped.
    TF_ImportGraphDefOptionsAddReturnOutput(oper_name: *const c_char, index: c_int) =
        |options| options.plain.return_outputs.push(key(oper_name, index)?);
    /// Asks for an operation of the message.
    TF_ImportGraphDefOptionsAddReturnOperation(oper_name: *const c_char) =
        |options| options.plain.return_nodes.push(text("the name of an operation", oper_name)?.to_owned());
    /// Has no effect: what nodes ask to be colocated with is checked when they are placed.
    TF_ImportGraphDefOptionsSetValidateColocationConstraints(enable: u8) = |_options| { let _ = enable; };
}

/// How many outputs were asked for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_ImportGraphDefOptionsNumReturnOutputs(opts: *const TF_ImportGraphDefOptions) -> c_int {
    // SAFETY: as said in `pointer`.
    unsafe { borrow(opts) }.map_or(0, |options| options.plain.return_outputs.len() as c_int)
}

/// How many operations were asked for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_ImportGraphDefOptionsNumReturnOperations(opts: *const TF_ImportGraphDefOptions) -> c_int {
    // SAFETY: as said in `pointer`.
    unsafe { borrow(opts) }.map_or(0, |options| options.plain.return_nodes.len() as c_int)
}
