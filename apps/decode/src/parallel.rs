//! One model on several cards: each has a part of every layer, and a thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use racl::Device;
use racl::collective::Communicator;

use crate::config::Config;
use crate::decoder::{Decoder, Options, check_parallel};
use crate::error::{Error, Result};
use crate::number::Number;
use crate::weights::Source;

/// Continues a prompt by so many tokens on `count` cards, from `first` on; see [`Decoder::generate`].
///
/// # Errors
///
/// As [`Decoder::new_part`] and [`Decoder::generate`]; [`Error::Parallel`] when the machine has fewer cards, and when
/// they do not agree.
pub fn generate<T: Number>(
    first: &Device,
    count: u32,
    config: &Config,
    source: &Source,
    options: &Options,
    (prompt, tokens): (&[u32], usize),
) -> Result<Vec<u32>> {
    check_parallel(config, count as usize, options.attention)?;
    let acl = first.context().acl();
    let there = acl.device_count()?.saturating_sub(first.id().unsigned_abs());
    if there < count {
        let text =
            format!("{count}: there are {there} cards from {} on; on the mock MOCK_ACL_DEVICES says", first.id());
        return Err(Error::Parallel(text));
    }
    let numbers = (first.id()..).take(count as usize);
    let devices: Vec<_> = numbers.map(|number| acl.device(number)).collect::<racl::Result<_>>()?;
    let contexts: Vec<_> = devices.iter().map(Device::context).collect();
    let ranks: Vec<_> = Communicator::all(&contexts)?.into_iter().map(Arc::new).collect();
    let first_error = Mutex::new(None);
    let one = |device: &Device, ranks: &Arc<Communicator>| {
        let mut decoder = Decoder::<T>::new_part(device, config, source.clone(), options, Arc::clone(ranks))?;
        decoder.generate(prompt, tokens)
    };
    // What the others say after the first error is what its end did to them.
    let end_all = |error: Error| {
        first_error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        // They would wait for what this one does no more, and no card tells them.
        for rank in &ranks {
            if let Err(error) = rank.abort() {
                log::warn!("ending rank {}: {error}", rank.rank());
            }
        }
    };
    let ended: Vec<_> = thread::scope(|scope| {
        let threads = devices.iter().zip(&ranks).map(|(device, ranks)| {
            scope.spawn(|| {
                let ended = catch_unwind(AssertUnwindSafe(|| one(device, ranks)));
                ended.unwrap_or_else(|_| Err(panicked())).map_err(end_all).ok()
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|thread| thread.join().ok().flatten()).collect()
    });
    if let Some(error) = first_error.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let mut given = ended.into_iter().collect::<Option<Vec<_>>>().ok_or_else(panicked)?;
    if given.windows(2).any(|pair| pair[0] != pair[1]) {
        return Err(Error::Parallel("gave other tokens on other cards".to_owned()));
    }
    Ok(given.swap_remove(0))
}

fn panicked() -> Error {
    Error::Parallel("failed: the thread of a card panicked".to_owned())
}
