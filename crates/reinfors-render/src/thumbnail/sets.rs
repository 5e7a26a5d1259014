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

/// Cells of half a stretch.
pub(super) const HALF: usize = STRETCH / 2;

/// Some cells of half a stretch: one machine word.
pub(super) type Half = u64;

/// The cells in the first half, 0, or in the second, 1.
#[inline(always)]
pub(super) const fn half<const H: usize>(set: Set) -> Half {
    (set >> (HALF * H)) as Half
}

/// The first cell of each run of neighbours.
#[inline(always)]
pub(super) const fn firsts(set: Half) -> Half {
    set & !(set << 1)
}

/// Takes the first cell out of a set.
#[inline(always)]
pub(super) const fn take_first(set: &mut Half) -> Option<usize> {
    if *set == 0 {
        return None;
    }
    let first = set.trailing_zeros() as usize;
    *set &= *set - 1;
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_its_bits() {
        for (start, end) in [(0, 0), (0, 1), (3, 64), (3, 70), (64, 65), (0, 128), (127, 128_u8)] {
            let set = before(end) & !before(start);
            assert_eq!(set.count_ones(), u32::from(end - start));
            let mut halves = [half::<0>(set), half::<1>(set)];
            let cells = halves.iter_mut().zip([0, HALF]).flat_map(|(half, first)| {
                std::iter::from_fn(|| take_first(half)).map(move |cell| first + cell)
            });
            assert!(cells.eq(usize::from(start)..usize::from(end)));
        }
        assert_eq!(firsts(0b1100_1101), 0b0100_0101);
    }
}
