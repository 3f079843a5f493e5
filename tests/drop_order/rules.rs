//! What has to hold for the order of C calls in the life of a program, whatever the program is.

use std::collections::{BTreeMap, BTreeSet};

use crate::clocks::Clocks;

/// A call, as far as the rules look at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) function: &'static str,
    pub(crate) thread: u64,
    pub(crate) given: Vec<usize>,
    pub(crate) gave: Option<usize>,
}

impl From<racl::mock::Call> for Line {
    fn from(call: racl::mock::Call) -> Self {
        assert_eq!(call.injected, None, "logs with failures have other rules");
        Self { function: call.function, thread: call.thread, given: call.given, gave: call.gave }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Context,
    Stream,
    Event,
    Notify,
    Graph,
    Memory,
    /// A binary, a model or a communicator, which work may use.
    Loaded,
    /// Descriptions of operators, which belong to no context.
    Described,
    Other,
}

/// What a function makes; what has no end of its own, such as a group of tasks, is nothing.
fn made_by(function: &str) -> Option<Kind> {
    Some(match function {
        "aclrtCreateContext" => Kind::Context,
        "aclrtCreateEventExWithFlag" | "aclrtCreateEventWithFlag" | "aclrtCreateEvent" => Kind::Event,
        "aclrtCreateNotify" | "aclrtCntNotifyCreate" => Kind::Notify,
        "aclmdlRICaptureEnd" | "aclmdlRIBuildBegin" => Kind::Graph,
        "aclrtMallocPhysical" | "aclrtCreateLabel" | "aclrtCreateLabelList" => Kind::Other,
        "aclrtReserveMemAddress" | "aclrtMemAllocManaged" | "aclrtIpcMemImportByKey" => Kind::Memory,
        _ if function.starts_with("aclmdlLoad") || function.starts_with("aclrtBinaryLoad") => Kind::Loaded,
        _ if function.starts_with("HcclCommInit") => Kind::Loaded,
        _ if function.starts_with("aclrtCreateStream") => Kind::Stream,
        _ if function.starts_with("aclrtMalloc") => Kind::Memory,
        _ if function.starts_with("aclCreate") || function.ends_with("GetWorkspaceSize") => Kind::Described,
        _ => return None,
    })
}

pub(crate) fn ends(function: &str) -> bool {
    let starts = ["aclrtDestroy", "aclDestroy", "aclrtFree", "aclrtRelease"];
    let more = ["aclmdlRIDestroy", "aclrtCntNotifyDestroy", "aclmdlUnload", "aclrtBinaryUnLoad", "HcclCommDestroy"];
    more.contains(&function)
        || function == "aclrtIpcMemClose"
        || starts.iter().any(|start| function.starts_with(start))
}

/// Whether a stream waits in it for nothing and is given nothing to do.
fn is_no_work(function: &str) -> bool {
    ["Synchronize", "Query", "Get", "Set", "Destroy", "CaptureBegin", "CaptureEnd", "CaptureThread"]
        .iter()
        .any(|part| function.contains(part))
}

#[derive(Debug)]
struct Thing {
    kind: Kind,
    context: usize,
    ended: bool,
}

/// A capture that is open, or a graph that is being built by hand.
#[derive(Debug, Default)]
struct Capture {
    graph: Option<usize>,
    streams: BTreeSet<usize>,
    has: BTreeSet<usize>,
}

#[derive(Debug, Default)]
pub(crate) struct Rules {
    things: BTreeMap<usize, Thing>,
    /// The current context of each thread; that of the device is 0.
    current: BTreeMap<u64, usize>,
    captures: Vec<Capture>,
    /// What graphs and executors use.
    uses: BTreeMap<usize, BTreeSet<usize>>,
    members: BTreeMap<usize, Vec<usize>>,
    repeatable: BTreeSet<usize>,
    /// Where physical memory is mapped.
    mapped: BTreeSet<usize>,
    /// Streams that graphs have for good.
    bound: BTreeMap<usize, BTreeSet<usize>>,
    clocks: Clocks,
    finalized: bool,
    broken: Vec<String>,
}

/// What in the log breaks a rule, in its order; nothing for a good one.
pub(crate) fn broken(log: &[Line]) -> Vec<String> {
    let mut rules = Rules::default();
    for (at, line) in log.iter().enumerate() {
        let before = rules.broken.len();
        rules.line(line);
        for text in &mut rules.broken[before..] {
            *text = format!("call {at}, {} {:x?}: {text}", line.function, line.given);
        }
    }
    rules.end();
    rules.broken
}

impl Rules {
    fn breaks(&mut self, text: impl Into<String>) {
        self.broken.push(text.into());
    }

