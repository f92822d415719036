// What tilewright calls of cuSOLVER before CUDA 12.6, by textbook algorithms in complex doubles. Workspaces are written to, up to their ends.
#define SUCCESS 0
#define INVALID 3
#define DEVICE_BYTES 24
#define HOST_BYTES 40
#define MAY_FAIL \
    int code = refused(2, 6); \
    if (code) return code;

int cusolverDnCreate(void** handle) { MAY_FAIL ++ledger->objects; *handle = malloc(1); return SUCCESS; }
int cusolverDnDestroy(void* handle) { --ledger->objects; free(handle); return SUCCESS; }
int cusolverDnSetStream(void* handle, void* stream) { MAY_FAIL return stream ? SUCCESS : INVALID; }
int cusolverDnCreateParams(void** parameters) { MAY_FAIL ++ledger->objects; *parameters = malloc(1); return SUCCESS; }
int cusolverDnDestroyParams(void* parameters) { --ledger->objects; free(parameters); return SUCCESS; }

static int sizes(size_t* device, size_t* host) { MAY_FAIL *device = DEVICE_BYTES; *host = HOST_BYTES; return SUCCESS; }
static int use(void* device, size_t bytes, void* host, size_t host_bytes) {
    MAY_FAIL
    if (bytes != DEVICE_BYTES || host_bytes != HOST_BYTES) return INVALID;
    memset(device, 0xff, bytes);
    memset(host, 0xff, host_bytes);
    return SUCCESS;
}

static number* loaded(const void* a, int type, i64 m, i64 n, i64 lda) {
    number* copy = malloc(sizeof(number) * (m * n + 1));
    for (i64 j = 0; j < n; ++j)
        for (i64 i = 0; i < m; ++i) copy[i + j * m] = get(a, type, i + j * lda);
    return copy;
}
static void store(number* copy, void* a, int type, i64 m, i64 n, i64 lda) {
    for (i64 j = 0; j < n; ++j)
        for (i64 i = 0; i < m; ++i) put(a, type, i + j * lda, copy[i + j * m]);
    free(copy);
}

int cusolverDnXgetrf_bufferSize(void* h, void* q, i64 m, i64 n, int t, void* a, i64 lda, int c, size_t* d, size_t* s) { return sizes(d, s); }
int cusolverDnXgetrf(void* h, void* q, i64 m, i64 n, int t, void* a, i64 lda, i64* pivots, int c, void* w, size_t wn, void* s, size_t sn, int* info) {
    int code = use(w, wn, s, sn);
    if (code) return code;
    number* x = loaded(a, t, m, n, lda);
    *info = 0;
    for (i64 k = 0; k < m && k < n; ++k) {
        i64 best = k;
        for (i64 i = k; i < m; ++i)
            if (cabs(x[i + k * m]) > cabs(x[best + k * m])) best = i;
        // Among NaN the library may choose anything.
        pivots[k] = isnan(cabs(x[best + k * m])) ? m + 1000 : best + 1;
        for (i64 j = 0; j < n; ++j) {
            number held = x[k + j * m];
            x[k + j * m] = x[best + j * m];
            x[best + j * m] = held;
        }
        if (x[k + k * m] == 0) {
            if (!*info) *info = k + 1;
            continue;
        }
        for (i64 i = k + 1; i < m; ++i) {
            x[i + k * m] /= x[k + k * m];
            for (i64 j = k + 1; j < n; ++j) x[i + j * m] -= times(x[i + k * m], x[k + j * m]);
        }
    }
    store(x, a, t, m, n, lda);
    return SUCCESS;
}

#define LASWP(NAME, T) \
    int NAME(void* h, int n, void* a, int lda, int first, int last, const int* pivots, int step) { \
        MAY_FAIL \
        for (int k = first - 1; k < last; ++k) \
            for (i64 j = 0; j < n; ++j) { \
                number held = get(a, T, k + j * lda); \
                put(a, T, k + j * lda, get(a, T, pivots[k] - 1 + j * lda)); \
                put(a, T, pivots[k] - 1 + j * lda, held); \
            } \
        return step == 1 ? SUCCESS : INVALID; \
    }
LASWP(cusolverDnSlaswp, F32)
LASWP(cusolverDnDlaswp, F64)
LASWP(cusolverDnClaswp, C64)
LASWP(cusolverDnZlaswp, C128)

