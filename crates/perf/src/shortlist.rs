//! Which candidates to time, where a few can be timed.

/// How much longer than the first a candidate of another kind may be expected to take, and be timed before the first one's like.
pub const WITHIN: f32 = 1.05;

/// So many candidates to time, by their places: the first of `order`, then the first of each other kind that is expected to take at most
/// [`WITHIN`] times as long, then the others in their order; fewer where there are no more.
///
/// What a model is wrong about in one candidate it is wrong about in its like, so that timing these tells less.
/// `order` has the fastest first, `time` is what is expected of a candidate, `kind` what it has in common with its like.
pub fn shortlist<K: PartialEq>(
    count: usize,
    order: &[usize],
    time: impl Fn(usize) -> f32,
    kind: impl Fn(usize) -> K,
) -> Vec<usize> {
    let Some(first) = order.first() else { return Vec::new() };
    let most = WITHIN * time(*first);
    let mut taken: Vec<(usize, K)> = Vec::with_capacity(count.min(order.len()));
    for place in order.iter().copied().take_while(|place| time(*place) <= most) {
        let own = kind(place);
        if taken.len() < count && taken.iter().all(|(_, other)| *other != own) {
            taken.push((place, own));
        }
    }
    let mut taken: Vec<usize> = taken.into_iter().map(|(place, _)| place).collect();
    for place in order {
        if taken.len() < count && !taken.contains(place) {
            taken.push(*place);
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_kinds_come_before_the_like_of_the_first() {
        let times = [100.0, 101.0, 102.0, 104.0, 104.5, 106.0];
        let kinds = ['a', 'a', 'b', 'b', 'c', 'd'];
        let of = |count| shortlist(count, &[0, 1, 2, 3, 4, 5], |i| times[i], |i| kinds[i]);
        assert_eq!(of(0), []);
        assert_eq!(of(1), [0]);
        assert_eq!(of(2), [0, 2]);
        assert_eq!(of(3), [0, 2, 4]);
        // 106 is too far off to come before what is like the first ones.
        assert_eq!(of(4), [0, 2, 4, 1]);
        assert_eq!(of(9), [0, 2, 4, 1, 3, 5]);
    }

    #[test]
    fn alone_in_their_kinds_they_keep_their_order() {
        let times = [1.0, 1.01, 9.0];
        assert_eq!(shortlist(3, &[0, 1, 2], |i| times[i], |i| i), [0, 1, 2]);
        assert_eq!(shortlist(3, &[2, 0], |i| 10.0 - times[i], |_| ()), [2, 0]);
        assert_eq!(shortlist(3, &[], |i| times[i], |i| i), []);
    }
}
