//! What other streams do with the memory of a graph while its launch waits for room in a queue.

use std::thread;

use racl::{CaptureMode, Context, Graph, Stream, Tensor, op};

use super::common::mock;
use super::{events_of, held};

/// What a queue takes, the launch aside.
const ROOM: usize = 2013;
const LAUNCH: &str = "aclmdlRIExecuteAsync";

/// A graph that doubles `x` on `z`, and a free stream `y`.
struct Scene {
    context: Context,
    z: Stream,
    y: Stream,
    x: Tensor<f32>,
    doubled: Tensor<f32>,
    graph: Graph,
}

impl Scene {
    fn new() -> Self {
        let (context, streams) = held(2);
        streams.iter().for_each(|stream| mock::release(stream).unwrap());
        let [z, y] = <[Stream; 2]>::try_from(streams).unwrap();
        let x = context.upload_tensor(&[3.0_f32; 4], [4]).unwrap();
        let mut doubled = context.zeros::<f32>([4]).unwrap();
        let graph = z.capture(CaptureMode::ThreadLocal, |s| op::add(s, &x, &x, &mut doubled)).unwrap();
        Self { context, z, y, x, doubled, graph }
    }

    /// Launches the graph on a full queue, in which there is room behind `meanwhile`. What is given holds the launch, and
    /// all behind it, where it is.
    fn launch_while(&mut self, meanwhile: impl FnOnce(&Stream, &mut Tensor<f32>)) -> Stream {
        let (first, second) = (self.context.stream().unwrap(), self.context.stream().unwrap());
        let mut other = self.context.alloc::<u8>(64).unwrap();
        for (gate, fills) in [(&first, ROOM / 2), (&second, ROOM - ROOM / 2 - 2)] {
            mock::hold(gate).unwrap();
            gate.fork(&self.z).unwrap();
            (0..fills).for_each(|_| self.z.fill_bytes(&mut other, 0).unwrap());
        }
        let (calls, z, graph) = (mock::calls(LAUNCH), &self.z, &mut self.graph);
        thread::scope(|scope| {
            let launch = scope.spawn(|| graph.launch(z).unwrap());
            until_called(LAUNCH, calls + 1);
            meanwhile(&self.y, &mut self.x);
            assert!(!launch.is_finished(), "the queue has room");
            mock::release(&first).unwrap();
            mock::run_until_idle();
        });
        second
    }
}

/// Calls are counted where they begin, with the stream's lock.
fn until_called(function: &str, times: u64) {
    while mock::calls(function) < times {
        thread::yield_now();
    }
}

#[test]
fn a_write_follows_a_launch_that_waited_while_others_read() {
    let _alone = mock::exclusive();
    let mut scene = Scene::new();
    for _ in 0..2 {
        scene.graph.launch(&scene.z).unwrap();
        scene.z.synchronize().unwrap();
    }
    let mut seen = scene.context.zeros::<f32>([4]).unwrap();
    let gate = scene.launch_while(|y, x| {
        op::abs(y, &*x, &mut seen).unwrap();
        y.synchronize().unwrap();
    });
    op::fill(&scene.y, &mut scene.x, 9.0).unwrap();
    mock::run_until_idle();
    assert!(!scene.y.is_complete().unwrap(), "the launch has not read it yet");
    mock::release(&gate).unwrap();
    assert_eq!(scene.doubled.to_vec().unwrap(), [6.0; 4]);
    assert_eq!((scene.x.to_vec().unwrap(), seen.to_vec().unwrap()), (vec![9.0; 4], vec![3.0; 4]));
}

#[test]
fn a_launch_follows_what_was_written_while_the_first_one_waited() {
    let _alone = mock::exclusive();
    let mut scene = Scene::new();
    let gate = scene.launch_while(|y, x| {
        mock::hold(y).unwrap();
        op::fill(y, x, 9.0).unwrap();
    });
    assert_eq!(events_of(|| scene.graph.launch(&scene.z).unwrap())[1], 1);
    assert_eq!(events_of(|| scene.graph.launch(&scene.z).unwrap())[1], 0, "nobody else came in between");
    mock::release(&gate).unwrap();
    mock::run_until_idle();
    assert!(!scene.z.is_complete().unwrap(), "what was written is not there yet");
    mock::release(&scene.y).unwrap();
    assert_eq!(scene.doubled.to_vec().unwrap(), [18.0; 4]);
}
