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

/// Takes the first cell out of a set.
#[inline(always)]
pub(super) const fn take_first(set: &mut Set) -> Option<usize> {
    if *set == 0 {
        return None;
    }
    let first = set.trailing_zeros() as usize;
    *set &= *set - 1;
    Some(first)
}

/// All cells up to and with the first of a set, which has one.
#[inline(always)]
pub(super) const fn until(set: Set) -> Set {
    set ^ (set - 1)
}

/// All cells before the first of a set; all there are if it is empty.
#[inline(always)]
pub(super) const fn ahead(set: Set) -> Set {
    !set & set.wrapping_sub(1)
}

/// The last cell of a set, which has one.
#[inline(always)]
pub(super) const fn last(set: Set) -> usize {
    (set.leading_zeros() ^ 127) as usize
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
        assert_eq!(until(0b1_0100), 0b111);
        assert_eq!(until(1 << 127), Set::MAX);
        assert_eq!(ahead(0b1_0100), 0b11);
        assert_eq!(ahead(1), 0);
        assert_eq!(ahead(0), Set::MAX);
        assert_eq!(last(0b1_0010), 4);
        assert_eq!(last(1 << 127), 127);
    }
}
