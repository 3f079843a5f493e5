//! The form for Graphviz.

use std::fmt::{self, Write as _};

use crate::plan::Plan;
use crate::plan::recipe::{Node, NodeKind, Recipe, StorageKind};

use super::edges::{Source, data};
use super::text::Text;
use super::{Names, by_stream, show_value};

impl Plan {
    /// The plan for Graphviz: `dot -Tsvg plan.dot`.
    ///
    /// Each stream is a cluster, the origin first, with its work as a chain of solid edges in the order of the
    /// stream. Events are thick blue edges from the record to each wait, with the name of the event. Dashed grey
    /// edges are data: from the operators that wrote it, from inputs and constants, and to outputs. The tooltip of a
    /// node is its line in [`Plan::to_text`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2, 2], F32, Input::Copied)?;
    ///     let y = g.tanh(x)?;
    ///     g.output("y", y)
    /// })?;
    /// let dot = plan.to_dot();
    /// assert!(dot.starts_with("digraph plan {") && dot.contains("subgraph cluster_0 {"));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[must_use]
    pub fn to_dot(&self) -> String {
        let recipe = &self.0.recipe;
        let names = Names::of(recipe, &self.0.bodies);
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = Dot { recipe, names: &names }.write(&mut out);
        out
    }
}

struct Dot<'a> {
    recipe: &'a Recipe,
    names: &'a Names,
}

impl Dot<'_> {
    fn write(&self, out: &mut String) -> fmt::Result {
        out.write_str("digraph plan {\n  rankdir=TB;\n  bgcolor=white;\n  newrank=true;\n")?;
        out.write_str("  node [shape=box, style=filled, fillcolor=white, fontname=\"sans-serif\", fontsize=11];\n")?;
        out.write_str("  edge [fontname=\"sans-serif\", fontsize=9];\n")?;
        for (tag, nodes) in by_stream(self.recipe).into_iter().enumerate() {
            self.stream(out, tag, &nodes)?;
        }
        self.memory(out)?;
        self.events(out)?;
        self.data(out)?;
        out.write_str("}\n")
    }

    fn stream(&self, out: &mut String, tag: usize, nodes: &[usize]) -> fmt::Result {
        let (name, priority) = (&self.names.streams[tag], self.recipe.tags[tag].priority);
        writeln!(out, "  subgraph cluster_{tag} {{")?;
        writeln!(
            out,
            "    label={}; style=rounded; color=\"#8c959f\";",
            quote(&format!("{name} (priority {priority})"))
        )?;
        let text = Text::new(self.recipe, self.names);
        let mut last = None;
        for index in nodes {
            let node = &self.recipe.nodes[*index];
            let (label, tip, style) =
                (quote(&self.label(*index)), quote(&text.line(*index)), style(self.recipe, node));
            writeln!(out, "    n{index} [label={label}, tooltip={tip}{style}];")?;
            if let Some(last) = last {
                writeln!(out, "    n{last} -> n{index};")?;
            }
            last = Some(index);
        }
        out.write_str("  }\n")
    }

    fn label(&self, index: usize) -> String {
        let node = &self.recipe.nodes[index];
        let name = &self.names.nodes[index];
        let info = |function: u32| self.recipe.functions[function as usize].name();
        match node.kind {
            NodeKind::ExternalWait(gate) | NodeKind::ExternalRecord(gate) => {
                format!("{name} {}", self.names.externals[gate as usize])
            }
            NodeKind::Foreign(function) | NodeKind::Host(function) => {
                info(function).map_or_else(|| name.clone(), |function| format!("{name}\n{function:?}"))
            }
            _ => name.clone(),
        }
    }

    fn memory(&self, out: &mut String) -> fmt::Result {
        for (value, color) in self.ends() {
            let storage = self.recipe.storage_of(value);
            let label = quote(&show_value(self.recipe, self.names, value));
            writeln!(out, "  s{storage} [label={label}, shape=ellipse, fillcolor=\"{color}\"];")?;
        }
        Ok(())
    }

    /// Inputs, constants and outputs: a value of each, and its colour.
    fn ends(&self) -> impl Iterator<Item = (u32, &'static str)> {
        let mut seen = vec![false; self.recipe.storages.len()];
        (0..self.recipe.values.len() as u32).filter_map(move |value| {
            let storage = self.recipe.storage_of(value) as usize;
            let color = match self.recipe.storages[storage].kind {
                StorageKind::Temporary | StorageKind::Once => return None,
                StorageKind::Input(_) => "#ddf4ff",
                StorageKind::Constant(_) => "#eaeef2",
                StorageKind::Output(_) => "#dafbe1",
            };
            (!std::mem::replace(&mut seen[storage], true)).then_some((value, color))
        })
    }

    fn events(&self, out: &mut String) -> fmt::Result {
        for (index, node) in self.recipe.nodes.iter().enumerate() {
            let NodeKind::Wait(event) = node.kind else { continue };
            let Some(record) = self.names.records[event as usize] else { continue };
            let label = quote(&self.names.events[event as usize]);
            writeln!(out, "  n{record} -> n{index} [label={label}, color=\"#0969da\", penwidth=2];")?;
        }
        Ok(())
    }

    fn data(&self, out: &mut String) -> fmt::Result {
        let style = "style=dashed, color=\"#8c959f\"";
        for (source, node) in data(self.recipe) {
            match source {
                Source::Node(from) => writeln!(out, "  n{from} -> n{node} [{style}, constraint=false];")?,
                Source::Storage(from) => writeln!(out, "  s{from} -> n{node} [{style}];")?,
            }
        }
        for (index, node) in self.recipe.nodes.iter().enumerate() {
            for access in self.recipe.accesses_of(node).iter().filter(|access| access.mode.writes()) {
                let storage = self.recipe.storage_of(access.value);
                if let StorageKind::Output(_) = self.recipe.storages[storage as usize].kind {
                    writeln!(out, "  n{index} -> s{storage} [{style}];")?;
                }
            }
        }
        Ok(())
    }
}

fn style(recipe: &Recipe, node: &Node) -> &'static str {
    match node.kind {
        NodeKind::Foreign(_) if recipe.operator(node).is_some() => "",
        // Of calls and choices there is the work that they are.
        NodeKind::Call(_) | NodeKind::Choose(_) => "",
        NodeKind::Begin(_) | NodeKind::Case | NodeKind::End => ", shape=diamond, fillcolor=\"#ddf4ff\"",
        NodeKind::Foreign(_) => ", fillcolor=\"#fff8c5\"",
        NodeKind::Host(_) => ", shape=house, fillcolor=\"#ffebe9\"",
        NodeKind::Copy | NodeKind::FillBytes(_) | NodeKind::Upload(_) | NodeKind::Download(_) => {
            ", fillcolor=\"#eaeef2\""
        }
        NodeKind::Prefetch(_) => ", style=\"dashed,filled\", fillcolor=\"#fbefff\"",
        NodeKind::Record(_) | NodeKind::Wait(_) => ", shape=plain, fontcolor=\"#0969da\"",
        NodeKind::ExternalWait(_) | NodeKind::ExternalRecord(_) => ", shape=hexagon, fillcolor=\"#fff1e5\"",
    }
}

/// A quoted identifier. Backslashes are doubled, since labels would take them for escapes.
fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            // Labels know the entities of HTML.
            '&' => out.push_str("&amp;"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
