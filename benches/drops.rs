//! Drops of what hangs: how much longer than their limit they take.
//!
//! One line a figure, tab-separated: name, value, unit, target, met or missed. Ends with code 1 when a target is missed.
#![allow(clippy::print_stdout, missing_docs)]

use std::time::{Duration, Instant};

use racl::{Acl, CaptureMode, Context, Result, Stream, mock};

/// The limit of drops here.
const LIMIT: Duration = Duration::from_millis(20);
const ROUNDS: usize = 15;
/// Milliseconds beyond the limit.
const MOST: f64 = 100.0;

/// What is dropped while the work of its stream hangs, and the stream, where it is another value.
type Make = fn(&Context, Stream) -> Result<Box<dyn Send>>;

const CASES: [(&str, Make); 4] = [
    ("stream", |_, stream| Ok(Box::new(stream))),
    ("graph", |context, stream| {
        let mut buffer = context.alloc::<u8>(64)?;
        let other = context.stream()?;
        let mut graph = other.capture(CaptureMode::Relaxed, |s| s.fill_bytes(&mut buffer, 1))?;
        graph.launch(&stream)?;
        std::mem::forget(stream);
        Ok(Box::new(graph))
    }),
    ("copy to the host", |context, stream| {
        let copy = stream.download(&context.alloc_zeroed::<u8>(64)?, context.pinned(64)?);
        std::mem::forget(stream);
        Ok(Box::new(copy.map_err(racl::Error::from)?))
    }),
    ("event", |context, stream| {
        let event = context.event()?;
        event.record(&stream)?;
        std::mem::forget(stream);
        Ok(Box::new(event))
    }),
];

/// Milliseconds that the drop of a hung thing takes.
fn drop_of(make: Make) -> Result<f64> {
    let context = Acl::mock()?.device(0)?.context().create_context()?;
    let stream = context.stream()?;
    mock::hold(&stream)?;
    let mut buffer = context.alloc::<u8>(64)?;
    stream.fill_bytes(&mut buffer, 1)?;
    let hung = make(&context, stream)?;
    let begun = Instant::now();
    drop(hung);
    let taken = begun.elapsed().as_secs_f64() * 1e3;
    // What hangs stays so; nothing of this process is to wait for it.
    context.take_drop_errors();
    std::mem::forget((buffer, context));
    Ok(taken)
}

fn main() -> Result<()> {
    racl::set_drop_limit(LIMIT);
    let mut missed = false;
    for (name, make) in CASES {
        let mut times = (0..ROUNDS).map(|_| drop_of(make)).collect::<Result<Vec<_>>>()?;
        times.sort_by(f64::total_cmp);
        let beyond = (times[ROUNDS / 2] - LIMIT.as_secs_f64() * 1e3).max(0.0);
        let met = beyond <= MOST;
        missed |= !met;
        let word = if met { "met" } else { "missed" };
        println!("drop of a hung {name}, beyond its limit\t{beyond:.2}\tms\tat most {MOST:.0}\t{word}");
    }
    // Work that hangs is no reason not to end.
    std::process::exit(i32::from(missed));
}
