//! A slice that several workers write at the same time, each its own elements.
#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::ops::Range;

/// A slice whose elements several workers write at the same time, each element by one worker.
pub(crate) struct DisjointSlice<'a, T> {
    start: *mut T,
    length: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: only `unsafe` methods hand out references, and their callers guarantee that nobody else accesses an element
// that is written. A worker may get `&mut T` to an element that another created, so `T: Send`; several may read one
// element at the same time through `&T`, so `T: Sync`.
unsafe impl<T: Send + Sync> Sync for DisjointSlice<'_, T> {}
// SAFETY: as above; a copy on another thread can do no more than a shared reference.
unsafe impl<T: Send + Sync> Send for DisjointSlice<'_, T> {}

impl<T> Clone for DisjointSlice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DisjointSlice<'_, T> {}

impl<'a, T> DisjointSlice<'a, T> {
    pub(crate) fn new(slice: &'a mut [T]) -> Self {
        Self { start: slice.as_mut_ptr(), length: slice.len(), slice: PhantomData }
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Returns the first `length` elements.
    pub(crate) fn first(&self, length: usize) -> Self {
        assert!(length <= self.length);
        Self { length, ..*self }
    }

    /// Returns an element.
    ///
    /// # Safety
    /// Nobody, this worker included, writes it while the reference lives.
    #[inline(always)]
    pub(crate) unsafe fn get(&self, index: usize) -> &'a T {
        assert!(index < self.length);
        // SAFETY: within the slice, and nobody writes it.
        unsafe { &*self.start.add(index) }
    }

    /// Returns an element for writing.
    ///
    /// # Safety
    /// No other reference to it lives, of this worker or another.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn get_mut(&self, index: usize) -> &'a mut T {
        assert!(index < self.length);
        // SAFETY: within the slice, and nobody else has it.
        unsafe { &mut *self.start.add(index) }
    }

    /// Prefetches an element that will be used soon.
    #[inline(always)]
    pub(crate) fn prefetch(&self, index: usize) {
        assert!(index < self.length);
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            for line in 0..size_of::<T>().min(3 * 64).div_ceil(64) {
                // SAFETY: within the slice; and a prefetch has no observable effect on memory.
                unsafe {
                    let start = self.start.add(index).cast::<i8>();
                    _mm_prefetch::<_MM_HINT_T0>(start.add(64 * line));
                }
            }
        }
    }

    /// Returns a range of elements for writing.
    ///
    /// # Safety
    /// No other reference to any of these elements lives.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn range_mut(&self, range: Range<usize>) -> &'a mut [T] {
        assert!(range.start <= range.end && range.end <= self.length);
        // SAFETY: within the slice, and nobody else has it.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }
}
