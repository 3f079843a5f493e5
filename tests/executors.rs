//! Executors that are kept for the next call with an equal signature. Counts calls of the mock, so one test at a
//! time.

mod common;

use std::process::Command;
use std::sync::mpsc;

use common::mock;
use racl::op::{self, AnyTensor, DataType, Format, GeluForm, LayerNorm, OperatorCache, aclnn};
use racl::{CaptureMode, Context, ErrorKind, Result, Stream, Tensor};

const FIRST: &str = "aclnnMulGetWorkspaceSize";

struct Case {
    context: Context,
    stream: Stream,
}

impl Case {
    fn new() -> Self {
        let context = common::device().context().create_context().unwrap();
        context.set_operator_cache(1024); // whatever the environment says
        Self { stream: context.stream().unwrap(), context }
    }

    fn tensor(&self, value: f32) -> Tensor<f32> {
        self.context.upload_tensor(&[value; 4], [4]).unwrap()
    }

    fn counts(&self) -> (u64, u64, u64, usize) {
        let OperatorCache { hits, misses, refused, signatures, .. } = self.context.operator_cache();
        (hits, misses, refused, signatures)
    }

    /// `a · b` on new memory.
    fn mul(&self, a: f32, b: f32) -> Result<f32> {
        let (a, b, mut out) = (self.tensor(a), self.tensor(b), self.tensor(0.0));
        op::mul(&self.stream, &a, &b, &mut out)?;
        let out = out.to_vec()?;
        assert_eq!(out, [out[0]; 4]);
        Ok(out[0])
    }
}

fn alone(test: impl FnOnce()) {
    let _alone = mock::exclusive();
    mock::reset().unwrap();
    let before = mock::live_handles();
    test();
    mock::clear_failures();
    assert_eq!(mock::live_handles(), before, "something is left");
}

#[test]
fn an_equal_call_on_other_memory_needs_its_second_phase_only() {
    alone(|| {
        let case = Case::new();
        for turn in 0..5 {
            assert_eq!(case.mul(turn as f32, 3.0).unwrap(), turn as f32 * 3.0);
        }
        assert_eq!(mock::calls(FIRST), 1);
        assert_eq!(mock::calls("aclnnMul"), 5);
        assert_eq!(case.counts(), (4, 1, 0, 1));
        // By name it is the same signature.
        let (a, mut out) = (case.tensor(2.0), case.tensor(0.0));
        aclnn::mul(&case.stream, &a, &a.clone(), &mut out).unwrap();
        aclnn::mul(&case.stream, &a, &AnyTensor::from(&a), &mut out).unwrap();
        assert_eq!(out.to_vec().unwrap(), [4.0; 4]);
        assert_eq!(case.counts(), (6, 1, 0, 1));
    });
}