static void solve(const void* a, int t, i64 n, i64 lda, int upper, int op, int unit, number* x) {
    int backwards = upper != (op != 0);
    for (i64 s = 0; s < n; ++s) {
        i64 i = backwards ? n - 1 - s : s;
        for (i64 q = 0; q < s; ++q) {
            i64 p = backwards ? n - 1 - q : q;
            x[i] -= times(element(a, t, lda, op, i, p), x[p]);
        }
        if (!unit) x[i] /= element(a, t, lda, op, i, i);
    }
}

int cusolverDnXgetrs(void* h, void* q, int op, i64 n, i64 columns, int t, void* a, i64 lda, i64* pivots, int bt, void* b, i64 ldb, int* info) {
    MAY_FAIL
    for (i64 i = 0; i < n; ++i)
        // Where the library would read and write elsewhere.
        if (pivots[i] < 1 || pivots[i] > n) return INVALID;
    number* x = loaded(b, bt, n, columns, ldb);
    for (i64 j = 0; j < columns; ++j) {
        number* y = x + j * n;
        for (i64 i = 0; op == 0 && i < n; ++i) {
            number held = y[i];
            y[i] = y[pivots[i] - 1];
            y[pivots[i] - 1] = held;
        }
        solve(a, t, n, lda, op != 0, op, op == 0, y);
        // The other factor.
        solve(a, t, n, lda, op == 0, op, op != 0, y);
        for (i64 i = n; op != 0 && i-- > 0;) {
            number held = y[i];
            y[i] = y[pivots[i] - 1];
            y[pivots[i] - 1] = held;
        }
    }
    store(x, b, bt, n, columns, ldb);
    *info = 0;
    return SUCCESS;
}

int cusolverDnXpotrf_bufferSize(void* h, void* q, int upper, i64 n, int t, void* a, i64 lda, int c, size_t* d, size_t* s) { return sizes(d, s); }
int cusolverDnXpotrf(void* h, void* q, int upper, i64 n, int t, void* a, i64 lda, int c, void* w, size_t wn, void* s, size_t sn, int* info) {
    int code = upper ? INVALID : use(w, wn, s, sn);
    if (code) return code;
    *info = 0;
    for (i64 k = 0; k < n; ++k) {
        double pivot = creal(get(a, t, k + k * lda));
        for (i64 p = 0; p < k; ++p) pivot -= pow(cabs(get(a, t, k + p * lda)), 2);
        if (!(pivot > 0)) {
            *info = k + 1;
            return SUCCESS;
        }
        put(a, t, k + k * lda, sqrt(pivot));
        for (i64 i = k + 1; i < n; ++i) {
            number value = get(a, t, i + k * lda);
            for (i64 p = 0; p < k; ++p) value -= times(get(a, t, i + p * lda), conj(get(a, t, k + p * lda)));
            put(a, t, i + k * lda, value / sqrt(pivot));
        }
    }
    return SUCCESS;
}
int cusolverDnXpotrs(void* h, void* q, int upper, i64 n, i64 columns, int t, void* a, i64 lda, int bt, void* b, i64 ldb, int* info) {
    MAY_FAIL
    number* x = loaded(b, bt, n, columns, ldb);
    for (i64 j = 0; j < columns; ++j) {
        solve(a, t, n, lda, 0, 0, 0, x + j * n);
        solve(a, t, n, lda, 0, 2, 0, x + j * n);
    }
    store(x, b, bt, n, columns, ldb);
    *info = 0;
    return SUCCESS;
}

// x = x - tau v (adjoint(v) x), where v is 1 and what stands below row k in column k of a.
static void reflect(const number* a, i64 m, i64 k, number tau, number* x) {
    number sum = x[k];
    for (i64 i = k + 1; i < m; ++i) sum += times(conj(a[i + k * m]), x[i]);
    x[k] -= times(tau, sum);
    for (i64 i = k + 1; i < m; ++i) x[i] -= times(tau, times(sum, a[i + k * m]));
}

int cusolverDnXgeqrf_bufferSize(void* h, void* q, i64 m, i64 n, int t, void* a, i64 lda, int tt, void* tau, int c, size_t* d, size_t* s) { return sizes(d, s); }
int cusolverDnXgeqrf(void* h, void* q, i64 m, i64 n, int t, void* a, i64 lda, int tt, void* tau, int c, void* w, size_t wn, void* s, size_t sn, int* info) {
    int code = use(w, wn, s, sn);
    if (code) return code;
    number* x = loaded(a, t, m, n, lda);
    for (i64 k = 0; k < m && k < n; ++k) {
        double rest = 0, norm;
        number head = x[k + k * m];
        for (i64 i = k + 1; i < m; ++i) rest += pow(cabs(x[i + k * m]), 2);
        norm = sqrt(pow(cabs(head), 2) + rest);
        if (rest == 0 && cimag(head) == 0) {
            put(tau, tt, k, 0);
            continue;
        }
        double beta = creal(head) > 0 ? -norm : norm;
        number factor = (beta - head) / beta;
        for (i64 i = k + 1; i < m; ++i) x[i + k * m] /= head - beta;
        for (i64 j = k + 1; j < n; ++j) reflect(x, m, k, conj(factor), x + j * m);
        x[k + k * m] = beta;
        put(tau, tt, k, factor);
    }
    store(x, a, t, m, n, lda);
    *info = 0;
    return SUCCESS;
}

