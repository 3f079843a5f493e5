//! A small network trained from nothing, operator by operator: forward, backward by hand, and Adam.
//!
//! Batches have different numbers of rows. A second stream copies the next one to the device while the first trains
//! with this one; nobody waits on the host, for memory that two streams use is ordered by itself. What one step needs
//! and no other is had from the stream (`Stream::empty`), which has the same memory again in the next one, however
//! far the device has come.
#![allow(clippy::print_stdout)]

use racl::{Acl, Context, DeviceBuffer, Lent, PinnedBuffer, Result, Stream, Tensor, op};

/// How large everything is, and how long it goes on.
pub(crate) struct Sizes {
    /// Numbers of a row, of what comes out of each layer, and classes.
    pub(crate) widths: Vec<usize>,
    /// Least and greatest number of rows of a batch.
    pub(crate) rows: (usize, usize),
    pub(crate) steps: usize,
}

const RATE: f32 = 0.01;
const DECAY: [f32; 2] = [0.9, 0.999];
const EPSILON: f32 = 1e-8;
/// A row of this class would not count.
const IGNORED: i64 = -100;

/// A tensor that is learned, with what Adam remembers of its gradients.
struct Learned {
    value: Tensor<f32>,
    mean: Tensor<f32>,
    square: Tensor<f32>,
}

impl Learned {
    fn new(context: &Context, numbers: &[f32], shape: &[usize]) -> Result<Self> {
        Ok(Self {
            value: context.upload_tensor(numbers, shape)?,
            mean: context.zeros(shape)?,
            square: context.zeros(shape)?,
        })
    }

    /// One step of Adam, the `number`th from 1 on.
    fn learn(&mut self, s: &Stream, gradient: &Tensor<f32>, number: i32) -> Result<()> {
        let Self { value, mean, square } = self;
        let shape = *gradient.shape();
        let mut term = s.empty(shape)?;
        op::muls_inplace(s, mean, DECAY[0])?;
        op::add_scaled(s, &mean.clone(), gradient, 1.0 - DECAY[0], mean)?;
        op::mul(s, gradient, gradient, &mut term)?;
        op::muls_inplace(s, square, DECAY[1])?;
        op::add_scaled(s, &square.clone(), &term, 1.0 - DECAY[1], square)?;
        let mut root = s.empty(shape)?;
        op::divs(s, square, 1.0 - DECAY[1].powi(number), &mut term)?;
        op::sqrt(s, &term, &mut root)?;
        op::adds_inplace(s, &mut root, EPSILON)?;
        op::divs(s, mean, 1.0 - DECAY[0].powi(number), &mut term)?;
        op::div_inplace(s, &mut term, &root)?;
        op::add_scaled(s, &value.clone(), &term, -RATE, value)
    }
}

struct Layer {
    weight: Learned,
    bias: Learned,
}

struct Network(Vec<Layer>);

/// Rows and their classes, on the device.
struct Batch {
    x: Tensor<f32>,
    classes: Tensor<i64>,
    pinned: Pinned,
}

/// The host memory that a batch comes from. To give it up before the copies are done would be to wait for them.
type Pinned = (Lent<f32>, Lent<i64>);

impl Network {
    fn new(context: &Context, random: &mut fastrand::Rng, widths: &[usize]) -> Result<Self> {
        let layer = |pair: &[usize]| {
            let scale = (6.0 / (pair[0] + pair[1]) as f32).sqrt();
            let numbers: Vec<f32> = (0..pair[0] * pair[1]).map(|_| scale * (2.0 * random.f32() - 1.0)).collect();
            let weight = Learned::new(context, &numbers, pair)?;
            Ok(Layer { weight, bias: Learned::new(context, &vec![0.0; pair[1]], &pair[1..])? })
        };
        widths.windows(2).map(layer).collect::<Result<_>>().map(Self)
    }

