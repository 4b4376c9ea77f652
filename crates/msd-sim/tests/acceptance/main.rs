//! The acceptance suite: one binary, one module per component.

#[cfg(feature = "conic")]
mod agreement; // the default method against the exact one
mod allocations; // warm queries do not allocate
mod api; // handles, errors, changes after creation
mod bodies; // U13, U14: what bodies are, what is refused, how they turn
mod broad_phase; // which bodies are near each other
mod bullets; // fast bodies of a swept world
mod cast; // rays against every shape
mod closed_forms; // sections 3 and 5: motions known in closed form
#[cfg(feature = "conic")]
mod contact_file; // reads recorded problems
#[cfg(feature = "conic")]
mod contact_problems; // U10: recorded and random friction problems
mod contact_rows; // U7: rows are the derivative of the gap
mod counter; // counts allocations
mod exact_solvers; // U8, U9, U10: active set and cone program
mod hostile; // bad input, and nothing panics
mod hull; // U1: convex hulls
mod impacts; // bounces, rows, bullets: impacts within a step
mod impulses; // U8, U16: impulses of one step
mod islands; // U12: which bodies are solved together
mod manifold; // U5: contact points
mod mass; // U2: mass properties, polyhedra
mod materials; // U6: how two surfaces meet
mod maths; // poses, tangent bases, bounds
mod oracle; // slow and sure answers, and the pairs that are put to them
mod overlaps; // position correction: how overlaps and joint gaps go away
mod piles; // random hard contact problems
mod pipeline; // U15: what a step does not do
mod potentials; // U17: forces are gradients
mod project; // nearest points and containment
mod reports; // figures are true, and absent where nothing was measured
mod rotation; // free rotation: momentum, energy, tumbling, precession
mod running; // manifolds of pairs that are followed
mod scaling; // lengths have no unit
mod scene; // the common set-up of the scenes, checked by itself
mod scenes; // A to H and P2: what bodies do
mod separation; // U3, U4: distance and penetration
mod sleeping; // islands of a swept world that rest, and what wakes them
mod sleeping_piles; // the same of many bodies
mod solids; // polyhedra with known properties
mod solver; // U9, U11: what every solve promises
mod stage; // worlds whose books are checked in every step
mod state; // determinism, events, joints, forces, containment
mod stopwatch; // time that does not depend on what else runs
mod swept; // worlds that are stepped by sweeping
mod time_of_impact; // when moving shapes first touch
