//! The text form.

use std::fmt::{self, Write as _};

use crate::plan::Plan;
use crate::plan::checked::change::Change;
use crate::plan::recipe::function::Body;
use crate::plan::recipe::{Access, Mode, NodeKind, Recipe, StorageKind};

use super::attributes::attributes;
use super::{Names, checksum, class_name, show_value};

impl Plan {
    /// The plan as text, one line for each operator, made for reading and for diffs.
    ///
    /// First the version of the form, the symbols with their bounds, the streams with their priority, gates, inputs
    /// with their class, constants with their size and checksum (FNV-1a, 64 bits) and outputs; what
    /// [`Plan::optimise`] left out, unless the plan comes from a cache; then the work in the order of issue: stream,
    /// results, operator, operands, attributes. A value is its memory, type and shape, with offset and strides where
    /// it is a part or another view of its memory. What is done once, when an executable is made, has `once` in front
    /// ([`Passes::relaid_weights`](crate::plan::Passes::relaid_weights)). The plans of a choice stand between `if`,
    /// `switch` or `while`, which has the condition and what they may use, and `end`, with `case` in front of each
    /// further one.
    ///
    /// Operators have their names in C and are told numbers by the names of their parameters. They are counted by name
    /// (`aclnnMatmul.0`, `aclnnMatmul.1`), memory of the plan is named after the operator that writes it first
    /// (`%aclnnMatmul.0`), and an event without a tag after the operator that it follows (`@aclnnMatmul.0`), so that one
    /// operator more changes its own line and the numbers of its own kind. Names with unusual characters are
    /// in quotes and escaped. Nothing in the text depends on addresses, on the process or on the source lines.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2, 2], F32, Input::Copied)?;
    ///     let h = g.scope("side", |g| g.muls(x, 2.0))?;
    ///     g.join("side")?;
    ///     let y = g.add(h, x)?;
    ///     g.output("y", y)
    /// })?;
    /// let text = "\
    /// racl plan 1
    /// stream origin priority 0
    /// stream side priority 0
    /// input in:x f32[2, 2] copied
    /// output out:y f32[2, 2]
    ///
    /// origin: record @origin:start
    /// side: wait @origin:start
    /// side: %aclnnMuls.0 f32[2, 2] = aclnnMuls.0(in:x f32[2, 2]) {other=2.0}
    /// side: record @aclnnMuls.0
    /// origin: wait @aclnnMuls.0
    /// origin: out:y f32[2, 2] = aclnnAdd.0(%aclnnMuls.0 f32[2, 2], in:x f32[2, 2]) {alpha=1.0}
    /// ";
    /// assert_eq!(plan.to_text(), text);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[must_use]
    pub fn to_text(&self) -> String {
        Text::changed((&self.0.recipe, &self.0.bodies), &self.0.changes, false)
    }

    /// As [`Plan::to_text`], with the source line of each piece of work behind it.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::plan::{HostFunction, Plan};
    ///
    /// let plan = Plan::build(|g| g.host_function(&HostFunction::new("log", 1, |_| {})))?;
    /// assert!(plan.to_text_with_lines().lines().last().unwrap().contains("  // "));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[must_use]
    pub fn to_text_with_lines(&self) -> String {
        Text::changed((&self.0.recipe, &self.0.bodies), &self.0.changes, true)
    }
}

/// A line for what a pass left out.
fn write_change(out: &mut String, change: &Change, lines: bool) -> fmt::Result {
    let Change { pass, work, why, instead } = change;
    write!(out, "{pass}: {:?} of stream {:?} is gone, {why}", work.operator, work.stream)?;
    if let Some(instead) = instead {
        write!(out, " {:?} of stream {:?}", instead.operator, instead.stream)?;
    }
    if lines {
        write!(out, "  // {}", work.place.escape_debug())?;
    }
    if let Some(instead) = instead.as_ref().filter(|_| lines) {
        write!(out, ", {}", instead.place.escape_debug())?;
    }
    out.write_char('\n')
}

pub(super) struct Text<'a> {
    recipe: &'a Recipe,
    names: &'a Names,
}

impl<'a> Text<'a> {
    pub(super) fn new(recipe: &'a Recipe, names: &'a Names) -> Self {
        Self { recipe, names }
    }

    #[cfg(feature = "cache")]
    pub(super) fn of(recipe: &Recipe, bodies: &[Body], lines: bool) -> String {
        Self::changed((recipe, bodies), &[], lines)
    }

