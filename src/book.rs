//! The chapters of the book, whose code runs as tests of documentation.

#[doc = include_str!("../docs/book/src/install.md")]
struct Install;

#[doc = include_str!("../docs/book/src/graph.md")]
struct Graph;

#[doc = include_str!("../docs/book/src/streams.md")]
struct Streams;

#[doc = include_str!("../docs/book/src/memory.md")]
struct Memory;

#[doc = include_str!("../docs/book/src/prefetch.md")]
struct Prefetch;

#[doc = include_str!("../docs/book/src/plans.md")]
struct Plans;

#[doc = include_str!("../docs/book/src/network.md")]
struct Network;

#[doc = include_str!("../docs/book/src/porting.md")]
struct Porting;

#[doc = include_str!("../docs/book/src/kernels.md")]
struct Kernels;

#[doc = include_str!("../docs/book/src/cache.md")]
struct Cache;

#[doc = include_str!("../docs/book/src/many-cards.md")]
struct ManyCards;

#[doc = include_str!("../docs/book/src/models.md")]
struct Models;

#[doc = include_str!("../docs/book/src/mock.md")]
struct Mock;

#[doc = include_str!("../docs/book/src/cards.md")]
struct Cards;

#[doc = include_str!("../docs/book/src/performance.md")]
struct Performance;

#[doc = include_str!("../docs/book/src/profiling.md")]
struct Profiling;

#[doc = include_str!("../docs/book/src/c.md")]
struct C;

#[doc = include_str!("../docs/book/src/cuda.md")]
struct Cuda;
