// A driver whose memory is the host's: allocations, copies and fills are real, and done at once. Kernels do nothing.
//
// With `STUB_STEPS` time is counted in instructions. From the first `cuEventRecord` on this process is single-stepped by the processor's trap flag,
// until `cuEventSynchronize`; two events are as many "milliseconds" apart as the thread executed instructions of the program itself. Those of
// libraries are left out, the C library's and this one's: which copy or fill the former takes turns on the processor.
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OUT_OF_MEMORY 2
#define INVALID_HANDLE 400
#define NOT_SUPPORTED 801
#define TOTAL (1ul << 30)

static volatile long steps;
static struct {
    unsigned long begin, end;
} program;

// The first object is the program.
static int find_program(struct dl_phdr_info* object, size_t bytes, void* data) {
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)* part = &object->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        program.begin = object->dlpi_addr + part->p_vaddr;
        program.end = program.begin + part->p_memsz;
    }
    return 1;
}

#ifdef __x86_64__
static void stepped(int signal, siginfo_t* info, void* context) {
    unsigned long at = ((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
    steps += at - program.begin < program.end - program.begin;
}
// Below the red zone, in which a leaf keeps its variables.
static void trap(int on) {
    if (on)
        __asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp" ::: "cc", "memory");
    else
        __asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp" ::: "cc", "memory");
}
static int can_step(void) { return 1; }
#else
static void stepped(int signal, siginfo_t* info, void* context) {}
static void trap(int on) {}
static int can_step(void) { return 0; }
#endif

// An empty list of devices hides them all.
int cuInit(unsigned flags) {
    const char* visible = getenv("CUDA_VISIBLE_DEVICES");
    return visible && !*visible ? 100 : 0;
}
// What is asked of a device needs no context.
int cuDeviceGetCount(int* count) {
    *count = 1;
    return 0;
}
int cuDeviceGet(int* device, int ordinal) {
    *device = ordinal;
    return 0;
}
// Compute capability 9.0, and the shared memory that goes with it.
int cuDeviceGetAttribute(int* value, int attribute, int device) {
    *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 97 ? 232448 : 100000;
    return 0;
}

// Contexts are counted: what is of an earlier one must not be seen again.
#define CONTEXT_IS_DESTROYED 709
#define STILL_IS(of) \
    if ((of) != ledger->renewals) abort();

// A driver makes no other context behind an exception of a kernel (H100, driver 580); it does where somebody else ended the one that was.
int cuDevicePrimaryCtxRetain(void** context, int device) {
    if (ledger->lost != CONTEXT_IS_DESTROYED && ledger->lost) return ledger->lost;
    ledger->lost = 0;
    *context = (void*)16;
    return 0;
}
// With all that is in it.
int cuDevicePrimaryCtxRelease_v2(int device) {
    ledger->device_bytes = ledger->pinned_bytes = ledger->objects = 0;
    ++ledger->renewals;
    return 0;
}
int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* is_active) {
    *is_active = 0;
    return 0;
}

struct event {
    long at, of;
    int has_time;
};

// Whether time is counted in instructions; it is that of a clock otherwise, in microseconds.
static int counts_steps(void) {
    static int wanted = -1;
    if (wanted < 0) wanted = getenv("STUB_STEPS") != 0;
    return wanted;
}

// Counts what is put on it, and where all streams do.
struct stream {
    long of, queued, *all;
};
static long all_queued;
static void queued(struct stream* stream) {
    if (stream) ++stream->queued;
    ++all_queued;
}

int cuEventCreate(struct event** event, unsigned flags) {
    CALLED
    ++ledger->objects;
    *event = calloc(1, sizeof **event);
    (*event)->of = ledger->renewals;
    (*event)->has_time = !(flags & 2);
    ledger->timed += (*event)->has_time;
    return 0;
}
int cuEventDestroy_v2(struct event* event) {
    STILL_IS(event->of)
    --ledger->objects;
    free(event);
    return ledger->lost;
}
int cuEventRecord(struct event* event, struct stream* stream) {
    STILL_IS(event->of)
    STILL_IS(stream->of)
    CALLED
    queued(stream);
    if (counts_steps()) {
        if (!can_step()) return NOT_SUPPORTED;
        if (!program.end) dl_iterate_phdr(find_program, 0);
        struct sigaction action = {.sa_sigaction = stepped, .sa_flags = SA_SIGINFO};
        sigaction(SIGTRAP, &action, 0);
        trap(1);
        event->at = steps;
    } else if (event->has_time) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        event->at = now.tv_sec * 1000000 + now.tv_nsec / 1000;
    }
    return 0;
}
int cuEventSynchronize(struct event* event) {
    trap(0);
    CALLED
    return 0;
}
int cuEventElapsedTime(float* ms, struct event* start, struct event* end) {
    if (!start->has_time || !end->has_time) return INVALID_HANDLE;
    *ms = ledger->elapsed ? ledger->elapsed / 1e3 : (end->at - start->at) / (counts_steps() ? 1.0 : 1e3);
    return 0;
}

