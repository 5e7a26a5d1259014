//! Sets of neighbouring cells of a row, a bit to a cell.

/// Cells that a set has room for. A row of more is cut into several stretches.
pub(super) const STRETCH: usize = 128;

/// Some cells of a stretch.
pub(super) type Set = u128;

/// The cells before each place. There are as many places as a byte has values, which spares a check.
static BEFORE: [Set; 1 << u8::BITS] = {
    let mut before = [Set::MAX; 1 << u8::BITS];
    before[0] = 0;
    let mut place = 0;
    while place < STRETCH {
        before[place + 1] = before[place] << 1 | 1;
        place += 1;
    }
    before
};

/// The cells before `place`.
#[inline(always)]
pub(super) fn before(place: u8) -> Set {
    BEFORE[usize::from(place)]
}

/// The cells `start..end`, which are in order.
#[inline(always)]
pub(super) fn between(start: usize, end: usize) -> Set {
    BEFORE[end] ^ BEFORE[start]
}

/// The first cell of each run of neighbours.
#[inline(always)]
pub(super) const fn firsts(set: Set) -> Set {
    set & !(set << 1)
}

/// Takes the first cell out of a set. Half after half: numbers of 128 bits take more instructions.
#[inline(always)]
pub(super) const fn take_first(set: &mut Set) -> Option<usize> {
    let (low, high) = (*set as u64, (*set >> 64) as u64);
    if low != 0 {
        *set = ((high as Set) << 64) | (low & (low - 1)) as Set;
        Some(low.trailing_zeros() as usize)
    } else if high != 0 {
        *set = ((high & (high - 1)) as Set) << 64;
        Some(64 + high.trailing_zeros() as usize)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_its_bits() {
        for (start, end) in [(0, 0), (0, 1), (3, 70), (64, 65), (0, STRETCH), (127, STRETCH)] {
            let mut set = between(start, end);
            assert_eq!(set.count_ones() as usize, end - start);
            assert_eq!(firsts(set), if start < end { 1 << start } else { 0 });
            let cells: Vec<_> = std::iter::from_fn(|| take_first(&mut set)).collect();
            assert_eq!(cells, (start..end).collect::<Vec<_>>());
        }
    }
}
