//! How most operators are wrapped: fixed types and a good name around a function of [`op::aclnn`](crate::op::aclnn).

/// `fn name<T: Bound>(on; operands) [made = numbers] = function(arguments);` with the documentation, what is refused
/// beside what every operator refuses, and an example, which has `stream` and `device`. `on` is where the operator goes.
macro_rules! wrapped {
    ($(
        $(#[doc = $doc:literal])*
        #[alias($($alias:literal),*)]
        #[refused = $refused:literal]
        #[example = $example:literal]
        fn $name:ident<$t:ident: $bound:ident $(, $u:ident: $other:ident)?>($on:ident; $($p:ident: $kind:ty),* $(,)?)
            $([$($made:ident = $from:expr),*])? = $function:ident($($arg:expr),* $(,)?);
    )*) => {$(
        $(#[doc = $doc])*
        #[doc = ""]
        #[doc = "# Errors"]
        #[doc = ""]
        #[doc = concat!(
            "[`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) ", $refused,
            "; those of [every operator](crate::op#errors).",
        )]
        #[doc = ""]
        #[doc = "# Examples"]
        #[doc = ""]
        #[doc = "```"]
        #[doc = "use racl::op;"]
        #[doc = ""]
        #[doc = "let acl = racl::Acl::mock()?;"]
        #[doc = "let device = acl.device(0)?;"]
        #[doc = "let stream = device.stream()?;"]
        #[doc = $example]
        #[doc = "# Ok::<(), racl::Error>(())"]
        #[doc = "```"]
        $(#[doc(alias = $alias)])*
        #[track_caller]
        pub fn $name<$t: $bound $(, $u: $other)?>($on: &impl $crate::op::On<$t>, $($p: $kind),*) -> Result<()> {
            $($(let $made = $from;)*)?
            aclnn::$function($on, $($arg),*)
        }
    )*};
}
pub(super) use wrapped;
