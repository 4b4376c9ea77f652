//! Pictures of single steps, drawn on the processor: the first step, the worst or most violent one, and the last.

mod raster;
mod solids;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use msd_record::{BodyKey, BodyState, Frame};
use msd_sim::geometry::{Aabb, Shape};
use msd_sim::math::{Pose, Vec3};
use msd_sim::{BodyKind, World};
use serde::Serialize;

use raster::{Buffer, Camera, mixed, scaled};

/// Size of a picture, in pixels.
const SIZE: [usize; 2] = [560, 350];
/// Subpixels along each side of a pixel.
const FINE: usize = 2;
/// Half of the vertical angle of view, rad.
const HALF_ANGLE: f64 = 0.35;
/// Direction from the scene to the camera: to the right of the front, and above the ground.
const FROM: Vec3 = Vec3::new(0.45, -0.8, 0.4);
/// Direction to the light.
const LIGHT: Vec3 = Vec3::new(0.3, -0.5, 0.8);
const BACKGROUND: [[u8; 3]; 2] = [[236, 240, 244], [205, 213, 222]];
const GROUND: [[u8; 3]; 2] = [[196, 200, 204], [180, 185, 190]];
const ENVIRONMENT: [u8; 3] = [150, 156, 163];
const FLAGGED: [u8; 3] = [214, 48, 39];
const INERTIAL: [[u8; 3]; 6] = [
    [86, 134, 191],
    [230, 168, 83],
    [112, 168, 128],
    [158, 136, 190],
    [107, 176, 196],
    [196, 178, 106],
];
/// How much of an environment body is seen where it hides others.
const VEIL: f64 = 0.3;

/// A picture of a step.
#[derive(Clone, Debug, Serialize)]
pub struct Picture {
    /// Step.
    pub step: u64,
    /// Time, s.
    pub time: f64,
    /// The reason why this step is shown.
    pub caption: String,
    /// PNG image as a data URL.
    pub image: String,
}

/// The poses of all bodies after a step.
#[derive(Clone, Debug, Default)]
struct Snapshot {
    step: u64,
    time: f64,
    caption: String,
    states: Vec<BodyState>,
    /// Bodies drawn in the color of a warning.
    flagged: Vec<BodyKey>,
}

/// A body that is drawn.
#[derive(Clone, Debug)]
struct Item {
    key: BodyKey,
    /// Its shapes, and their poses in the frame of the center of mass.
    parts: Vec<(Shape, Pose)>,
    kind: BodyKind,
}

/// The steps of a run that are worth a picture.
#[derive(Clone, Debug)]
pub struct Album {
    /// Bodies, by index.
    items: Vec<Option<Item>>,
    up: Vec3,
    first: Snapshot,
    /// The step that exceeds the limit of a check most, and by what factor.
    worst: Snapshot,
    excess: f64,
    /// The step with the hardest impact, and its impulse, N s.
    hardest: Snapshot,
    impulse: f64,
}

impl Album {
    /// Starts with the world before its first step.
    pub fn new(world: &World) -> Self {
        let mut items = Vec::new();
        for body in world.bodies() {
            items.resize(items.len().max(body.id().index() + 1), None);
            items[body.id().index()] = Some(Item {
                key: body.id().into(),
                parts: body
                    .colliders()
                    .filter(|collider| collider.is_enabled() && !collider.is_sensor())
                    .map(|collider| (collider.shape().clone(), collider.place()))
                    .collect(),
                kind: body.kind(),
            });
        }
        let up = (-world.settings().gravity).try_normalize().unwrap_or(Vec3::Z);
        let first = Snapshot::of(&Frame::of(world), "start".to_owned(), Vec::new());
        let (worst, hardest) = (Snapshot::default(), Snapshot::default());
        Self { items, up, first, worst, excess: 0.0, hardest, impulse: 0.0 }
    }

