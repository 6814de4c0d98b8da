//! Jobs that wait for a thread. The newest is done first: what one call has begun ends before the next call begins, and what
//! all of them hold in between stays small.

use std::collections::VecDeque;

/// One in so many jobs taken is the oldest, so that none waits for ever.
const OLDEST: usize = 64;

/// Something that one thread does, and whom it is for: the number of a step, whose calling thread may do it while it waits.
pub(super) struct Job {
    pub(super) step: i64,
    pub(super) work: Box<dyn FnOnce() + Send>,
}

/// The jobs of a pool, the oldest first.
#[derive(Default)]
pub(super) struct Jobs {
    waiting: VecDeque<Job>,
    /// How many were taken.
    taken: usize,
}

impl Jobs {
    pub(super) fn push(&mut self, job: Job) {
        self.waiting.push_back(job);
    }

    /// Adds one that comes after those that wait already.
    pub(super) fn push_behind(&mut self, job: Job) {
        self.waiting.push_front(job);
    }

    /// Takes one: of those for `step`, if one is named.
    pub(super) fn take(&mut self, step: Option<i64>) -> Option<Job> {
        let is_due = |job: &Job| step.is_none_or(|step| job.step == step);
        let place = match (self.taken + 1).is_multiple_of(OLDEST) {
            true => self.waiting.iter().position(is_due),
            false => self.waiting.iter().rposition(is_due),
        };
        let job = self.waiting.remove(place?);
        self.taken = self.taken.wrapping_add(1);
        job
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether there is one for `step`, or any if none is named.
    pub(super) fn has(&self, step: Option<i64>) -> bool {
        step.map_or(!self.is_empty(), |step| self.waiting.iter().any(|job| job.step == step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_comes_first_but_none_waits_for_ever() {
        let mut jobs = Jobs::default();
        (0..100).for_each(|step| jobs.push(Job { step, work: Box::new(|| {}) }));
        let mut taken = |step| jobs.take(step).map(|job| job.step);
        assert_eq!([taken(None), taken(Some(7)), taken(Some(7)), taken(None)], [Some(99), Some(7), None, Some(98)]);
        // Three were taken.
        assert!((4..OLDEST).all(|_| taken(None).is_some_and(|step| step > 30)));
        assert_eq!([taken(None), taken(None)], [Some(0), Some(37)]);
    }

    #[test]
    fn what_gives_way_comes_after_the_others() {
        let mut jobs = Jobs::default();
        let job = |step| Job { step, work: Box::new(|| {}) };
        jobs.push(job(1));
        jobs.push_behind(job(2));
        jobs.push(job(3));
        assert_eq!([(); 4].map(|()| jobs.take(None).map(|job| job.step)), [Some(3), Some(1), Some(2), None]);
    }
}
