//! How communicators are made.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use acl_sys::{COMM_NAME_MAX_LENGTH, HcclComm};

use super::{Communicator, CommunicatorOptions, Inner, Owner, RootInfo, State};
use crate::call::{Caller as _, collective, forget_binding};
use crate::closure;
use crate::context::{Context, ContextInner};
use crate::error::{Error, ErrorKind, Result};
use crate::lock::{Lock, Signal};

/// The cards, by the address of their library and number, of which a thread makes a communicator.
static MAKING: Lock<Vec<(usize, i32)>> = Lock::new(Vec::new());

/// The right to make a communicator of a card.
struct Making((usize, i32));

impl Making {
    /// A second thread of a card is refused: the library does not take it, and to wait might be for ever, since both
    /// wait for other ranks (guide: HCCL, `HcclCommInitRootInfo`: not concurrently by several threads of a card).
    fn begin(context: &ContextInner) -> Result<Self> {
        if closure::is_running() {
            return Err(Error::new(ErrorKind::NotSupported, "a communicator is made in a host function"));
        }
        let card = (std::ptr::from_ref(context.table()).addr(), context.device());
        let mut making = MAKING.lock();
        if making.contains(&card) {
            let text = format!("another thread makes a communicator of device {}; one does at a time", card.1);
            return Err(Error::invalid(text));
        }
        making.push(card);
        Ok(Self(card))
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        MAKING.lock().retain(|card| *card != self.0);
    }
}

impl Communicator {
    /// Takes the place `rank` among `size` ranks, which all have the same `root`. Blocks until every rank has come, at
    /// most as long as `HCCL_CONNECT_TIMEOUT` says, two minutes unless set. A card is one rank, and one thread of it makes
    /// communicators at a time.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::LibraryNotFound`] without libhccl, with the places that were searched;
    /// [`ErrorKind::InvalidArgument`] for a rank outside, a place that is taken, a root information that is none, and
    /// while another thread makes a communicator of the card; [`ErrorKind::Timeout`] when ranks do not come;
    /// [`ErrorKind::Communication`] when one went away; [`ErrorKind::NotSupported`] in a host function.
    ///
    /// # Examples
    ///
    /// Processes send the bytes of the root information; here, two threads of one process.
    ///
    /// ```standalone_crate
    /// use std::thread;
    ///
    /// use racl::collective::{Communicator, Reduction, RootInfo};
    ///
    /// # // SAFETY: nothing else runs yet.
    /// # unsafe { std::env::set_var("MOCK_ACL_DEVICES", "2") };
    /// let acl = racl::Acl::mock()?; // with two devices here
    /// let root = RootInfo::new(acl.device(0)?)?;
    /// let rank = |rank: u32| {
    ///     let device = acl.device(rank as i32)?;
    ///     let ranks = Communicator::new(&device, &root, rank, 2)?;
    ///     let mut sum = device.upload(&[1.0_f32 + rank as f32])?;
    ///     ranks.all_reduce_in_place(&device.stream()?, &mut sum, Reduction::Sum)?;
    ///     sum.to_vec()
    /// };
    /// thread::scope(|scope| {
    ///     let other = scope.spawn(|| rank(1));
    ///     assert_eq!(rank(0)?, [3.0]);
    ///     assert_eq!(other.join().unwrap()?, [3.0]);
    ///     Ok::<(), racl::Error>(())
    /// })?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "HcclCommInitRootInfo")]
    pub fn new(context: impl AsRef<Context>, root: &RootInfo, rank: u32, size: u32) -> Result<Self> {
        Self::by_root(context.as_ref(), root, rank, size, &CommunicatorOptions::new())
    }

    pub(super) fn by_root(
        context: &Context,
        root: &RootInfo,
        rank: u32,
        size: u32,
        options: &CommunicatorOptions,
    ) -> Result<Self> {
        if rank >= size {
            return Err(Error::invalid(format!("rank {rank} of {size} ranks")));
        }
        let (info, inner) = (root.raw(), &**context.inner());
        let mut raw = std::ptr::null_mut();
        let _making = Making::begin(inner)?;
        if options.is_empty() {
            // SAFETY: a structure that stays during the call, and a place for one handle.
            unsafe { collective!(inner, HcclCommInitRootInfo(size, &raw const info, rank, &raw mut raw)) }?;
        } else {
            let config = options.raw(inner)?;
            let config = &raw const config;
            // SAFETY: as above, with a configuration whose length stands in it.
            unsafe {
                collective!(inner, HcclCommInitRootInfoConfig(size, &raw const info, rank, config, &raw mut raw))
            }?;
        }
        Self::own(raw, context.inner(), (Some(rank), Some(size)))
    }

