//! Where a node's resource is kept: what the attrs `container` and `shared_name` say.

use std::fmt;

use super::ResourceManager;
use crate::attr::{AttrMap, AttrValue};
use crate::error::{Error, Result};

/// The container and the name of a node's resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerInfo {
    /// The container; empty for the default one.
    pub container: String,
    /// The name in it.
    pub name: String,
    /// Whether no other node can name it.
    pub is_private: bool,
}

impl fmt::Display for ContainerInfo {
    /// `[localhost,name,public]`, or `private` if no other node can name it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let access = if self.is_private { "private" } else { "public" };
        write!(f, "[{},{},{access}]", super::manager::named(&self.container), self.name)
    }
}

impl ContainerInfo {
    /// Reads the attrs of a node. A node without `shared_name` names its resource after itself if `use_node_name`, and
    /// else has one of its own.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for a container with characters that names do not have, or a name that begins with `_`.
    pub fn new(manager: &ResourceManager, node: &str, attrs: &AttrMap, use_node_name: bool) -> Result<ContainerInfo> {
        let text = |name: &str| match attrs.get(name) {
            Some(AttrValue::String(text)) => String::from_utf8_lossy(text.as_bytes()).into_owned(),
            _ => String::new(),
        };
        let (container, shared_name) = (text("container"), text("shared_name"));
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '/');
        if !container.chars().all(|c| legal(c) || c == '_')
            || container.starts_with(|c: char| !c.is_ascii_alphanumeric() && c != '.')
        {
            return Err(Error::invalid_argument(format!("container contains invalid characters: {container}")));
        }
        if shared_name.starts_with('_') {
            return Err(Error::invalid_argument(format!("shared_name cannot start with '_': {shared_name}")));
        }
        let (name, is_private) = match () {
            () if !shared_name.is_empty() => (shared_name, false),
            () if use_node_name => (node.to_owned(), false),
            () => (format!("_{}_{node}", manager.unique_number()), true),
        };
        Ok(ContainerInfo { container, name, is_private })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::TString;

    fn info(attrs: &[(&str, &str)], use_node_name: bool) -> Result<ContainerInfo> {
        let attrs = attrs.iter().map(|&(name, text)| (name.to_owned(), AttrValue::String(TString::from(text))));
        ContainerInfo::new(&ResourceManager::new(), "node", &attrs.collect(), use_node_name)
    }

    #[test]
    fn it_prints_as_tensorflow_prints_it() {
        assert_eq!(info(&[], true).unwrap().to_string(), "[localhost,node,public]");
        assert_eq!(info(&[], false).unwrap().to_string(), "[localhost,_0_node,private]");
        let named = info(&[("container", "c"), ("shared_name", "s")], false).unwrap();
        assert_eq!(named.to_string(), "[c,s,public]");
        assert!(info(&[("shared_name", "_s")], false).is_err());
    }
}
