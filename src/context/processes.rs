//! Processes by their numbers, as the library takes them.

use crate::error::{Error, Result};

/// The numbers as C has them.
pub(crate) fn process_numbers(processes: &[u32]) -> Result<Vec<i32>> {
    let numbers = processes.iter().map(|id| i32::try_from(*id)).collect::<Result<Vec<_>, _>>();
    numbers.map_err(|_| Error::invalid("the number of a process above 2,147,483,647"))
}
