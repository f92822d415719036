//! What kernels take, read from text: against many ways of writing it, against what is no kernel, and against noise.

use proptest::prelude::*;
use tilewright_headers::cuda_type::{CudaType, Scalar};
use tilewright_headers::layout::Declarations;
use tilewright_headers::signature::{ParameterKind, Signature, signatures};

fn one(source: &str) -> Signature {
    let mut all = signatures(source).unwrap_or_else(|e| panic!("{source}: {e}"));
    assert_eq!(all.len(), 1, "{source}: {all:?}");
    all.remove(0)
}

/// The parameter of a kernel that takes this one alone, as `name: kind`.
fn parameter(text: &str) -> String {
    let signature = one(&format!("extern \"C\" __global__ void k({text}) {{}}"));
    let [parameter] = signature.parameters.as_slice() else { panic!("{text}: {signature:?}") };
    let kind = match &parameter.kind {
        ParameterKind::Pointer { to, constant: true } => format!("&[{to}]"),
        ParameterKind::Pointer { to, constant: false } => format!("&mut [{to}]"),
        ParameterKind::Value(of) => of.to_string(),
    };
    format!("{}: {kind}", parameter.name)
}

fn refusal(source: &str) -> String {
    signatures(source).map_or_else(|e| e.to_string(), |all| panic!("{source} is taken: {all:?}"))
}

#[test]
fn types_are_read_however_they_are_written() {
    for (text, expected) in [
        ("const float* x", "x: &[float]"),
        ("float const *x", "x: &[float]"),
        ("float *const x", "x: &mut [float]"),
        ("const float* __restrict__ const x", "x: &[float]"),
        ("float* __restrict x", "x: &mut [float]"),
        ("int n", "n: int"),
        ("const int n = 3 * (4 + 1)", "n: int"),
        ("unsigned n", "n: unsigned"),
        ("unsigned", ": unsigned"),
        ("long unsigned int long n", "n: unsigned long long"),
        ("std::uint8_t n", "n: unsigned char"),
        ("size_t", ": unsigned long long"),
        ("const volatile unsigned char bytes[]", "bytes: &[unsigned char]"),
        ("float x[16]", "x: &mut [float]"),
        ("const float4* v", "v: &[float4]"),
        ("uint3 v", "v: uint3"),
        ("const __half* x", "x: &[__half]"),
        ("void* p", "p: &mut [void]"),
        ("const float* const* x", "x: &[float*]"),
        ("const float** x", "x: &mut [float*]"),
        ("const __grid_constant__ Params p", "p: Params"),
        ("struct Params p", "p: Params"),
        ("const struct Params", ": Params"),
        ("const Params", ": Params"),
        ("A a", "a: A"),
        ("A", ": A"),
        ("ns::A a", "a: ns::A"),
        ("::ns::A", ": ::ns::A"),
        (
            "tw::Tensor<const float, tw::Layout<tw::Axis<K, 1, 8, 1, false>>> a",
            "a: tw::Tensor<float,tw::Layout<tw::Axis<K,1,8,1,false>>>",
        ),
        ("Pair<int, float> pair", "pair: Pair<int,float>"),
        ("alignas(16) Params p", "p: Params"),
        ("[[maybe_unused]] float f", "f: float"),
        ("__align__(8) /* , int hidden */ float2 f // , int other\n", "f: float2"),
        ("Buffer<sizeof(int)>* b", "b: &mut [Buffer<sizeof(int)>]"),
    ] {
        assert_eq!(parameter(text), expected, "{text}");
    }
}

#[test]
fn names_of_types_are_followed() {
    let source = r#"
        using real = float;
        typedef const real* Reals;
        typedef struct Point { float x, y; } Dot;
        using Self = Self;
        extern "C" __global__ void k(real a, Reals b, Dot c, Self d, real real) {}"#;
    let read = one(source);
    let kinds: Vec<String> = read.parameters.iter().map(|p| format!("{} {:?}", p.name, p.kind)).collect();
    assert!(kinds[0].starts_with("a Value(Scalar(F32))"), "{kinds:?}");
    assert!(kinds[1].contains("Scalar(F32), constant: true"), "{kinds:?}");
    assert!(kinds[2].contains("Dot") && kinds[3].contains("Self") && kinds[4].starts_with("real "), "{kinds:?}");
}

#[test]
fn kernels_are_found_behind_attributes_and_linkage() {
    let source = r##"
        // __global__ void comment(int);
        #define HIDDEN extern "C" __global__ void hidden(int n) \
            { __global__ void still_hidden(int); }
        #if 0 /* it's
        __global__ void in_a_comment(int) */
        #endif
        const char* text = "__global__ void string(int)";
        const char* raw = R"x( __global__ void raw(")" )x";
        int digits = 1'000'000; char quote = '"';
        extern "C" __global__ void __launch_bounds__(32 * (4 + 4), 2) first(void);
        extern "C" {
          struct P { int a; };
          __global__ __cluster_dims__(2, 1, 1) void second(P p) { if (p.a) { return; } }
        }
        namespace inside { __global__ void third(float*, int) {} }
        template <class T> __global__ void fourth(T* x) {}
        template <> __global__ void fifth<int>(int* x);
        [[gnu::unused]] static __global__ __attribute__((used)) void sixth() {}
        extern "C" __global__ void first() {}"##;
    let all = signatures(source).unwrap();
    let told: Vec<(&str, bool, bool, usize)> =
        all.iter().map(|s| (s.kernel.as_str(), s.c_linkage, s.template, s.parameters.len())).collect();
    let expected = [
        ("first", true, false, 0),
        ("second", true, false, 1),
        ("third", false, false, 2),
        ("fourth", false, true, 1),
        ("fifth", false, true, 1),
        ("sixth", false, false, 0),
    ];
    assert_eq!(told, expected);
    assert_eq!(all[1].line, 14);
}

