//! Random numbers that never change: they are part of the meaning of a scene file.

use msd_sim::math::Quat;

/// The SplitMix64 generator of Steele, Lea and Flood (2014).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Draws a number uniformly from -1 to 1.
    pub(crate) fn symmetric(&mut self) -> f64 {
        // 53 bits, so that every value is exact.
        (self.next() >> 11) as f64 * (2.0 / (1_u64 << 53) as f64) - 1.0
    }

    /// Draws a uniformly distributed rotation: the direction of a point drawn from the four-dimensional ball.
    pub(crate) fn rotation(&mut self) -> Quat {
        loop {
            let [x, y, z, w] = std::array::from_fn(|_| self.symmetric());
            let squared = x * x + y * y + z * z + w * w;
            if (0.01..=1.0).contains(&squared) {
                let length = squared.sqrt();
                return Quat::from_xyzw(x / length, y / length, z / length, w / length);
            }
        }
    }
}
