//! How fast it goes.

use std::io::{self, Write};
use std::time::Instant;

use racl::Device;

use crate::config::Config;
use crate::decoder::{Decoder, Mode, Options};
use crate::error::Result;
use crate::number::Number;
use crate::weights::Source;

/// What a run of one mode took.
#[derive(Debug)]
pub(crate) struct Speed {
    mode: Mode,
    tokens_a_second: f64,
    /// C calls a step, where they can be counted.
    calls: Option<f64>,
    /// Operators replaced in the graph for a step.
    updates: f64,
    graphs: usize,
}

/// Calls of all C functions so far, when the built-in mock is the library.
#[cfg(feature = "mock")]
#[must_use]
pub fn all_calls(device: &Device) -> Option<u64> {
    let acl = device.acl();
    acl.is_mock().then(|| racl::sys::Table::names().map(|(name, _)| racl::mock::calls(name)).sum())
}

/// Calls of all C functions so far: they are counted by the mock alone.
#[cfg(not(feature = "mock"))]
#[must_use]
pub fn all_calls(_device: &Device) -> Option<u64> {
    None
}

/// The tokens that `options` give, and the speed of both modes. Graphs are recorded before the clock starts.
pub(crate) fn measure<T: Number>(
    device: &Device,
    config: &Config,
    source: &Source,
    options: &Options,
    prompt: &[u32],
    count: usize,
) -> Result<(Vec<u32>, Vec<Speed>)> {
    let (mut tokens, mut speeds) = (Vec::new(), Vec::new());
    for mode in [Mode::Eager, Mode::Replay] {
        let options = Options { mode, ..options.clone() };
        let mut decoder = Decoder::<T>::new(device, config, source.clone(), &options)?;
        tokens = decoder.generate(prompt, count)?;
        decoder.start(prompt)?;
        decoder.wait()?;
        let (updated, steps) = (decoder.updates(), prompt.len() + count - 1);
        let (before, start) = (all_calls(device), Instant::now());
        for _ in 0..steps {
            decoder.advance()?;
        }
        let after = all_calls(device);
        decoder.wait()?;
        let seconds = start.elapsed().as_secs_f64();
        let calls = before.zip(after).map(|(before, after)| (after - before) as f64 / steps as f64);
        let tokens_a_second = steps as f64 / seconds;
        let updates = (decoder.updates() - updated) as f64 / steps as f64;
        speeds.push(Speed { mode, tokens_a_second, calls, updates, graphs: decoder.graphs() });
    }
    Ok((tokens, speeds))
}

/// One figure a line: name, value, unit.
pub(crate) fn write(out: &mut dyn Write, speeds: &[Speed], prefetch: bool) -> io::Result<()> {
    let name = |mode| match mode {
        Mode::Eager => "eager",
        Mode::Replay => "replay",
    };
    for Speed { mode, tokens_a_second, calls, updates, graphs } in speeds {
        let name = name(*mode);
        writeln!(out, "{name}\t{tokens_a_second:.1}\ttokens/s")?;
        if let Some(calls) = calls {
            writeln!(out, "{name}\t{calls:.1}\tC calls a token")?;
        }
        if *mode == Mode::Replay {
            writeln!(out, "{name}\t{updates:.1}\tupdates a token")?;
            writeln!(out, "{name}\t{graphs}\tgraphs captured")?;
        }
    }
    writeln!(out, "prefetch\t{}", if prefetch { "on" } else { "off" })
}
