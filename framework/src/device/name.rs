//! Names of devices: `/job:worker/replica:0/task:1/device:GPU:0`, in full or in part.

use std::fmt;

use crate::error::{Error, Result, shortened};

/// What a name says of a device. A part that is not given, or given as `*`, stands for any.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DeviceName {
    /// The job, such as `localhost`.
    pub job: Option<String>,
    /// The replica.
    pub replica: Option<u32>,
    /// The task.
    pub task: Option<u32>,
    /// The type, in upper case, such as `CPU`.
    pub device_type: Option<String>,
    /// Which device of the type.
    pub id: Option<u32>,
}

impl DeviceName {
    /// Reads a name: `/device:CPU:0`, `/cpu:0`, `CPU:0`, with or without job, replica and task. Any type stands behind
    /// `device:`, but only CPU, GPU and TPU for themselves, as with TensorFlow. A number too large for any device is
    /// read as the greatest.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if it is malformed.
    pub fn parse(name: &str) -> Result<DeviceName> {
        let fault = || {
            Error::invalid_argument(format!(
                "Malformed device specification '{}': expected `/device:TYPE:NUMBER`, such as `/device:CPU:0`; also \
                 `/cpu:0` and `/gpu:0`, and `/job:NAME`, `/replica:NUMBER` and `/task:NUMBER` before it",
                shortened(name)
            ))
        };
        let mut parsed = DeviceName::default();
        for part in name.split('/').filter(|part| !part.is_empty()) {
            let is_type = |key: &str| ["CPU", "GPU", "TPU"].iter().any(|known| known.eq_ignore_ascii_case(key));
            let (key, value) = match part.split_once(':') {
                Some(both) => both,
                None if is_type(part) => (part, "*"),
                None => return Err(fault()),
            };
            let number = |value: &str| match value {
                "*" => Ok(None),
                digits if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
                    Ok(Some(digits.parse().unwrap_or(u32::MAX)))
                }
                _ => Err(fault()),
            };
            let legal = |text: &str| {
                text.starts_with(|c: char| c.is_ascii_alphabetic())
                    && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            };
            match key {
                "job" if value == "*" || legal(value) => parsed.job = (value != "*").then(|| value.to_owned()),
                "replica" => parsed.replica = number(value)?,
                "task" => parsed.task = number(value)?,
                "device" => {
                    let (kind, id) = value.split_once(':').unwrap_or((value, "*"));
                    if kind != "*" && !legal(kind) {
                        return Err(fault());
                    }
                    parsed.device_type = (kind != "*").then(|| kind.to_uppercase());
                    parsed.id = number(id)?;
                }
                _ if is_type(key) => {
                    parsed.device_type = Some(key.to_uppercase());
                    parsed.id = number(value)?;
                }
                _ => return Err(fault()),
            }
        }
        Ok(parsed)
    }

    /// Whether this name, which may be partial, matches the device named `other`.
    pub fn matches(&self, other: &DeviceName) -> bool {
        fn fits<T: PartialEq>(wanted: &Option<T>, given: &Option<T>) -> bool {
            wanted.is_none() || given.is_none() || wanted == given
        }
        fits(&self.job, &other.job)
            && fits(&self.replica, &other.replica)
            && fits(&self.task, &other.task)
            && fits(&self.device_type, &other.device_type)
            && fits(&self.id, &other.id)
    }

    /// Both names merged; `None` if they contradict each other.
    pub fn merged(&self, other: &DeviceName) -> Option<DeviceName> {
        fn both<T: Clone + PartialEq>(a: &Option<T>, b: &Option<T>) -> Option<Option<T>> {
            match (a, b) {
                (Some(a), Some(b)) if a != b => None,
                (a, b) => Some(a.clone().or_else(|| b.clone())),
            }
        }
        Some(DeviceName {
            job: both(&self.job, &other.job)?,
            replica: both(&self.replica, &other.replica)?,
            task: both(&self.task, &other.task)?,
            device_type: both(&self.device_type, &other.device_type)?,
            id: both(&self.id, &other.id)?,
        })
    }

    /// The same without type and number of the device.
    pub fn without_device(&self) -> DeviceName {
        DeviceName { device_type: None, id: None, ..self.clone() }
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(job) = &self.job {
            write!(f, "/job:{job}")?;
        }
        if let Some(replica) = self.replica {
            write!(f, "/replica:{replica}")?;
        }
        if let Some(task) = self.task {
            write!(f, "/task:{task}")?;
        }
        match (&self.device_type, self.id) {
            (Some(kind), Some(id)) => write!(f, "/device:{kind}:{id}"),
            (Some(kind), None) => write!(f, "/device:{kind}:*"),
            (None, Some(id)) => write!(f, "/device:*:{id}"),
            (None, None) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        let name = DeviceName::parse("/job:worker/replica:1/task:2/device:GPU:3").unwrap();
        assert_eq!(name.to_string(), "/job:worker/replica:1/task:2/device:GPU:3");
        for form in ["/device:CPU:0", "/cpu:0", "CPU:0", "/CPU:0", "/device:cpu:0"] {
            assert_eq!(DeviceName::parse(form).unwrap().to_string(), "/device:CPU:0", "{form}");
        }
        assert_eq!(DeviceName::parse("/gpu:*").unwrap().to_string(), "/device:GPU:*");
        assert_eq!(DeviceName::parse("").unwrap(), DeviceName::default());
        for form in ["cpu", "/CPU", "CPU:*", "/device:cpu"] {
            assert_eq!(DeviceName::parse(form).unwrap().to_string(), "/device:CPU:*", "{form}");
        }
        assert_eq!(DeviceName::parse("/device:Banana:0").unwrap().device_type.as_deref(), Some("BANANA"));
        assert_eq!(DeviceName::parse("/device:CPU:99999999999").unwrap().id, Some(u32::MAX));
        for any in ["/", "/job:*", "/task:*", "/device:*", "/device:*:*"] {
            assert_eq!(DeviceName::parse(any).unwrap(), DeviceName::default(), "{any}");
        }
    }

    /// TensorFlow's placer refuses all of these, also under soft placement.
    #[test]
    fn what_is_no_name_of_a_device_is_refused() {
        for wrong in [
            "banana",
            "BANANA:0",
            "/banana:0",
            "nonsense/x",
            "XPU:0",
            "localhost",
            "/job:1a",
            "/job:",
            "/job:lo-cal",
            "/job:localhost/banana:0",
            "/job:localhost/device",
            "/replica:x",
            "/replica:",
            "/task:-1",
            "/job:a/task:b",
            "/device:CPU:x",
            "/device:CPU:",
            "/device:",
            "/device:CPU:0:0",
            "/device:1PU:0",
            "/device:C-U:0",
            "/cpu:",
            "/cpu:0:1",
            "/cpu:0 ",
            " /cpu:0",
            "*",
            "/*",
            "@",
        ] {
            let error = DeviceName::parse(wrong).unwrap_err();
            assert_eq!(error.code(), crate::Code::InvalidArgument, "{wrong}");
            let said = format!("Malformed device specification '{wrong}': expected `/device:TYPE:NUMBER`");
            assert!(error.message().starts_with(&said), "{error}");
        }
    }

    #[test]
    fn names_match_in_part_and_merge() {
        let full = DeviceName::parse("/job:localhost/replica:0/task:0/device:CPU:1").unwrap();
        assert!(DeviceName::parse("/cpu:1").unwrap().matches(&full));
        assert!(!DeviceName::parse("/cpu:0").unwrap().matches(&full));
        assert!(!DeviceName::parse("/job:ps").unwrap().matches(&full));
        let cpu = DeviceName::parse("/cpu:*").unwrap();
        assert_eq!(cpu.merged(&DeviceName::parse("/task:0").unwrap()).unwrap().to_string(), "/task:0/device:CPU:*");
        assert_eq!(cpu.merged(&DeviceName::parse("/gpu:*").unwrap()), None);
    }
}
