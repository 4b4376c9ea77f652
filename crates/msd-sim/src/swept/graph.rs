//! Contacts in colours: no inertial body has two contacts of one colour, so that a colour's contacts can be
//! solved at the same time, in lanes and on threads. A contact keeps its colour while it lasts.

use super::block::{ContactBlock, Entrant};

/// How many colours there are. Bodies' colours are the bits of a word, less that of the last colour.
pub(crate) const COLOURS: usize = 64;

/// The last colour is for contacts that find no other: they are solved one after another.
pub(crate) const LEFT_OVER: usize = COLOURS - 1;

/// Contacts that share no inertial body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Colour {
    pub(crate) blocks: Vec<ContactBlock>,
    /// How many lanes are taken, from the first block's first on.
    len: usize,
}

/// All contacts of a swept world.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    pub(crate) colours: Vec<Colour>,
    /// By rider: the colours of its contacts.
    taken: Vec<u64>,
}

impl Default for Graph {
    fn default() -> Self {
        Self { colours: vec![Colour::default(); COLOURS], taken: Vec::new() }
    }
}

/// Where a contact is: its colour, and its number in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    pub(crate) colour: u8,
    pub(crate) number: u32,
}

impl Seat {
    /// No seat.
    pub(crate) const NONE: Self = Self { colour: u8::MAX, number: 0 };

    pub(crate) fn is_some(&self) -> bool {
        self.colour != u8::MAX
    }

    /// Block and lane.
    pub(crate) fn place(&self) -> (usize, usize) {
        let number = self.number as usize;
        match self.colour as usize {
            LEFT_OVER => (number, 0),
            _ => (number / 4, number % 4),
        }
    }
}

impl Graph {
    pub(crate) fn clear(&mut self) {
        for colour in &mut self.colours {
            colour.blocks.clear();
            colour.len = 0;
        }
        self.taken.fill(0);
    }

    pub(crate) fn resize(&mut self, riders: usize) {
        self.taken.resize(riders.max(self.taken.len()), 0);
    }

    /// Seats a contact; `inertial` says which of its riders yield.
    pub(crate) fn add(&mut self, new: &Entrant, inertial: [bool; 2]) -> Seat {
        let seat = self.take(new.riders, inertial, Seat::NONE);
        let (block, lane) = self.block_mut(seat);
        block.enter(lane, new);
        seat
    }

    /// Seats the contact of another graph's lane, which is `known` there: in the same colour if it is free.
    pub(crate) fn take_over(
        &mut self,
        from: &ContactBlock,
        other: usize,
        known: Seat,
        inertial: [bool; 2],
    ) -> Seat {
        let seat = self.take([from.riders[0][other], from.riders[1][other]], inertial, known);
        let (block, lane) = self.block_mut(seat);
        block.copy_lane(lane, from, other);
        seat
    }

    /// Finds a free seat, in the colour of `like` if that is free, and takes it.
    fn take(&mut self, riders: [u32; 2], inertial: [bool; 2], like: Seat) -> Seat {
        let used = [0, 1].map(|side: usize| match inertial[side] {
            true => self.taken[riders[side] as usize],
            false => 0,
        });
        let free: u64 = !(used[0] | used[1]) & !(1 << LEFT_OVER);
        // Contacts with the environment come last in a sweep: what they say counts most.
        let colour = match (free, inertial[0] && inertial[1]) {
            _ if like.is_some() && free >> like.colour & 1 == 1 => like.colour as usize,
            (0, _) => LEFT_OVER,
            (_, true) => free.trailing_zeros() as usize,
            (_, false) => 63 - free.leading_zeros() as usize,
        };
        if colour != LEFT_OVER {
            for (rider, _) in riders.into_iter().zip(inertial).filter(|(_, yields)| *yields) {
                self.taken[rider as usize] |= 1 << colour;
            }
        }
        let Colour { blocks, len } = &mut self.colours[colour];
        let seat = Seat { colour: colour as u8, number: *len as u32 };
        let (block, _) = seat.place();
        if block == blocks.len() {
            blocks.push(ContactBlock::default());
        }
        *len += 1;
        seat
    }

    /// Takes a contact out. The last of its colour gets its seat: the pair of that one, if it is another.
    pub(crate) fn remove(&mut self, seat: Seat) -> Option<u32> {
        let (block, lane) = seat.place();
        let colour = &mut self.colours[seat.colour as usize];
        if seat.colour as usize != LEFT_OVER {
            for side in 0..2 {
                let rider = colour.blocks[block].riders[side][lane];
                self.taken[rider as usize] &= !(1 << seat.colour);
            }
        }
        colour.len -= 1;
        let last = Seat { number: colour.len as u32, ..seat };
        let (from, other) = last.place();
        let mut moved = None;
        if last != seat {
            moved = Some(colour.blocks[from].pairs[other]);
            if block == from {
                let copy = colour.blocks[from].clone();
                colour.blocks[block].copy_lane(lane, &copy, other);
            } else {
                let (before, rest) = colour.blocks.split_at_mut(from);
                before[block].copy_lane(lane, &rest[0], other);
            }
        }
        colour.blocks[from].vacate(other);
        if other == 0 {
            colour.blocks.truncate(from);
        }
        moved
    }

    pub(crate) fn block(&self, seat: Seat) -> (&ContactBlock, usize) {
        let (block, lane) = seat.place();
        (&self.colours[seat.colour as usize].blocks[block], lane)
    }

    pub(crate) fn block_mut(&mut self, seat: Seat) -> (&mut ContactBlock, usize) {
        let (block, lane) = seat.place();
        (&mut self.colours[seat.colour as usize].blocks[block], lane)
    }
}
