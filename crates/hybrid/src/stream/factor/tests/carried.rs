//! Right-hand sides that go through L with the factors.

use super::super::super::control::Control;
use super::super::super::late::Device;
use super::super::super::matmul::Factor;
use super::super::lu::solve_on;
use super::super::plan::{PanelPlan, Pass};
use super::cases::{ORDERS, STAGING, random, square};
use super::lu::{CUTS, scratch, solution_residual};
use crate::Error;
use crate::linear::{self, Place};
use crate::store::{MemorySink, MemorySource, Sink};
use ndarray::Array2;

/// Both steps of a solution: what goes through L with the factors, and U.
fn solved_at_once(
    device: &Device,
    plans: [&PanelPlan; 2],
    factors: [Factor<'_>; 2],
    control: Control<'_>,
) -> Result<Array2<f64>, Error> {
    let [of_factors, of_solution] = plans;
    let scratch = scratch(of_factors.size);
    let mut x = Array2::from_elem((of_solution.size, of_solution.columns), f64::NAN);
    let sink = MemorySink::new(x.view_mut());
    let traffic = solve_on::<f64, _>(device, plans, factors, (&scratch, &sink), (STAGING, control))?;
    Box::new(sink).commit()?;
    let counts = device.counts.lock().unwrap();
    assert_eq!([traffic.to_gpu, traffic.to_host], [counts.brought, counts.taken_back].map(|count| 8 * count as u64));
    let found: usize = plans.into_iter().map(PanelPlan::found_bytes).sum();
    let planned: u128 = plans.into_iter().map(PanelPlan::device_bytes).sum();
    assert_eq!(8 * counts.device + found, planned as usize, "{plans:?}");
    Ok(x)
}

#[test]
fn f1_few_columns_go_through_l_with_the_factors() {
    let mut carried = 0;
    for (size, (panel, slice, stages)) in [1, 2, 6, 29, 41].into_iter().flat_map(|size| CUTS.map(|cut| (size, cut))) {
        for (number, (name, a)) in square(size).into_iter().enumerate() {
            for columns in [1, 2, 5] {
                let order = ORDERS[(number + slice + columns) % 4];
                let [factors, solution] = PanelPlan::lu_solution([size, columns], 8, u64::MAX, &|_| 0).unwrap();
                let panel = panel.min(size + columns);
                let factors = PanelPlan { panel, slice, stages, together: [1, 4][number % 2], ..factors };
                if !factors.carries() {
                    continue;
                }
                assert_eq!(solution.pass, Pass::LuBackward);
                let solution = PanelPlan { panel: (columns - 1).max(1), slice: slice + 1, stages, ..solution };
                let b = random(3, size, columns);
                let (of_a, of_b) = (MemorySource::new(a.view()), MemorySource::new(b.view()));
                let both = [Factor::plain(&of_a), Factor::plain(&of_b)];
                let x = solved_at_once(&Device::new(order), [&factors, &solution], both, Control::default());
                let expected = linear::solve(&Place::Cpu, (&a).into(), (&b).into());
                match (x, expected) {
                    (Ok(x), _) => {
                        let off = solution_residual(&a, &x, &b);
                        assert!(off <= 20.0, "{name} {factors:?} {order:?}: {off}");
                        carried += 1;
                    }
                    (Err(error), expected) => {
                        assert_eq!(error.to_string(), expected.unwrap_err().to_string(), "{name} {factors:?}");
                    }
                }
            }
        }
    }
    assert!(carried > 300, "{carried}");
}

/// NaN and infinities of a column stay in its solution, and other forms of what is carried are as copies.
#[test]
fn f3_what_goes_through_l_is_as_a_copy() {
    let (a, mut b) = (random(1, 30, 30), random(2, 30, 3));
    let [factors, solution] = PanelPlan::lu_solution([30, 3], 8, u64::MAX, &|_| 0).unwrap();
    let factors = PanelPlan { panel: 7, slice: 3, ..factors };
    assert!(factors.carries());
    let solved = |b: &Array2<f64>| {
        let turned = b.t().to_owned();
        let (of_a, plain, turned) =
            (MemorySource::new(a.view()), MemorySource::new(b.view()), MemorySource::new(turned.view()));
        let [plain, turned, adjoint] = [Factor::plain(&plain), Factor::transposed(&turned), Factor::adjoint(&turned)]
            .map(|b| {
                let both = [Factor::plain(&of_a), b];
                solved_at_once(&Device::new(ORDERS[1]), [&factors, &solution], both, Control::default()).unwrap()
            });
        let bits = |x: &Array2<f64>| x.mapv(f64::to_bits);
        assert!(bits(&plain) == bits(&turned) && bits(&plain) == bits(&adjoint));
        plain
    };
    let clean = solved(&b);
    assert!(solution_residual(&a, &clean, &b) <= 20.0);
    b[[7, 1]] = f64::NAN;
    let x = solved(&b);
    assert!(x.column(1).iter().all(|x| x.is_nan()));
    assert_eq!([x.column(0), x.column(2)], [clean.column(0), clean.column(2)]);
}