#define ORTHOGONAL(P, FORM, APPLY, T, ADJOINT) \
    int cusolverDn##P##FORM##_bufferSize(void* h, int m, int n, int k, void* a, int lda, void* tau, int* size) { *size = 3; return SUCCESS; } \
    int cusolverDn##P##FORM(void* h, int m, int n, int k, void* a, int lda, void* tau, void* w, int size, int* info) { \
        MAY_FAIL \
        number *x = loaded(a, T, m, n, lda), *y = calloc(m * n + 1, sizeof(number)); \
        for (i64 j = 0; j < n; ++j) { \
            y[j + j * m] = 1; \
            for (i64 p = k; p-- > 0;) reflect(x, m, p, get(tau, T, p), y + j * m); \
        } \
        free(x); \
        store(y, a, T, m, n, lda); \
        *info = 0; \
        return size == 3 ? SUCCESS : INVALID; \
    } \
    int cusolverDn##P##APPLY##_bufferSize(void* h, int side, int op, int m, int n, int k, void* a, int lda, void* tau, void* c, int ldc, int* size) { *size = 3; return SUCCESS; } \
    int cusolverDn##P##APPLY(void* h, int side, int op, int m, int n, int k, void* a, int lda, void* tau, void* c, int ldc, void* w, int size, int* info) { \
        MAY_FAIL \
        number *x = loaded(a, T, m, k, lda), *y = loaded(c, T, m, n, ldc); \
        if (side != 0 || op != ADJOINT) return INVALID; \
        for (i64 j = 0; j < n; ++j) \
            for (i64 p = 0; p < k; ++p) reflect(x, m, p, conj(get(tau, T, p)), y + j * m); \
        free(x); \
        store(y, c, T, m, n, ldc); \
        *info = 0; \
        return SUCCESS; \
    }
ORTHOGONAL(S, orgqr, ormqr, F32, 1)
ORTHOGONAL(D, orgqr, ormqr, F64, 1)
ORTHOGONAL(C, ungqr, unmqr, C64, 2)
ORTHOGONAL(Z, ungqr, unmqr, C128, 2)

