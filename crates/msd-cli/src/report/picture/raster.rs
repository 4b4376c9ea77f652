//! Triangles drawn into a buffer of depths and colors.

use msd_sim::math::Vec3;

/// An unlit pixel is infinitely far.
const EMPTY: f32 = f32::INFINITY;

/// A perspective camera. Depth is measured along its axis, m.
#[derive(Clone, Copy, Debug)]
pub(super) struct Camera {
    pub(super) eye: Vec3,
    /// Unit axes: to the right, up in the picture, and forward.
    pub(super) axes: [Vec3; 3],
    /// Half of the picture's height at a depth of 1 m.
    pub(super) half_height: f64,
    /// Nearest depth that is drawn, m.
    pub(super) near: f64,
}

/// A buffer of depths, colors and the bodies drawn.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    pub(super) size: [usize; 2],
    pub(super) depth: Vec<f32>,
    pub(super) color: Vec<[u8; 3]>,
    pub(super) body: Vec<u32>,
}

/// A corner on its way to the buffer: coordinates in the camera's axes, and brightness.
pub(super) type Lit = (Vec3, f64);

impl Camera {
    /// Returns a point in the camera's axes.
    pub(super) fn local(&self, point: Vec3) -> Vec3 {
        let [right, up, forward] = self.axes;
        let offset = point - self.eye;
        Vec3::new(offset.dot(right), offset.dot(up), offset.dot(forward))
    }

    /// Returns the pixel coordinates of a point in front of the camera.
    fn pixel(&self, [width, height]: [usize; 2], local: Vec3) -> [f64; 2] {
        let scale = 0.5 * height as f64 / (self.half_height * local.z);
        [0.5 * width as f64 + local.x * scale, 0.5 * height as f64 - local.y * scale]
    }

    /// Returns the direction through the middle of a pixel, of length 1 along the axis.
    pub(super) fn ray(&self, [width, height]: [usize; 2], x: usize, y: usize) -> Vec3 {
        let unit = self.half_height / (0.5 * height as f64);
        let [right, up, forward] = self.axes;
        let across = (x as f64 + 0.5 - 0.5 * width as f64) * unit;
        let above = (0.5 * height as f64 - y as f64 - 0.5) * unit;
        forward + right * across + up * above
    }
}

impl Buffer {
    pub(super) fn new(size: [usize; 2]) -> Self {
        let count = size[0] * size[1];
        Self {
            size,
            depth: vec![EMPTY; count],
            color: vec![[0; 3]; count],
            body: vec![u32::MAX; count],
        }
    }

    /// Draws a triangle of a body in front of all that is farther.
    pub(super) fn draw(&mut self, camera: &Camera, corners: [Lit; 3], color: [u8; 3], body: u32) {
        let clipped = clip(corners, camera.near);
        for at in 1..clipped.len().saturating_sub(1) {
            let triangle = [clipped[0], clipped[at], clipped[at + 1]];
            self.fill(camera, triangle, color, body);
        }
    }

    fn fill(&mut self, camera: &Camera, corners: [Lit; 3], color: [u8; 3], body: u32) {
        let [p, q, r] = corners.map(|(local, _)| camera.pixel(self.size, local));
        let area = (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
        if !(area.abs() > 1e-12) {
            return;
        }
        let range = |axis: usize| {
            let low = p[axis].min(q[axis]).min(r[axis]).floor().max(0.0) as usize;
            let high = p[axis].max(q[axis]).max(r[axis]).ceil().max(0.0) as usize;
            low..high.min(self.size[axis])
        };
        // The inverse of the depth is linear in the picture, and so is brightness times it.
        let inverse = corners.map(|(local, _)| 1.0 / local.z);
        let light = [0, 1, 2].map(|at: usize| corners[at].1 * inverse[at]);
        let weights_at = |x: f64, y: f64| {
            let b = ((x - p[0]) * (r[1] - p[1]) - (y - p[1]) * (r[0] - p[0])) / area;
            let c = ((q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0])) / area;
            [1.0 - b - c, b, c]
        };
        let mix = |weights: [f64; 3], of: [f64; 3]| {
            weights[0] * of[0] + weights[1] * of[1] + weights[2] * of[2]
        };
        for y in range(1) {
            for x in range(0) {
                let weights = weights_at(x as f64 + 0.5, y as f64 + 0.5);
                if weights.iter().any(|weight| *weight < 0.0) {
                    continue;
                }
                let nearness = mix(weights, inverse);
                let (depth, at) = ((1.0 / nearness) as f32, y * self.size[0] + x);
                if depth < self.depth[at] {
                    self.depth[at] = depth;
                    self.color[at] = scaled(color, mix(weights, light) / nearness);
                    self.body[at] = body;
                }
            }
        }
    }

    /// Returns whether nothing was drawn at a pixel.
    pub(super) fn is_empty(&self, at: usize) -> bool {
        self.depth[at] == EMPTY
    }

    /// Returns whether a pixel is at the edge of what was drawn in front.
    pub(super) fn is_edge(&self, at: usize) -> bool {
        let (width, x) = (self.size[0], at % self.size[0]);
        let before = [(x > 0).then(|| at - 1), at.checked_sub(width)];
        before.into_iter().flatten().any(|other| self.body[other] != self.body[at])
    }
}

/// Multiplies a color by a brightness.
pub(super) fn scaled(color: [u8; 3], brightness: f64) -> [u8; 3] {
    color.map(|part| (f64::from(part) * brightness).clamp(0.0, 255.0) as u8)
}

/// Mixes two colors: 0 is the first, 1 the second.
pub(super) fn mixed(first: [u8; 3], second: [u8; 3], share: f64) -> [u8; 3] {
    [0, 1, 2].map(|at| {
        let (a, b) = (f64::from(first[at]), f64::from(second[at]));
        (a + (b - a) * share.clamp(0.0, 1.0)) as u8
    })
}

/// Returns the part of a triangle that is at least `near` in front of the camera.
fn clip(corners: [Lit; 3], near: f64) -> Vec<Lit> {
    let mut kept = Vec::with_capacity(4);
    for at in 0..3 {
        let (from, to) = (corners[at], corners[(at + 1) % 3]);
        if from.0.z >= near {
            kept.push(from);
        }
        if (from.0.z >= near) != (to.0.z >= near) {
            let share = (near - from.0.z) / (to.0.z - from.0.z);
            kept.push((from.0.lerp(to.0, share), from.1 + (to.1 - from.1) * share));
        }
    }
    kept
}
