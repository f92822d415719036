//! Horizontal fusion: a batch of small pictures in one kernel, each with its own parameters; and long chains over a batch.

use super::vertical::OneByOne;
use super::{close, same_ends};
use crate::Result;
use crate::cases::{N, Random, X, Y};
use crate::pipelines::{both, horizontal};
use crate::report::Report;
use crate::session::Session;
use crate::suites::same_bits;
use tilewright_ops::Tensor;

/// Height and width of a picture.
const PICTURE: [usize; 2] = [120, 60];
const LEN: usize = PICTURE[0] * PICTURE[1];
/// Prepared sets of parameters, so that each call has its own.
const SETS: usize = 16;
/// Most pictures whose parameters surely travel with the launch: larger ones are copied, which a graph cannot contain.
const MOST_BY_VALUE: usize = 600;
/// Pictures of `both`.
const BOTH: usize = 50;

type Pictures = Tensor<u8, (N, Y, X)>;
type Results = Tensor<f32, (N, Y, X)>;
/// A number per picture.
type Each = Tensor<f32, (N,)>;

fn pictures(random: &mut Random, count: usize) -> Result<Pictures> {
    Ok(Tensor::from_vec([count, PICTURE[0], PICTURE[1]], random.pixels(count * LEN))?)
}

fn poisoned(session: &Session, count: usize) -> Result<Results> {
    let values = vec![f32::NAN; count * LEN];
    Ok(Tensor::from_vec([count, PICTURE[0], PICTURE[1]], values)?.to(&session.device)?)
}

/// Factor, subtrahend and divisor of each picture, in host memory.
fn parameters(random: &mut Random, count: usize) -> Result<[Each; 3]> {
    let mut each = |low: f32| -> Result<Each> {
        let values = random.floats(count).into_iter().map(|x| low + x * 0.25).collect();
        Ok(Tensor::from_vec([count], values)?)
    };
    Ok([each(0.5)?, each(1.0)?, each(3.2)?])
}

/// The parameters in device memory.
fn on_device(session: &Session, [mul, sub, div]: &[Each; 3]) -> Result<[Each; 3]> {
    let device = &session.device;
    Ok([mul.to(device)?, sub.to(device)?, div.to(device)?])
}

