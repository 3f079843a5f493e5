//! Copies of rows.

use racl::{CaptureMode, ErrorKind, Rows};

use crate::common::{assert_says, device};
use crate::exclusive;

#[test]
fn rows_are_copied_in_each_direction_and_what_lies_between_stays() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let mut wide = device.upload(&[9_u16; 12]).unwrap(); // 3 rows of 4
    let host = device.pinned_from(&[1, 2, 3, 4, 5, 6]).unwrap(); // 3 rows of 2
    let to_wide = Rows::new(2, 3).to_pitch(4);
    let host = stream.upload_rows(host, &mut wide.slice_mut(1..).unwrap(), to_wide).unwrap().wait().unwrap();
    assert_eq!(wide.to_vec().unwrap(), [9, 1, 2, 9, 9, 3, 4, 9, 9, 5, 6, 9]);

    let mut other = device.upload(&[7_u16; 8]).unwrap(); // 2 rows of 4, the last one short
    let rows = Rows::new(3, 2).from_pitch(4).to_pitch(5);
    stream.copy_rows(&wide.slice(4..).unwrap(), &mut other, rows).unwrap();
    assert_eq!(other.to_vec().unwrap(), [9, 3, 4, 7, 7, 9, 5, 6]);

    let rows = Rows::new(1, 3).from_pitch(4).to_pitch(2);
    let host = stream.download_rows(&wide.slice(1..).unwrap(), host, rows).unwrap().wait().unwrap();
    assert_eq!(*host, [1, 2, 3, 4, 5, 6]);
}

#[test]
fn the_distance_of_a_single_row_need_not_fit() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let from = device.upload(&[1_u8, 2, 3]).unwrap();
    let mut to = device.alloc::<u8>(3).unwrap();
    let rows = Rows::new(3, 1).from_pitch(usize::MAX).to_pitch(100);
    stream.copy_rows(&from, &mut to, rows).unwrap();
    assert_eq!(to.to_vec().unwrap(), [1, 2, 3]);
}

#[test]
fn rows_that_a_side_does_not_have_are_refused() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let from = device.upload(&[0_u32; 8]).unwrap();
    let mut to = device.alloc::<u32>(8).unwrap();
    let cases: [(Rows, &str); 9] = [
        (Rows::new(0, 2), "2 rows of 0 elements"),
        (Rows::new(2, 0), "0 rows of 2 elements"),
        (Rows::new(3, 2).from_pitch(2), "read every 2"),
        (Rows::new(3, 2).to_pitch(2), "written every 2"),
        (Rows::new(3, 3), "3 rows of 3 elements, read every 3 elements, in memory of 8"),
        (Rows::new(3, 2).to_pitch(6), "written every 6 elements, in memory of 8"),
        (Rows::new(9, 1), "in memory of 8"),
        (Rows::new(1, usize::MAX).from_pitch(usize::MAX), "in memory of 8"),
        (Rows::new(usize::MAX, 2), "in memory of 8"),
    ];
    for (rows, text) in cases {
        let error = stream.copy_rows(&from, &mut to, rows).unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &[text]);
        let host = device.pinned_from(&[5_u32; 8]).unwrap();
        let refused = stream.upload_rows(host, &mut to, rows).unwrap_err();
        assert_says(refused.error(), ErrorKind::InvalidArgument, &[text]);
        let refused = stream.download_rows(&from, refused.into_value(), rows).unwrap_err();
        assert_eq!(refused.error().kind(), ErrorKind::InvalidArgument);
        assert_eq!(**refused.value(), [5; 8]);
    }
    let wide = device.alloc::<u8>(5_000_001).unwrap();
    let mut target = device.alloc::<u8>(5_000_001).unwrap();
    let error = stream.copy_rows(&wide, &mut target, Rows::new(5_000_001, 1)).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["5000001 bytes", "5000000"]);
    stream.copy_rows(&wide, &mut target, Rows::new(5_000_000, 1)).unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn rows_are_copied_by_each_replay() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let mut wide = device.alloc_zeroed::<u8>(4).unwrap();
    let mut lent = None;
    let mut graph = stream
        .capture(CaptureMode::ThreadLocal, |s| {
            let host = device.pinned_from(&[1_u8, 2])?;
            lent = Some(s.upload_rows(host, &mut wide, Rows::new(1, 2).to_pitch(2))?);
            Ok(())
        })
        .unwrap();
    graph.launch(&stream).unwrap();
    assert_eq!(wide.to_vec().unwrap(), [1, 0, 2, 0]);
    let lent = lent.unwrap();
    graph.host(&lent).unwrap().copy_from_slice(&[5, 6]);
    graph.launch(&stream).unwrap();
    assert_eq!(wide.to_vec().unwrap(), [5, 0, 6, 0]);
}

#[test]
fn a_copy_of_what_it_writes_itself_is_refused() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let numbers: Vec<i32> = (0..96).collect();
    let all = device.upload(&numbers).unwrap().into_shared();
    let refused = |result: racl::Result<()>| {
        assert_says(&result.unwrap_err(), ErrorKind::InvalidArgument, &["whose target overlaps what it reads"]);
        stream.synchronize().unwrap();
        assert_eq!(all.to_vec().unwrap(), numbers);
    };
    let slice = |range: std::ops::Range<usize>| all.slice(range).unwrap();
    refused(stream.copy(&slice(0..64), &mut slice(16..80)));
    refused(stream.copy(&slice(16..80), &mut slice(0..64)));
    refused(stream.copy_peer(&slice(0..64), &mut slice(16..80)));
    let rows = Rows::new(2, 3).from_pitch(8).to_pitch(8);
    refused(stream.copy_rows(&all, &mut slice(1..96), rows));
    refused(stream.copy_rows(&slice(9..96), &mut all.clone(), rows));
    let spoilt = stream.capture(CaptureMode::ThreadLocal, |s| {
        assert!(s.copy(&slice(0..64), &mut slice(16..80)).is_err());
        Ok(())
    });
    assert_says(&spoilt.unwrap_err(), ErrorKind::CaptureInvalidated, &["copy", "overlaps"]);

    // Onto itself, behind itself, and between its rows.
    stream.copy(&slice(0..32), &mut slice(0..32)).unwrap();
    stream.copy_rows(&all, &mut all.clone(), rows).unwrap();
    stream.copy(&slice(0..16), &mut slice(16..32)).unwrap();
    stream.copy_rows(&slice(32..96), &mut slice(34..96), rows).unwrap();
    stream.synchronize().unwrap();
    let mut expected = numbers.clone();
    expected.copy_within(0..16, 16);
    [32, 40, 48].into_iter().for_each(|row| expected.copy_within(row..row + 2, row + 2));
    assert_eq!(all.to_vec().unwrap(), expected);
}
