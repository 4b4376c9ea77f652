//! The same questions about the same pairs of shapes at the same poses, for msd and for its peers.

use std::hint::black_box;

use msd_sim::geometry::{
    PairMemory, Shape, Simplex, Workspace, contact_manifold, distance, separation,
};
use msd_sim::math::{Pose, Quat, Vec3};
use parry3d_f64::math::{Pose as PeerPose, Rotation, Vector};
use parry3d_f64::query::{
    self, ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher,
};
use parry3d_f64::shape::{
    Ball, Capsule, Cone, ConvexPolyhedron, Cuboid, Cylinder, HalfSpace, Shape as PeerShape,
};

/// One shape in both engines. Parry's axes of revolution are y, ours are z: `turn` takes y to z.
pub struct Both {
    pub name: &'static str,
    pub ours: Shape,
    pub theirs: Box<dyn PeerShape>,
    turn: Rotation,
}

impl Both {
    fn new(name: &'static str, ours: Shape, theirs: impl PeerShape) -> Self {
        Self { name, ours, theirs: Box::new(theirs), turn: Rotation::IDENTITY }
    }

    fn turned(mut self) -> Self {
        self.turn = Rotation::from_rotation_x(std::f64::consts::FRAC_PI_2);
        self
    }

    /// Our pose as theirs.
    pub fn peer_pose(&self, pose: &Pose) -> PeerPose {
        let (p, q) = (pose.position, pose.rotation);
        let rotation = Rotation::from_xyzw(q.x, q.y, q.z, q.w) * self.turn;
        PeerPose::from_parts(Vector::new(p.x, p.y, p.z), rotation)
    }
}

/// The shapes that are paired: sizes about one metre.
pub fn shapes() -> Vec<Both> {
    let mut random = Random(7);
    let cloud: Vec<Vec3> = (0..32).map(|_| random.direction() * Vec3::new(0.6, 0.5, 0.4)).collect();
    let peer_cloud: Vec<Vector> = cloud.iter().map(|p| Vector::new(p.x, p.y, p.z)).collect();
    let ours = |shape: Result<Shape, _>| shape.expect("valid sizes");
    vec![
        Both::new("sphere", ours(Shape::sphere(0.5)), Ball::new(0.5)),
        Both::new("capsule", ours(Shape::capsule(0.3, 0.4)), Capsule::new_y(0.4, 0.3)).turned(),
        Both::new("cylinder", ours(Shape::cylinder(0.4, 0.5)), Cylinder::new(0.5, 0.4)).turned(),
        Both::new("cone", ours(Shape::cone(0.5, 0.5)), Cone::new(0.5, 0.5)).turned(),
        Both::new(
            "cuboid",
            ours(Shape::cuboid(Vec3::new(0.5, 0.4, 0.3))),
            Cuboid::new(Vector::new(0.5, 0.4, 0.3)),
        ),
        Both::new(
            "hull32",
            ours(Shape::hull(&cloud)),
            ConvexPolyhedron::from_convex_hull(&peer_cloud).expect("a hull"),
        ),
        Both::new(
            "half-space",
            ours(Shape::half_space(Vec3::Z, 0.0)),
            HalfSpace::new(Vector::new(0.0, 0.0, 1.0)),
        ),
    ]
}

/// A small generator: the poses are the same on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn direction(&mut self) -> Vec3 {
        loop {
            let v = Vec3::new(self.unit(), self.unit(), self.unit()) * 2.0 - Vec3::ONE;
            if (0.01..1.0).contains(&v.length_squared()) {
                return v.normalize();
            }
        }
    }

    pub fn rotation(&mut self) -> Quat {
        let (a, b) = (self.direction(), self.unit() * std::f64::consts::TAU);
        msd_sim::math::rotation(a, b)
    }
}

/// What is asked of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// The distance alone, 5 to 100 cm apart.
    Distance,
    /// Depth, direction and witness points, 5 to 20 cm deep in each other.
    Depth,
    /// Contact points, from 5 mm apart to 10 mm deep: what a running simulation sees.
    Manifold,
}

impl Question {
    pub const ALL: [Self; 3] = [Self::Distance, Self::Depth, Self::Manifold];

    pub fn name(self) -> &'static str {
        match self {
            Self::Distance => "distance",
            Self::Depth => "depth",
            Self::Manifold => "manifold",
        }
    }

    /// The question of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|question| question.name() == name)
    }

    /// How far apart the shapes are to be, in metres.
    fn gap(self, random: &mut Random) -> f64 {
        match self {
            Self::Distance => 0.05 + 0.95 * random.unit(),
            Self::Depth => -0.05 - 0.15 * random.unit(),
            Self::Manifold => 0.005 - 0.015 * random.unit(),
        }
    }
}

