//! The form for programs.

use crate::error::Result;
use crate::plan::Plan;
use crate::plan::memory::{ALIGNMENT, MemoryPlan};
use crate::plan::recipe::layout::Extent;
use crate::plan::recipe::{Access, Node, NodeKind, Recipe, StorageKind};

use super::arena::temporaries;
use super::attributes::{Attribute, attributes};
use super::writer::Json;
use super::{Names, checksum, class_name, dtype_name, kind_name, mode_name, show_extent, what};

impl Plan {
    /// The plan as JSON, with its memory plan: for a dynamic plan with these values of its symbols, in the order in
    /// which they were made; other plans have none.
    ///
    /// One object. All indices count from 0; "node" is a place in `nodes`, which is the order of issue. A *size* is a
    /// number, or text such as `"4*tokens+8"` where it depends on symbols, whose names are in quotes when they have
    /// unusual characters. Numbers above 2⁵³ are written exactly.
    ///
    /// - `format`: `"racl.plan"`. `version`: 1; another number when the meaning of a field changes or one goes away.
    /// - `symbols`: `name`, `least`, `greatest`, `value` (the one that was given).
    /// - `streams`: `name`, `priority`. The first is the origin.
    /// - `events`: `name` (its tag, or null), `label` (the name in [`Plan::to_text`]), `record` (node), `waits`
    ///   (nodes).
    /// - `gates`: names of external gates.
    /// - `prefetch_cap`: share of the L2 cache, or null.
    /// - `inputs`: `name`, `class` (`frozen`, `static`, `copied`, `tracked recapture`, `tracked fail`, `updatable` or
    ///   `host`), `value` (index).
    /// - `outputs`: `name`, `value` (index), `to_host` (flag).
    /// - `constants`: `bytes`, `checksum` (FNV-1a of 64 bits, 16 hexadecimal digits).
    /// - `functions`: `kind` (`operator`, `foreign` or `host`), `name` or null, `version`, `attributes` (hexadecimal
    ///   digits), `needs_cube` and `needs_vector` (cores; 0 where nothing was said).
    /// - `storages`: `kind` (`temporary`, `input`, `output`, `constant`, or `once` of what the work writes that is done
    ///   once, when an executable is made), `index` (of the input, output or constant, else null), `label` (the name in
    ///   [`Plan::to_text`]), `bytes` (size).
    /// - `values`: `storage` (index), `offset` (size, in bytes), `dtype`, `shape` (sizes), `strides` (sizes, in
    ///   elements), `dense` (flag).
    /// - `nodes`: `stream` (index), `kind` (`op`, `foreign`, `host`, `copy_bytes`, `fill_bytes`, `prefetch`,
    ///   `record`, `wait`, `wait_external`, `record_external`, `upload`, `download`, or of a choice `if`, `switch` or
    ///   `while` in front of its plans, `case` between two and `end` behind them), `name` (of the operator in C, else
    ///   the kind), `label` (the name in [`Plan::to_text`]), `of` (index of the function, event, gate, input or
    ///   output that the kind speaks of, else null), `attributes` (an object, of operators what they are told by
    ///   the names of their parameters; floats that are no numbers are text: `"NaN"`, `"inf"`, `"-inf"`; `max_bytes` is
    ///   `"all"` when nothing is left out), `accesses`
    ///   (`value` (index), `mode`: `read`, `write`, `read_write`, `touch`
    ///   or `clobber`, a result that is not wanted), `source` (file and line).
    /// - `reserved`: `storage` (index), `until` (node): what
    ///   [`Builder::record_stream`](crate::plan::Builder::record_stream) keeps.
    /// - `memory`: `alignment`, `arena` (bytes), `sum` (bytes of all temporaries without sharing), `lower_bound` (the
    ///   largest set that is live at once in the order of issue), all with padding.
    /// - `temporaries`: `storage` (index), `offset` (in the arena), `bytes`, `padded_bytes`, `first` and `last`
    ///   (nodes: first and last use, reservations included).
    ///
    /// # Errors
    ///
    /// As [`Plan::memory`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Dim, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let n = g.symbol("n", 1..=64)?;
    ///     let x = g.input("x", [n, Dim::from(4)], F32, Input::Copied)?;
    ///     let y = g.tanh(x)?;
    ///     g.output("y", y)
    /// })?;
    /// let json = plan.to_json(&[16])?;
    /// assert!(json.contains(r#""shape": ["n", 4]"#));
    /// assert!(plan.to_json(&[]).is_err());
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn to_json(&self, symbols: &[usize]) -> Result<String> {
        let (fixed, memory) = self.specialise(symbols)?;
        let recipe = &self.0.recipe;
        let names = Names::of(recipe, &self.0.bodies);
        let dump = Dump { recipe, names: &names };
        Ok(Json::object(|json| {
            json.text("format", "racl.plan");
            json.count("version", 1_u8);
            dump.interface(json, symbols);
            dump.streams(json);
            dump.contents(json);
            dump.values(json);
            json.objects("nodes", 0..recipe.nodes.len(), |json, index| dump.node(json, index));
            json.objects("reserved", &recipe.reserved, |json, (storage, node)| {
                json.count("storage", *storage);
                json.count("until", *node);
            });
            self.memory_plan(json, &fixed, &memory);
        }))
    }

