//! What every lane has its own of: numbers, truth values, and structures made of them.

/// Something with one value of `One` per lane.
pub trait PerLane {
    /// What a single lane has.
    type One: Copy;

    /// The same in every lane.
    fn splat(one: Self::One) -> Self;

    /// What lane `index` has.
    fn get(&self, index: usize) -> Self::One;

    /// Replaces what lane `index` has.
    fn set(&mut self, index: usize, one: Self::One);
}

macro_rules! single_lane {
    ($($type:ty),*) => {$(
        impl PerLane for $type {
            type One = Self;

            #[inline(always)]
            fn splat(one: Self) -> Self {
                one
            }

            #[inline(always)]
            fn get(&self, _: usize) -> Self {
                *self
            }

            #[inline(always)]
            fn set(&mut self, _: usize, one: Self) {
                *self = one;
            }
        }
    )*};
}
single_lane!(f32, bool);

/// Arrays of at least one element. Loops over indices, because `map` and by-value iterators copy the array
/// about.
impl<T: PerLane + Copy, const K: usize> PerLane for [T; K] {
    type One = [T::One; K];

    #[inline(always)]
    fn splat(one: Self::One) -> Self {
        let mut lanes = [T::splat(one[0]); K];
        for k in 1..K {
            lanes[k] = T::splat(one[k]);
        }
        lanes
    }

    #[inline(always)]
    fn get(&self, index: usize) -> Self::One {
        let mut one = [self[0].get(index); K];
        for k in 1..K {
            one[k] = self[k].get(index);
        }
        one
    }

    #[inline(always)]
    fn set(&mut self, index: usize, one: Self::One) {
        for k in 0..K {
            self[k].set(index, one[k]);
        }
    }
}

/// Implements [`PerLane`](crate::lanes::PerLane) for a structure generic over its lanes, given all its
/// fields: `per_lane!(Velocity<L> { linear, angular })`. Further parameters are array lengths.
#[macro_export]
macro_rules! per_lane {
    ($type:ident<L $(, $length:ident)*> { $($field:ident),* }) => {
        impl<L: $crate::lanes::Lanes $(, const $length: usize)*> $crate::lanes::PerLane
            for $type<L $(, $length)*>
        {
            type One = $type<f32 $(, $length)*>;

            #[inline(always)]
            fn splat(one: Self::One) -> Self {
                Self { $($field: $crate::lanes::PerLane::splat(one.$field)),* }
            }

            #[inline(always)]
            fn get(&self, index: usize) -> Self::One {
                $type { $($field: $crate::lanes::PerLane::get(&self.$field, index)),* }
            }

            #[inline(always)]
            fn set(&mut self, index: usize, one: Self::One) {
                $($crate::lanes::PerLane::set(&mut self.$field, index, one.$field);)*
            }
        }
    };
}