/// Gaps up to this many metres make contact points.
const MARGIN: f64 = 0.01;

/// How many poses each question is asked at.
pub const POSES: usize = 256;

/// Poses of B, for A at the origin, at which `question` is asked.
fn poses(a: &Shape, b: &Shape, question: Question, seed: u64) -> Vec<Pose> {
    let mut random = Random(seed);
    let mut workspace = Workspace::default();
    let mut answer = |pose: &Pose| {
        let simplex = &mut Simplex::default();
        separation(a, &Pose::IDENTITY, b, pose, simplex, &mut workspace).expect("one is bounded")
    };
    let mut poses = Vec::new();
    while poses.len() < POSES {
        let wanted = question.gap(&mut random);
        let mut pose = Pose::new(random.direction() * 2.0, random.rotation());
        for _ in 0..8 {
            let found = answer(&pose);
            pose.position += found.normal * (wanted - found.distance);
        }
        if (answer(&pose).distance - wanted).abs() < 0.001 {
            poses.push(pose);
        }
    }
    poses
}

type PeerManifolds = Vec<ContactManifold<(), ()>>;

/// One question about one pair, with the poses to ask it at and the memory to answer it in.
///
/// Nothing is remembered from one pose to the next: every answer is a cold one.
pub struct Case<'a> {
    a: &'a Both,
    b: &'a Both,
    question: Question,
    poses: Vec<Pose>,
    workspace: Workspace,
    peer_a: PeerPose,
    peer_poses: Vec<PeerPose>,
    peer_manifolds: PeerManifolds,
}

impl<'a> Case<'a> {
    pub fn new(a: &'a Both, b: &'a Both, question: Question) -> Self {
        let poses = poses(&a.ours, &b.ours, question, 42);
        Self {
            peer_a: a.peer_pose(&Pose::IDENTITY),
            peer_poses: poses.iter().map(|pose| b.peer_pose(pose)).collect(),
            peer_manifolds: PeerManifolds::new(),
            workspace: Workspace::default(),
            a,
            b,
            question,
            poses,
        }
    }

    /// Asks msd at pose `i` modulo [`POSES`].
    #[inline]
    pub fn ask_ours(&mut self, i: usize) {
        let (a, at, b, pose) =
            (&self.a.ours, &Pose::IDENTITY, &self.b.ours, &self.poses[i % POSES]);
        let workspace = &mut self.workspace;
        match self.question {
            Question::Distance => {
                black_box(distance(a, at, b, pose));
            }
            Question::Depth => {
                black_box(separation(a, at, b, pose, &mut Simplex::default(), workspace));
            }
            Question::Manifold => {
                let memory = &mut PairMemory::default();
                black_box(contact_manifold(a, at, b, pose, MARGIN, memory, workspace));
            }
        }
    }

    /// Asks parry at pose `i` modulo [`POSES`].
    #[inline]
    pub fn ask_theirs(&mut self, i: usize) {
        let (a, at, b, pose) =
            (&*self.a.theirs, &self.peer_a, &*self.b.theirs, &self.peer_poses[i % POSES]);
        match self.question {
            Question::Distance => {
                let _ = black_box(query::distance(at, a, pose, b));
            }
            Question::Depth => {
                let _ = black_box(query::contact(at, a, pose, b, 0.0));
            }
            Question::Manifold => {
                let (manifolds, relative) = (&mut self.peer_manifolds, at.inv_mul(pose));
                manifolds.clear();
                let _ = DefaultQueryDispatcher
                    .contact_manifolds(&relative, a, b, MARGIN, manifolds, &mut None);
                black_box(manifolds);
            }
        }
    }
}

/// Every pair of shapes, equal ones included, with its name; but not two half-spaces, which overlap
/// without end.
pub fn pairs(shapes: &[Both]) -> impl Iterator<Item = (String, &Both, &Both)> {
    let bounded = |a: &Both, b: &Both| a.name != "half-space" || b.name != "half-space";
    shapes.iter().enumerate().flat_map(move |(i, a)| {
        let others = shapes[i..].iter().filter(move |b| bounded(a, b));
        others.map(move |b| (format!("{} - {}", a.name, b.name), a, b))
    })
}
