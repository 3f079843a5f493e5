use super::*;

const N: usize = 0;
const M: usize = 1;

/// Values of n and m for inputs "a", "b", … of these dimensions and shapes.
fn solve(given: [Option<usize>; 2], inputs: &[(&[Dim], &[usize])]) -> Result<Vec<usize>, String> {
    let symbols = ["n", "m"].map(|name| Symbol { name: name.to_owned(), least: 0, greatest: 100, each_run: false });
    let mut values = Values::default();
    values[..2].copy_from_slice(&given);
    let shaped = || {
        let names = ["a", "b", "c"].into_iter().zip(inputs);
        names.map(|(name, (dims, shape))| Shaped { name, dims, shape })
    };
    resolve(&symbols, values, shaped, "Some::symbol").map_err(|error| error.to_string())
}

#[track_caller]
fn refused(given: [Option<usize>; 2], inputs: &[(&[Dim], &[usize])], text: &str) {
    let error = solve(given, inputs).unwrap_err();
    assert!(error.ends_with(text), "{error}");
}

fn symbols() -> (Dim, Dim) {
    (Dim::symbol(N), Dim::symbol(M))
}

#[test]
fn a_dimension_with_one_unknown_symbol_tells_it() {
    let (n, m) = symbols();
    let m_is_1 = [None, Some(1)];
    assert_eq!(solve(m_is_1, &[(&[n], &[6])]), Ok(vec![6, 1]));
    assert_eq!(solve(m_is_1, &[(&[n * 2], &[6])]), Ok(vec![3, 1]));
    assert_eq!(solve(m_is_1, &[(&[n + 1], &[6])]), Ok(vec![5, 1]));
    assert_eq!(solve(m_is_1, &[(&[n * 2 + 4], &[4])]), Ok(vec![0, 1]));
    assert_eq!(solve([None, Some(3)], &[(&[n * m], &[6])]), Ok(vec![2, 3]));
    assert_eq!(solve([None, Some(3)], &[(&[n * m * m], &[18])]), Ok(vec![2, 3]));
}

#[test]
fn what_a_later_shape_says_counts_for_an_earlier_one() {
    let (n, m) = symbols();
    assert_eq!(solve([None; 2], &[(&[n * m + 1], &[7]), (&[m, Dim::from(4)], &[3, 4])]), Ok(vec![2, 3]));
}

#[test]
fn shapes_that_contradict_each_other_are_named() {
    let (n, m) = symbols();
    let one = [None, Some(1)];
    refused(one, &[(&[n], &[4]), (&[n], &[5])], "symbol \"n\" is 4 elsewhere and 5 in the shape [5] of input \"b\"");
    refused(one, &[(&[n], &[4]), (&[n * 2], &[9])], "input \"b\": expected [2*n], which is [8] here, got [9]");
    refused([Some(2), Some(3)], &[(&[n * m], &[7])], "input \"a\": expected [n*m], which is [6] here, got [7]");
    refused(one, &[(&[n, Dim::from(2)], &[4])], "input \"a\": expected [n, 2], got [4]");
    refused([Some(1); 2], &[(&[Dim::from(2)], &[4])], "input \"a\": expected [2], got [4]");
}

#[test]
fn a_size_that_no_value_gives_is_named() {
    let (n, m) = symbols();
    let says = "no value of symbol \"n\" makes 2*n the 7 in the shape [7] of input \"a\"";
    refused([None, Some(1)], &[(&[n * 2], &[7])], says);
    let says = "no value of symbol \"n\" makes n+8 the 7 in the shape [7] of input \"a\"";
    refused([None, Some(1)], &[(&[n + 8], &[7])], says);
    let says = "no value of symbol \"m\" makes n*m the 7 in the shape [3, 7] of input \"a\"";
    refused([None; 2], &[(&[n, n * m], &[3, 7])], says);
}

#[test]
fn a_symbol_that_nothing_says_is_missing_with_the_way_to_give_it() {
    let (n, m) = symbols();
    refused([None, Some(1)], &[], "no input says what symbol \"n\" is; Some::symbol does");
    refused([None; 2], &[(&[n * m], &[6])], "no input says what symbol \"n\" is; Some::symbol does");
    // Any n gives nothing when m is 0.
    refused([None, Some(0)], &[(&[n * m], &[0])], "no input says what symbol \"n\" is; Some::symbol does");
    refused([None, Some(1)], &[(&[n * n], &[9])], "no input says what symbol \"n\" is; Some::symbol does");
}

#[test]
fn numbers_that_overflow_have_no_value() {
    let (n, m) = symbols();
    let most = [Some(usize::MAX); 2];
    assert!(solve(most, &[(&[n * m], &[1])]).is_err());
    assert!(solve([None, Some(usize::MAX)], &[(&[n * m * m], &[1])]).is_err());
}
