//! Instructions of temporaries, counted by valgrind: whether the work of each grows with how many wait.

use std::env;
use std::hint::black_box;
use std::process::Command;

use racl::{Acl, Context, DeviceBuffer, Result, Stream, mock};

const WAY: &str = "RACL_COUNTED_TEMPORARIES";
const COUNT: &str = "RACL_COUNTED_COUNT";

/// How many streams share the temporaries that are queued.
const STREAMS: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Held by the program, and given up together.
    Held,
    /// Used by work that waits.
    Queued,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Queued => "queued",
        }
    }
}

/// Its instructions are counted, and those of what it calls.
#[inline(never)]
fn counted_temporaries(context: &Context, streams: &[Stream], count: usize) -> Result<()> {
    let done = temporaries(context, streams, count);
    // Otherwise this may end before what it calls.
    black_box(&done);
    done
}

#[inline(never)]
fn temporaries(context: &Context, streams: &[Stream], count: usize) -> Result<()> {
    let mut held: Vec<DeviceBuffer<u8>> = Vec::with_capacity(if streams.is_empty() { count } else { 0 });
    for number in 0..count {
        let mut temporary = context.alloc(black_box(1000))?;
        match streams.get(number % STREAMS) {
            Some(stream) => stream.fill_bytes(&mut temporary, 0)?,
            None => held.push(temporary),
        }
    }
    Ok(())
}

/// In the process that is counted: false in any other.
pub(crate) fn run() -> Result<bool> {
    let (Ok(way), Ok(count)) = (env::var(WAY), env::var(COUNT)) else { return Ok(false) };
    let count = count.parse().expect("a number");
    // Nothing runs while calls are counted.
    mock::stand_still(true);
    let context = Acl::mock()?.device(0)?.context().create_context()?;
    let queued = if way == Way::Queued.name() { STREAMS } else { 0 };
    let streams = (0..queued).map(|_| context.stream()).collect::<Result<Vec<_>>>()?;
    // The first time makes the segments, which is not what each costs.
    for work in [temporaries, counted_temporaries] {
        streams.iter().try_for_each(mock::hold)?;
        work(&context, &streams, count)?;
        streams.iter().try_for_each(mock::release)?;
        context.synchronize()?;
    }
    Ok(true)
}

/// Instructions of one of `count` temporaries; none without valgrind.
///
/// # Panics
///
/// When there is one that does not count.
pub(crate) fn count(way: Way, count: usize) -> Option<f64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"]);
    command.arg("--toggle-collect=*counted_temporaries*").arg(env::current_exe().ok()?);
    let out = command.env(WAY, way.name()).env(COUNT, count.to_string()).output().ok()?;
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{way:?}, {count}: {text}");
    let counted = text.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse::<f64>().ok());
    let instructions = counted.unwrap_or_else(|| panic!("{way:?}, {count}: no number of instructions in {text}"));
    assert!(instructions > 0.0, "{way:?}, {count}: nothing was counted: {text}");
    Some(instructions / count as f64)
}