    /// What goes into each layer, and the numbers of the classes in the end.
    fn forward(&self, s: &Stream, x: &Tensor<f32>) -> Result<Vec<Tensor<f32>>> {
        let mut all = vec![x.clone()];
        for (index, layer) in self.0.iter().enumerate() {
            let from = &all[index];
            let shape = [from.shape()[0], layer.bias.value.len()];
            let mut sum = s.empty(shape)?;
            op::matmul(s, from, &layer.weight.value, &mut sum)?;
            op::add_inplace(s, &mut sum, &layer.bias.value)?;
            if index + 1 < self.0.len() {
                let mut active = s.empty(shape)?;
                op::relu(s, &sum, &mut active)?;
                sum = active;
            }
            all.push(sum);
        }
        Ok(all)
    }

    /// Learns from a batch; its mean loss, which is on the device.
    fn step(&mut self, s: &Stream, Batch { x, classes, .. }: &Batch, number: i32) -> Result<Tensor<f32>> {
        let mut kept = self.forward(s, x)?;
        let Some(logits) = kept.pop() else { unreachable!("there is x") };
        let shape = *logits.shape();
        let (mut loss, mut log_share) = (s.empty([1])?, s.empty(shape)?);
        op::cross_entropy(s, &logits, classes, IGNORED, &mut loss, &mut log_share)?;
        drop(logits);

        // The gradient of the mean loss: each share, less one for the right class.
        let mut gradient = s.empty(shape)?;
        op::exp(s, &log_share, &mut gradient)?;
        drop(log_share);
        let mut right = s.zeros(shape)?;
        let mut ones = s.empty([shape[0], 1])?;
        op::fill(s, &mut ones, 1.0)?;
        op::scatter(s, &mut right, 1, &classes.reshaped([shape[0], 1])?, &ones, op::Reduce::None)?;
        op::sub_inplace(s, &mut gradient, &right)?;
        op::muls_inplace(s, &mut gradient, 1.0 / shape[0] as f32)?;
        drop((right, ones));

        for (index, layer) in self.0.iter_mut().enumerate().rev() {
            let Some(from) = kept.pop() else { unreachable!("each layer has what went into it") };
            let mut of_weight = s.empty(*layer.weight.value.shape())?;
            let mut of_bias = s.empty(*layer.bias.value.shape())?;
            op::matmul(s, &from.transposed(0, 1)?, &gradient, &mut of_weight)?;
            op::reduce_sum(s, &gradient, &[0], false, &mut of_bias)?;
            if index > 0 {
                let mut before = s.empty(*from.shape())?;
                op::matmul(s, &gradient, &layer.weight.value.transposed(0, 1)?, &mut before)?;
                // What came out of a ReLU is not below zero: its sign is the derivative.
                let mut slope = s.empty(*from.shape())?;
                op::sign(s, &from, &mut slope)?;
                op::mul_inplace(s, &mut before, &slope)?;
                gradient = before;
            }
            layer.weight.learn(s, &of_weight, number)?;
            layer.bias.learn(s, &of_bias, number)?;
        }
        Ok(loss)
    }
}

/// Where batches come from: random rows, whose class is that of the greatest of a few sums of them.
struct Source {
    random: fastrand::Rng,
    sums: Vec<Vec<f32>>,
    rows: (usize, usize),
}

impl Source {
    fn new(sizes: &Sizes) -> Self {
        let mut random = fastrand::Rng::with_seed(17);
        let (width, classes) = (sizes.widths[0], sizes.widths[sizes.widths.len() - 1]);
        let sums = (0..classes).map(|_| (0..width).map(|_| random.f32() - 0.5).collect()).collect();
        Self { random, sums, rows: sizes.rows }
    }

    fn class_of(&self, row: &[f32]) -> i64 {
        let sum = |weights: &Vec<f32>| weights.iter().zip(row).map(|(weight, x)| weight * x).sum::<f32>();
        let sums: Vec<f32> = self.sums.iter().map(sum).collect();
        (0..sums.len()).max_by(|a, b| sums[*a].total_cmp(&sums[*b])).unwrap_or(0) as i64
    }