    fn memory_plan(&self, json: &mut Json, fixed: &Recipe, memory: &MemoryPlan) {
        json.nested("memory", |json| {
            json.count("alignment", ALIGNMENT);
            json.count("arena", memory.peak);
            json.count("sum", memory.sum);
            json.count("lower_bound", memory.bound);
        });
        json.objects("temporaries", temporaries(fixed, &self.0.uses, memory), |json, one| {
            json.count("storage", one.storage);
            json.count("offset", one.offset);
            json.count("bytes", fixed.storages[one.storage as usize].bytes.as_fixed().unwrap_or(0));
            json.count("padded_bytes", one.bytes);
            json.count("first", one.nodes.iter().copied().min().unwrap_or(0));
            json.count("last", one.nodes.iter().copied().max().unwrap_or(0));
        });
    }
}

struct Dump<'a> {
    recipe: &'a Recipe,
    names: &'a Names,
}

impl Dump<'_> {
    fn interface(&self, json: &mut Json, values: &[usize]) {
        json.objects("symbols", self.recipe.symbols.iter().zip(values), |json, (symbol, value)| {
            json.text("name", &symbol.name);
            json.count("least", symbol.least);
            json.count("greatest", symbol.greatest);
            json.count("value", *value as u64);
        });
        json.objects("inputs", &self.recipe.inputs, |json, input| {
            json.text("name", &input.name);
            json.text("class", class_name(input.class));
            json.count("value", input.value);
        });
        json.objects("outputs", &self.recipe.outputs, |json, output| {
            json.text("name", &output.name);
            json.count("value", output.value);
            json.flag("to_host", output.host);
        });
    }

    fn streams(&self, json: &mut Json) {
        json.objects("streams", &self.recipe.tags, |json, tag| {
            json.text("name", &tag.name);
            json.count("priority", tag.priority);
        });
        let mut waits = vec![Vec::new(); self.recipe.events.len()];
        for (index, node) in self.recipe.nodes.iter().enumerate() {
            if let NodeKind::Wait(event) = node.kind {
                waits[event as usize].push(index as u64);
            }
        }
        let events = self.recipe.events.iter().zip(&self.names.events).zip(&self.names.records).zip(waits);
        json.objects("events", events, |json, (((event, label), record), waits)| {
            text_or_null(json, "name", event.name.as_deref());
            json.text("label", label);
            count_or_null(json, "record", *record);
            json.array("waits", waits, Json::bare);
        });
        json.array("gates", &self.recipe.externals, |json, name| json.quote(name));
        match self.recipe.prefetch_cap {
            0 => json.null("prefetch_cap"),
            cap => json.float("prefetch_cap", f64::from(cap) / 1000.0),
        }
    }

    fn contents(&self, json: &mut Json) {
        json.objects("constants", &self.recipe.constants, |json, bytes| {
            json.count("bytes", bytes.len() as u64);
            json.text("checksum", &format!("{:016x}", checksum(bytes)));
        });
        json.objects("functions", &self.recipe.functions, |json, info| {
            json.text(
                "kind",
                match info.kind() {
                    crate::plan::recipe::FunctionKind::Foreign => "foreign",
                    crate::plan::recipe::FunctionKind::Host => "host",
                    crate::plan::recipe::FunctionKind::Operator => "operator",
                },
            );
            text_or_null(json, "name", info.name());
            json.count("version", info.version());
            json.text("attributes", &hex(&info.attributes()));
            json.count("needs_cube", info.needs().cube);
            json.count("needs_vector", info.needs().vector);
        });
    }

    fn values(&self, json: &mut Json) {
        json.objects("storages", self.recipe.storages.iter().zip(&self.names.storages), |json, (storage, label)| {
            let (kind, index) = match storage.kind {
                StorageKind::Temporary => ("temporary", None),
                StorageKind::Input(index) => ("input", Some(index)),
                StorageKind::Output(index) => ("output", Some(index)),
                StorageKind::Constant(index) => ("constant", Some(index)),
                StorageKind::Once => ("once", None),
            };
            json.text("kind", kind);
            count_or_null(json, "index", index);
            json.text("label", label);
            self.size(json, "bytes", &storage.bytes);
        });
        json.objects("values", 0..self.recipe.values.len() as u32, |json, value| {
            let (info, layout) = (&self.recipe.values[value as usize], self.recipe.layout_of(value));
            json.count("storage", info.storage);
            self.size(json, "offset", &info.offset);
            json.text("dtype", dtype_name(layout.dtype));
            json.array("shape", &layout.dims, |json, dim| match dim.as_fixed() {
                Some(number) => json.bare(number as u64),
                None => json.quote(&dim.show(&self.names.symbols)),
            });
            json.array("strides", &layout.strides, |json, stride| match stride {
                Extent::Fixed(number) => json.bare(*number),
                Extent::Symbolic(_) => json.quote(&show_extent(stride, &self.names.symbols)),
            });
            json.flag("dense", layout.is_dense());
        });
    }

    fn size(&self, json: &mut Json, key: &str, size: &Extent) {
        match size {
            Extent::Fixed(number) => json.count(key, *number),
            Extent::Symbolic(_) => json.text(key, &show_extent(size, &self.names.symbols)),
        }
    }

    fn node(&self, json: &mut Json, index: usize) {
        let node = &self.recipe.nodes[index];
        json.count("stream", node.tag);
        json.text("kind", kind_name(self.recipe, node));
        json.text("name", what(self.recipe, node));
        json.text("label", &self.names.nodes[index]);
        count_or_null(json, "of", subject(node));
        json.nested("attributes", |json| {
            attributes(self.recipe, self.names, node)
                .into_iter()
                .for_each(|(name, value)| attribute(json, name, &value));
        });
        json.objects("accesses", self.recipe.accesses_of(node), |json, Access { value, mode }| {
            json.count("value", *value);
            json.text("mode", mode_name(*mode));
        });
        json.text("source", &self.recipe.places.show(node.place));
    }
}

