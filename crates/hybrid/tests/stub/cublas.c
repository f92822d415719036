// What tilewright calls of cuBLAS, by definition.
#define SUCCESS 0
#define INVALID 7
#define MAY_FAIL \
    int code = refused(3, 13); \
    if (code) return code;

// The library reads 16 bytes at once.
static number coefficient(const void* at, int type, i64 index) {
    if ((uintptr_t)at % 16) abort();
    return get(at, type, index);
}

// How f64 is emulated.
typedef struct { int strategy, special_values, control, bits; } settings;

int cublasCreate_v2(void** handle) { MAY_FAIL ++ledger->objects; *handle = calloc(1, sizeof(settings)); return SUCCESS; }
int cublasDestroy_v2(void* handle) { --ledger->objects; free(handle); return SUCCESS; }
#ifdef OLD
int cublasGetVersion_v2(void* handle, int* version) { *version = 120400; return SUCCESS; }
#else
int cublasGetVersion_v2(void* handle, int* version) { *version = 130100; return SUCCESS; }
int cublasSetEmulationStrategy(settings* it, int strategy) { MAY_FAIL it->strategy = strategy; return SUCCESS; }
int cublasSetEmulationSpecialValuesSupport(settings* it, int mask) { MAY_FAIL it->special_values = mask; return SUCCESS; }
int cublasSetFixedPointEmulationMantissaControl(settings* it, int control) { MAY_FAIL it->control = control; return SUCCESS; }
int cublasSetFixedPointEmulationMaxMantissaBitCount(settings* it, int bits) { MAY_FAIL it->bits = bits; return SUCCESS; }
#endif
int cublasSetStream_v2(void* handle, void* stream) { MAY_FAIL return stream ? SUCCESS : INVALID; }
int cublasSetMathMode(void* handle, int mode) { MAY_FAIL return mode == 16 ? SUCCESS : INVALID; }

// Whether any of some elements is not zero: zeros take less power than numbers do.
static int has_numbers(const void* at, int type, i64 leading, int op, i64 rows, i64 columns) {
    for (i64 i = 0; i < 16; ++i)
        if (element(at, type, leading, op, i * 37 % rows, i * 61 % columns) != 0) return 1;
    return 0;
}

// Rows of a factor, each in slices of 8 bits below a power of two above its largest element, the first with the sign. Slices lie one behind another,
// those of imaginary parts behind the others.
typedef struct { double *scales, *slices; } fixed;

static fixed fixed_rows(const void* at, int type, i64 leading, int op, int is_turned, i64 rows, i64 depth, int slices) {
    fixed it = {malloc((rows + 1) * 8), malloc((2 * slices * rows * depth + 1) * 8)};
    for (i64 i = 0; i < rows; ++i) {
        double largest = 0;
        for (i64 p = 0; p < depth; ++p) {
            number value = is_turned ? element(at, type, leading, op, p, i) : element(at, type, leading, op, i, p);
            largest = fmax(largest, fmax(fabs(creal(value)), fabs(cimag(value))));
        }
        int exponent = 0;
        if (largest > 0) frexp(largest, &exponent);
        it.scales[i] = ldexp(1, exponent);
        for (i64 p = 0; p < depth; ++p) {
            number value = is_turned ? element(at, type, leading, op, p, i) : element(at, type, leading, op, i, p);
            double rest[2] = {creal(value) / it.scales[i], cimag(value) / it.scales[i]};
            for (int slice = 0; slice < 2 * slices; ++slice) {
                double unit = ldexp(1, -(8 * (slice % slices) + 7)), *left = &rest[slice / slices];
                double kept = floor(*left / unit) * unit;
                it.slices[(slice * rows + i) * depth + p] = kept;
                *left -= kept;
            }
        }
    }
    return it;
}

static int all_finite(const void* at, int type, i64 leading, int op, i64 rows, i64 columns) {
    for (i64 i = 0; i < rows; ++i)
        for (i64 j = 0; j < columns; ++j) {
            number value = element(at, type, leading, op, i, j);
            if (!isfinite(creal(value)) || !isfinite(cimag(value))) return 0;
        }
    return 1;
}

// The sum of one element of the result: of pairs of slices those that weigh enough.
static number fixed_sum(fixed a, fixed b, int slices, i64 m, i64 n, i64 k, i64 i, i64 j) {
    number sum = 0;
    for (int weight = slices - 1; weight >= 0; --weight)
        for (int first = 0; first <= weight; ++first)
            for (i64 p = 0; p < k; ++p) {
                double* x = a.slices + (first * m + i) * k + p;
                double* y = b.slices + ((weight - first) * n + j) * k + p;
                sum += times(CMPLX(x[0], x[slices * m * k]), CMPLX(y[0], y[slices * n * k]));
            }
    return sum * a.scales[i] * b.scales[j];
}

