//! `Any`: a message in a message.

use bytes::Bytes;

/// `google.protobuf.Any`: a message of any type.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct Any {
    /// Names the type: what stands behind the last `/`.
    #[prost(string, tag = "1")]
    pub type_url: String,
    /// The message.
    #[prost(bytes = "bytes", tag = "2")]
    pub value: Bytes,
}