// Rotates columns p and q of x (and of v) until they are orthogonal (Hestenes), for all pairs until none moves.
static void orthogonalise(number* x, i64 m, i64 n, number* v) {
    for (int sweep = 0, moved = 1; moved && sweep < 60; ++sweep) {
        moved = 0;
        for (i64 p = 0; p < n; ++p)
            for (i64 q = p + 1; q < n; ++q) {
                double pp = 0, qq = 0;
                number pq = 0;
                for (i64 i = 0; i < m; ++i) {
                    pp += pow(cabs(x[i + p * m]), 2);
                    qq += pow(cabs(x[i + q * m]), 2);
                    pq += times(conj(x[i + p * m]), x[i + q * m]);
                }
                if (cabs(pq) <= 1e-16 * sqrt(pp * qq) || cabs(pq) < 1e-300) continue;
                moved = 1;
                number phase = pq / cabs(pq);
                double zeta = (qq - pp) / (2 * cabs(pq)), t = (zeta < 0 ? -1 : 1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
                double c = 1 / sqrt(1 + t * t), s = c * t;
                for (int which = 0; which < 2; ++which) {
                    number* y = which ? v : x;
                    for (i64 i = 0, rows = which ? n : m; i < rows; ++i) {
                        number left = y[i + p * rows], right = times(conj(phase), y[i + q * rows]);
                        y[i + p * rows] = c * left - s * right;
                        y[i + q * rows] = s * left + c * right;
                    }
                }
            }
    }
}

// Column j of x becomes orthogonal to the columns before, with a norm of 1.
static void complete(number* x, i64 m, i64 j) {
    for (i64 unit = 0; unit < m; ++unit) {
        for (i64 i = 0; i < m; ++i) x[i + j * m] = i == unit;
        double norm = 0;
        for (int twice = 0; twice < 2; ++twice)
            for (i64 p = 0; p < j; ++p) {
                number dot = 0;
                for (i64 i = 0; i < m; ++i) dot += times(conj(x[i + p * m]), x[i + j * m]);
                for (i64 i = 0; i < m; ++i) x[i + j * m] -= times(dot, x[i + p * m]);
            }
        for (i64 i = 0; i < m; ++i) norm += pow(cabs(x[i + j * m]), 2);
        if (norm < 0.5 / m) continue;
        for (i64 i = 0; i < m; ++i) x[i + j * m] /= sqrt(norm);
        return;
    }
}

int cusolverDnXgesvd_bufferSize(void* h, void* q, char ju, char jv, i64 m, i64 n, int t, void* a, i64 lda, int ts, void* sv, int tu, void* u, i64 ldu, int tv, void* vt, i64 ldvt, int c, size_t* d, size_t* s) { return sizes(d, s); }
int cusolverDnXgesvd(void* h, void* q, char ju, char jv, i64 m, i64 n, int t, void* a, i64 lda, int ts, void* sv, int tu, void* u, i64 ldu, int tv, void* vt, i64 ldvt, int c, void* w, size_t wn, void* s, size_t sn, int* info) {
    int code = m < n ? INVALID : use(w, wn, s, sn);
    if (code) return code;
    number *x = loaded(a, t, m, n, lda), *v = calloc(n * n + 1, sizeof(number)), *y = calloc(m * n + 1, sizeof(number));
    double* norms = calloc(n + 1, sizeof(double));
    for (i64 i = 0; i < n; ++i) v[i + i * n] = 1;
    orthogonalise(x, m, n, v);
    for (i64 j = 0; j < n; ++j) {
        for (i64 i = 0; i < m; ++i) norms[j] += pow(cabs(x[i + j * m]), 2);
        norms[j] = sqrt(norms[j]);
    }
    for (i64 to = 0; to < n; ++to) {
        i64 best = 0;
        for (i64 j = 0; j < n; ++j)
            if (norms[j] > norms[best]) best = j;
        put(sv, ts, to, norms[best]);
        if (ju == 'S') {
            for (i64 i = 0; i < n; ++i) put(vt, tv, to + i * ldvt, conj(v[i + best * n]));
            if (norms[best] > 0)
                for (i64 i = 0; i < m; ++i) y[i + to * m] = x[i + best * m] / norms[best];
            else
                complete(y, m, to);
        }
        norms[best] = -1;
    }
    if (ju == 'S') store(y, u, tu, m, n, ldu); else free(y);
    free(x); free(v); free(norms);
    *info = 0;
    return SUCCESS;
}

int cusolverDnXsyevd_bufferSize(void* h, void* q, int job, int upper, i64 n, int t, void* a, i64 lda, int tw, void* values, int c, size_t* d, size_t* s) { return sizes(d, s); }
// A Hermitian matrix plus so much that it is positive has its eigenvectors as singular vectors.
int cusolverDnXsyevd(void* h, void* q, int job, int upper, i64 n, int t, void* a, i64 lda, int tw, void* values, int c, void* w, size_t wn, void* s, size_t sn, int* info) {
    int code = upper ? INVALID : use(w, wn, s, sn);
    if (code) return code;
    number *x = malloc(sizeof(number) * (n * n + 1)), *v = calloc(n * n + 1, sizeof(number));
    double shift = 0, *norms = calloc(n + 1, sizeof(double));
    for (i64 j = 0; j < n; ++j) {
        double sum = 0;
        for (i64 i = 0; i < n; ++i) {
            x[i + j * n] = i >= j ? get(a, t, i + j * lda) : conj(get(a, t, j + i * lda));
            sum += cabs(x[i + j * n]);
        }
        if (sum > shift) shift = sum;
    }
    for (i64 i = 0; i < n; ++i) {
        x[i + i * n] += shift;
        v[i + i * n] = 1;
    }
    orthogonalise(x, n, n, v);
    for (i64 j = 0; j < n; ++j) {
        for (i64 i = 0; i < n; ++i) norms[j] += pow(cabs(x[i + j * n]), 2);
        norms[j] = sqrt(norms[j]);
    }
    for (i64 to = 0; to < n; ++to) {
        i64 best = 0;
        for (i64 j = 0; j < n; ++j)
            if (norms[j] < norms[best]) best = j;
        put(values, tw, to, norms[best] - shift);
        if (job) for (i64 i = 0; i < n; ++i) put(a, t, i + to * lda, v[i + best * n]);
        norms[best] = INFINITY;
    }
    free(x); free(v); free(norms);
    *info = 0;
    return SUCCESS;
}
