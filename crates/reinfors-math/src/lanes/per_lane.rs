//! What every lane has its own of: numbers, truth values, and structures made of them.

/// Something with one value of `One` per lane.
pub trait PerLane {
    /// What a single lane has.
    type One;

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

impl<T: PerLane, const K: usize> PerLane for [T; K] {
    type One = [T::One; K];

    #[inline(always)]
    fn splat(one: Self::One) -> Self {
        one.map(T::splat)
    }

    #[inline(always)]
    fn get(&self, index: usize) -> Self::One {
        std::array::from_fn(|k| self[k].get(index))
    }

    #[inline(always)]
    fn set(&mut self, index: usize, one: Self::One) {
        for (lanes, one) in self.iter_mut().zip(one) {
            lanes.set(index, one);
        }
    }
}

/// Implements [`PerLane`](crate::lanes::PerLane) for a structure generic over its lanes, given all its fields:
/// `per_lane!(Velocity<L> { linear, angular })`. Further parameters are array lengths.
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
