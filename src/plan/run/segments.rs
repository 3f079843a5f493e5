//! The graphs of a captured plan: one, or one for each piece of work between choices and for each arm, among which the
//! host decides: with a library that has no conditional graphs, and where an arm cannot be recorded.

use std::collections::HashSet;
use std::ops::Range;

use crate::error::{Error, ErrorKind, Result, ResultExt as _};
use crate::graph::{CaptureMode, Graph, GraphPool, HostView};
use crate::lock::say;
use crate::memory::Lent;
use crate::plan::recipe::choice::ChoiceKind;
use crate::plan::recipe::{NodeKind, ORIGIN, Recipe};
use crate::sort;
use crate::stream::Stream;

use super::choose::{Decider, Form, arm_of, chosen_arm};
use super::gate::Gates;
use super::issue::{At, Issue, piece_of};
use super::piece::{Pieces, Place};

/// What a run does, one behind the other.
pub(super) enum Part {
    Work(Segment),
    Choice { begin: u32, kind: ChoiceKind, arms: Vec<Vec<Self>> },
}

/// Work without choices: one graph.
pub(super) struct Segment {
    pub(super) nodes: Range<u32>,
    recorded: Recorded,
    /// Whether it is in an arm, all of which is on one stream.
    inside: bool,
}

enum Recorded {
    /// Not yet.
    No,
    Graph(usize),
    /// What the library said of an arm that it refuses.
    Refused(Error),
}

impl Segment {
    fn new(nodes: Range<u32>, inside: bool) -> Self {
        Self { nodes, recorded: Recorded::No, inside }
    }

    fn graph<'a>(&self, graphs: &'a mut [Graph]) -> Result<&'a mut Graph> {
        let graph = match &self.recorded {
            Recorded::Graph(graph) => graphs.get_mut(*graph),
            Recorded::Refused(error) => return Err(error.again()),
            Recorded::No => None,
        };
        graph.ok_or_else(|| Error::new(ErrorKind::Internal, "a piece of a plan without a graph"))
    }

    /// The streams that it forks to.
    pub(super) fn sides(&self, recipe: &Recipe) -> Vec<u16> {
        if self.inside {
            return Vec::new();
        }
        let mut tags: Vec<u16> = nodes(recipe, &self.nodes).iter().map(|node| node.tag).collect();
        sort::plain(&mut tags);
        tags.dedup();
        tags.retain(|tag| *tag != ORIGIN);
        tags
    }
}

fn nodes<'a>(recipe: &'a Recipe, range: &Range<u32>) -> &'a [crate::plan::recipe::Node] {
    &recipe.nodes[range.start as usize..range.end as usize]
}

/// Cuts a recipe at its choices.
struct Cut<'a> {
    recipe: &'a Recipe,
}

impl Cut<'_> {
    fn parts(&self, range: Range<u32>, inside: bool) -> Vec<Part> {
        let (mut parts, mut from, mut index) = (Vec::new(), range.start, range.start);
        while index < range.end {
            let NodeKind::Begin(kind) = self.recipe.nodes[index as usize].kind else {
                index += 1;
                continue;
            };
            parts.extend(self.segment(from..index, inside));
            let arms = self.recipe.arms(index);
            let begin = std::mem::replace(&mut index, arms.end + 1);
            from = index;
            let arms = arms.all.into_iter().map(|arm| self.parts(arm, true)).collect();
            parts.push(Part::Choice { begin, kind, arms });
        }
        parts.extend(self.segment(from..range.end, inside));
        parts
    }

    /// None where a graph would be empty.
    fn segment(&self, range: Range<u32>, inside: bool) -> Option<Part> {
        let works = |kind: NodeKind| !matches!(kind, NodeKind::Record(_) | NodeKind::Wait(_) | NodeKind::Upload(_));
        if !nodes(self.recipe, &range).iter().any(|node| works(node.kind) && !self.recipe.is_once(node)) {
            return None;
        }
        Some(Part::Work(Segment::new(range, inside)))
    }
}

/// What runs of a recipe do.
fn parts_of(recipe: &Recipe, form: Form) -> Vec<Part> {
    let all = 0..recipe.nodes.len() as u32;
    match form {
        Form::Segments => Cut { recipe }.parts(all, false),
        _ => vec![Part::Work(Segment::new(all, false))],
    }
}

/// The segments of a recipe in the order in which they stand.
pub(super) fn segments_of(recipe: &Recipe) -> Vec<Segment> {
    let mut all = Vec::new();
    take_segments(parts_of(recipe, Form::Segments), &mut all);
    all
}

