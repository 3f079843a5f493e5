//! How a plan is built.

use crate::error::{Error, Result};
use crate::plan::share::Share;

/// Environment variable that spreads dynamic plans over several streams when it is 1.
pub(crate) const DYNAMIC_MULTI_STREAM: &str = "ENABLE_DYNAMIC_SHAPE_MULTI_STREAM";
/// Streams for a dynamic plan that only the variable asks to spread.
const DYNAMIC_STREAMS: usize = 2;

/// Options of [`Plan::build_with`](crate::plan::Plan::build_with). Setting is one store; what is out of bounds is told
/// when a plan is built, or by [`Options::check`].
///
/// # Examples
///
/// ```
/// use racl::plan::{Options, Plan};
///
/// let options = Options::new().auto_streams(4);
/// let plan = Plan::build_with(options, |_| Ok(()))?;
/// assert_eq!(plan.streams(), 1); // nothing to spread
/// let options = Options::new().drop_repeated_prefetches().prefetch_cap(0.5); // at most half of L2 each
/// let one_stream = [options.single_stream(), options.collapse_streams()]; // tags are refused, or mean nothing
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Options {
    pub(crate) single: Single,
    auto_streams: Option<usize>,
    prefetch_cap: Option<Share>,
    pub(crate) drop_repeated_prefetches: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Single {
    #[default]
    No,
    /// Tags and prefetches are errors.
    Strict,
    /// Every tag is the origin.
    Collapse,
}

impl Options {
    /// The defaults: streams as the tags say.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Everything on the origin stream. A tag or a prefetch is an error then, since it could have no effect; see
    /// [`Options::collapse_streams`].
    #[must_use]
    #[doc(alias = "enable_single_stream")]
    pub fn single_stream(self) -> Self {
        Self { single: Single::Strict, ..self }
    }

    /// Everything on the origin stream, whatever the tags say: to compare results and times.
    #[must_use]
    pub fn collapse_streams(self) -> Self {
        Self { single: Single::Collapse, ..self }
    }

    /// Spreads independent operators over at most `streams` streams. Off by default; on, with two streams, for a
    /// dynamic plan when the environment variable `ENABLE_DYNAMIC_SHAPE_MULTI_STREAM` is 1. A plan with tags of its
    /// own, or with a prefetch, which has a stream of its own, stays as it is. Operators that work with other devices,
    /// and those that [need](crate::plan::Foreign::needs) cores, keep their order with all others.
    /// [`Plan::overlap`](crate::plan::Plan::overlap) weighs what is gained, and prefetches. 1 to 1024 are possible.
    #[must_use]
    #[doc(alias = "ENABLE_DYNAMIC_SHAPE_MULTI_STREAM")]
    pub fn auto_streams(self, streams: usize) -> Self {
        Self { auto_streams: Some(streams), ..self }
    }

    /// Caps each prefetch at a share of the L2 cache that the device reports, such as 0.5: above 0, and at most 1.
    #[must_use]
    pub fn prefetch_cap(self, share: f64) -> Self {
        Self { prefetch_cap: Some(Share::new(share)), ..self }
    }

    /// Leaves out prefetches of memory that an earlier one has asked for, which the lints report otherwise.
    #[must_use]
    pub fn drop_repeated_prefetches(self) -> Self {
        Self { drop_repeated_prefetches: true, ..self }
    }

    /// That a plan can be built with them, for who wants to know before.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for work on 0 or more than 1024 streams, and
    /// for a cap of prefetches that is not above 0 and at most 1.
    pub fn check(&self) -> Result<()> {
        if let Some(streams) = self.auto_streams.filter(|streams| !(1..=1024).contains(streams)) {
            return Err(Error::invalid(format!("{streams} streams to spread a plan over; 1 to 1024 are possible")));
        }
        self.prefetch_cap.map_or(Ok(()), |share| share.check("a cap"))
    }

    /// Thousandths of the L2 cache; 0 for no cap.
    pub(crate) fn cap(&self) -> u32 {
        self.prefetch_cap.map_or(0, Share::thousandths)
    }

    /// How many streams to spread the plan over, as the options and the environment say.
    pub(crate) fn spread(&self, dynamic: bool) -> Option<usize> {
        self.spread_with(dynamic, std::env::var(DYNAMIC_MULTI_STREAM).ok().as_deref())
    }

    /// The same for a value of the variable.
    fn spread_with(&self, dynamic: bool, variable: Option<&str>) -> Option<usize> {
        if self.single != Single::No {
            return None;
        }
        let asked = dynamic && variable == Some("1");
        self.auto_streams.or(asked.then_some(DYNAMIC_STREAMS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_stream_outranks_the_option_and_the_option_outranks_the_variable() {
        let (plain, asked) = (Options::new(), Options::new().auto_streams(5));
        let cases = [
            (plain, true, Some("1"), Some(2)),
            (plain, false, Some("1"), None),
            (plain, true, Some("0"), None),
            (plain, true, Some("true"), None),
            (plain, true, None, None),
            (asked, false, None, Some(5)),
            (asked, true, Some("1"), Some(5)),
            (asked.single_stream(), true, Some("1"), None),
            (plain.single_stream(), true, Some("1"), None),
            (asked.collapse_streams(), true, Some("1"), None),
        ];
        for (options, dynamic, variable, streams) in cases {
            assert_eq!(options.spread_with(dynamic, variable), streams, "{options:?} {dynamic} {variable:?}");
        }
    }
    #[test]
    fn what_is_out_of_bounds_is_told_by_what_takes_the_options() {
        for (options, part) in [
            (Options::new().auto_streams(0), "0 streams"),
            (Options::new().auto_streams(1025), "1025 streams"),
            (Options::new().prefetch_cap(f64::NAN), "a cap of NaN"),
        ] {
            let built = crate::plan::Plan::build_with(options, |_| panic!("the options are wrong")).unwrap_err();
            let finished = crate::plan::Plan::finish(crate::plan::Plan::builder(options)).unwrap_err();
            for error in [built, finished, options.check().unwrap_err()] {
                assert!(error.to_string().contains(part), "{error}");
            }
            options.auto_streams(1024).prefetch_cap(1.0).check().unwrap();
        }
    }
}
