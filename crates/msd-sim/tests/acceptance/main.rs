//! The acceptance suite: one binary, one module per component. It uses the public API only.

mod accuracy; // fast, balanced and exact
#[cfg(feature = "conic")]
mod agreement; // the default method against the exact one
mod allocations; // warm queries do not allocate
mod api; // handles, errors, changes after creation
mod audited_scene; // the fixture whose ledger is checked in every step
mod bodies; // body kinds, invalid input, integration of rotation
mod broad_phase; // pairs of overlapping bounds, against brute force
mod bullets; // swept worlds: fast bodies and thin walls
mod cast; // ray casts against every shape
mod closed_forms; // motions with a closed form
mod colliders; // bodies of several colliders
#[cfg(feature = "conic")]
mod contact_file; // reads recorded friction problems
#[cfg(feature = "conic")]
mod contact_problems; // recorded and random friction problems
mod contact_rows; // constraint rows: the derivative of the gap
mod costs; // islands that cost too much to be exact
mod counter; // the allocator that counts allocations
mod dependencies; // module dependencies of the engine, against ARCHITECTURE.md
mod exact_solvers; // the active-set and the conic solver
mod hostile; // hostile input: no panics
mod hull; // convex hulls
mod impacts; // impacts within a step: bounces, rows of bodies, bullets
mod impulses; // impulses of one step
mod islands; // islands: bodies that are solved together
mod manifold; // contact points
mod mass; // mass properties
mod materials; // materials, and how those of two bodies combine
mod maths; // poses, tangent bases, bounds
mod oracle; // slow reference answers without any engine code, and the pairs to test with
mod overlaps; // position correction of overlaps and joint gaps
mod persistent_pairs; // manifolds of pairs over many steps, with their memory
mod piles; // random piles: hard contact problems
mod pipeline; // steps: no allocations once warm, no impulses between bodies apart
mod potentials; // potentials: forces are their gradients
mod project; // nearest surface points and containment
mod queries; // queries against brute force
mod reports; // step reports: figures are true, and `None` where nothing was measured
mod resting; // the rest tier: islands that are held still are skipped
mod rotation; // free rotation: momentum, energy, tumbling, precession
mod scaling; // invariance under scaling of all lengths
mod scene; // the fixture of most scenes: one material, energy watch, closed forms
mod scenes; // bounces, spins, settling, rest, energy and extremes
mod sensors; // what enters, stays in and leaves sensors
mod separation; // distance and penetration
mod sleeping; // islands that fall asleep, and the events that wake them, with both methods
mod sleeping_piles; // sleeping piles of many bodies
mod solids; // polyhedra with known properties
mod solver; // guarantees of every solver
mod solver_times; // how long a few contacts take
mod state; // determinism, events, joints, kinematic bodies, quarantine
mod stopwatch; // CPU time of a thread
mod structures;
mod swept; // worlds with more bodies than `Settings::exact_body_limit()`
mod time_of_impact; // when moving shapes first touch
mod units; // lengths, masses and times have no unit, through whole runs
mod warnings; // warnings through the `log` facade