    fn line(&mut self, line: &Line) {
        if self.finalized {
            self.breaks("a call behind the end of the library");
        }
        self.nothing_ended(line);
        match line.function {
            "aclrtSetDevice" => drop(self.current.insert(line.thread, 0)),
            "aclrtSetCurrentContext" => drop(self.current.insert(line.thread, line.given[0])),
            "aclrtResetDevice" | "aclrtResetDeviceForce" => self.nothing_lives_in(0),
            "aclFinalize" | "aclFinalizeReference" => self.finalize(),
            "aclmdlRICaptureBegin" => {
                self.captures.push(Capture { streams: [line.given[0]].into(), ..Capture::default() });
            }
            "aclmdlRICaptureEnd" => self.end_capture(line),
            "aclmdlRIBuildEnd" => self.end_build(line.given[0]),
            "aclmdlRIBindStream" => self.bind(line.given[0], line.given[1]),
            "aclmdlRIUnbindStream" => self.unbind(line.given[0], line.given[1]),
            "aclrtMapMem" => drop(self.mapped.insert(line.given[0])),
            "aclrtUnmapMem" => self.unmap(line.given[0]),
            "aclSetAclOpExecutorRepeatable" => drop(self.repeatable.insert(line.given[0])),
            _ => self.work(line),
        }
        if let (Some(kind), Some(made)) = (made_by(line.function), line.gave) {
            self.make(line, kind, made);
        }
        if let ("aclrtBinaryGetFunction" | "aclrtBinaryGetFunctionByEntry", Some(made)) = (line.function, line.gave) {
            self.uses.insert(made, [line.given[0]].into());
        }
        if ends(line.function) {
            self.destroy(line);
        }
    }

    /// The reserved addresses that an address is among.
    fn range_of(&self, address: usize) -> usize {
        let below = self.things.range(..=address).rev();
        below.map(|(at, thing)| (*at, thing.kind)).find(|(_, kind)| *kind == Kind::Memory).map_or(0, |(at, _)| at)
    }

    fn unmap(&mut self, address: usize) {
        if !self.mapped.remove(&address) {
            self.breaks(format!("nothing is mapped at {address:x}"));
        }
        self.nobody_uses(self.range_of(address));
    }

    fn nothing_ended(&mut self, line: &Line) {
        let ended = |one: &&usize| self.things.get(one).is_some_and(|thing| thing.ended);
        let used: Vec<usize> = line.given.iter().filter(ended).copied().collect();
        for one in used {
            let what = if ends(line.function) { "is destroyed again" } else { "is used after its destroy" };
            self.breaks(format!("{one:x} {what}"));
        }
    }

    fn make(&mut self, line: &Line, kind: Kind, made: usize) {
        if self.things.get(&made).is_some_and(|thing| !thing.ended) {
            self.breaks(format!("{made:x} is made while it lives"));
        }
        let context = self.current.get(&line.thread).copied().unwrap_or(0);
        if kind == Kind::Context {
            self.current.insert(line.thread, made);
        }
        self.clocks.forget(made);
        self.things.insert(made, Thing { kind, context, ended: false });
        if line.function.ends_with("GetWorkspaceSize") {
            self.uses.insert(made, line.given.iter().copied().collect());
        }
        if kind == Kind::Loaded {
            self.uses.insert(made, line.given.iter().copied().collect());
        }
        if line.function == "aclmdlRIBuildBegin" {
            self.captures.push(Capture { graph: Some(made), ..Capture::default() });
        }
        if line.function.ends_with("List") {
            self.members.insert(made, line.given.clone());
        }
    }