    /// Makes a batch and queues its way to the device on `copies`.
    fn next(&mut self, context: &Context, copies: &Stream) -> Result<Batch> {
        let (rows, width) = (self.random.usize(self.rows.0..=self.rows.1), self.sums[0].len());
        let mut x: PinnedBuffer<f32> = context.pinned(rows * width)?;
        x.iter_mut().for_each(|number| *number = 2.0 * self.random.f32() - 1.0);
        let classes: Vec<i64> = x.chunks(width).map(|row| self.class_of(row)).collect();
        let (mut to, mut labels): (DeviceBuffer<f32>, DeviceBuffer<i64>) =
            (copies.alloc(rows * width)?, copies.alloc(rows)?);
        let pinned = (copies.upload(x, &mut to)?, copies.upload(context.pinned_from(&classes)?, &mut labels)?);
        Ok(Batch { x: Tensor::over(to, [rows, width])?, classes: Tensor::over(labels, [rows])?, pinned })
    }
}

/// A training that goes on.
pub(crate) struct Training<'a> {
    context: &'a Context,
    pub(crate) stream: Stream,
    pub(crate) copies: Stream,
    source: Source,
    network: Network,
    next: Batch,
    /// Losses that nobody has looked at, with the host memory of their batches.
    queued: Vec<(Tensor<f32>, Pinned)>,
    steps: i32,
}

impl<'a> Training<'a> {
    pub(crate) fn new(context: &'a Context, sizes: &Sizes) -> Result<Self> {
        let (stream, copies) = (context.stream()?, context.stream()?);
        let mut source = Source::new(sizes);
        let network = Network::new(context, &mut fastrand::Rng::with_seed(18), &sizes.widths)?;
        let next = source.next(context, &copies)?;
        Ok(Self { context, stream, copies, source, network, next, queued: Vec::new(), steps: 0 })
    }

    /// Queues a step, and the copy of the next batch beside it.
    pub(crate) fn step(&mut self) -> Result<()> {
        let next = self.source.next(self.context, &self.copies)?;
        let batch = std::mem::replace(&mut self.next, next);
        self.steps += 1;
        let loss = self.network.step(&self.stream, &batch, self.steps)?;
        self.queued.push((loss, batch.pinned));
        Ok(())
    }

    /// Waits for the steps so far; the mean losses of those that nobody has looked at.
    pub(crate) fn losses(&mut self) -> Result<Vec<f32>> {
        self.queued.drain(..).map(|(loss, _)| Ok(loss.to_vec()?[0])).collect()
    }
}

/// Trains; the mean loss of each step.
pub(crate) fn train(context: &Context, sizes: &Sizes) -> Result<Vec<f32>> {
    let mut training = Training::new(context, sizes)?;
    let mut losses = Vec::with_capacity(sizes.steps);
    for number in 1..=sizes.steps {
        training.step()?;
        // Now and then somebody looks, which is where the host waits.
        if number % 4 == 0 || number == sizes.steps {
            losses.extend(training.losses()?);
        }
    }
    Ok(losses)
}

#[allow(dead_code, reason = "a test has this file as a module")]
fn main() -> Result<()> {
    let acl = Acl::init_or_mock()?;
    println!("library: {acl}");
    let sizes = Sizes { widths: vec![16, 64, 64, 4], rows: (48, 160), steps: 60 };
    let losses = train(acl.device(0)?.context(), &sizes)?;
    for (index, losses) in losses.chunks(10).enumerate() {
        let mean = losses.iter().sum::<f32>() / losses.len() as f32;
        println!("steps {:>2} to {:>2}: loss {mean:.3}", 10 * index + 1, 10 * index + losses.len());
    }
    let (first, last) = (losses[0], losses[losses.len() - 1]);
    assert!(last < first / 2.0, "nothing was learned: {first} at first, {last} in the end");
    Ok(())
}