// Slices of a product's factors: none where it is not emulated, less than none where nobody said how, or left a handle so for others.
static int slices_of(const settings* it, int compute) {
    if (compute != 79) return it->control ? -1 : 0;
    if (it->strategy != 2 || it->special_values != 3 || it->control != 1) return -1;
    return it->bits > 0 ? (it->bits + 8) / 8 : -1;
}

static int gemm(int slices, int ta, int tb, i64 m, i64 n, i64 k, number alpha, const void* a, int at, i64 lda, const void* b, int bt, i64 ldb,
                number beta, void* c, int ct, i64 ldc) {
    MAY_FAIL
    if (slices < 0 || m < 0 || n < 0 || k < 0 || ldc < (m > 1 ? m : 1) || lda < (ta ? k : m) || ldb < (tb ? n : k)) return INVALID;
    ledger->multiplied += m * n * k;
    if (ledger->only_counts) return has_numbers(a, at, lda, ta, m, k) && has_numbers(b, bt, ldb, tb, k, n) ? SUCCESS : INVALID;
    int is_emulated = slices && all_finite(a, at, lda, ta, m, k) && all_finite(b, bt, ldb, tb, k, n);
    fixed fixed_a = {0}, fixed_b = {0};
    if (is_emulated) {
        fixed_a = fixed_rows(a, at, lda, ta, 0, m, k, slices);
        fixed_b = fixed_rows(b, bt, ldb, tb, 1, n, k, slices);
    }
    for (i64 j = 0; j < n; ++j)
        for (i64 i = 0; i < m; ++i) {
            number sum = 0;
            if (is_emulated) sum = fixed_sum(fixed_a, fixed_b, slices, m, n, k, i, j);
            else for (i64 p = 0; p < k; ++p) sum += times(element(a, at, lda, ta, i, p), element(b, bt, ldb, tb, p, j));
            // Real types have no imaginary infinities or NaN.
            if (ct != C64 && ct != C128) sum = creal(sum);
            number value = times(alpha, sum);
            if (beta != 0) value += times(beta, get(c, ct, i + j * ldc));
            put(c, ct, i + j * ldc, value);
        }
    free(fixed_a.scales), free(fixed_a.slices), free(fixed_b.scales), free(fixed_b.slices);
    return SUCCESS;
}

static int factor_type(int compute, int type) {
    int is_complex = type == C64 || type == C128;
    if (compute == 72) return I32;
    if (compute == 70 || compute == 79) return is_complex ? C128 : F64;
    return is_complex ? C64 : F32;
}

int cublasGemmEx_64(void* h, int ta, int tb, i64 m, i64 n, i64 k, const void* alpha, const void* a, int at, i64 lda, const void* b,
                    int bt, i64 ldb, const void* beta, void* c, int ct, i64 ldc, int compute, int algo) {
    int f = factor_type(compute, ct);
    if (at == I8 && (lda % 4 || ldb % 4 || ldc % 4 || (uintptr_t)a % 4 || (uintptr_t)b % 4)) return 15;
    // Some extents are multiplied as cuBLAS likes factors best alone, the left one transposed, the right one plain: here those of few rows.
    if (at == I8 && m < 32 && (ta == 0 || tb != 0)) return 15;
    return gemm(slices_of(h, compute), ta, tb, m, n, k, coefficient(alpha, f, 0), a, at, lda, b, bt, ldb, coefficient(beta, f, 0), c, ct, ldc);
}

static int bytes_of(int type) { return type == C128 ? 16 : type == C64 || type == F64 ? 8 : type == F16 || type == BF16 ? 2 : 4; }

int cublasGemmStridedBatchedEx_64(void* h, int ta, int tb, i64 m, i64 n, i64 k, const void* alpha, const void* a, int at, i64 lda,
                                  i64 sa, const void* b, int bt, i64 ldb, i64 sb, const void* beta, void* c, int ct, i64 ldc, i64 sc,
                                  i64 count, int compute, int algo) {
    int f = factor_type(compute, ct), size = bytes_of(at);
    for (i64 i = 0; i < count; ++i) {
        int code = gemm(slices_of(h, compute), ta, tb, m, n, k, coefficient(alpha, f, 0), (char*)a + i * sa * size, at, lda, (char*)b + i * sb * size, bt, ldb,
                        coefficient(beta, f, 0), (char*)c + i * sc * size, ct, ldc);
        if (code) return code;
    }
    return SUCCESS;
}

static int trsm(int type, int side, int upper, int op, int unit, i64 m, i64 n, number alpha, const void* a, i64 lda, void* b, i64 ldb) {
    MAY_FAIL
    // From the right, rows of b are solved for, with the transposed triangle.
    i64 size = side ? n : m, count = side ? m : n, step = side ? ldb : 1, next = side ? 1 : ldb;
    int backwards = (upper != (op != 0)) != (side != 0);
    for (i64 j = 0; j < count; ++j)
        for (i64 s = 0; s < size; ++s) {
            i64 i = backwards ? size - 1 - s : s;
            number value = times(alpha, get(b, type, i * step + j * next));
            for (i64 q = 0; q < s; ++q) {
                i64 p = backwards ? size - 1 - q : q;
                number factor = side ? element(a, type, lda, op, p, i) : element(a, type, lda, op, i, p);
                value -= times(factor, get(b, type, p * step + j * next));
            }
            put(b, type, i * step + j * next, unit ? value : value / element(a, type, lda, op, i, i));
        }
    return SUCCESS;
}

