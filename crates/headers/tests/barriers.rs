//! Barriers that not every thread reaches, votes at barriers, and stacks that survive a deadlock.

use tilewright_headers::host_model::{Error, HostModel, Schedule};

use crate::fixture::{compile, launch, run};

fn kernel(body: &str) -> String {
    format!(
        "#include \"tilewright/prelude.cuh\"\nstruct Params {{ int* y; }};\n\
         extern \"C\" __global__ void k(const __grid_constant__ Params p) {{\n{body}\n}}\n"
    )
}

fn deadlock(model: &HostModel, schedule: Schedule) -> String {
    let mut y = [0i32; 256];
    match run(model, "k", launch(3, 64, 0, schedule), y.as_mut_ptr()) {
        Err(Error::Deadlock { text, .. }) => text,
        other => panic!("{schedule:?}: expected a deadlock, got {other:?}"),
    }
}

#[test]
fn a_divergent_barrier_is_a_deadlock_with_its_line() {
    let text = kernel("p.y[threadIdx.x] = 1;\n  if (threadIdx.x >= 32)\n    __syncthreads();");
    let Some(model) = compile("divergent", &[&text]) else { return };
    for schedule in Schedule::ALL {
        let text = deadlock(&model, schedule);
        assert!(text.contains("thread (32, 0, 0) waits in __syncthreads at 0_divergent.cu:6"), "{text}");
        assert!(text.contains("of 64 threads 32 wait at a barrier, 0 in a warp collective, 32 have ended"), "{text}");
    }
}

#[test]
fn two_barriers_are_not_one() {
    let text = kernel("if (threadIdx.x < 32)\n    __syncthreads();\n  else\n    __syncthreads();");
    let Some(model) = compile("two_barriers", &[&text]) else { return };
    for schedule in Schedule::ALL {
        let text = deadlock(&model, schedule);
        assert!(text.contains("thread (0, 0, 0) waits in __syncthreads at 0_two_barriers.cu:5"), "{text}");
        assert!(text.contains("thread (32, 0, 0) waits in __syncthreads at 0_two_barriers.cu:7"), "{text}");
    }
}

#[test]
fn a_collective_that_waits_for_the_barrier_is_a_deadlock() {
    let text = kernel("if (threadIdx.x % 32 == 0) __syncwarp();\n  __syncthreads();");
    let Some(model) = compile("stuck_warp", &[&text]) else { return };
    for schedule in Schedule::ALL {
        let text = deadlock(&model, schedule);
        assert!(text.contains("waits in __syncwarp at 0_stuck_warp.cu:4"), "{text}");
        assert!(text.contains("62 wait at a barrier, 2 in a warp collective"), "{text}");
    }
}

#[test]
fn barriers_count_votes() {
    let text = kernel(
        "const int n = __syncthreads_count(threadIdx.x % 5 == 0);
         const int any = __syncthreads_or(threadIdx.x == 63), none = __syncthreads_or(0);
         const int all = __syncthreads_and(1), most = __syncthreads_and(threadIdx.x != 9);
         p.y[threadIdx.x] = n * 10000 + any * 1000 + none * 100 + all * 10 + most;",
    );
    let Some(model) = compile("votes", &[&text]) else { return };
    for schedule in Schedule::ALL {
        let mut y = [0i32; 64];
        run(&model, "k", launch(1, 64, 0, schedule), y.as_mut_ptr()).unwrap();
        assert_eq!(y, [131_010; 64], "{schedule:?}");
    }
}

#[test]
fn writing_past_shared_memory_is_reported() {
    let text = kernel("tw::host::shared_memory()[threadIdx.x] = 1;");
    let Some(model) = compile("past_shared", &[&text]) else { return };
    let mut y = [0i32; 1];
    run(&model, "k", launch(1, 64, 64, Schedule::Forward), y.as_mut_ptr()).unwrap();
    let error = run(&model, "k", launch(1, 64, 60, Schedule::Forward), y.as_mut_ptr()).unwrap_err();
    assert!(matches!(&error, Error::Misuse { text, .. } if text.contains("wrote byte 60 of 60 bytes")), "{error}");
}

#[test]
fn one_model_serves_several_threads() {
    let text = kernel(
        "__syncthreads();
         if (p.y[threadIdx.x] == 7) return;
         __syncthreads();
         atomicAdd(p.y + threadIdx.x, 1);",
    );
    let Some(model) = compile("several_threads", &[&text]) else { return };
    std::thread::scope(|scope| {
        for number in 0..4 {
            let model = &model;
            scope.spawn(move || {
                for round in 0..50 {
                    // Every other launch fails, and leaves nothing behind.
                    let mut y = [0i32; 256];
                    y[number] = if round % 2 == 0 { 7 } else { 0 };
                    let outcome = run(model, "k", launch(5, 256, 0, Schedule::Shuffled(round)), y.as_mut_ptr());
                    assert_eq!(outcome.is_err(), round % 2 == 0);
                    assert!(round % 2 == 0 || y == [5; 256]);
                }
            });
        }
    });
}
