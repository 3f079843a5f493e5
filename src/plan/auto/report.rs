//! What was chosen, and why.

use std::fmt;
use std::time::Duration;

use crate::plan::checked::change::Work;
use crate::plan::recipe::Cores;
use crate::sort;

/// What [`Plan::overlap`](crate::plan::Plan::overlap) chose for a plan, with the numbers behind it, and what it left.
///
/// Times are those of the model that the [module](super) describes, never measured ones. Displayed it is a table, one
/// line for each choice, and one for each reason of what was left.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Work that is beside other work now, in the order of issue.
    pub moved: Vec<Moved>,
    /// Weights that are prefetched, in the order of the work that reads them.
    pub prefetched: Vec<Prefetched>,
    /// Weights that are not prefetched, in the order of the work that reads them.
    pub unfetched: Vec<Unfetched>,
    /// Why other work is not moved and other weights are not prefetched, with how often that is so; most first.
    pub left: Vec<(Reason, usize)>,
    /// How long a run of the plan takes as it was, in the model; of a plan with streams of its own, how long all of it
    /// takes on one.
    pub before: Duration,
    /// How long a run of the new plan takes, in the model. Never longer.
    pub after: Duration,
    /// Bytes of the arena of the plan as it was, and of the new one: temporaries of work that overlaps have places of
    /// their own.
    pub arena: (u64, u64),
    /// Bytes of L2 that prefetches and the work beside them may use together.
    pub l2_budget: u64,
}

/// Work that runs beside other work, on a stream of its own or of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moved {
    /// The work, in the new plan.
    pub work: Work,
    /// The cores that it takes in the model.
    pub cores: Cores,
    /// How long it takes in the model.
    pub time: Duration,
    /// Of the work on other streams that runs at the same time in the model that which does so longest, with its cores;
    /// if there is some.
    pub beside: Option<(Work, Cores)>,
    /// How much sooner it ends than in the plan as it was, in the model.
    pub sooner: Duration,
}

/// A weight that is prefetched.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prefetched {
    /// The work that reads it, in the new plan.
    pub reader: Work,
    /// The name of the input; none for a constant.
    pub weight: Option<String>,
    /// Bytes that are prefetched: the first ones, when not all.
    pub bytes: u64,
    /// Bytes of the weight.
    pub whole: u64,
    /// The work behind which the prefetch starts; none for the start of the plan.
    pub behind: Option<Work>,
    /// Bytes that memory could move in that time beside what work moves, in the model.
    pub idle: u64,
    /// Bytes that are in L2 for the same work already.
    pub held: u64,
    /// How long the work takes in the model, without and with the prefetch.
    pub times: (Duration, Duration),
}

/// A weight that is not prefetched for some work.
///
/// # Examples
///
/// ```
/// use racl::op::DataType::{F16, I64};
/// use racl::plan::auto::{Auto, Reason, Target};
/// use racl::plan::{Input, Plan};
///
/// let plan = Plan::build(|g| {
///     let rows = g.input("rows", [8], I64, Input::Copied)?;
///     let table = g.input("table", [32000, 512], F16, Input::Frozen)?;
///     g.output("y", g.embedding(table, rows)?)
/// })?;
/// let report = plan.overlap(&Auto::new(Target::new(192 << 20, 24, 48)?))?.report;
/// let [left] = &report.unfetched[..] else { panic!("{report}") };
/// assert_eq!((left.weight.as_deref(), left.reason), (Some("table"), Reason::InPart));
/// assert!(left.to_string().ends_with("used in part")); // what, for which work, and why
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unfetched {
    /// The work that reads it, in the new plan.
    pub reader: Work,
    /// The name of the input; none for a constant.
    pub weight: Option<String>,
    /// Bytes of the weight.
    pub whole: u64,
    /// Why it is not prefetched.
    pub reason: Reason,
}

/// Why work is not moved, or a weight not prefetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The plan has streams or waits of its own, which stay as they are; nothing is added.
    OwnStreams,
    /// The plan has prefetches of its own, which stay as they are; nothing is added.
    OwnPrefetches,
    /// Work starts as soon as what it needs is done.
    Needs,
    /// Work comes after all before it and before all behind it: host functions, gates, operators of several devices,
    /// and where a wait was asked for.
    Ordered,
    /// There are too few cores for it beside what runs then.
    Cores,
    /// Memory is busy with what runs then.
    Bandwidth,
    /// Waiting for an event would take as long.
    Event,
    /// It would start sooner on one more stream than may be used.
    Streams,
    /// The whole would take as long on several streams, or longer.
    NoGain,
    /// A plan that is called stays as it is, since with its streams and prefetches the plan that calls it would be larger
    /// than a plan can be.
    TooLarge,
    /// The weight is used in part: rows that indices tell, experts that have tokens, pages of a cache.
    InPart,
    /// The weight is read by what is no operator of the library: a copy, a foreign operator, a choice. How is not known.
    NoOperator,
    /// The weight is written in the plan.
    Written,
    /// The input is given anew for each run.
    Bound,
    /// The weight does not lie in one piece.
    Gaps,
    /// The weight has less than 64 KiB.
    Small,
    /// The weight was read shortly before.
    InCache,
    /// The work computes for longer than memory needs.
    ComputeBound,
    /// The work, or the whole, would hardly end sooner.
    HardlySooner,
    /// No work is in front of the work that reads it.
    FirstWork,
    /// Right in front of the work that reads it is what comes after all before it and before all behind it.
    BehindAll,
    /// There is no room in L2.
    NoRoom,
    /// Memory has no idle time before the work starts.
    NoIdle,
}