    fn work(&mut self, line: &Line) {
        match *line.given.as_slice() {
            [event, stream] if line.function.contains("RecordEvent") || line.function.contains("RecordNotify") => {
                self.recorded(event, stream);
            }
            [stream, event] if line.function.contains("StreamWaitEvent") => self.waits(stream, event),
            [notify, stream] if line.function.contains("WaitAndResetNotify") => self.waits(stream, notify),
            // What the answer of a query was is not in the log: it is taken for a yes.
            [one, ..] if line.function.contains("Synchronize") || line.function.contains("Query") => {
                self.clocks.host_sees(one);
            }
            [] if line.function.contains("SynchronizeDevice") => self.clocks.host_sees_all(),
            _ if !is_no_work(line.function) => self.submitted(line),
            _ => {}
        }
    }

    fn capture_of(&mut self, one: usize) -> Option<&mut Capture> {
        self.captures.iter_mut().find(|capture| capture.streams.contains(&one))
    }

    fn recorded(&mut self, event: usize, stream: usize) {
        match self.capture_of(stream) {
            Some(capture) => drop(capture.has.insert(event)),
            None => self.clocks.recorded(event, stream),
        }
    }

    fn waits(&mut self, stream: usize, event: usize) {
        let joined = self.captures.iter_mut().find(|capture| capture.has.contains(&event));
        match joined {
            Some(capture) => drop(capture.streams.insert(stream)),
            None => self.clocks.waits(stream, event),
        }
    }

    /// Work of a stream, or of none, with what it uses, also by an executor or a graph.
    fn submitted(&mut self, line: &Line) {
        let is = |one: &usize, kind| self.things.get(one).is_some_and(|thing| thing.kind == kind);
        let counts = |one: &&usize| [Kind::Memory, Kind::Graph, Kind::Loaded].iter().any(|kind| is(one, *kind));
        let Some(stream) = line.given.iter().rfind(|one| is(one, Kind::Stream)).copied() else { return };
        let mut used: BTreeSet<usize> = line.given.iter().filter(counts).copied().collect();
        used.extend(line.given.iter().filter_map(|one| self.uses.get(one)).flatten());
        match self.capture_of(stream) {
            Some(capture) => capture.has.extend(used),
            None => self.clocks.uses(stream, &used),
        }
        self.take_executor(line);
    }

    /// The second phase has an executor that is not repeatable.
    fn take_executor(&mut self, line: &Line) {
        let is_phase = line.function.starts_with("aclnn") && !line.function.ends_with("GetWorkspaceSize");
        if !is_phase || line.given.len() != 3 || self.repeatable.contains(&line.given[1]) {
            return;
        }
        if let Some(executor) = self.things.get_mut(&line.given[1]) {
            executor.ended = true;
        }
    }

    fn end_capture(&mut self, line: &Line) {
        let at = self.captures.iter().position(|capture| capture.streams.contains(&line.given[0]));
        let Some(at) = at else { return self.breaks("no capture is open on the stream") };
        let capture = self.captures.remove(at);
        if let Some(graph) = line.gave {
            self.uses.insert(graph, capture.has);
        }
    }

    fn bind(&mut self, graph: usize, stream: usize) {
        self.bound.entry(graph).or_default().insert(stream);
        if let Some(build) = self.captures.iter_mut().find(|capture| capture.graph == Some(graph)) {
            build.streams.insert(stream);
        }
    }

    fn end_build(&mut self, graph: usize) {
        let at = self.captures.iter().position(|capture| capture.graph == Some(graph));
        let Some(at) = at else { return self.breaks("nobody builds the graph") };
        let build = self.captures.remove(at);
        self.uses.insert(graph, build.has);
    }

