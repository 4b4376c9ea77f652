//! SIMD lanes: four f64 at once, by AVX2 where the machine has it and as four scalars elsewhere.
//! Both give the same bits: IEEE 754 rounds every operation used here correctly, and no two are
//! fused. No other file contains SIMD intrinsics.
#![allow(unsafe_code)]

use std::ops::{Add, Div, Mul, Neg, Sub};

/// Four numbers in memory, aligned for one AVX2 load.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[repr(C, align(32))]
pub(crate) struct F4(pub(crate) [f64; 4]);

impl F4 {
    pub(crate) const ZERO: Self = Self([0.0; 4]);
}

/// Four vectors in memory, component by component.
pub(crate) type V4 = [F4; 3];

/// Four numbers in registers. In a mask, a lane is set if its sign bit is.
pub(crate) trait Lanes:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    fn splat(value: f64) -> Self;
    fn load(from: &F4) -> Self;
    fn store(self, to: &mut F4);
    fn sqrt(self) -> Self;
    /// Returns the larger number; `other` if one is NaN.
    fn max(self, other: Self) -> Self;
    /// Returns the smaller number; `other` if one is NaN.
    fn min(self, other: Self) -> Self;
    /// Returns a mask of the lanes where `self` is larger.
    fn gt(self, other: Self) -> Self;
    /// Returns `yes` in the lanes where the mask is set, else `no`.
    fn select(mask: Self, yes: Self, no: Self) -> Self;
    /// Returns whether any lane of a mask is set.
    fn any(self) -> bool;
    /// Returns half `A` of `self` followed by half `B` of `other`: lanes 0 and 1, or 2 and 3.
    fn halves<const A: usize, const B: usize>(self, other: Self) -> Self;
    /// Loads four rows of four as four columns.
    fn transpose(rows: [&F4; 4]) -> [Self; 4];
    /// Turns four columns into four rows.
    fn transposed(columns: [Self; 4]) -> [Self; 4];
    /// Turns four columns into four rows in memory.
    fn rows(columns: [Self; 4]) -> [F4; 4];
}

/// A computation that is generic over the kind of lanes.
pub(crate) trait Kernel {
    type Output;
    fn run<L: Lanes>(self) -> Self::Output;
}

/// Returns whether the machine has AVX2.
pub(crate) fn is_wide() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("avx2")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// Runs a kernel, with AVX2 if `wide` is set and the machine has it.
#[inline]
pub(crate) fn run<K: Kernel>(wide: bool, kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if wide && is_wide() {
        // SAFETY: `is_wide` has checked that the processor has AVX2.
        return unsafe { run_wide(kernel) };
    }
    kernel.run::<Four>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_wide<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<wide::Wide>()
}

/// Lanes as four scalars, for the compiler to vectorize.
#[derive(Clone, Copy)]
pub(crate) struct Four([f64; 4]);

impl Four {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let ([a, b, c, d], [p, q, r, s]) = (self.0, other.0);
        Self([f(a, p), f(b, q), f(c, r), f(d, s)])
    }
}

macro_rules! operators {
    ($($name:ident $method:ident $op:tt),*) => {$(
        impl $name for Four {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.zip(other, |a, b| a $op b)
            }
        }
    )*};
}
operators!(Add add +, Sub sub -, Mul mul *, Div div /);

impl Neg for Four {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0.map(|a| -a))
    }
}