#[test]
fn refusals_say_where() {
    for (source, parts) in [
        ("\n  __global__ void k(const P& p);", &["line 2, column 28", "a reference"][..]),
        ("__global__ void k(int, ...);", &["line 1, column 24", "`...`"]),
        ("__global__ void k(void (*f)(int));", &["column 24", "pointer to a function"]),
        ("__global__ void k(int a, , int b);", &["expected a parameter"]),
        ("__global__ void k(int a,);", &["expected a parameter"]),
        ("__global__ void k(int a, void b);", &["cannot be `void`"]),
        ("__global__ void k(int (a);", &["column 18", "not closed"]),
        ("__global__ void k(int a];", &["expected `)`, found `]`"]),
        ("__global__ void;", &["column 1", "expected `void NAME(`"]),
        ("int a;\n/* no end", &["line 2, column 1", "`*/` is missing"]),
    ] {
        let said = refusal(source);
        assert!(parts.iter().all(|part| said.contains(part)), "{source}: {said}");
    }
}

#[test]
fn declared_tensors_are_told() {
    let source = "// ü\n/*@tilewright\ndims! { I, K }\n\ntensor!(A: const f32, [K/8: 4, I: 4, K%8]);\n@tilewright*/\n\
                  /*@tilewright tensor!(B: \"const __half2\", [I: 3 => 9]); tensor!(C: \"constant\", [I: 3]); @tilewright*/";
    let declared = Declarations::read(source).unwrap();
    let [a, b, c] = declared.tensors.as_slice() else { panic!("{declared:?}") };
    assert_eq!((a.name.as_str(), a.constant, a.line), ("A", true, 5));
    assert_eq!((a.layout.extent("K"), a.layout.storage()), (Some(32), 128));
    assert_eq!(a.element, CudaType::Scalar(Scalar::F32));
    assert_eq!((b.constant, b.line, b.layout.storage()), (true, 7, 19));
    assert_eq!(b.element, CudaType::Narrow("__half2".into(), 4));
    assert_eq!((&c.element, c.constant), (&CudaType::Other("constant".into()), false));
}

#[test]
fn sizes_and_alignments_are_cudas() {
    for (text, bytes, alignment) in [
        ("float4", Some(16), 16),
        ("float3", Some(12), 4),
        ("double2", Some(16), 16),
        ("double3", Some(24), 8),
        ("longlong4", Some(32), 16),
        ("uchar4", Some(4), 4),
        ("char1", Some(1), 1),
        ("float5", None, 1),
        ("bool", Some(1), 1),
        ("short int unsigned", Some(2), 2),
        ("float float", None, 1),
        ("void", None, 1),
        ("", None, 1),
    ] {
        let read = CudaType::read(text);
        assert_eq!((read.bytes(), read.alignment()), (bytes, alignment), "{text}");
    }
}

proptest! {
    #[test]
    fn noise_is_no_panic(source in "(__global__|void|k|extern|\"C\"|template|using|typedef|const|float|[ (){}<>\\[\\],;:*&=.#/\"'\\\\\n]|\\PC){0,60}") {
        for source in [source.clone(), format!("__global__ void k({source}) {{}}"), format!("using A = {source}; __global__ void k(A a);")] {
            if let Err(error) = signatures(&source) {
                let lines: Vec<&str> = source.split('\n').collect();
                prop_assert!((1..=lines.len()).contains(&error.line), "{error}");
                prop_assert!((1..=lines[error.line - 1].chars().count() + 1).contains(&error.column), "{error}");
            }
            let _ = Declarations::read(&source);
        }
    }

    #[test]
    fn what_is_written_is_read(
        parameters in proptest::collection::vec((0usize..6, any::<bool>(), any::<bool>(), 0usize..5), 0..9),
        spaces in proptest::collection::vec(0usize..4, 64),
    ) {
        const TYPES: [&str; 6] = ["float", "unsigned char", "long long", "bool", "ns::S", "T<int,4>"];
        let mut gaps = spaces.iter().cycle().map(|n| [" ", "  ", "\n", " /*,)*/ "][*n]);
        let mut gap = || gaps.next().unwrap_or(" ");
        let mut written = Vec::new();
        for (i, (of, pointer, constant, extra)) in parameters.iter().enumerate() {
            let constant_text = if *constant { "const" } else { "" };
            let star = if *pointer { ["*", "* const", "*__restrict__", "* volatile", "*"][*extra] } else { "" };
            written.push(format!("{}{}{}{}{star}{}p{i}", gap(), constant_text, gap(), TYPES[*of], gap()));
        }
        let source = format!("extern \"C\"{}__global__ void{}k{}({})", gap(), gap(), gap(), written.join(","));
        let read = one(&source);
        prop_assert_eq!(read.parameters.len(), parameters.len());
        for (i, (read, (of, pointer, constant, _))) in read.parameters.iter().zip(&parameters).enumerate() {
            prop_assert_eq!(&read.name, &format!("p{i}"));
            let of = CudaType::read(TYPES[*of]);
            let expected = match pointer {
                true => ParameterKind::Pointer { to: of, constant: *constant },
                false => ParameterKind::Value(of),
            };
            prop_assert_eq!(&read.kind, &expected, "{}", source);
        }
    }
}
