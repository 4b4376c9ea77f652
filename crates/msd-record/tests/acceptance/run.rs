//! A scene with everything that a recording holds: every shape, contacts, bounces, joints, bodies that are added,
//! removed and quarantined, and a ledger.

use std::path::{Path, PathBuf};
use std::time::Duration;

use msd_record::{Frame, Header, Recorded, Recorder};
use msd_sim::geometry::Shape;
use msd_sim::math::{SpatialVector, Vec3};
use msd_sim::{BodyDef, BodyId, JointDef, Material, Settings, World};
use tempfile::TempDir;

pub const DT: f64 = 1.0 / 60.0;
pub const STEPS: u64 = 90;

/// Steps after which the run pauses until the chunk is closed: gives several chunks in a short run.
const PAUSES: [u64; 3] = [15, 35, 60];
const PAUSE: Duration = Duration::from_millis(600);

/// A finished recording and the frames that it must hold.
pub struct Run {
    pub folder: TempDir,
    pub path: PathBuf,
    pub frames: Vec<Frame>,
}

impl Run {
    /// Returns the bytes of the file.
    pub fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.path).unwrap()
    }

    /// Writes other bytes to a second file in the same folder.
    pub fn with_bytes(&self, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join("other.mcap");
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

pub fn header() -> Header {
    Header {
        engine: "0.1.0".to_owned(),
        scene: r#"{"bodies": "ä"}"#.to_owned(),
        title: "everything".to_owned(),
        dt: DT,
        planned_steps: STEPS,
        threads: 1,
        recorded: Recorded::default(),
    }
}

pub fn recorded() -> Run {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.mcap");
    let frames = record(&path, "{\"ok\":true}");
    Run { folder, path, frames }
}

/// Records the scene and returns the frame of each step.
pub fn record(path: &Path, summary: &str) -> Vec<Frame> {
    let mut scene = Scene::new();
    let mut recorder = Recorder::create(path, &header(), &scene.world).unwrap();
    let mut frames = vec![Frame::of(&scene.world)];
    for step in 1..=STEPS {
        scene.step();
        recorder.record(&scene.world).unwrap();
        frames.push(Frame::of(&scene.world));
        if PAUSES.contains(&step) {
            std::thread::sleep(PAUSE);
        }
    }
    let finished = recorder.finish(summary).unwrap();
    assert_eq!((finished.path.as_path(), finished.frames), (path, STEPS + 1));
    assert_eq!(finished.bytes, std::fs::metadata(path).unwrap().len());
    frames
}

pub struct Scene {
    pub world: World,
    guest: BodyId,
}

impl Scene {
    pub fn new() -> Self {
        let mut world = World::new(Settings { audit: true, ..Settings::default() }).unwrap();
        let bouncy = Material::new(0.8, 0.4).unwrap();
        let mut add = |def: BodyDef, name: &str, at: [f64; 3]| {
            let def = def.position(Vec3::from_array(at)).material(bouncy).name(name);
            world.add_body(def).unwrap()
        };
        let moving = |shape: Shape| BodyDef::inertial(shape).mass(2.0);
        let ball = || Shape::sphere(0.3).unwrap();
        let cube = || Shape::cuboid(Vec3::splat(0.4)).unwrap();
        let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let hull = Shape::hull(&corners.map(|c| Vec3::from_array(c) * 0.8)).unwrap();
        let floor = Shape::half_space(Vec3::Z, 0.0).unwrap();
        add(BodyDef::environment(floor), "floor", [0.0; 3]);
        let hook = add(BodyDef::environment(ball()), "", [0.0, 4.0, 3.0]);
        let belt = BodyDef::environment(cube()).velocity(Vec3::X * 0.5);
        add(belt, "belt", [-4.0, 0.0, 0.4]);
        add(moving(cube()), "cube", [-4.0, 0.0, 1.3]);
        add(moving(cube()), "cube", [0.0, 0.0, 0.6]);
        add(moving(cube()), "cube", [0.05, 0.0, 1.45]);
        add(moving(Shape::capsule(0.2, 0.3).unwrap()), "capsule", [2.0, 0.0, 1.0]);
        add(moving(Shape::cylinder(0.2, 0.3).unwrap()), "cylinder", [4.0, 0.0, 1.0]);
        add(moving(Shape::cone(0.3, 0.3).unwrap()), "cone", [6.0, 0.0, 1.0]);
        add(moving(hull), "hull", [8.0, 0.0, 1.0]);
        let bob = add(moving(ball()), "bob", [1.0, 4.0, 3.0]);
        let tail = add(moving(ball()), "tail", [2.0, 4.0, 3.0]);
        let spark = add(BodyDef::inertial(ball()).mass(1e-9), "spark", [0.0, -8.0, 3.0]);
        let guest = add(moving(ball()), "guest", [0.0, -4.0, 0.5]);
        world.add_joint(JointDef::rod(hook, bob, 1.0)).unwrap();
        world.add_joint(JointDef::spring(bob, tail, 0.5, 200.0, 1.0)).unwrap();
        // Overflows f64: the body is quarantined.
        let force = SpatialVector::new(Vec3::X * f64::MAX, Vec3::ZERO);
        world.apply_force(spark, force).unwrap();
        Self { world, guest }
    }

    pub fn step(&mut self) {
        match self.world.steps() {
            20 => self.add("late", 2.0),
            30 => self.world.remove_body(self.guest).unwrap(),
            40 => self.add("tenant", 1.0), // In the slot of the removed body.
            50 => self.add("cube", 3.0),
            _ => {}
        }
        self.world.step(DT).unwrap();
    }

    fn add(&mut self, name: &str, x: f64) {
        let shape = Shape::cone(0.3, 0.3).unwrap();
        let at = Vec3::new(x, -4.0, 1.0);
        self.world.add_body(BodyDef::inertial(shape).position(at).name(name)).unwrap();
    }
}