impl Lanes for Four {
    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self([value; 4])
    }
    #[inline(always)]
    fn load(from: &F4) -> Self {
        Self(from.0)
    }
    #[inline(always)]
    fn store(self, to: &mut F4) {
        to.0 = self.0;
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.map(f64::sqrt))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn gt(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { -1.0 } else { 0.0 })
    }
    #[inline(always)]
    fn select(mask: Self, yes: Self, no: Self) -> Self {
        let pick = |i: usize| if mask.0[i].is_sign_negative() { yes.0[i] } else { no.0[i] };
        Self([pick(0), pick(1), pick(2), pick(3)])
    }
    #[inline(always)]
    fn any(self) -> bool {
        self.0.iter().any(|a| a.is_sign_negative())
    }
    #[inline(always)]
    fn halves<const A: usize, const B: usize>(self, other: Self) -> Self {
        Self([self.0[2 * A], self.0[2 * A + 1], other.0[2 * B], other.0[2 * B + 1]])
    }
    #[inline(always)]
    fn transpose(rows: [&F4; 4]) -> [Self; 4] {
        let column = |i: usize| Self([rows[0].0[i], rows[1].0[i], rows[2].0[i], rows[3].0[i]]);
        [column(0), column(1), column(2), column(3)]
    }
    #[inline(always)]
    fn transposed([a, b, c, d]: [Self; 4]) -> [Self; 4] {
        Self::transpose([&F4(a.0), &F4(b.0), &F4(c.0), &F4(d.0)])
    }
    #[inline(always)]
    fn rows(columns: [Self; 4]) -> [F4; 4] {
        let [x, y, z, w] = columns.map(|column| column.0);
        [0, 1, 2, 3].map(|i: usize| F4([x[i], y[i], z[i], w[i]]))
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{Add, Div, F4, Lanes, Mul, Neg, Sub};
    use std::arch::x86_64::*;

    /// Lanes in one AVX2 register. Created only inside [`super::run_wide`].
    #[derive(Clone, Copy)]
    pub(crate) struct Wide(__m256d);

    macro_rules! operators {
        ($($name:ident $method:ident $op:ident),*) => {$(
            impl $name for Wide {
                type Output = Self;
                #[inline(always)]
                fn $method(self, other: Self) -> Self {
                    // SAFETY: a `Wide` exists only where AVX2 does.
                    Self(unsafe { $op(self.0, other.0) })
                }
            }
        )*};
    }
    operators!(Add add _mm256_add_pd, Sub sub _mm256_sub_pd, Mul mul _mm256_mul_pd, Div div _mm256_div_pd);

    impl Neg for Wide {
        type Output = Self;
        #[inline(always)]
        fn neg(self) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_xor_pd(self.0, _mm256_set1_pd(-0.0)) })
        }
    }

    // SAFETY of every block here: a `Wide` exists only where AVX2 does, and `F4` is aligned to 32
    // bytes.
    #[allow(clippy::undocumented_unsafe_blocks)]
    impl Lanes for Wide {
        #[inline(always)]
        fn splat(value: f64) -> Self {
            Self(unsafe { _mm256_set1_pd(value) })
        }
        #[inline(always)]
        fn load(from: &F4) -> Self {
            Self(unsafe { _mm256_load_pd(from.0.as_ptr()) })
        }
        #[inline(always)]
        fn store(self, to: &mut F4) {
            unsafe { _mm256_store_pd(to.0.as_mut_ptr(), self.0) }
        }
        #[inline(always)]
        fn sqrt(self) -> Self {
            Self(unsafe { _mm256_sqrt_pd(self.0) })
        }
        #[inline(always)]
        fn max(self, other: Self) -> Self {
            Self(unsafe { _mm256_max_pd(self.0, other.0) })
        }
        #[inline(always)]
        fn min(self, other: Self) -> Self {
            Self(unsafe { _mm256_min_pd(self.0, other.0) })
        }
        #[inline(always)]
        fn gt(self, other: Self) -> Self {
            Self(unsafe { _mm256_cmp_pd::<_CMP_GT_OQ>(self.0, other.0) })
        }
        #[inline(always)]
        fn select(mask: Self, yes: Self, no: Self) -> Self {
            Self(unsafe { _mm256_blendv_pd(no.0, yes.0, mask.0) })
        }
        #[inline(always)]
        fn any(self) -> bool {
            unsafe { _mm256_movemask_pd(self.0) != 0 }
        }
        #[inline(always)]
        fn halves<const A: usize, const B: usize>(self, other: Self) -> Self {
            let (a, b) = (self.0, other.0);
            Self(unsafe {
                match (A, B) {
                    (0, 0) => _mm256_permute2f128_pd::<0x20>(a, b),
                    (0, _) => _mm256_blend_pd::<0b1100>(a, b),
                    (_, 0) => _mm256_permute2f128_pd::<0x21>(a, b),
                    _ => _mm256_permute2f128_pd::<0x31>(a, b),
                }
            })
        }
        #[inline(always)]
        fn transpose([a, b, c, d]: [&F4; 4]) -> [Self; 4] {
            transposed([Self::load(a), Self::load(b), Self::load(c), Self::load(d)])
        }
        #[inline(always)]
        fn transposed(columns: [Self; 4]) -> [Self; 4] {
            transposed(columns)
        }
        #[inline(always)]
        fn rows(columns: [Self; 4]) -> [F4; 4] {
            let [a, b, c, d] = transposed(columns);
            let mut rows = [F4::ZERO; 4];
            a.store(&mut rows[0]);
            b.store(&mut rows[1]);
            c.store(&mut rows[2]);
            d.store(&mut rows[3]);
            rows
        }
    }

    #[inline(always)]
    fn transposed([a, b, c, d]: [Wide; 4]) -> [Wide; 4] {
        // SAFETY: as above.
        unsafe {
            let low = [_mm256_unpacklo_pd(a.0, b.0), _mm256_unpacklo_pd(c.0, d.0)];
            let high = [_mm256_unpackhi_pd(a.0, b.0), _mm256_unpackhi_pd(c.0, d.0)];
            [
                Wide(_mm256_permute2f128_pd::<0x20>(low[0], low[1])),
                Wide(_mm256_permute2f128_pd::<0x20>(high[0], high[1])),
                Wide(_mm256_permute2f128_pd::<0x31>(low[0], low[1])),
                Wide(_mm256_permute2f128_pd::<0x31>(high[0], high[1])),
            ]
        }
    }
}

/// Loads three numbers per lane. Written out, as are all loops over a few lanes: a closure passed
/// to another function is not compiled with its caller's AVX2 target feature.
#[inline(always)]
pub(crate) fn load3<L: Lanes>(from: &[F4; 3]) -> [L; 3] {
    [L::load(&from[0]), L::load(&from[1]), L::load(&from[2])]
}