// What is given back is given back, whatever the answer.
int cuMemAllocAsync(unsigned long long* address, unsigned long bytes, struct stream* stream) {
    CALLED
    queued(stream);
    if (bytes > TOTAL) return OUT_OF_MEMORY;
    if ((ledger->device_bytes += bytes) > TOTAL) {
        ledger->device_bytes -= bytes;
        return OUT_OF_MEMORY;
    }
    raise_to(&ledger->most_device_bytes, ledger->device_bytes);
    char* memory = aligned_alloc(256, (bytes + 511) & ~255ul);
    ((unsigned long*)memory)[0] = bytes;
    ((unsigned long*)memory)[1] = ledger->renewals;
    *address = (unsigned long long)(memory + 256);
    return 0;
}
int cuMemFreeAsync(unsigned long long address, void* stream) {
    char* memory = (char*)address - 256;
    STILL_IS(((unsigned long*)memory)[1])
    ledger->device_bytes -= *(unsigned long*)memory;
    free(memory);
    return ledger->lost;
}
int cuDeviceTotalMem_v2(unsigned long* bytes, int device) {
    CALLED
    *bytes = TOTAL;
    return 0;
}
int cuMemGetInfo_v2(unsigned long* free, unsigned long* total) {
    ++ledger->asked;
    if (ledger->lost) return ledger->lost;
    unsigned long taken = ledger->device_bytes;
    *free = taken < TOTAL ? TOTAL - taken : 0;
    *total = TOTAL;
    return 0;
}
int cuMemsetD8Async(unsigned long long to, unsigned char byte, unsigned long bytes, struct stream* stream) {
    CALLED
    queued(stream);
    memset((void*)to, byte, bytes);
    return 0;
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, unsigned long bytes, struct stream* stream) {
    COPIES(bytes)
    queued(stream);
    memcpy((void*)to, from, bytes);
    return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, unsigned long bytes, struct stream* stream) {
    COPIES(bytes)
    queued(stream);
    memcpy(to, (void*)from, bytes);
    return 0;
}
struct rows {
    unsigned long from_x, from_y;
    int from_type;
    const char* from_host;
    unsigned long long from_device;
    void* from_array;
    unsigned long from_pitch, to_x, to_y;
    int to_type;
    char* to_host;
    unsigned long long to_device;
    void* to_array;
    unsigned long to_pitch, width, height;
};
int cuMemcpy2DAsync_v2(const struct rows* rows, struct stream* stream) {
    COPIES(rows->width * rows->height)
    queued(stream);
    const char* from = rows->from_type == 1 ? rows->from_host : (const char*)rows->from_device;
    char* to = rows->to_type == 1 ? rows->to_host : (char*)rows->to_device;
    if (rows->width > rows->from_pitch || rows->width > rows->to_pitch) return 1;
    for (unsigned long row = 0; row < rows->height; row++)
        memcpy(to + row * rows->to_pitch, from + row * rows->from_pitch, rows->width);
    return 0;
}
int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, unsigned long bytes, struct stream* stream) {
    COPIES(bytes)
    queued(stream);
    memcpy((void*)to, (void*)from, bytes);
    return 0;
}
// What stands in the page before page-locked memory.
struct locked {
    unsigned long bytes, renewals;
    struct locked *before, *after;
};
static struct locked all_locked = {0, 0, &all_locked, &all_locked};
static char is_locking;
static void begin_locking(void) {
    while (__atomic_test_and_set(&is_locking, __ATOMIC_ACQUIRE)) {
    }
}
static void end_locking(void) { __atomic_clear(&is_locking, __ATOMIC_RELEASE); }
int cuMemHostAlloc(void** address, unsigned long bytes, unsigned flags) {
    CALLED
    struct locked* memory = aligned_alloc(4096, 4096 + ((bytes + 4095) & ~4095ul));
    raise_to(&ledger->most_pinned_bytes, ledger->pinned_bytes += bytes);
    begin_locking();
    *memory = (struct locked){bytes, ledger->renewals, all_locked.before, &all_locked};
    memory->before->after = all_locked.before = memory;
    end_locking();
    *address = (char*)memory + 4096;
    return 0;
}
int cuMemFreeHost(void* address) {
    struct locked* memory = (struct locked*)((char*)address - 4096);
    STILL_IS(memory->renewals)
    ledger->pinned_bytes -= memory->bytes;
    begin_locking();
    memory->before->after = memory->after;
    memory->after->before = memory->before;
    end_locking();
    free(memory);
    return ledger->lost;
}
// Of attributes it knows whose memory it is: the host's, page-locked.
int cuPointerGetAttribute(unsigned* kind, int attribute, unsigned long long address) {
    int found = 0;
    begin_locking();
    for (struct locked* it = all_locked.after; it != &all_locked; it = it->after)
        found |= address - ((unsigned long long)it + 4096) < it->bytes;
    end_locking();
    *kind = 1;
    return attribute == 2 && found ? 0 : 1;
}

// It says nothing of what became of the context.
int cuCtxSetCurrent(void* context) { return 0; }

int cuStreamCreate(struct stream** stream, unsigned flags) {
    CALLED
    ++ledger->objects;
    *stream = malloc(sizeof **stream);
    **stream = (struct stream){ledger->renewals, 0, &all_queued};
    return 0;
}
int cuStreamSynchronize(struct stream* stream) {
    STILL_IS(stream->of)
    CALLED
    queued(stream);
    return 0;
}
int cuStreamDestroy_v2(struct stream* stream) {
    STILL_IS(stream->of)
    --ledger->objects;
    free(stream);
    return ledger->lost;
}