impl Reason {
    /// Whether it is about a weight and not about work.
    #[must_use]
    pub fn is_of_prefetch(self) -> bool {
        self >= Self::InPart || self == Self::OwnPrefetches
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OwnStreams => "the plan has streams of its own",
            Self::OwnPrefetches => "the plan has prefetches of its own",
            Self::Needs => "starts as soon as what it needs is done",
            Self::Ordered => "comes after all before it and before all behind it",
            Self::Cores => "too few cores beside what runs then",
            Self::Bandwidth => "memory is busy with what runs then",
            Self::Event => "waiting for an event would take as long",
            Self::Streams => "no stream is left",
            Self::NoGain => "nothing gained by several streams",
            Self::TooLarge => "the plan that calls it would be too large",
            Self::InPart => "used in part",
            Self::NoOperator => "read by no operator of the library",
            Self::Written => "weight written in the plan",
            Self::Bound => "input given anew for each run",
            Self::Gaps => "weight with gaps",
            Self::Small => "weight below 64 KiB",
            Self::InCache => "weight read shortly before",
            Self::ComputeBound => "the work computes for longer than memory needs",
            Self::HardlySooner => "the work would hardly end sooner",
            Self::FirstWork => "no work is in front of it",
            Self::BehindAll => "right behind work that comes after all before it",
            Self::NoRoom => "no room in L2",
            Self::NoIdle => "memory is not idle in front of it",
        })
    }
}

/// Microseconds.
struct Micros(Duration);

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        write!(f, "{}.{} us", nanos / 1000, nanos % 1000 / 100)
    }
}

/// Cores that are taken, of both kinds.
struct Taken(Cores);

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.cube, self.0.vector) {
            (0, 0) => f.write_str("no cores"),
            (1, 0) => f.write_str("1 matrix core"),
            (0, 1) => f.write_str("1 vector core"),
            (cube, 0) => write!(f, "{cube} matrix cores"),
            (0, vector) => write!(f, "{vector} vector cores"),
            (cube, vector) => write!(f, "{cube} matrix and {vector} vector cores"),
        }
    }
}

impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { work, cores, time, beside, sooner } = self;
        write!(f, "moved       {work}: {}, {}", Micros(*time), Taken(*cores))?;
        if let Some((other, cores)) = beside {
            write!(f, ", beside {other} on {}", Taken(*cores))?;
        }
        write!(f, "; ends {} sooner", Micros(*sooner))
    }
}

impl fmt::Display for Prefetched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reader, weight, bytes, whole, behind, idle, held, times } = self;
        let weight = shown(weight.as_deref());
        write!(f, "prefetched  {weight} for {reader}: {bytes} of {whole} bytes behind ")?;
        match behind {
            Some(behind) => write!(f, "{behind}")?,
            None => f.write_str("the start")?,
        }
        write!(f, "; memory is idle for {idle} bytes, {held} are in L2; ")?;
        write!(f, "{} instead of {}", Micros(times.1), Micros(times.0))
    }
}

/// A weight by its name.
fn shown(weight: Option<&str>) -> String {
    weight.map_or_else(|| "a constant".to_owned(), |name| format!("{name:?}"))
}

impl fmt::Display for Unfetched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reader, weight, whole, reason } = self;
        write!(f, "not fetched {} for {reader}: {whole} bytes, {reason}", shown(weight.as_deref()))
    }
}

impl Report {
    /// Adds what is done in a plan that is called, and what is not.
    pub(super) fn add(&mut self, called: Self) {
        self.moved.extend(called.moved);
        self.prefetched.extend(called.prefetched);
        self.unfetched.extend(called.unfetched);
        for (reason, count) in called.left {
            match self.left.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, known)) => *known += count,
                None => self.left.push((reason, count)),
            }
        }
        sort::by_key(&mut self.left, |(reason, count)| (std::cmp::Reverse(*count), *reason));
    }

    /// What is left of it where the plan stays as it is, since with all of this another would be too large.
    pub(super) fn too_large(mut self) -> Self {
        let count = self.moved.len() + self.prefetched.len();
        self.left.push((Reason::TooLarge, count));
        let (moved, prefetched, unfetched) = Default::default();
        Self { moved, prefetched, unfetched, after: self.before, arena: (self.arena.0, self.arena.0), ..self }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, after) = (Micros(self.before), Micros(self.after));
        writeln!(f, "model: {after}, before {before}; arena {} bytes, before {}", self.arena.1, self.arena.0)?;
        self.moved.iter().try_for_each(|moved| writeln!(f, "{moved}"))?;
        self.prefetched.iter().try_for_each(|fetched| writeln!(f, "{fetched}"))?;
        for (reason, count) in &self.left {
            let what = if reason.is_of_prefetch() { "not fetched" } else { "not moved  " };
            writeln!(f, "{what} {count:>6}  {reason}")?;
        }
        Ok(())
    }
}