#[test]
fn other_layouts_types_and_values_are_other_signatures() {
    alone(|| {
        let case = Case::new();
        let s = &case.stream;
        let whole = case.context.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
        let mut out = case.context.zeros::<f32>([2]).unwrap();
        let mut signatures = 0;
        let mut check = |a: &Tensor<f32>, value: f32, want: [f32; 2]| {
            op::muls(s, a, value, &mut out).unwrap();
            signatures += 1;
            assert_eq!(out.to_vec().unwrap(), want);
            assert_eq!(case.counts(), (0, signatures, 0, signatures as usize));
        };
        let row = |index| whole.narrow(0, index..index + 1).unwrap().reshaped([2]).unwrap();
        check(&row(0), 2.0, [2.0, 4.0]);
        check(&row(1), 2.0, [6.0, 8.0]); // another offset
        check(&row(1), 3.0, [9.0, 12.0]); // another value
        let column = whole.narrow(1, 0..1).unwrap();
        let mut tall = case.context.zeros::<f32>([2, 1]).unwrap();
        op::muls(s, &column, 3.0, &mut tall).unwrap();
        assert_eq!(tall.to_vec().unwrap(), [3.0, 9.0]);
        let numbers = case.context.upload_tensor(&[5_i32, 6], [2]).unwrap();
        let mut integers = case.context.zeros::<i32>([2]).unwrap();
        op::muls(s, &numbers, 2, &mut integers).unwrap();
        assert_eq!(integers.to_vec().unwrap(), [10, 12]);
        // Values in arrays, and plain numbers.
        for order in [[0, 1], [1, 0], [0, 1]] {
            let mut moved = case.context.zeros::<f32>([2, 2]).unwrap();
            op::permute(s, &whole, &order, &mut moved).unwrap();
            let want = if order == [0, 1] { [1.0, 2.0, 3.0, 4.0] } else { [1.0, 3.0, 2.0, 4.0] };
            assert_eq!(moved.to_vec().unwrap(), want);
        }
        for dim in [0, 1, 0] {
            let mut sums = case.context.zeros::<f32>([2, 2]).unwrap();
            aclnn::cumsum(s, &whole, dim, DataType::F32, &mut sums).unwrap();
            let want = if dim == 0 { [1.0, 2.0, 4.0, 6.0] } else { [1.0, 3.0, 3.0, 7.0] };
            assert_eq!(sums.to_vec().unwrap(), want);
        }
        assert_eq!(case.counts(), (2, 9, 0, 9));
    });
}

#[test]
fn a_format_that_the_library_does_not_know_is_refused_after_a_similar_call() {
    alone(|| {
        let case = Case::new();
        let (x, mut out) = (AnyTensor::from(case.tensor(2.0)), case.tensor(0.0));
        aclnn::neg(&case.stream, &x, &mut out).unwrap();
        // The same lower 16 bits.
        let other = x.with_format(Format::new(Format::ND.number() + 0x1_0000), [4]).unwrap();
        aclnn::neg(&case.stream, &other, &mut out).unwrap_err();
        assert_eq!(case.counts().0, 0);
    });
}

#[test]
fn the_signature_that_was_used_longest_ago_goes() {
    alone(|| {
        let case = Case::new();
        case.context.set_operator_cache(2);
        let muls = |value: f32| {
            let (a, mut out) = (case.tensor(2.0), case.tensor(0.0));
            op::muls(&case.stream, &a, value, &mut out).unwrap();
            assert_eq!(out.to_vec().unwrap(), [2.0 * value; 4]);
        };
        for value in [1.0, 2.0, 1.0, 3.0, 1.0, 2.0] {
            muls(value);
        }
        // 3 pushed 2 out, which pushed 3 out.
        assert_eq!(case.counts(), (2, 4, 0, 2));
        assert_eq!(mock::live_handles().executors, 2);
        muls(1.0);
        assert_eq!(case.counts(), (3, 4, 0, 2));
        case.context.clear_operator_cache();
        assert_eq!(mock::live_handles().executors, 0);
        assert_eq!(case.counts(), (3, 4, 0, 0));
        case.context.set_operator_cache(0);
        muls(1.0);
        muls(1.0);
        assert_eq!((case.counts(), mock::live_handles().executors), ((3, 4, 0, 0), 0));
        // Many more than the cache holds, in another order each time.
        case.context.set_operator_cache(7);
        let mut random = fastrand::Rng::with_seed(7);
        (0..300).for_each(|_| muls(random.u32(0..12) as f32));
        let (hits, misses, _, signatures) = case.counts();
        assert_eq!((hits + misses, signatures), (307, 7));
        assert!(hits > 50, "{hits} hits");
    });
}

