//! Sizes that others are padded to, so that few captured graphs serve many shapes.

use crate::error::{Error, ErrorKind, Result};
use crate::lock::{say, theirs};
use crate::sort;

use super::{Bindings, Executable};

/// Sizes of a symbol that graphs are captured for: each size in between is padded up to the next one.
///
/// An [`Executable`] keeps a graph for each value of the symbols of its plan, so that only the sizes of the buckets
/// are ever captured.
///
/// # Examples
///
/// ```
/// use racl::op::DataType::F32;
/// use racl::plan::{Buckets, Frozen, Input, Plan, RunOptions};
///
/// let plan = Plan::build(|g| {
///     let n = g.symbol("n", 1..=64)?;
///     let x = g.input("x", [n], F32, Input::Host)?;
///     let y = g.muls(x, 2.0)?;
///     g.output_to_host("y", y)
/// })?;
/// let device = racl::Acl::mock()?.device(0)?;
/// let stream = device.stream()?;
/// let mut exe = plan.executable(&device, &RunOptions::new(), Frozen::new())?;
/// let (x, y) = (exe.input("x")?, exe.output_id("y")?);
/// let mut bind = exe.bindings();
///
/// let buckets = Buckets::up_to(32)?;
/// assert_eq!(buckets.sizes(), [1, 2, 4, 8, 16, 24, 32]);
/// let zeros = [0.0_f32; 32];
/// let buckets = buckets.capture(&mut exe, &mut bind, |bind, size| {
///     bind.host(x, &zeros[..size], [size]);
///     Ok(())
/// })?;
/// assert_eq!(exe.graphs(), 7);
///
/// let mut padded = Vec::new();
/// let size = buckets.fill(&[1.0_f32, 2.0, 3.0], 0.0, &mut padded)?;
/// exe.run(&stream, bind.host(x, &padded, [size]))?;
/// assert_eq!(exe.host_output::<f32>(y)?[..3], [2.0, 4.0, 6.0]);
/// assert_eq!((size, exe.graphs()), (4, 7)); // nothing was captured for it
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buckets(Vec<usize>);

/// More than any device has room for graphs.
const MOST: usize = 1 << 16;

impl Buckets {
    /// 1, 2, 4, multiples of 8 up to 256, then of 16, all up to `greatest`, which is one itself.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for 0, and for so many that there would be
    /// more than 65,536 sizes.
    pub fn up_to(greatest: usize) -> Result<Self> {
        let small = [1, 2, 4].into_iter().chain((8..=256).step_by(8)).take_while(|size| *size < greatest);
        let large = (272..greatest).step_by(16);
        Self::new(small.chain(large).chain([greatest]))
    }

    /// These sizes, in any order.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for no size, one of 0, and more than 65,536.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::plan::Buckets;
    ///
    /// let buckets = Buckets::new([16, 4, 1, 4])?;
    /// assert_eq!((buckets.sizes(), buckets.greatest()), (&[1, 4, 16][..], 16));
    /// assert_eq!((buckets.pad(5)?, buckets.prune(2)?.sizes()), (16, &[1, 16][..]));
    /// assert!(buckets.pad(17).is_err());
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn new(sizes: impl IntoIterator<Item = usize>) -> Result<Self> {
        let mut sizes: Vec<usize> = sizes.into_iter().take(MOST + 1).collect();
        if sizes.len() > MOST {
            return Err(Error::invalid(format!("more than {MOST} buckets; give the sizes that matter")));
        }
        sort::plain(&mut sizes);
        sizes.dedup();
        match sizes.first() {
            None => Err(Error::invalid("buckets without any size")),
            Some(0) => Err(Error::invalid("a bucket of size 0")),
            Some(_) => Ok(Self(sizes)),
        }
    }

    /// The sizes, ascending.
    #[must_use]
    pub fn sizes(&self) -> &[usize] {
        &self.0
    }

    /// The greatest size.
    #[must_use]
    pub fn greatest(&self) -> usize {
        self.0[self.0.len() - 1]
    }

    /// The least bucket that `size` fits.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for 0 and for more than the greatest bucket.
    pub fn pad(&self, size: usize) -> Result<usize> {
        if size == 0 {
            return Err(Error::invalid("size 0 has no bucket"));
        }
        let found = self.0.get(self.0.partition_point(|bucket| *bucket < size));
        found
            .copied()
            .ok_or_else(|| Error::invalid(format!("size {size} has no bucket; the greatest is {}", self.greatest())))
    }

