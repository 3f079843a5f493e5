//! Tensors of one library that DLPack brings to the other.

use racl::dlpack::Managed;

use super::both_ways;

#[test]
fn tensors_of_one_library_become_none_of_the_other() {
    both_ways(|two, own, other| {
        let tensor = other.upload_tensor(&[1.0_f32, 2.0], [2]).unwrap();
        let before = other.context().memory_stats().allocated.now;
        let managed = two.gives_back(tensor.to_dlpack().unwrap().into_tensor(own));
        // Also once it was out of here, in either structure, and when what came back is told again.
        let raw = managed.into_raw_unversioned();
        // SAFETY: the tensor of above, which nobody else has.
        let managed = unsafe { Managed::from_raw_unversioned(raw) }.unwrap();
        let managed = two.gives_back(managed.into_tensor(own));
        let raw = managed.into_raw();
        // SAFETY: as above.
        let managed = unsafe { Managed::from_raw(raw) }.unwrap();
        let managed = two.gives_back(managed.into_tensor(own));
        let again = managed.into_tensor(other).unwrap();
        assert_eq!(again.address(), tensor.address());
        let told_again = again.to_dlpack().unwrap();
        drop(again);
        let managed = two.gives_back(told_again.into_tensor(own));
        // It goes to another context of its own library.
        let beside = other.context().create_context().unwrap();
        let again = managed.into_tensor(&beside).unwrap().typed::<f32>().unwrap();
        assert_eq!(again.to_vec().unwrap(), [1.0, 2.0]);
        let address = tensor.address();
        drop((tensor, again));
        beside.close().unwrap();
        let now = other.context().memory_stats().allocated.now;
        assert!(now < before, "{address:p} is not free: {now} bytes of {before}");
    });
}