#[test]
fn each_thread_has_executors_of_its_own() {
    alone(|| {
        let case = Case::new();
        case.mul(1.0, 2.0).unwrap();
        let there = || {
            assert_eq!(case.mul(2.0, 2.0).unwrap(), 4.0);
            assert_eq!(case.mul(3.0, 2.0).unwrap(), 6.0);
        };
        std::thread::scope(|scope| scope.spawn(there).join().unwrap());
        assert_eq!(mock::calls(FIRST), 2);
        assert_eq!(case.mul(4.0, 2.0).unwrap(), 8.0);
        assert_eq!(mock::calls(FIRST), 2);
        // What the thread that is over had is destroyed when somebody looks.
        let (hits, misses, _, signatures) = case.counts();
        assert_eq!((hits, misses, signatures), (2, 2, 1));
        assert_eq!(mock::live_handles().executors, 1);
    });
}

#[test]
fn calls_with_lists_need_their_second_phase_only_wherever_their_memory_is() {
    alone(|| {
        let case = Case::new();
        let s = &case.stream;
        for turn in 0..4_u16 {
            let (a, b) = (case.tensor(f32::from(turn)), case.tensor(f32::from(turn) + 0.5));
            let mut out = case.context.zeros::<f32>([8]).unwrap();
            // Its result is behind a list of what is read.
            op::cat(s, &[&a, &b], 0, &mut out).unwrap();
            let want = [[f32::from(turn); 4], [f32::from(turn) + 0.5; 4]].concat();
            assert_eq!(out.to_vec().unwrap(), want);
            let mut pair = case.context.zeros::<f32>([2, 4]).unwrap();
            op::stack(s, &[&b, &a], 0, &mut pair).unwrap();
            assert_eq!(pair.to_vec().unwrap(), [&want[4..], &want[..4]].concat());
            // A list of what is written.
            let (mut head, mut tail) =
                (case.context.zeros::<f32>([5]).unwrap(), case.context.zeros::<f32>([3]).unwrap());
            op::split(s, &out, &[5, 3], 0, &mut [&mut head, &mut tail]).unwrap();
            assert_eq!([head.to_vec().unwrap(), tail.to_vec().unwrap()].concat(), want);
            // One of each.
            let (mut c, mut d) = (case.tensor(0.0), case.tensor(0.0));
            aclnn::foreach_sqrt(s, &[&out, &a], &mut [&mut out.clone(), &mut c]).unwrap();
            aclnn::foreach_sqrt(s, &[&b], &mut [&mut d]).unwrap();
            assert_eq!(c.to_vec().unwrap(), [f32::from(turn).sqrt(); 4]);
            assert_eq!(d.to_vec().unwrap(), [(f32::from(turn) + 0.5).sqrt(); 4]);
        }
        assert_eq!(case.counts(), (3 * 5, 5, 0, 5));
        for first in ["aclnnCatGetWorkspaceSize", "aclnnStackGetWorkspaceSize", "aclnnSplitWithSizeGetWorkspaceSize"]
        {
            assert_eq!(mock::calls(first), 1, "{first}");
        }
        assert_eq!(mock::calls("aclnnForeachSqrtGetWorkspaceSize"), 2, "of two lists and of one");
        assert_eq!(mock::calls("aclSetTensorAddr"), 0, "which counts all operands in one line");
    });
}

#[test]
fn a_tensor_whose_index_is_not_sure_makes_a_signature_with_its_address() {
    alone(|| {
        let case = Case::new();
        let x = case.context.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [4]).unwrap();
        let index = case.context.upload_tensor(&[2_i64, 0], [2]).unwrap();
        let mut kept = Vec::new();
        for turn in 0..3 {
            // The index stands in a list; the values come behind it, and the result changes in place in front of it.
            let mut target = case.context.upload_tensor(&[0.0_f32; 4], [4]).unwrap();
            let values = case.context.upload_tensor(&[5.0_f32, turn as f32], [2]).unwrap();
            aclnn::index_put_impl(&case.stream, &mut target, &[&index], &values, false, true).unwrap();
            assert_eq!(target.to_vec().unwrap(), [turn as f32, 0.0, 5.0, 0.0]);
            kept.push(values); // so that each has an address of its own
        }
        assert_eq!(case.counts(), (0, 3, 0, 3));
        drop(x);
    });
}