    /// Observes a step. `excess` is the largest factor by which it exceeds the limit of a check, with the name of the check
    /// and the bodies concerned.
    pub fn observe(&mut self, frame: &Frame, excess: Option<(f64, &str, &[BodyKey])>) {
        if let Some((times, check, bodies)) = excess
            && times > self.excess.max(1.0)
        {
            self.excess = times;
            self.worst = Snapshot::of(frame, format!("worst step: {check}"), bodies.to_vec());
        }
        let hardest = frame.events.hits.iter().max_by(|a, b| a.impulse.total_cmp(&b.impulse));
        if let Some(hit) = hardest
            && hit.impulse > self.impulse
        {
            self.impulse = hit.impulse;
            self.hardest = Snapshot::of(frame, "hardest impact".to_owned(), Vec::new());
        }
    }

    /// Draws the pictures. `is_gone` tells bodies that have left the scene.
    pub fn draw(self, last: &Frame, is_gone: impl Fn(BodyKey) -> bool) -> Vec<Picture> {
        let middle = if self.excess > 0.0 { &self.worst } else { &self.hardest };
        let last = Snapshot::of(last, "end".to_owned(), Vec::new());
        let mut shown: Vec<&Snapshot> =
            [&self.first, middle, &last].into_iter().filter(|s| !s.states.is_empty()).collect();
        shown.dedup_by_key(|snapshot| snapshot.step);
        let Some(camera) = self.camera(&shown, is_gone) else { return Vec::new() };
        shown.into_iter().map(|snapshot| self.picture(snapshot, &camera)).collect()
    }

    fn item(&self, state: &BodyState) -> Option<&Item> {
        let item = self.items.get(state.body.index as usize)?.as_ref()?;
        (item.key == state.body).then_some(item)
    }

    /// Returns a camera that shows all bodies that move in any of the pictures.
    fn camera(&self, shown: &[&Snapshot], is_gone: impl Fn(BodyKey) -> bool) -> Option<Camera> {
        let states = shown.iter().flat_map(|snapshot| &snapshot.states);
        let seen = states.filter_map(|state| {
            let item = self.item(state)?;
            let seen = item.kind == BodyKind::Inertial && !is_gone(state.body);
            seen.then(|| item.parts.iter().map(|(shape, at)| shape.bounds(&(pose(state) * *at))))
        });
        let bounds = seen.flatten().filter(|b| b.min.is_finite() && b.max.is_finite());
        let all = bounds.reduce(|all: Aabb, one| all.union(&one))?;
        let radius = 0.5 * (all.max - all.min).length();
        // `FROM` is given for z up.
        let turn = msd_sim::math::Quat::from_rotation_arc(Vec3::Z, self.up);
        let back = turn * FROM.normalize();
        let right = self.up.cross(back).normalize();
        let eye = (all.min + all.max) * 0.5 + back * (1.1 * radius / HALF_ANGLE.sin());
        let axes = [right, back.cross(right), -back];
        Some(Camera { eye, axes, half_height: HALF_ANGLE.tan(), near: 0.01 * radius })
    }

    fn picture(&self, snapshot: &Snapshot, camera: &Camera) -> Picture {
        let size = SIZE.map(|side| side * FINE);
        let (mut moving, mut fixed) = (Buffer::new(size), Buffer::new(size));
        let mut planes = Vec::new();
        for state in &snapshot.states {
            let Some(item) = self.item(state) else { continue };
            let body = state.body.index;
            let flagged = snapshot.flagged.contains(&state.body);
            let color = match (flagged, item.kind) {
                (true, _) => FLAGGED,
                (_, BodyKind::Inertial) => INERTIAL[body as usize % INERTIAL.len()],
                _ => ENVIRONMENT,
            };
            let inertial = item.kind == BodyKind::Inertial;
            let buffer = if inertial { &mut moving } else { &mut fixed };
            let light = LIGHT.normalize();
            for (shape, place) in &item.parts {
                let pose = pose(state) * *place;
                if let Shape::HalfSpace(shape) = shape {
                    let normal = pose.transform_vector(shape.plane().normal);
                    let offset = shape.plane().offset + normal.dot(pose.position);
                    planes.push((normal, offset));
                    continue;
                }
                solids::triangles(shape, |corners| {
                    let lit = corners.map(|corner| {
                        let normal = pose.transform_vector(corner.normal);
                        let brightness = 0.62 + 0.42 * normal.dot(light);
                        (camera.local(pose.transform_point(corner.position)), brightness)
                    });
                    buffer.draw(camera, lit, color, body);
                });
            }
        }
        let pixels = compose(camera, &moving, &fixed, &planes);
        Picture {
            step: snapshot.step,
            time: snapshot.time,
            caption: snapshot.caption.clone(),
            image: format!("data:image/png;base64,{}", STANDARD.encode(png(&pixels))),
        }
    }
}