fn subject(node: &Node) -> Option<u32> {
    match node.kind {
        NodeKind::Foreign(index)
        | NodeKind::Host(index)
        | NodeKind::Record(index)
        | NodeKind::Wait(index)
        | NodeKind::ExternalWait(index)
        | NodeKind::ExternalRecord(index)
        | NodeKind::Upload(index)
        | NodeKind::Download(index)
        | NodeKind::Call(index)
        | NodeKind::Choose(index) => Some(index),
        NodeKind::Copy | NodeKind::FillBytes(_) | NodeKind::Prefetch(_) => None,
        NodeKind::Begin(_) | NodeKind::Case | NodeKind::End => None,
    }
}

fn attribute(json: &mut Json, name: &str, value: &Attribute<'_>) {
    match value {
        Attribute::Float(value) => json.float(name, *value),
        Attribute::Int(value) => json.int(name, *value),
        Attribute::Count(value) => json.count(name, *value),
        Attribute::Flag(value) => json.flag(name, *value),
        Attribute::Word(word) => json.text(name, word),
        Attribute::List(items) => json.array(name, items.iter(), |json, item| json.bare_int(*item)),
        Attribute::Bytes(bytes) => json.text(name, &hex(bytes)),
        Attribute::Name(text) => json.text(name, text),
        Attribute::Text(text) | Attribute::Plain(text) => json.text(name, text),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn count_or_null(json: &mut Json, key: &str, value: Option<u32>) {
    match value {
        Some(value) => json.count(key, value),
        None => json.null(key),
    }
}

fn text_or_null(json: &mut Json, key: &str, text: Option<&str>) {
    match text {
        Some(text) => json.text(key, text),
        None => json.null(key),
    }
}
