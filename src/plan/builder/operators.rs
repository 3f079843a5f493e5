//! Methods for operators of fixed types, named like their functions in `racl::op`, in the order of their parameters:
//! each is a line over a function of [`op::aclnn`](crate::op::aclnn) whose results follow from rules.

use std::ops::Range;
use std::panic::Location;

use crate::error::Result;

use super::{Builder, Value};

mod attention;
mod create;
mod elements;
mod found;
mod indices;
mod layout;
mod norms;
mod products;
mod reductions;
mod unique;
mod windows;

pub use found::Found;
pub(super) use found::elements;

/// `name(parameters) => |builder, results| call;` with one result, or several in brackets; none for an operator that
/// changes an operand in place. Documentation stands in front.
macro_rules! operators {
    ($($(#[$meta:meta])* $name:ident($($p:ident: $kind:ty),* $(,)?) => |$g:ident $(, $y:ident)?| $call:expr;)*) => {
        impl Builder {$(
            $crate::plan::builder::operators::operators! {
                @one [$(#[$meta])*] $name($($p: $kind),*) => |$g $(, $y)?| $call
            }
        )*}
    };
    (@one [$($meta:tt)*] $name:ident($($p:ident: $kind:ty),*) => |$g:ident, $y:ident| $call:expr) => {
        #[doc = concat!("[`op::", stringify!($name), "`](crate::op::", stringify!($name), "()); gives the result.")]
        $($meta)*
        ///
        /// # Errors
        ///
        /// As [`Builder::add`].
        #[track_caller]
        pub fn $name(&self, $($p: $kind),*) -> Result<Value> {
            let ($g, mut $y) = (self, $crate::plan::builder::Inferred::new());
            $call?;
            $y.value()
        }
    };
    (@one [$($meta:tt)*] $name:ident($($p:ident: $kind:ty),*) => |$g:ident| $call:expr) => {
        #[doc = concat!(
            "[`op::", stringify!($name), "`](crate::op::", stringify!($name), "()): changes its first operand.",
        )]
        $($meta)*
        ///
        /// # Errors
        ///
        /// As [`Builder::add`]; also for a constant.
        #[track_caller]
        pub fn $name(&self, $($p: $kind),*) -> Result<()> {
            let $g = self;
            $call
        }
    };
}
pub(super) use operators;

/// The same with two results.
macro_rules! pairs {
    ($($(#[$meta:meta])* $name:ident($($p:ident: $kind:ty),* $(,)?) => |$g:ident, $y:ident, $z:ident| $call:expr;)*) => {
        impl Builder {$(
            #[doc = concat!(
                "[`op::", stringify!($name), "`](crate::op::", stringify!($name), "()); gives both results.",
            )]
            $(#[$meta])*
            ///
            /// # Errors
            ///
            /// As [`Builder::add`].
            #[track_caller]
            pub fn $name(&self, $($p: $kind),*) -> Result<(Value, Value)> {
                let ($g, mut $y, mut $z) =
                    (self, $crate::plan::builder::Inferred::new(), $crate::plan::builder::Inferred::new());
                $call?;
                Ok(($y.value()?, $z.value()?))
            }
        )*}
    };
}
pub(super) use pairs;

impl Builder {
    /// Sizes of dimensions, which operators are told as numbers; 0 where there is no such dimension, which the operator
    /// refuses.
    #[track_caller]
    fn told(&self, value: Value, dims: Range<usize>) -> Result<Vec<i64>> {
        self.state().told(value, dims, Location::caller())
    }
}
