extern crate kernlink_framework as kernlink;