fn take_segments(parts: Vec<Part>, all: &mut Vec<Segment>) {
    for part in parts {
        match part {
            Part::Work(segment) => all.push(segment),
            Part::Choice { arms, .. } => arms.into_iter().for_each(|arm| take_segments(arm, all)),
        }
    }
}

/// The graphs of a captured plan.
pub(super) struct Graphs {
    all: Vec<Graph>,
    parts: Vec<Part>,
}

impl Graphs {
    /// Records them one after the other on `origin`, which is the first stream of the work.
    pub(super) fn record(issue: &mut Issue<'_>, origin: &Stream, pool: &GraphPool, form: Form) -> Result<Self> {
        let mut parts = parts_of(issue.source.recipe, form);
        let mut graphs = Self { all: Vec::new(), parts: Vec::new() };
        graphs.record_parts(&mut parts, (issue, origin, pool), form)?;
        graphs.parts = parts;
        Ok(graphs)
    }

    fn record_parts(
        &mut self,
        parts: &mut [Part],
        (issue, origin, pool): (&mut Issue<'_>, &Stream, &GraphPool),
        form: Form,
    ) -> Result<()> {
        for part in parts {
            match part {
                Part::Work(segment) => match record(segment, (&mut *issue, origin, pool), form) {
                    Ok(graph) => {
                        segment.recorded = Recorded::Graph(self.all.len());
                        self.all.push(graph);
                    }
                    Err(error) if segment.inside && issue.is_refused(&error) => {
                        segment.recorded = Recorded::Refused(error);
                    }
                    Err(error) => return Err(error),
                },
                Part::Choice { begin, kind, arms } => {
                    let recipe = issue.source.recipe;
                    let count = arms.len();
                    for (index, arm) in arms.iter_mut().enumerate() {
                        let recorded = self.record_parts(arm, (&mut *issue, origin, pool), form);
                        let of = || format!("{}: {}", recipe.describe(*begin), arm_of(*kind, index, count));
                        recorded.context_with(of)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Launches what stands in front of the first choice: all of it where the graph chooses.
    pub(super) fn launch_first(&mut self, stream: &Stream, at: At) -> Result<()> {
        match self.parts.first() {
            Some(Part::Work(segment)) => segment.graph(&mut self.all)?.launch_at(stream, at),
            _ => Ok(()),
        }
    }

    /// Launches the rest, choice by choice. After a failure it gives the signals of what is left, as a whole run does.
    pub(super) fn launch_rest(&mut self, run: &mut Deciding<'_>) -> Result<()> {
        let first = usize::from(matches!(self.parts.first(), Some(Part::Work(_))));
        for index in first..self.parts.len() {
            if let Err(error) = run.launch(&mut self.all, &self.parts[index]) {
                self.give_up(index, run);
                return Err(error);
            }
        }
        Ok(())
    }

    /// In place of the rest, for a run that failed.
    pub(super) fn give_up_rest(&self, run: &Deciding<'_>) {
        self.give_up(usize::from(matches!(self.parts.first(), Some(Part::Work(_)))), run);
    }

    fn give_up(&self, from: usize, run: &Deciding<'_>) {
        let segments = self.parts[from..].iter().filter_map(|part| match part {
            Part::Work(segment) => Some(&segment.nodes),
            Part::Choice { .. } => None,
        });
        for node in segments.flat_map(|range| nodes(run.recipe, range)) {
            if let (NodeKind::ExternalRecord(gate), Some(gates)) = (node.kind, run.gates)
                && let Err(error) = gates.signal(gate as usize, run.stream, run.at)
            {
                say!(Warn, "after a run that failed: {error}");
            }
        }
    }

    /// Whether a run launches more than what stands in front.
    pub(super) fn have_choices(&self) -> bool {
        self.parts.len() > 1
    }

    /// Whether there is nothing to wait for and to report.
    pub(super) fn is_settled(&self) -> bool {
        self.all.iter().all(Graph::is_settled)
    }

    /// Whether the last launches are over soon. Failures are told as those of drops.
    pub(super) fn ends_soon(&self) -> bool {
        self.all.iter().all(Graph::ends_soon)
    }

    /// A launch that does not end.
    pub(super) fn hanging(&self) -> Option<String> {
        self.all.iter().find_map(Graph::hanging)
    }

    /// A pinned buffer that one of them has, once all launches are over.
    pub(super) fn host(&mut self, lent: &Lent<u8>) -> Result<HostView<'_, u8>> {
        let owner = self.all.iter().position(|graph| graph.has(lent));
        let owner = owner.ok_or_else(|| Error::new(ErrorKind::Internal, "host memory that no graph has"))?;
        let mut others = self.all.iter_mut().enumerate().filter(|(index, _)| *index != owner);
        others.try_for_each(|(_, graph)| graph.wait_over())?;
        self.all[owner].host(lent)
    }
}

/// A run in which the host decides.
pub(super) struct Deciding<'a> {
    /// Without symbols.
    pub(super) recipe: &'a Recipe,
    pub(super) places: &'a [Place],
    pub(super) pieces: &'a Pieces,
    pub(super) gates: Option<&'a Gates>,
    pub(super) decider: &'a mut Decider,
    pub(super) stream: &'a Stream,
    pub(super) at: At,
}

impl Deciding<'_> {
    fn launch(&mut self, graphs: &mut [Graph], part: &Part) -> Result<()> {
        let (begin, kind, arms) = match part {
            Part::Work(segment) => return segment.graph(graphs)?.launch_at(self.stream, self.at),
            Part::Choice { begin, kind, arms } => (*begin, *kind, arms),
        };
        let condition = self.recipe.accesses_of(&self.recipe.nodes[begin as usize])[0];
        let condition = piece_of(self.places, self.pieces, condition.value)?;
        let mut rounds = 0;
        while !kind.is_spent(rounds) {
            let number = self.decider.number(&condition, self.stream).context_with(|| self.recipe.describe(begin))?;
            let Some(arm) = kind.arm(number, arms.len()) else { return Ok(()) };
            let of = || format!("{}: {}", self.recipe.describe(begin), chosen_arm(kind, arm, arms.len()));
            // Before any work of the arm.
            for part in &arms[arm] {
                if let Part::Work(segment) = part {
                    segment.graph(graphs).map(drop).context_with(of)?;
                }
            }
            arms[arm].iter().try_for_each(|part| self.launch(graphs, part))?;
            rounds = rounds.saturating_add(1);
        }
        Ok(())
    }
}

/// Records a segment as a graph.
fn record(
    segment: &Segment,
    (issue, origin, pool): (&mut Issue<'_>, &Stream, &GraphPool),
    form: Form,
) -> Result<Graph> {
    let capture = origin.begin_capture_in(CaptureMode::ThreadLocal, pool)?;
    match form {
        Form::Segments => issue.segment(segment, origin)?,
        _ => issue.all()?,
    }
    capture.finish()
}

impl Issue<'_> {
    /// Whether what failed last is an operator of the library that refused what it was given, of a plan whose sizes are
    /// those of each run: one that chooses another arm does without it.
    pub(super) fn is_refused(&self, error: &Error) -> bool {
        let node = self.next.checked_sub(1).and_then(|node| self.source.recipe.nodes.get(node));
        let plan = self.source.plan;
        // Where an object of the library could not be made there is no code.
        error.kind() == ErrorKind::OperatorArgument
            && error.code().is_some()
            && !plan.recipe.symbols.is_empty()
            && matches!(node.map(|node| node.kind), Some(NodeKind::Foreign(function)) if plan.operator(function).is_some())
    }

    /// The same of an arm, of which the host may choose another one.
    pub(super) fn is_arm_refused(&self, error: &Error) -> bool {
        let deep = |deep: i32, kind: NodeKind| match kind {
            NodeKind::Begin(_) => deep + 1,
            NodeKind::End => deep - 1,
            _ => deep,
        };
        let before = self.source.recipe.nodes.iter().take(self.next);
        before.fold(0, |known, node| deep(known, node.kind)) > 0 && self.is_refused(error)
    }

    /// Issues a segment to a capture of its own: streams fork from the origin, and lead back to it. What earlier
    /// segments did is done.
    fn segment(&mut self, segment: &Segment, origin: &Stream) -> Result<()> {
        if segment.inside {
            return self.range(segment.nodes.clone(), Some(origin));
        }
        let streams = self.streams;
        let sides = segment.sides(self.source.recipe);
        sides.iter().try_for_each(|tag| origin.fork(&streams[usize::from(*tag)]))?;
        self.recorded = Some(HashSet::new());
        self.range(segment.nodes.clone(), None)?;
        sides.iter().try_for_each(|tag| origin.join(&streams[usize::from(*tag)]))
    }
}