/// Measures `horizontal/N`: cast, multiply, subtract, divide over `count` pictures, parameters from the host on every call.
pub fn batch(session: &Session, count: usize, report: &mut Report) -> Result<()> {
    let device = &session.device;
    let bytes = count * LEN * (1 + size_of::<f32>());
    let mut random = Random::new(count as u64);
    let given = (0..SETS).map(|_| parameters(&mut random, count)).collect::<Result<Vec<_>>>()?;
    let handle = horizontal();
    let host = pictures(&mut random, count)?;
    let mut inputs = vec![host.to(device)?];
    let mut results = vec![poisoned(session, count)?];
    let [mul, sub, div] = &given[0];
    let expected = handle.call(&host, mul, sub, div)?.to_vec()?;
    handle.call_into(&mut results[0], &inputs[0], mul, sub, div)?;
    same_bits(&results[0].to_vec()?, &expected)?;

    // A call for each picture, as a program that does not know about batches makes it.
    let singles: Vec<Pictures> = (0..count).map(|i| Ok(host.narrow::<N>(i, 1)?.to(device)?)).collect::<Result<_>>()?;
    let mut single_results = (0..count).map(|_| poisoned(session, 1)).collect::<Result<Vec<_>>>()?;
    let single_given = (0..count)
        .map(|i| Ok([mul.narrow::<N>(i, 1)?, sub.narrow::<N>(i, 1)?, div.narrow::<N>(i, 1)?]))
        .collect::<Result<Vec<_>>>()?;
    let mut looped = |_| {
        for ((result, picture), [mul, sub, div]) in single_results.iter_mut().zip(&singles).zip(&single_given) {
            handle.call_into(result, picture, mul, sub, div)?;
        }
        Ok(())
    };
    let peers = [
        ("a call per picture", session.clock.long_us(&mut looped)?),
        ("a call per picture, CUDA graph", session.clock.long_graph_us(&mut looped)?),
    ];
    same_bits(&single_results[count - 1].to_vec()?, &expected[(count - 1) * LEN..])?;

    for _ in 1..session.sets(bytes) {
        inputs.push(pictures(&mut random, count)?.to(device)?);
        results.push(poisoned(session, count)?);
    }
    let rotation = inputs.len();
    let placed = match count > MOST_BY_VALUE {
        false => given.clone(),
        true => given.iter().map(|each| on_device(session, each)).collect::<Result<_>>()?,
    };
    let us_graph = session.clock.graph_us(&mut |call| {
        let [mul, sub, div] = &placed[call % SETS];
        Ok(handle.call_into(&mut results[call % rotation], &inputs[call % rotation], mul, sub, div)?)
    })?;
    let mut call = |call: usize| {
        let [mul, sub, div] = &given[call % SETS];
        Ok(handle.call_into(&mut results[call % rotation], &inputs[call % rotation], mul, sub, div)?)
    };
    let case = format!("horizontal/{count}");
    let limit = session.limit_us(bytes)?;
    let us = session.clock.device_us(&mut call)?;
    report.add_against(["fuse", &case, "device_us"], us, "us", Some(limit), &peers);
    report.add("fuse", &case, "device_us_graph", us_graph, "us").limited(limit);
    let [empty, us] = session.clock.host_us_of([&mut |_| session.empty.launch(), &mut call])?;
    report.add("fuse", &case, "host_us", us, "us");
    report.add("fuse", &case, "host_over_empty_us", us - empty, "us");
    Ok(())
}

/// Measures `both/N`: `n` pairs over 50 pictures in one kernel, in a kernel for each operation, and in one for each operation
/// and picture.
pub fn long_batch(session: &Session, n: usize, report: &mut Report) -> Result<()> {
    let bytes = BOTH * LEN * (1 + size_of::<f32>());
    let mut random = Random::new(n as u64);
    let handle = both(n);
    let host = pictures(&mut random, BOTH)?;
    let input = host.to(&session.device)?;
    let mut result = poisoned(session, BOTH)?;
    handle.call_into(&mut result, &input)?;
    let part = |at| -> Result<Vec<f32>> { Ok(handle.call(&host.narrow::<N>(at, 1)?)?.to_vec()?) };
    let (begin, end) = (part(0)?, part(BOTH - 1)?);
    same_ends(&result.to_vec()?, &begin, &end)?;

    let mut one_by_one = OneByOne::new(session, &host.to_vec()?)?;
    one_by_one.queue(n)?;
    close(&one_by_one.x.to_vec()?[..LEN], &begin, 2 * n)?;

    let us = session.clock.device_us(&mut |_| Ok(handle.call_into(&mut result, &input)?))?;
    let clock = &session.clock;
    let for_each = |chain: &mut OneByOne| (0..BOTH).try_for_each(|i| chain.queue_part(i * LEN..(i + 1) * LEN, n));
    let peers = [
        ("a kernel per operation", clock.long_us(&mut |_| one_by_one.queue(n))?),
        ("a kernel per operation, CUDA graph", clock.long_graph_us(&mut |_| one_by_one.queue(n))?),
        ("a kernel per operation and picture", clock.long_us(&mut |_| for_each(&mut one_by_one))?),
        // A graph of one picture again and again: of all of them it would have a million nodes.
        (
            "a kernel per operation and picture, CUDA graphs",
            clock.replays_us(BOTH, &mut |_| one_by_one.queue_part(0..LEN, n))?,
        ),
    ];
    let case = format!("both/{n}");
    report.add_against(["fuse", &case, "device_us"], us, "us", Some(session.limit_us(bytes)?), &peers);
    Ok(())
}