    fn changed((recipe, bodies): (&Recipe, &[Body]), changes: &[Change], lines: bool) -> String {
        let names = Names::of(recipe, bodies);
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = Text::new(recipe, &names).write(&mut out, changes, lines);
        out
    }

    fn write(&self, out: &mut String, changes: &[Change], lines: bool) -> fmt::Result {
        out.write_str("racl plan 1\n")?;
        self.header(out)?;
        self.memory(out)?;
        changes.iter().try_for_each(|change| write_change(out, change, lines))?;
        if !self.recipe.nodes.is_empty() {
            out.write_char('\n')?;
        }
        for index in 0..self.recipe.nodes.len() {
            out.write_str(&self.line(index))?;
            if lines {
                let place = self.recipe.places.show(self.recipe.nodes[index].place);
                write!(out, "  // {}", place.escape_debug())?;
            }
            out.write_char('\n')?;
        }
        for (storage, node) in &self.recipe.reserved {
            let (storage, node) = (&self.names.storages[*storage as usize], &self.names.nodes[*node as usize]);
            writeln!(out, "reserve {storage} until {node}")?;
        }
        Ok(())
    }

    fn header(&self, out: &mut String) -> fmt::Result {
        for (symbol, name) in self.recipe.symbols.iter().zip(&self.names.symbols) {
            writeln!(out, "symbol {name} {}..={}", symbol.least, symbol.greatest)?;
        }
        for (tag, name) in self.recipe.tags.iter().zip(&self.names.streams) {
            writeln!(out, "stream {name} priority {}", tag.priority)?;
        }
        for name in &self.names.externals {
            writeln!(out, "gate {name}")?;
        }
        match self.recipe.prefetch_cap {
            0 => Ok(()),
            cap => writeln!(out, "prefetch_cap {:?}", f64::from(cap) / 1000.0),
        }
    }

    fn memory(&self, out: &mut String) -> fmt::Result {
        let show = |value| show_value(self.recipe, self.names, value);
        for input in &self.recipe.inputs {
            writeln!(out, "input {} {}", show(input.value), class_name(input.class))?;
        }
        let mut next = 0;
        for (value, info) in self.recipe.values.iter().enumerate() {
            // The first value of a constant is all of it; views come later.
            if self.recipe.storages[info.storage as usize].kind == StorageKind::Constant(next) {
                let bytes = &self.recipe.constants[next as usize];
                next += 1;
                let (size, sum) = (bytes.len(), checksum(bytes));
                writeln!(out, "constant {} {size} bytes {sum:016x}", show(value as u32))?;
            }
        }
        for output in &self.recipe.outputs {
            let host = if output.host { " to_host" } else { "" };
            writeln!(out, "output {}{host}", show(output.value))?;
        }
        Ok(())
    }

    /// One piece of work, on one line.
    pub(super) fn line(&self, index: usize) -> String {
        let node = &self.recipe.nodes[index];
        let once = if self.recipe.is_once(node) { "once, " } else { "" };
        format!("{once}{}: {}", self.names.streams[usize::from(node.tag)], self.work(index))
    }

    fn work(&self, index: usize) -> String {
        let node = &self.recipe.nodes[index];
        let name = match node.kind {
            NodeKind::Record(event) => return format!("record {}", self.names.events[event as usize]),
            NodeKind::Wait(event) => return format!("wait {}", self.names.events[event as usize]),
            _ => &self.names.nodes[index],
        };
        if let NodeKind::ExternalWait(gate) | NodeKind::ExternalRecord(gate) = node.kind {
            return format!("{name} {}", self.names.externals[gate as usize]);
        }
        let accesses = self.recipe.accesses_of(node);
        let results = self.values(accesses, Mode::writes);
        let operands = self.values(accesses, |mode| !mode.only_writes());
        let arrow = if results.is_empty() { "" } else { " = " };
        let told: Vec<String> = attributes(self.recipe, self.names, node)
            .iter()
            .map(|(name, value)| format!("{name}={}", value.show()))
            .collect();
        let told = if told.is_empty() { String::new() } else { format!(" {{{}}}", told.join(", ")) };
        format!("{results}{arrow}{name}({operands}){told}")
    }

    fn values(&self, accesses: &[Access], which: impl Fn(Mode) -> bool) -> String {
        let values = accesses.iter().filter(|access| which(access.mode));
        values.map(|access| show_value(self.recipe, self.names, access.value)).collect::<Vec<_>>().join(", ")
    }
}