#define EACH(X) X(S, F32) X(D, F64) X(C, C64) X(Z, C128)

#define ROUTINES(P, T) \
    int cublas##P##gemv_v2_64(void* h, int op, i64 m, i64 n, void* alpha, void* a, i64 lda, void* x, i64 ix, void* beta, void* y, i64 iy) { \
        i64 rows = op ? n : m, depth = op ? m : n; \
        return gemm(0, op, 0, rows, 1, depth, coefficient(alpha, T, 0), a, T, lda, x, T, depth > 1 ? depth : 1, coefficient(beta, T, 0), y, T, rows > 1 ? rows : 1); \
    } \
    int cublas##P##geam_64(void* h, int ta, int tb, i64 m, i64 n, void* alpha, void* a, i64 lda, void* beta, void* b, i64 ldb, void* c, i64 ldc) { \
        MAY_FAIL \
        for (i64 j = 0; j < n; ++j) \
            for (i64 i = 0; i < m; ++i) { \
                number old = coefficient(beta, T, 0) == 0 ? 0 : times(coefficient(beta, T, 0), element(b, T, ldb, tb, i, j)); \
                put(c, T, i + j * ldc, old + (coefficient(alpha, T, 0) == 0 ? 0 : times(coefficient(alpha, T, 0), element(a, T, lda, ta, i, j)))); \
            } \
        return coefficient(beta, T, 0) == 0 || (b == c && tb == 0 && ldb == ldc) ? SUCCESS : INVALID; \
    } \
    int cublas##P##dgmm_64(void* h, int right, i64 m, i64 n, void* a, i64 lda, void* x, i64 ix, void* c, i64 ldc) { \
        MAY_FAIL \
        for (i64 j = 0; j < n; ++j) \
            for (i64 i = 0; i < m; ++i) put(c, T, i + j * ldc, times(get(a, T, i + j * lda), get(x, T, (right ? j : i) * ix))); \
        return SUCCESS; \
    } \
    int cublas##P##copy_v2_64(void* h, i64 n, void* x, i64 ix, void* y, i64 iy) { \
        MAY_FAIL \
        for (i64 i = 0; i < n; ++i) put(y, T, i * iy, get(x, T, i * ix)); \
        return SUCCESS; \
    } \
    int cublas##P##trsm_v2_64(void* h, int side, int upper, int op, int unit, i64 m, i64 n, void* alpha, void* a, i64 lda, void* b, i64 ldb) { \
        return trsm(T, side, upper, op, unit, m, n, coefficient(alpha, T, 0), a, lda, b, ldb); \
    }
EACH(ROUTINES)

#define GER(NAME, T, OP) \
    int NAME(void* h, i64 m, i64 n, void* alpha, void* x, i64 ix, void* y, i64 iy, void* a, i64 lda) { \
        return gemm(0, 0, OP, m, n, 1, coefficient(alpha, T, 0), x, T, m > 1 ? m : 1, y, T, n > 1 ? n : 1, 1, a, T, lda); \
    }
GER(cublasSger_v2_64, F32, 1)
GER(cublasDger_v2_64, F64, 1)
GER(cublasCgeru_v2_64, C64, 1)
GER(cublasZgeru_v2_64, C128, 1)
GER(cublasCgerc_v2_64, C64, 2)
GER(cublasZgerc_v2_64, C128, 2)

#define HERK(NAME, T, R, OP) \
    int NAME(void* h, int upper, int op, i64 n, i64 k, void* alpha, void* a, i64 lda, void* beta, void* c, i64 ldc) { \
        MAY_FAIL \
        for (i64 j = 0; j < n; ++j) \
            for (i64 i = 0; i < n; ++i) { \
                number sum = 0; \
                if (upper ? i > j : i < j) continue; \
                for (i64 p = 0; p < k; ++p) sum += times(element(a, T, lda, op, i, p), conj(element(a, T, lda, op, j, p))); \
                number old = coefficient(beta, R, 0) == 0 ? 0 : times(coefficient(beta, R, 0), get(c, T, i + j * ldc)); \
                put(c, T, i + j * ldc, times(coefficient(alpha, R, 0), sum) + old); \
            } \
        return op == 0 || op == OP ? SUCCESS : INVALID; \
    }
HERK(cublasSsyrk_v2_64, F32, F32, 1)
HERK(cublasDsyrk_v2_64, F64, F64, 1)
HERK(cublasCherk_v2_64, C64, F32, 2)
HERK(cublasZherk_v2_64, C128, F64, 2)