/// Loads three vectors per lane.
#[inline(always)]
pub(crate) fn load_rows<L: Lanes>(from: &[V4; 3]) -> [Vec4<L>; 3] {
    [Vec4::load(&from[0]), Vec4::load(&from[1]), Vec4::load(&from[2])]
}

/// Four 3-vectors in registers, component by component.
#[derive(Clone, Copy)]
pub(crate) struct Vec4<L> {
    pub(crate) x: L,
    pub(crate) y: L,
    pub(crate) z: L,
}

impl<L: Lanes> Vec4<L> {
    #[inline(always)]
    pub(crate) fn new(x: L, y: L, z: L) -> Self {
        Self { x, y, z }
    }
    #[inline(always)]
    pub(crate) fn splat(value: f64) -> Self {
        let value = L::splat(value);
        Self::new(value, value, value)
    }
    #[inline(always)]
    pub(crate) fn load(from: &V4) -> Self {
        Self::new(L::load(&from[0]), L::load(&from[1]), L::load(&from[2]))
    }
    #[inline(always)]
    pub(crate) fn store(self, to: &mut V4) {
        self.x.store(&mut to[0]);
        self.y.store(&mut to[1]);
        self.z.store(&mut to[2]);
    }
    /// Returns `yes` in the lanes where the mask is set, else `no`.
    #[inline(always)]
    pub(crate) fn select(mask: L, yes: Self, no: Self) -> Self {
        Self::new(
            L::select(mask, yes.x, no.x),
            L::select(mask, yes.y, no.y),
            L::select(mask, yes.z, no.z),
        )
    }
    #[inline(always)]
    pub(crate) fn dot(self, other: Self) -> L {
        self.x * other.x + self.y * other.y + self.z * other.z
    }
    #[inline(always)]
    pub(crate) fn cross(self, other: Self) -> Self {
        Self::new(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )
    }
    #[inline(always)]
    pub(crate) fn scale(self, by: L) -> Self {
        Self::new(self.x * by, self.y * by, self.z * by)
    }
}

impl<L: Lanes> Add for Vec4<L> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self::new(self.x + other.x, self.y + other.y, self.z + other.z)
    }
}

impl<L: Lanes> Sub for Vec4<L> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self::new(self.x - other.x, self.y - other.y, self.z - other.z)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation of lanes, on four times four numbers.
    struct Everything([F4; 4]);

    impl Kernel for Everything {
        type Output = Vec<u64>;

        #[inline(always)]
        fn run<L: Lanes>(self) -> Vec<u64> {
            let [a, b, c, d] = [0, 1, 2, 3].map(|i: usize| L::load(&self.0[i]));
            let (x, y) = (Vec4::new(a, b, c), Vec4::new(b, c, d));
            let mask = a.gt(b);
            let mut all = vec![
                a + b,
                a - b,
                a * b,
                a / b,
                -a,
                (a * a).sqrt(),
                a.sqrt(),
                a.max(b),
                a.min(b),
                L::select(mask, c, d),
                L::splat(if mask.any() { 1.0 } else { 2.0 }),
                // These would differ if fused.
                a * b + c,
                a * b - c * d,
                x.dot(y),
                x.cross(y).y,
                Vec4::select(mask, x, y).z,
                (x + y.scale(d)).x,
                (x - y).dot(y.cross(x)),
                a.halves::<0, 0>(b),
                a.halves::<0, 1>(b),
                a.halves::<1, 0>(b),
                a.halves::<1, 1>(b),
            ];
            let [first, second, third, fourth] = &self.0;
            all.extend(L::transpose([first, second, third, fourth]));
            all.extend(L::transposed([a, b, c, d]));
            let mut bits = Vec::new();
            let mut put = |row: F4| bits.extend(row.0.map(bits_of));
            for lanes in all {
                let mut row = F4::ZERO;
                lanes.store(&mut row);
                put(row);
            }
            L::rows([a, b, c, d]).into_iter().for_each(put);
            bits
        }
    }

    /// The payload of a NaN depends on the order of operands, and no result depends on it.
    fn bits_of(x: f64) -> u64 {
        if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }
    }

    #[test]
    fn avx2_and_scalar_lanes_give_the_same_bits() {
        let mut state = 1_u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state ^ (state >> 29)
        };
        let special =
            [0.0, -0.0, 1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324, f64::MAX];
        for round in 0..20_000 {
            let mut one = || match (round % 4, next()) {
                // Arbitrary bits; special values; and numbers of ordinary size.
                (0, bits) => f64::from_bits(bits),
                (1, bits) => special[(bits >> 40) as usize % special.len()],
                (_, bits) => (bits >> 11) as f64 / (1_u64 << 52) as f64 - 1.0,
            };
            let numbers = [(); 4].map(|()| F4([one(), one(), one(), one()]));
            let [wide, plain] = [true, false].map(|wide| run(wide, Everything(numbers)));
            assert_eq!(wide, plain, "{numbers:?}");
        }
    }
}