    /// Takes the place `rank` of the rank table in the file `path`, JSON that names servers and cards. Blocks as
    /// [`Communicator::new`]. The card has to be the one that the table has for the rank. The mock takes tables of one
    /// server.
    ///
    /// # Errors
    ///
    /// As [`Communicator::new`]; [`ErrorKind::File`] for a file that cannot be read; [`ErrorKind::InvalidArgument`] for
    /// one that is no rank table, a rank that it does not have, and another card.
    #[doc(alias = "HcclCommInitClusterInfo")]
    pub fn from_rank_table(context: impl AsRef<Context>, path: impl AsRef<Path>, rank: u32) -> Result<Self> {
        Self::by_table(context.as_ref(), path.as_ref(), rank, &CommunicatorOptions::new())
    }

    pub(super) fn by_table(context: &Context, path: &Path, rank: u32, options: &CommunicatorOptions) -> Result<Self> {
        let name = CString::new(path.as_os_str().as_bytes())
            .map_err(|error| Error::invalid(format!("a path with a zero byte: {path:?}")).with_source(error))?;
        let inner = &**context.inner();
        let mut raw = std::ptr::null_mut();
        let _making = Making::begin(inner)?;
        let made = if options.is_empty() {
            // SAFETY: a text that stays during the call, and a place for one handle.
            unsafe { collective!(inner, HcclCommInitClusterInfo(name.as_ptr(), rank, &raw mut raw)) }
        } else {
            let mut config = options.raw(inner)?;
            let config = &raw mut config;
            // SAFETY: as above, with a configuration whose length stands in it.
            unsafe { collective!(inner, HcclCommInitClusterInfoConfig(name.as_ptr(), rank, config, &raw mut raw)) }
        };
        made.map_err(|error| error.context(format!("with the rank table {}", path.display())))?;
        Self::own(raw, context.inner(), (Some(rank), None))
    }

    /// Communicators of several cards of this process, in the order of their ranks, made by one thread. Their
    /// operations are queued by one thread for each card: on cards the first one may block until the other ranks come,
    /// to make links to them (guide: HCCL, `HcclCommInitAll`). On the mock none blocks.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for no context, two of one device and such of several libraries; otherwise as
    /// [`Communicator::new`].
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use racl::collective::Communicator;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let ranks = Communicator::all(&[&device])?; // all cards there are
    /// assert_eq!((ranks.len(), ranks[0].rank()), (1, 0));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "HcclCommInitAll")]
    pub fn all(contexts: &[impl AsRef<Context>]) -> Result<Vec<Self>> {
        let contexts: Vec<&Context> = contexts.iter().map(AsRef::as_ref).collect();
        let Some(first) = contexts.first() else { return Err(Error::invalid("communicators of no cards")) };
        for (index, context) in contexts.iter().enumerate() {
            first.inner().check_library(context.inner(), "a context")?;
            if contexts[..index].iter().any(|other| other.device_id() == context.device_id()) {
                return Err(Error::invalid(format!("device {} is named twice", context.device_id())));
            }
        }
        let count = u32::try_from(contexts.len()).map_err(|_| Error::invalid("too many cards"))?;
        let mut devices: Vec<_> = contexts.iter().map(|context| context.device_id()).collect();
        let mut raws: Vec<HcclComm> = vec![std::ptr::null_mut(); contexts.len()];
        let _making = contexts.iter().map(|context| Making::begin(context.inner())).collect::<Result<Vec<_>>>()?;
        let (devices, handles) = (devices.as_mut_ptr(), raws.as_mut_ptr());
        // SAFETY: lists of `count` numbers, and of places for as many handles.
        let made = unsafe { collective!(&**first.inner(), HcclCommInitAll(count, devices, handles)) };
        // It visits each card.
        forget_binding();
        made?;
        // All are owned before one can fail.
        let own = |(rank, (raw, context)): (u32, (&HcclComm, &&Context))| {
            Self::own(*raw, context.inner(), (Some(rank), Some(count)))
        };
        let owned: Vec<_> = (0..count).zip(raws.iter().zip(&contexts)).map(own).collect();
        owned.into_iter().collect()
    }

    /// A communicator of some of these ranks, in the given order, which becomes that of its own ranks; `None` when this
    /// rank is not among them. All ranks call it: those that are named with the same list and `id`, which tells
    /// communicators of the same time apart. Blocks until the named ones have come, as [`Communicator::new`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for no ranks, one that is not there or is named twice, and the id 0xFFFFFFFF, which
    /// the library has for those that are not named; [`ErrorKind::Aborted`] after an [abort](Self::abort); otherwise as
    /// [`Communicator::new`].
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use racl::collective::{Communicator, RootInfo};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let ranks = Communicator::new(&device, &RootInfo::new(&device)?, 0, 1)?;
    /// let alone = ranks.subgroup(&[0], 1)?.expect("rank 0 is among them");
    /// assert_eq!((alone.rank(), alone.size()), (0, 1));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "HcclCreateSubCommConfig")]
    #[doc(alias = "split")]
    pub fn subgroup(&self, ranks: &[u32], id: u64) -> Result<Option<Self>> {
        self.subgroup_with(ranks, id, &CommunicatorOptions::new())
    }

