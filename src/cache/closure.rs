//! What is known of a closure that builds a plan, without calling it.

use std::any::{TypeId, type_name};
use std::marker::PhantomData;

use super::{Func, Origin};
use crate::lock::say;

/// The closure of a compilation.
#[derive(Debug, Clone)]
pub(super) struct Closure {
    /// Of code that is in the same file, be it the executable or a library.
    pub(super) address: usize,
    /// Names the type. Closures have types of their own; two of one function share the readable half.
    pub(super) identity: String,
    /// Size of what it captures.
    captured: usize,
}

impl Closure {
    pub(super) fn of<F>() -> Self {
        fn here<F>() {}
        let code: fn() = here::<F>;
        let identity = format!("{} {:?}", type_name::<F>(), type_id::<F>());
        Self { address: code as usize, identity, captured: size_of::<F>() }
    }

    pub(super) fn told(origin: Origin<'_>) -> Self {
        let Origin { code, identity, captured } = origin;
        Self { address: code.addr(), identity: format!("told {identity:?}"), captured }
    }
}

/// The identity of a type that may borrow; that of all its lifetimes.
fn type_id<T>() -> TypeId {
    trait Identity {
        fn of(&self) -> TypeId
        where
            Self: 'static;
    }
    impl<T> Identity for PhantomData<T> {
        fn of(&self) -> TypeId
        where
            Self: 'static,
        {
            TypeId::of::<T>()
        }
    }
    let marker = PhantomData::<T>;
    let short: &dyn Identity = &marker;
    // SAFETY: only the bound of the trait object changes, which is no part of its layout. The call reads no `T`, and
    // nothing that borrows leaves it.
    let long: &(dyn Identity + 'static) = unsafe { std::mem::transmute(short) };
    long.of()
}

impl Func {
    /// Whether the key covers what the closure captures, as far as anybody has told.
    pub(super) fn knows_captures(&self, closure: &Closure) -> bool {
        closure.captured == 0 || self.ignores_captures || !self.parts.is_empty()
    }

    /// Says once that the closure may depend on something that the key cannot see.
    pub(super) fn warn_of_captures(&self, closure: &Closure) {
        if self.knows_captures(closure) {
            return;
        }
        let text = format!(
            "the closure of {:?} captures {} bytes, of which the key knows nothing: a start with other values may \
             load this plan; part() tells what the plan depends on, ignore_captures() that it is none of that",
            self.name, closure.captured
        );
        if self.cache.0.traces.is_new(&self.name, &text) {
            say!(Warn, "compile cache: {text}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<F: Fn() -> usize>(_: &F) -> Closure {
        Closure::of::<F>()
    }

    fn sized<const N: usize>() -> Closure {
        of(&|| N)
    }

    #[test]
    fn two_closures_of_one_function_are_told_apart() {
        let (a, b) = (|| 1, || 2);
        assert_ne!(of(&a).identity, of(&b).identity);
        assert_eq!(of(&a).identity, of(&a).identity);
        assert!(of(&a).identity.contains("two_closures_of_one_function"), "{}", of(&a).identity);
        assert_ne!(sized::<1>().identity, sized::<2>().identity);
        assert_eq!(sized::<1>().identity, sized::<1>().identity);
    }

    #[test]
    fn what_a_closure_captures_is_counted_and_its_lifetime_does_not_matter() {
        let identity = |text: &str| of(&|| text.len()).identity;
        let local = String::from("x");
        assert_eq!(identity("a"), identity(&local));
        assert_eq!((of(&|| 1).captured, of(&move || local.len()).captured), (0, size_of::<String>()));
    }
}
