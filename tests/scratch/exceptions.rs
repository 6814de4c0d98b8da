//! Memory that cannot be refused although a tensor decides how much it is.

/// A function among those that ask for it, and why it may. A place is excepted, never an op: what else the op asks for
/// is refused.
pub(crate) const EXCEPTIONS: &[(&str, &str)] = &[];