    /// As [`Communicator::subgroup`], with options.
    ///
    /// # Errors
    ///
    /// As [`Communicator::subgroup`] and [`CommunicatorOptions::init`].
    #[doc(alias = "HcclCreateSubCommConfig")]
    pub fn subgroup_with(&self, ranks: &[u32], id: u64, options: &CommunicatorOptions) -> Result<Option<Self>> {
        const NOT_A_MEMBER: u64 = 0xFFFF_FFFF;
        self.check_ranks(ranks)?;
        if id == NOT_A_MEMBER {
            return Err(Error::invalid("the id 0xFFFFFFFF stands for ranks that are not in a subgroup"));
        }
        let context = &*self.0.context;
        let _making = Making::begin(context)?;
        let mut config = options.raw(context)?;
        let config = &raw mut config;
        let turn = self.0.begin()?;
        let (mut of, mut raw) = (turn.raw, std::ptr::null_mut());
        let own = ranks.iter().position(|rank| *rank == self.rank());
        let mut list = ranks.to_vec();
        let (count, list, id, rank) = match own {
            Some(index) => (ranks.len() as u32, list.as_mut_ptr(), id, index as u32),
            None => (0, std::ptr::null_mut(), NOT_A_MEMBER, 0),
        };
        // SAFETY: a place with the live handle, a list of `count` numbers or null, a configuration whose length stands
        // in it, and a place for one handle.
        unsafe {
            collective!(context, HcclCreateSubCommConfig(&raw mut of, count, list, id, rank, config, &raw mut raw))
        }?;
        drop(turn);
        if own.is_none() {
            return Ok(None);
        }
        Self::own(raw, &self.0.context, (Some(rank), Some(count))).map(Some)
    }

    fn check_ranks(&self, ranks: &[u32]) -> Result<()> {
        if ranks.is_empty() {
            return Err(Error::invalid("a subgroup of no ranks"));
        }
        for (index, rank) in ranks.iter().enumerate() {
            self.check_rank(*rank, "rank")?;
            if ranks[..index].contains(rank) {
                return Err(Error::invalid(format!("rank {rank} is named twice")));
            }
        }
        Ok(())
    }

    /// A handle that is not null, from other code, which keeps it where there is an owner. With an error nobody has it.
    pub(crate) fn adopt(raw: HcclComm, context: &Context, owner: Option<Owner>) -> Result<Self> {
        let mut made = Self::unasked(raw, context.inner(), owner);
        let asked = made.ask_what((None, None));
        match asked {
            Ok(()) => Ok(Self(Arc::new(made))),
            Err(error) => {
                made.state.get_mut().raw = std::ptr::null_mut();
                Err(error)
            }
        }
    }

    /// Owns a handle that the library just gave for a rank, of so many, as far as they are known.
    fn own(raw: HcclComm, context: &Arc<ContextInner>, asked: (Option<u32>, Option<u32>)) -> Result<Self> {
        let mut made = Self::unasked(raw, context, None);
        if raw.is_null() {
            return Err(Error::new(ErrorKind::UnknownValue, "the library gave no communicator"));
        }
        made.ask_what(asked)?;
        Ok(Self(Arc::new(made)))
    }

    fn unasked(raw: HcclComm, context: &Arc<ContextInner>, owner: Option<Owner>) -> Inner {
        let state = Lock::new(State { raw, busy: false, asking: 0, aborted: false });
        Inner {
            state,
            back: Signal::new(),
            rank: 0,
            size: 0,
            name: String::new(),
            uses: Lock::default(),
            owner,
            context: Arc::clone(context),
        }
    }
}

impl Inner {
    /// Asks for what does not change.
    fn ask_what(&mut self, (asked, of): (Option<u32>, Option<u32>)) -> Result<()> {
        let (context, raw) = (Arc::clone(&self.context), self.state.get_mut().raw);
        let (rank, size) = (&raw mut self.rank, &raw mut self.size);
        // SAFETY: a live handle, and a place for one number.
        unsafe { collective!(&*context, HcclGetRankId(raw, rank)) }?;
        // SAFETY: as above.
        unsafe { collective!(&*context, HcclGetRankSize(raw, size)) }?;
        // Lists of all ranks are as long as the size, and are read at the rank.
        let (rank, size) = (self.rank, self.size);
        if asked.is_some_and(|asked| asked != rank) || rank >= size || of.is_some_and(|of| of != size) {
            let asked = asked.map_or_else(String::new, |asked| format!(", where rank {asked} was asked for"));
            let text = format!("the library gave rank {rank} of {size}{asked}");
            return Err(Error::new(ErrorKind::UnknownValue, text));
        }
        let mut name = [0; COMM_NAME_MAX_LENGTH as usize];
        let place = (&raw mut name).cast();
        // SAFETY: a place for as long a name as there may be.
        unsafe { collective!(&*context, HcclGetCommName(raw, place)) }?;
        let bytes: &[u8] = bytemuck::cast_slice(&name);
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        self.name = String::from_utf8_lossy(&bytes[..end]).into_owned();
        Ok(())
    }
}
