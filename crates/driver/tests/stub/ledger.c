// What a test and these libraries share: numbers in a file that STUB_LEDGER names. The test sets which call is to fail, and with what; here
// it is counted what was called and what is in use.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

struct ledger {
    // Calls that could fail so far; the one that does, counted from 1, with a code of CUDA's.
    _Atomic long calls, fails_at, code;
    // The code that everything answers once the context is lost.
    _Atomic long lost;
    // Bytes, and things that were made and not destroyed.
    _Atomic long device_bytes, pinned_bytes, objects;
    // How often the context was made anew.
    _Atomic long renewals;
    // Bytes that were copied, and multiplications of products of matrices.
    _Atomic long copied, multiplied;
    // Set by a test for which counting them is enough.
    _Atomic long only_counts;
    // How often somebody asked how much memory is free.
    _Atomic long asked;
    // Events that were made with a time.
    _Atomic long timed;
    // Microseconds between any two events, if a test says it.
    _Atomic long elapsed;
    // The most bytes that were in use at once.
    _Atomic long most_device_bytes, most_pinned_bytes;
};

static struct ledger nobodys, *ledger = &nobodys;
static int is_shared;

__attribute__((constructor)) static void open_ledger(void) {
    const char* path = getenv("STUB_LEDGER");
    int file = path ? open(path, O_RDWR) : -1;
    if (file < 0) return;
    void* shared = mmap(0, sizeof *ledger, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared == MAP_FAILED) return;
    ledger = shared;
    is_shared = 1;
}

// Exceptions of kernels end their context.
static int counted(void) {
    if (ledger->lost) return ledger->lost;
    if (++ledger->calls != ledger->fails_at) return 0;
    if (ledger->code >= 700) ledger->lost = ledger->code;
    return ledger->code;
}

// Without a test that shares it a call has few instructions more: some count them.
static inline int called(void) { return is_shared ? counted() : 0; }

static inline int copies(long bytes) { return is_shared ? (ledger->copied += bytes, counted()) : 0; }

static inline void raise_to(_Atomic long* most, long bytes) {
    for (long before = *most; before < bytes;)
        if (__atomic_compare_exchange_n((long*)most, &before, bytes, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) break;
}

#define COPIES(bytes) \
    do { \
        int failed = copies(bytes); \
        if (failed) return failed; \
    } while (0);

#define CALLED \
    do { \
        int failed = called(); \
        if (failed) return failed; \
    } while (0);