#[test]
fn signatures_are_limited_for_all_threads_together() {
    alone(|| {
        let case = Case::new();
        case.context.set_operator_cache(3);
        let muls = |value: f32| {
            let (a, mut out) = (case.tensor(2.0), case.tensor(0.0));
            op::muls(&case.stream, &a, value, &mut out).unwrap();
            assert_eq!(out.to_vec().unwrap(), [2.0 * value; 4]);
        };
        // A thread that stays, in turn with this one.
        let (work, works) = mpsc::channel::<f32>();
        let (done, dones) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for value in works {
                    muls(value);
                    done.send(()).unwrap();
                }
            });
            let there = |value| {
                work.send(value).unwrap();
                dones.recv().unwrap();
            };
            (1..=3).for_each(|value| there(value as f32));
            assert_eq!((case.counts(), mock::live_handles().executors), ((0, 3, 0, 3), 3));
            assert_eq!(case.context.operator_cache().threads, 1);
            muls(1.0); // of this thread: one of the other goes, which was used longest ago
            assert_eq!((case.counts(), mock::live_handles().executors), ((0, 4, 0, 3), 3));
            assert_eq!(case.context.operator_cache().threads, 2);
            muls(5.0); // and one more
            there(3.0);
            assert_eq!(case.counts(), (1, 5, 0, 3));
            muls(7.0); // now it is one of this thread
            there(3.0);
            assert_eq!(case.counts(), (2, 6, 0, 3));
            muls(1.0);
            assert_eq!(case.counts(), (2, 7, 0, 3));
            drop(work);
        });
    });
}

#[test]
fn signatures_are_limited_for_the_process() {
    const VARIABLE: &str = "RACL_OPERATOR_CACHE";
    if std::env::var_os(VARIABLE).is_none_or(|value| value != "4") {
        let own = std::env::current_exe().unwrap();
        let test = ["--exact", "signatures_are_limited_for_the_process"];
        let done = Command::new(own).args(test).env(VARIABLE, "4").output().unwrap();
        let text = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success() && text.contains("1 passed"), "{text}");
        return;
    }
    alone(|| {
        let cases: Vec<_> = (0..3).map(|_| Case::new()).collect();
        for turn in 0..4 {
            for case in &cases {
                let (a, mut out) = (case.tensor(2.0), case.tensor(0.0));
                op::muls(&case.stream, &a, turn as f32, &mut out).unwrap();
                assert_eq!(out.to_vec().unwrap(), [2.0 * turn as f32; 4]);
                assert!(mock::live_handles().executors <= 4);
            }
        }
        assert_eq!(mock::live_handles().executors, 4);
        assert_eq!(cases.iter().map(|case| case.counts().3).collect::<Vec<_>>(), [1, 1, 2]);
        // Threads and contexts come and go meanwhile.
        std::thread::scope(|scope| {
            for thread in 0..3 {
                scope.spawn(move || {
                    for turn in 0..20 {
                        let case = Case::new();
                        case.mul(turn as f32, 2.0).unwrap();
                        case.mul(1.0, thread as f32).unwrap();
                        let Case { context, stream } = case;
                        drop(stream);
                        context.close().unwrap();
                    }
                });
            }
        });
        assert!(mock::live_handles().executors <= 4);
    });
}

#[test]
fn contexts_do_not_share_executors_and_end_with_theirs() {
    alone(|| {
        let (one, other) = (Case::new(), Case::new());
        one.mul(1.0, 1.0).unwrap();
        other.mul(1.0, 1.0).unwrap();
        one.mul(1.0, 1.0).unwrap();
        assert_eq!((one.counts(), other.counts()), ((1, 1, 0, 1), (0, 1, 0, 1)));
        let Case { context, stream } = other;
        stream.close().unwrap();
        context.close().unwrap();
        assert_eq!(mock::live_handles().executors, 1);
    });
}