impl Snapshot {
    fn of(frame: &Frame, caption: String, flagged: Vec<BodyKey>) -> Self {
        let (step, time) = (frame.step, frame.time);
        Self { step, time, caption, states: frame.states.clone(), flagged }
    }
}

fn pose(state: &BodyState) -> Pose {
    Pose { position: state.position, rotation: state.rotation }
}

/// Returns the pixels of a picture: the environment lies like a veil over the bodies that it hides.
fn compose(camera: &Camera, moving: &Buffer, fixed: &Buffer, planes: &[(Vec3, f64)]) -> Vec<u8> {
    let [width, height] = moving.size;
    let mut sums = vec![[0_u32; 3]; SIZE[0] * SIZE[1]];
    for y in 0..height {
        let share = y as f64 / height as f64;
        let sky = mixed(BACKGROUND[0], BACKGROUND[1], share);
        for x in 0..width {
            let at = y * width + x;
            let outlined = |buffer: &Buffer| {
                let dim = if buffer.is_edge(at) { 0.55 } else { 1.0 };
                scaled(buffer.color[at], dim)
            };
            let (mut color, mut depth) = (sky, f32::INFINITY);
            let ray = camera.ray(moving.size, x, y);
            for &(normal, offset) in planes {
                if let Some((far, ground)) = ground(camera, ray, normal, offset, sky)
                    && far < depth
                {
                    (color, depth) = (ground, far);
                }
            }
            if fixed.depth[at] < depth {
                (color, depth) = (outlined(fixed), fixed.depth[at]);
            }
            if !moving.is_empty(at) {
                let body = outlined(moving);
                let hidden = moving.depth[at] > depth;
                color = if hidden { mixed(body, color, VEIL) } else { body };
            }
            let sum = &mut sums[y / FINE * SIZE[0] + x / FINE];
            (0..3).for_each(|part| sum[part] += u32::from(color[part]));
        }
    }
    let count = (FINE * FINE) as u32;
    sums.into_iter().flatten().map(|sum| (sum / count) as u8).collect()
}

/// Returns depth and color of a half-space along a ray, which fades into the sky; `None` where it is not seen from outside.
fn ground(
    camera: &Camera,
    ray: Vec3,
    normal: Vec3,
    offset: f64,
    sky: [u8; 3],
) -> Option<(f32, [u8; 3])> {
    let (height, fall) = (normal.dot(camera.eye) - offset, -normal.dot(ray));
    if !(height > 0.0 && fall > 0.0) {
        return None;
    }
    let depth = height / fall;
    let point = camera.eye + ray * depth;
    let (u, v) = msd_sim::math::orthonormal_basis(normal);
    // Squares of about a tenth of the picture's height at the scene, of a round number of meters.
    let across = camera.near * 100.0 / 3.0;
    let size = 10.0_f64.powf(across.log10().round());
    let odd = ((point.dot(u) / size).floor() + (point.dot(v) / size).floor()).rem_euclid(2.0) > 0.5;
    let fade = (depth / (camera.near * 1500.0)).min(1.0);
    Some((depth as f32, mixed(GROUND[usize::from(odd)], sky, fade)))
}

/// Encodes pixels of three bytes as a PNG image.
fn png(pixels: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, SIZE[0] as u32, SIZE[1] as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    // Writing to memory cannot fail, and the number of pixels is that of the size.
    let mut writer = encoder.write_header().expect("a size above 0");
    writer.write_image_data(pixels).expect("as many bytes as the size requires");
    writer.finish().expect("an image was written");
    bytes
}
