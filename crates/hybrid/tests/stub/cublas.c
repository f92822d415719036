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

int cublasCreate_v2(void** handle) { MAY_FAIL ++ledger->objects; *handle = malloc(1); return SUCCESS; }
int cublasDestroy_v2(void* handle) { --ledger->objects; free(handle); return SUCCESS; }
int cublasGetVersion_v2(void* handle, int* version) { *version = 120400; return SUCCESS; }
int cublasSetStream_v2(void* handle, void* stream) { MAY_FAIL return stream ? SUCCESS : INVALID; }
int cublasSetMathMode(void* handle, int mode) { MAY_FAIL return mode == 16 ? SUCCESS : INVALID; }

// Whether any of some elements is not zero: zeros take less power than numbers do.
static int has_numbers(const void* at, int type, i64 leading, int op, i64 rows, i64 columns) {
    for (i64 i = 0; i < 16; ++i)
        if (element(at, type, leading, op, i * 37 % rows, i * 61 % columns) != 0) return 1;
    return 0;
}

static int gemm(int ta, int tb, i64 m, i64 n, i64 k, number alpha, const void* a, int at, i64 lda, const void* b, int bt, i64 ldb,
                number beta, void* c, int ct, i64 ldc) {
    MAY_FAIL
    if (m < 0 || n < 0 || k < 0 || ldc < (m > 1 ? m : 1) || lda < (ta ? k : m) || ldb < (tb ? n : k)) return INVALID;
    ledger->multiplied += m * n * k;
    if (ledger->only_counts) return has_numbers(a, at, lda, ta, m, k) && has_numbers(b, bt, ldb, tb, k, n) ? SUCCESS : INVALID;
    for (i64 j = 0; j < n; ++j)
        for (i64 i = 0; i < m; ++i) {
            number sum = 0;
            for (i64 p = 0; p < k; ++p) sum += times(element(a, at, lda, ta, i, p), element(b, bt, ldb, tb, p, j));
            // Real types have no imaginary infinities or NaN.
            if (ct != C64 && ct != C128) sum = creal(sum);
            number value = times(alpha, sum);
            if (beta != 0) value += times(beta, get(c, ct, i + j * ldc));
            put(c, ct, i + j * ldc, value);
        }
    return SUCCESS;
}

static int factor_type(int compute, int type) {
    int is_complex = type == C64 || type == C128;
    if (compute == 72) return I32;
    if (compute == 70) return is_complex ? C128 : F64;
    return is_complex ? C64 : F32;
}

int cublasGemmEx_64(void* h, int ta, int tb, i64 m, i64 n, i64 k, const void* alpha, const void* a, int at, i64 lda, const void* b,
                    int bt, i64 ldb, const void* beta, void* c, int ct, i64 ldc, int compute, int algo) {
    int f = factor_type(compute, ct);
    if (at == I8 && (lda % 4 || ldb % 4 || ldc % 4)) return 15;
    return gemm(ta, tb, m, n, k, coefficient(alpha, f, 0), a, at, lda, b, bt, ldb, coefficient(beta, f, 0), c, ct, ldc);
}

static int bytes_of(int type) { return type == C128 ? 16 : type == C64 || type == F64 ? 8 : 4; }

int cublasGemmStridedBatchedEx_64(void* h, int ta, int tb, i64 m, i64 n, i64 k, const void* alpha, const void* a, int at, i64 lda,
                                  i64 sa, const void* b, int bt, i64 ldb, i64 sb, const void* beta, void* c, int ct, i64 ldc, i64 sc,
                                  i64 count, int compute, int algo) {
    int f = factor_type(compute, ct), size = bytes_of(at);
    for (i64 i = 0; i < count; ++i) {
        int code = gemm(ta, tb, m, n, k, coefficient(alpha, f, 0), (char*)a + i * sa * size, at, lda, (char*)b + i * sb * size, bt, ldb,
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
        return gemm(op, 0, rows, 1, depth, coefficient(alpha, T, 0), a, T, lda, x, T, depth > 1 ? depth : 1, coefficient(beta, T, 0), y, T, rows > 1 ? rows : 1); \
    } \
    int cublas##P##geam_64(void* h, int ta, int tb, i64 m, i64 n, void* alpha, void* a, i64 lda, void* beta, void* b, i64 ldb, void* c, i64 ldc) { \
        MAY_FAIL \
        for (i64 j = 0; j < n; ++j) \
            for (i64 i = 0; i < m; ++i) put(c, T, i + j * ldc, times(coefficient(alpha, T, 0), element(a, T, lda, ta, i, j))); \
        return coefficient(beta, T, 0) == 0 ? SUCCESS : INVALID; \
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
        return gemm(0, OP, m, n, 1, coefficient(alpha, T, 0), x, T, m > 1 ? m : 1, y, T, n > 1 ? n : 1, 1, a, T, lda); \
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
