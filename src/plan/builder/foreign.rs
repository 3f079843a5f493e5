//! Foreign operators and host functions in a plan.

use std::panic::Location;

use crate::error::Result;
use crate::plan::check::finding::FindingKind;
use crate::plan::recipe::function::{Body, Foreign, HostFunction};
use crate::plan::recipe::{FunctionInfo, NodeKind, StorageKind};

use super::{At, Builder, Used, Value};

impl Builder {
    /// Issues a foreign operator that reads and writes the bytes of these values; one that is in both lists is read
    /// and written. [`Builder::bytes`] gives a part of a value.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a value of another plan, a constant to write,
    /// and an operator with an empty name.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Foreign, Input, Plan, Simulated};
    ///
    /// let copy = Foreign::new("mine.copy", 1, |launch| {
    ///     // A launch on launch.stream() from launch.address(0) to launch.address(1).
    ///     Ok(())
    /// })
    /// .simulated(|reads, writes| writes[0].copy_from_slice(&reads[0]));
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Copied)?;
    ///     let y = g.empty([2], F32)?;
    ///     g.foreign(&copy, &[x], &[y])?;
    ///     g.output("y", y)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 4.0], [2])?;
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [1.0, 4.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtLaunchKernel")]
    #[track_caller]
    pub fn foreign(&mut self, operator: &Foreign, reads: &[Value], writes: &[Value]) -> Result<()> {
        let at = Location::caller();
        for value in reads.iter().chain(writes) {
            self.check(*value, "foreign operator", at)?;
        }
        if writes.iter().any(|value| self.is_constant(*value)) {
            return self.wrong(FindingKind::Operand, at, "a foreign operator that writes a constant");
        }
        self.check_function(&operator.info(), "foreign operator", at)?;
        let uses: Vec<Used> = reads
            .iter()
            .map(|value| Self::read(*value))
            .chain(writes.iter().map(|value| Self::write(*value)))
            .collect();
        let function = self.function(operator.info(), Body::Foreign(operator.body.clone()));
        let node = self.emit(NodeKind::Foreign(function), &uses, at)?;
        self.lint_unnamed(function, node, at);
        Ok(())
    }

    /// Issues a function that runs on the host when the stream gets there.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a function with an empty name, and in a plan of
    /// more than 2³² operators.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// use racl::plan::{Frozen, HostFunction, Plan};
    ///
    /// let steps = Arc::new(AtomicU32::new(0));
    /// let count = Arc::clone(&steps);
    /// let count = HostFunction::new("mine.count", 1, move |by| {
    ///     count.fetch_add(by[0].into(), Ordering::Relaxed);
    /// })
    /// .attributes([2]);
    /// let plan = Plan::build(|g| g.host_function(&count))?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// exe.run(&stream, &mut exe.bindings())?;
    /// stream.synchronize()?;
    /// assert_eq!(steps.load(Ordering::Relaxed), 2);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtLaunchHostFunc")]
    #[track_caller]
    pub fn host_function(&mut self, function: &HostFunction) -> Result<()> {
        let at = Location::caller();
        self.check_function(&function.info(), "host function", at)?;
        let index = self.function(function.info(), Body::Host(function.body.clone()));
        let node = self.emit(NodeKind::Host(index), &[], at)?;
        self.lint_unnamed(index, node, at);
        Ok(())
    }

    fn check_function(&self, info: &FunctionInfo, what: &str, at: At) -> Result<()> {
        match info.name.as_deref() {
            Some("") => self.wrong(
                FindingKind::Name,
                at,
                format_args!("a {what} with an empty name; unnamed makes one without"),
            ),
            _ => Ok(()),
        }
    }

    fn is_constant(&self, value: Value) -> bool {
        let storage = self.recipe.storage_of(value.index);
        matches!(self.recipe.storages[storage as usize].kind, StorageKind::Constant(_))
    }

    fn function(&mut self, info: FunctionInfo, body: Body) -> u32 {
        let last = self.recipe.functions.last();
        if last.is_some_and(|last| last.name.is_some() && *last == info) && same_body(self.bodies.last(), &body) {
            return self.recipe.functions.len() as u32 - 1;
        }
        self.recipe.functions.push(info);
        self.bodies.push(body);
        self.recipe.functions.len() as u32 - 1
    }

    fn lint_unnamed(&mut self, function: u32, node: u32, at: At) {
        if self.recipe.functions[function as usize].name.is_some() {
            return;
        }
        self.lint(FindingKind::Unnamed, &[node], move |_, _| {
            let (file, line) = (at.file(), at.line());
            format!(
                "the closure at {file}:{line} has no name, so the plan cannot be stored; Foreign::new and \
                 HostFunction::new give one"
            )
        });
    }
}

fn same_body(last: Option<&Body>, body: &Body) -> bool {
    match (last, body) {
        (Some(Body::Foreign(a)), Body::Foreign(b)) => std::sync::Arc::ptr_eq(&a.launch, &b.launch),
        (Some(Body::Host(a)), Body::Host(b)) => std::sync::Arc::ptr_eq(a, b),
        _ => false,
    }
}