    fn unbind(&mut self, graph: usize, stream: usize) {
        self.no_work_uses(graph);
        let was = self.bound.get_mut(&graph).is_some_and(|streams| streams.remove(&stream));
        if !was {
            self.breaks("the graph has no such stream");
        }
    }

    fn destroy(&mut self, line: &Line) {
        let Some(&one) = line.given.first() else { return };
        let Some(thing) = self.things.get_mut(&one) else {
            return self.breaks("nothing made it");
        };
        if thing.ended {
            return;
        }
        thing.ended = true;
        let kind = thing.kind;
        // Events may go: the graph works on (observed: event_destroy_in_capture).
        let has = |capture: &Capture| capture.streams.contains(&one) || capture.has.contains(&one);
        if kind != Kind::Event && self.captures.iter().any(has) {
            self.breaks(format!("{one:x} is destroyed while a capture has it"));
        }
        match kind {
            Kind::Context => self.nothing_lives_in(one),
            // It waits for what the stream has to do.
            Kind::Stream => self.stream_goes(one),
            Kind::Graph | Kind::Memory | Kind::Loaded => self.nobody_uses(one),
            _ => {}
        }
        // Physical memory may go before: it stays where it is mapped (guide: memory management, aclrtFreePhysical).
        if let Some(at) = self.mapped.iter().copied().find(|at| self.range_of(*at) == one) {
            self.breaks(format!("{at:x} is mapped still"));
        }
        for member in self.members.remove(&one).unwrap_or_default() {
            if let Some(thing) = self.things.get_mut(&member) {
                thing.ended = true;
            }
        }
    }

    fn stream_goes(&mut self, stream: usize) {
        let graphs = self.bound.iter().filter(|(_, streams)| streams.contains(&stream)).map(|(graph, _)| *graph);
        let live: Vec<_> = graphs.filter(|graph| self.lives(*graph)).collect();
        for graph in live {
            self.breaks(format!("the graph {graph:x} has the stream still"));
        }
        self.clocks.host_sees(stream);
    }

    fn no_work_uses(&mut self, one: usize) {
        for stream in self.clocks.unseen_users(one) {
            self.breaks(format!("the work of {stream:x} may still use {one:x}"));
        }
    }

    fn nobody_uses(&mut self, one: usize) {
        self.no_work_uses(one);
        let users = self.uses.iter().filter(|(_, used)| used.contains(&one)).map(|(user, _)| *user);
        let is_live =
            |user: &usize| self.lives(*user) && [Kind::Graph, Kind::Loaded].contains(&self.things[user].kind);
        let live: Vec<_> = users.filter(is_live).collect();
        for user in live {
            self.breaks(format!("{:?} {user:x} uses {one:x} still", self.things[&user].kind));
        }
    }

    fn lives(&self, one: usize) -> bool {
        self.things.get(&one).is_some_and(|thing| !thing.ended)
    }

    fn nothing_lives_in(&mut self, context: usize) {
        let inside = |thing: &Thing| match thing.kind {
            Kind::Described => false,
            // Contexts belong to the device, whatever was current.
            Kind::Context => context == 0,
            _ => thing.context == context,
        };
        let left = self.things.iter().filter(|(_, thing)| !thing.ended && inside(thing));
        let left: Vec<_> = left.map(|(one, thing)| format!("{:?} {one:x}", thing.kind)).collect();
        for one in left {
            self.breaks(format!("its {one} lives still"));
        }
    }

    fn finalize(&mut self) {
        self.finalized = true;
        if !self.captures.is_empty() {
            self.breaks("a capture is open");
        }
        let left: Vec<_> = self.things.iter().filter(|(_, thing)| !thing.ended).collect();
        let left: Vec<_> = left.iter().map(|(one, thing)| format!("{:?} {one:x}", thing.kind)).collect();
        for one in left {
            self.breaks(format!("{one} was not destroyed"));
        }
    }

    fn end(&mut self) {
        if !self.finalized {
            self.breaks("the library is not ended");
        }
    }
}