#[test]
fn captures_with_kept_executors_replay_on_their_own_memory() {
    alone(|| {
        let case = Case::new();
        case.mul(1.0, 1.0).unwrap();
        let record = |a: &Tensor<f32>, b: &Tensor<f32>, out: &mut Tensor<f32>| {
            case.stream.capture(CaptureMode::ThreadLocal, |s| op::mul(s, a, b, out)).unwrap()
        };
        let mut x = case.tensor(2.0);
        let (mut first, mut second) = (case.tensor(0.0), case.tensor(0.0));
        let mut one = record(&x, &case.tensor(3.0), &mut first);
        let mut two = record(&x, &case.tensor(5.0), &mut second);
        assert_eq!(case.mul(7.0, 7.0).unwrap(), 49.0);
        assert_eq!((mock::calls(FIRST), case.counts().0), (1, 3));
        for value in [2.0, 4.0] {
            x.write(&[value; 4]).unwrap();
            one.launch(&case.stream).unwrap();
            two.launch(&case.stream).unwrap();
            assert_eq!(first.to_vec().unwrap(), [3.0 * value; 4]);
            assert_eq!(second.to_vec().unwrap(), [5.0 * value; 4]);
        }
        // A graph needs no executor.
        case.context.clear_operator_cache();
        one.launch(&case.stream).unwrap();
        assert_eq!(first.to_vec().unwrap(), [12.0; 4]);
    });
}

#[test]
fn a_second_phase_that_fails_drops_its_executor() {
    alone(|| {
        let case = Case::new();
        case.mul(1.0, 1.0).unwrap();
        mock::fail("aclnnMul", 1, 361_001).unwrap();
        assert_eq!(case.mul(1.0, 1.0).unwrap_err().kind(), ErrorKind::Operator);
        assert_eq!((case.counts().3, mock::live_handles().executors), (0, 0));
        assert_eq!(case.mul(2.0, 3.0).unwrap(), 6.0);
        assert_eq!(mock::calls(FIRST), 2);
        // The first one of a signature, too; and a first phase.
        case.context.clear_operator_cache();
        mock::fail("aclnnMul", 1, 361_001).unwrap();
        assert_eq!(case.mul(1.0, 1.0).unwrap_err().kind(), ErrorKind::Operator);
        mock::fail(FIRST, 1, 161_002).unwrap();
        assert_eq!(case.mul(1.0, 1.0).unwrap_err().kind(), ErrorKind::OperatorArgument);
        assert_eq!((case.counts().3, mock::live_handles().executors), (0, 0));
        assert_eq!(case.mul(2.0, 3.0).unwrap(), 6.0);
    });
}

#[test]
fn an_operator_that_cannot_be_repeated_is_planned_each_time() {
    alone(|| {
        let case = Case::new();
        mock::fail("aclSetAclOpExecutorRepeatable", 1, 561_000).unwrap();
        for turn in 0..3 {
            assert_eq!(case.mul(turn as f32, 2.0).unwrap(), turn as f32 * 2.0);
        }
        assert_eq!(mock::calls("aclSetAclOpExecutorRepeatable"), 1, "it is remembered");
        assert_eq!(mock::calls(FIRST), 4, "once to find out");
        assert_eq!((case.counts(), mock::live_handles().executors), ((0, 3, 3, 1), 0));
    });
}

#[test]
fn an_address_that_is_refused_makes_an_operator_plan_again() {
    alone(|| {
        let case = Case::new();
        let (a, b) = (case.tensor(2.0), case.tensor(3.0));
        let (mut one, mut two) = (case.tensor(0.0), case.tensor(0.0));
        op::mul(&case.stream, &a, &b, &mut one).unwrap();
        op::mul(&case.stream, &a, &b, &mut one).unwrap();
        assert_eq!(mock::calls("aclSetTensorAddr"), 0, "nothing moved");
        mock::fail("aclSetTensorAddr", 2, 161_002).unwrap();
        op::mul(&case.stream, &b, &b, &mut two).unwrap(); // of two tensors that moved, the second is refused
        assert_eq!(two.to_vec().unwrap(), [9.0; 4]);
        op::mul(&case.stream, &a, &b, &mut two).unwrap();
        assert_eq!(two.to_vec().unwrap(), [6.0; 4]);
        assert_eq!((case.counts(), mock::calls(FIRST)), ((1, 3, 2, 1), 3));
        assert_eq!(one.to_vec().unwrap(), [6.0; 4]);
    });
}

