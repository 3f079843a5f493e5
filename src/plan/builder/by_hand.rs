//! Building without closures: for bindings to other languages, interpreters, and what reads plans from files.

use std::panic::Location;

use crate::error::Result;

use super::{Builder, Scope};

impl Builder {
    /// Opens a scope as [`Builder::scope_with`] does, which lasts until [`Builder::close_scope`].
    ///
    /// # Errors
    ///
    /// As [`Builder::scope_with`]. [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) comes at the end of a plan
    /// while one is open; the end of a closure's scope ends those that were opened in it.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Options, Plan, Scope};
    ///
    /// let g = Plan::builder(Options::new());
    /// let x = g.input("x", [4], F32, Input::Copied)?;
    /// g.open_scope("side", Scope::new())?;
    /// let y = g.muls(x, 2.0)?;
    /// g.close_scope()?;
    /// g.join("side")?;
    /// g.output("y", y)?;
    /// assert_eq!(Plan::finish(g)?.streams(), 2);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn open_scope(&self, tag: &str, options: Scope) -> Result<()> {
        self.state().open_scope(tag, options, true, Location::caller())
    }

    /// Ends the innermost scope.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) when none is open, or the innermost one is that of a
    /// closure, with which it ends.
    #[track_caller]
    pub fn close_scope(&self) -> Result<()> {
        self.state().close_scope()
    }

    /// Says where what follows comes from. Errors, lints and dumps name this place then, instead of the line of Rust
    /// that calls the builder: for code that records on behalf of other code, which knows lines of its own, or counts.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan};
    ///
    /// let refused = Plan::build(|g| {
    ///     let x = g.input("x", [4], F32, Input::Copied)?;
    ///     g.set_place("net.txt", 12);
    ///     let y = g.reshape(x, [3])?;
    ///     g.output("y", y)
    /// })
    /// .unwrap_err();
    /// assert!(refused.to_string().contains("net.txt:12"), "{refused}");
    /// ```
    pub fn set_place(&self, file: &str, line: u32) {
        self.state().set_place(file, line);
    }

    /// Exchanges all that two builders have recorded, with their options, events and values. So the builder that a
    /// closure is lent can be handed on to code that keeps builders of its own, and taken back. A scope with a closure
    /// that is open then ends with its closure, whichever builder has the recording by that time.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Options, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let own = Plan::builder(Options::new());
    ///     own.swap(g);
    ///     let x = own.input("x", [4], F32, Input::Copied)?;
    ///     own.output("y", own.abs(x)?)?;
    ///     own.swap(g);
    ///     Ok(())
    /// })?;
    /// assert_eq!(plan.operators(), 1);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn swap(&self, other: &Self) {
        if !std::ptr::eq(self, other) {
            std::mem::swap(&mut *self.state(), &mut *other.state());
        }
    }
}