    /// Puts `data` into `padded`, followed by `fill` up to its bucket; gives that size.
    ///
    /// # Errors
    ///
    /// Those of [`Buckets::pad`]; [`ErrorKind::OutOfMemory`] for a bucket that host memory does not hold.
    pub fn fill<T: Clone>(&self, data: &[T], fill: T, padded: &mut Vec<T>) -> Result<usize> {
        let size = self.pad(data.len())?;
        padded.clear();
        padded.try_reserve(size).map_err(|error| {
            Error::new(ErrorKind::OutOfMemory, format!("host memory for a bucket of {size}")).with_source(error)
        })?;
        padded.extend_from_slice(data);
        padded.resize(size, fill);
        Ok(size)
    }

    /// At most `count` of the sizes, spread evenly; the greatest stays.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a count of 0.
    pub fn prune(&self, count: usize) -> Result<Self> {
        let have = self.0.len();
        let keep = count.min(have);
        Self::new((1..=keep).map(|index| self.0[index * have / keep - 1]))
    }

    /// Captures the graphs of all sizes, the greatest first, so that it takes the memory that the others share.
    /// `set` binds inputs of a size. There are fewer sizes when the executable has no room for all
    /// ([`Executable::graph_room`]); those that are left are given back.
    ///
    /// # Errors
    ///
    /// Those of `set`, [`Executable::graph_room`] and [`Executable::capture`];
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when there is room for none.
    pub fn capture(
        &self,
        executable: &mut Executable,
        bind: &mut Bindings,
        mut set: impl FnMut(&mut Bindings, usize) -> Result<()>,
    ) -> Result<Self> {
        let room = executable.graph_room()?;
        if room == 0 {
            return Err(Error::invalid(
                "the executable has no room for a captured graph: it is eager, at its limit, or out of streams",
            ));
        }
        let left = self.prune(room)?;
        if left != *self {
            say!(Warn, "room for {room} captured graphs: {} buckets of {} are left", left.0.len(), self.0.len());
        }
        for size in left.0.iter().rev() {
            theirs(|| set(bind, *size))?;
            executable.capture(bind)?;
        }
        Ok(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_sizes_grow_by_8_and_then_by_16() {
        let sizes = |greatest| Buckets::up_to(greatest).unwrap().0;
        assert_eq!(sizes(1), [1]);
        assert_eq!(sizes(5), [1, 2, 4, 5]);
        assert_eq!(sizes(8), [1, 2, 4, 8]);
        assert_eq!(sizes(20), [1, 2, 4, 8, 16, 20]);
        assert_eq!(sizes(256)[33..], [248, 256]);
        assert_eq!(sizes(300)[33..], [248, 256, 272, 288, 300]);
        assert_eq!(sizes(512).len(), 3 + 32 + 16);
    }

    #[test]
    fn more_sizes_than_anything_could_use_are_refused_before_they_fill_the_memory() {
        for refused in [Buckets::up_to(usize::MAX), Buckets::up_to(100_000_000_000), Buckets::new(1..)] {
            let error = refused.unwrap_err().to_string();
            assert!(error.contains("more than 65536 buckets"), "{error}");
        }
        assert_eq!(Buckets::new(1..=1 << 16).unwrap().sizes().len(), 1 << 16);
        assert!(Buckets::new((1..=1 << 16).chain([1])).is_err());
        assert_eq!(Buckets::up_to(1 << 19).unwrap().greatest(), 1 << 19);
    }

    #[test]
    fn a_size_goes_to_the_least_bucket_that_it_fits() {
        let buckets = Buckets::new([16, 4, 1, 4]).unwrap();
        assert_eq!(buckets.sizes(), [1, 4, 16]);
        let padded = [1, 2, 4, 5, 16].map(|size| buckets.pad(size).unwrap());
        assert_eq!(padded, [1, 4, 4, 16, 16]);
        let error = buckets.pad(17).unwrap_err().to_string();
        assert!(error.contains("size 17 has no bucket; the greatest is 16"), "{error}");
        assert!(buckets.pad(0).is_err() && Buckets::new([]).is_err() && Buckets::up_to(0).is_err());
    }

    #[test]
    fn data_is_followed_by_the_fill() {
        let mut padded = vec![9; 20];
        assert_eq!(Buckets::new([4]).unwrap().fill(&[1, 2], -1, &mut padded).unwrap(), 4);
        assert_eq!(padded, [1, 2, -1, -1]);
    }

    #[test]
    fn fewer_sizes_are_spread_and_keep_the_greatest() {
        let buckets = Buckets::new(1..=6).unwrap();
        let pruned = |count| buckets.prune(count).unwrap().0;
        assert_eq!(pruned(1), [6]);
        assert_eq!(pruned(3), [2, 4, 6]);
        assert_eq!(pruned(4), [1, 3, 4, 6]);
        assert_eq!(pruned(9), [1, 2, 3, 4, 5, 6]);
        assert!(buckets.prune(0).is_err());
    }
}