/// One turn of everything; its numbers.
fn everything(context: &Context) -> Result<Vec<f32>> {
    let s = &context.stream()?;
    let a = context.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2])?;
    let row = context.upload_tensor(&[1.0_f32, 0.5], [2])?;
    let mut results = Vec::new();
    let mut note = |operator: &dyn Fn(&mut Tensor<f32>) -> Result<()>| -> Result<()> {
        let mut out = context.upload_tensor(&[9.0_f32, 8.0, 7.0, 6.0], [2, 2])?;
        operator(&mut out)?;
        results.extend(out.to_vec()?);
        Ok(())
    };
    note(&|out| op::add(s, &a, &row, out))?;
    note(&|out| op::add_scaled(s, &a, &row, 0.5, out))?;
    note(&|out| op::add_inplace(s, out, &a))?;
    note(&|out| op::sub(s, &a, &row, out))?;
    note(&|out| op::div(s, &a, &row, out))?;
    note(&|out| op::clamp_min(s, &a, 2.0, out))?;
    note(&|out| op::gelu(s, &a, GeluForm::Tanh, out))?;
    note(&|out| op::gelu(s, &a, GeluForm::Exact, out))?;
    note(&|out| op::softmax(s, &a, 0, out))?;
    note(&|out| op::softmax(s, &a, 1, out))?;
    note(&|out| op::layer_norm(s, &a, &LayerNorm { weight: &row, bias: &row, eps: 1e-5 }, out))?;
    note(&|out| op::matmul(s, &a.transposed(0, 1)?, &a, out))?;
    note(&|out| op::addmm(s, &row, &a, &a, out))?;
    note(&|out| op::reduce_sum(s, &a, &[0], true, &mut out.narrow(0, 0..1)?))?;
    note(&|out| op::permute(s, &a, &[1, 0], out))?;
    note(&|out| op::fill(s, out, 3.0))?;
    note(&|out| op::copy(s, &a, out))?;
    Ok(results)
}

#[test]
fn numbers_are_equal_with_and_without_kept_executors() {
    alone(|| {
        let (kept, anew) = (Case::new(), Case::new());
        anew.context.set_operator_cache(0);
        let want = everything(&anew.context).unwrap();
        for turn in 0..3 {
            assert_eq!(everything(&kept.context).unwrap(), want, "turn {turn}");
        }
        let (hits, misses, refused, _) = kept.counts();
        assert_eq!((hits, refused), (2 * misses, 0));
        assert_eq!(anew.counts(), (0, 0, 0, 0));
    });
}

#[test]
fn the_environment_sets_the_limit() {
    const VARIABLE: &str = "RACL_OPERATOR_CACHE";
    let _alone = mock::exclusive();
    let context = common::device().context().create_context().unwrap();
    if std::env::var_os(VARIABLE).is_some_and(|value| value == "0") {
        let (stream, mut a) = (context.stream().unwrap(), context.zeros::<f32>([2]).unwrap());
        (0..3).for_each(|_| op::fill(&stream, &mut a, 1.0).unwrap());
        assert_eq!(context.operator_cache(), OperatorCache::default());
        return;
    }
    let own = std::env::current_exe().unwrap();
    let done = Command::new(own).args(["--exact", "the_environment_sets_the_limit"]).env(VARIABLE, "0").output();
    let done = done.unwrap();
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && text.contains("1 passed"), "{text}");
}
