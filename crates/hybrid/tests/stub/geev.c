// Eigenvalues of general matrices, which cuSOLVER has since CUDA 12.6: QR with shifts in complex long doubles, so that what a real matrix has in pairs,
// or without an imaginary part, comes out so up to much less than its elements tell.
#ifndef OLD
typedef long double complex wide;
static const long double TINY = 1e-19L;

// A rotation of rows k and k + 1 that has g, below f, become zero.
struct turn {
    i64 k;
    wide f, g;
};
static struct turn turn(i64 k, wide f, wide g) {
    long double r = hypotl(cabsl(f), cabsl(g));
    struct turn none = {k, 1, 0}, found = {k, f / r, g / r};
    return r == 0 ? none : found;
}
// Of the rows of x, from a column on.
static void down(wide* x, i64 n, struct turn t, i64 first) {
    for (i64 j = first; j < n; ++j) {
        wide upper = x[t.k + j * n], lower = x[t.k + 1 + j * n];
        x[t.k + j * n] = conjl(t.f) * upper + conjl(t.g) * lower;
        x[t.k + 1 + j * n] = t.f * lower - t.g * upper;
    }
}
// Of the columns of x, down to a row, back.
static void across(wide* x, i64 n, struct turn t, i64 end) {
    for (i64 i = 0; i < end; ++i) {
        wide left = x[i + t.k * n], right = x[i + (t.k + 1) * n];
        x[i + t.k * n] = t.f * left + t.g * right;
        x[i + (t.k + 1) * n] = conjl(t.f) * right - conjl(t.g) * left;
    }
}

// The eigenvalue of [a b; c d] that is nearer to d.
static wide nearer(wide a, wide b, wide c, wide d) {
    wide half = (a + d) / 2, root = csqrtl((a - d) * (a - d) / 4 + b * c);
    return cabsl(half + root - d) < cabsl(half - root - d) ? half + root : half - root;
}

// a = q t adjoint(q), with a triangular t in place of a. How many values did not converge.
static i64 schur(wide* a, wide* q, i64 n) {
    struct turn* turns = malloc(sizeof *turns * (n + 1));
    for (i64 i = 0; i < n; ++i) q[i + i * n] = 1;
    for (i64 j = 0; j + 2 < n; ++j)
        for (i64 k = n - 2; k > j; --k) {
            struct turn t = turn(k, a[k + j * n], a[k + 1 + j * n]);
            down(a, n, t, j);
            across(a, n, t, n);
            across(q, n, t, n);
        }
    i64 last = n - 1;
    for (i64 round = 0; last > 0 && round < 60 * n; ++round) {
        i64 first = last;
        for (; first > 0; --first) {
            wide* below = a + first + (first - 1) * n;
            long double size = cabsl(a[first + first * n]) + cabsl(below[-1]);
            if (cabsl(*below) > TINY * size) continue;
            *below = 0;
            break;
        }
        if (first == last) {
            --last;
            continue;
        }
        wide* corner = a + last + last * n;
        wide by = round % 11 == 10 ? *corner + cabsl(corner[-n]) : nearer(corner[-n - 1], corner[-1], corner[-n], *corner);
        for (i64 i = first; i <= last; ++i) a[i + i * n] -= by;
        for (i64 k = first; k < last; ++k) {
            turns[k] = turn(k, a[k + k * n], a[k + 1 + k * n]);
            down(a, n, turns[k], k);
        }
        for (i64 k = first; k < last; ++k) {
            across(a, n, turns[k], k + 2);
            across(q, n, turns[k], n);
        }
        for (i64 i = first; i <= last; ++i) a[i + i * n] += by;
    }
    free(turns);
    return last > 0 ? last : 0;
}

// The eigenvector of value k, with a norm of 1 and a real largest element.
static void vector(const wide* t, const wide* q, i64 n, i64 k, long double norm, wide* v) {
    wide* x = calloc(n, sizeof(wide));
    x[k] = 1;
    for (i64 i = k; i-- > 0;) {
        wide sum = 0, off = t[i + i * n] - t[k + k * n];
        for (i64 j = i + 1; j <= k; ++j) sum += t[i + j * n] * x[j];
        if (cabsl(off) < TINY * norm) off = TINY * norm;
        x[i] = off == 0 ? 0 : -sum / off;
    }
    long double length = 0;
    i64 most = 0;
    for (i64 i = 0; i < n; ++i) {
        v[i] = 0;
        for (i64 j = 0; j <= k; ++j) v[i] += q[i + j * n] * x[j];
        length = hypotl(length, cabsl(v[i]));
        if (cabsl(v[i]) > cabsl(v[most])) most = i;
    }
    wide by = conjl(v[most]) / cabsl(v[most]) / length;
    for (i64 i = 0; i < n; ++i) v[i] *= by;
    free(x);
}

// Of a real matrix: the other one of two conjugates, or the value itself if it is real, as far as one can tell.
static i64 conjugate(const wide* t, i64 n, const char* is_done, i64 k) {
    i64 found = k;
    long double best = 2 * fabsl(cimagl(t[k + k * n]));
    for (i64 j = 0; j < n; ++j) {
        long double off = cabsl(t[j + j * n] - conjl(t[k + k * n]));
        if (!is_done[j] && off < best) best = off, found = j;
    }
    return found;
}

int cusolverDnXgeev_bufferSize(void* h, void* q, int jl, int jr, i64 n, int t, const void* a, i64 lda, int tw, const void* w, int tl, const void* vl, i64 ldvl, int tr, const void* vr, i64 ldvr, int c, size_t* d, size_t* s) { return sizes(d, s); }
int cusolverDnXgeev(void* h, void* p, int jl, int jr, i64 n, int type, void* a, i64 lda, int tw, void* values, int tl, void* vl, i64 ldvl, int tr, void* vr, i64 ldvr, int c, void* w, size_t wn, void* s, size_t sn, int* info) {
    int code = jl ? INVALID : use(w, wn, s, sn), is_real = type == F32 || type == F64;
    if (code) return code;
    wide *t = malloc(sizeof(wide) * (n * n + 1)), *q = calloc(n * n + 1, sizeof(wide)), *v = malloc(sizeof(wide) * (n + 1));
    char* is_done = calloc(n + 1, 1);
    long double norm = 0;
    for (i64 j = 0; j < n; ++j)
        for (i64 i = 0; i < n; ++i) norm = hypotl(norm, cabsl(t[i + j * n] = get(a, type, i + j * lda)));
    *info = schur(t, q, n);
    for (i64 k = 0, to = 0; k < n; ++k) {
        if (is_done[k]) continue;
        i64 other = is_real ? conjugate(t, n, is_done, k) : k, count = other == k ? 1 : 2;
        is_done[k] = is_done[other] = 1;
        wide value = t[k + k * n];
        vector(t, q, n, k, norm, v);
        for (i64 which = 0; which < count; ++which, ++to) {
            put(values, tw, to, is_real ? creall(value) : value);
            if (is_real) put(values, tw, n + to, count == 1 ? 0 : which ? -cimagl(value) : cimagl(value));
            // Of two conjugates the real part of a vector, then the imaginary one.
            for (i64 i = 0; jr && i < n; ++i) put(vr, tr, i + to * ldvr, !is_real ? v[i] : which ? cimagl(v[i]) : creall(v[i]));
        }
    }
    free(t); free(q); free(v); free(is_done);
    return SUCCESS;
}
#endif
