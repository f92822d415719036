// Kernels do nothing, but count. One is known by its name, and computes.

struct config {
    unsigned grid[3], block[3], shared_bytes;
    struct stream* stream;
};

enum { OTHER = 80, TURN };

int cuModuleGetFunction(void** function, void* module, const char* name) {
    CALLED
    *function = (void*)(long)(strcmp(name, "turn_bytes") == 0 ? TURN : OTHER);
    return 0;
}

// The bytes of lines, transposed.
struct turned {
    const unsigned *from;
    unsigned* to;
    long from_pitch, to_pitch;
    int count, length;
};

static int turn(const struct config* launch, const struct turned* p) {
    if (launch->grid[0] != (p->count + 63) / 64 * ((p->length + 63) / 64) || launch->block[0] != 256) return 1;
    for (int line = 0; line < p->count; ++line)
        for (int at = 0; at < p->length; ++at)
            ((char*)(p->to + at * p->to_pitch))[line] = ((const char*)(p->from + line * p->from_pitch))[at];
    return 0;
}

int cuLaunchKernelEx(const struct config* launch, void* function, void** p, void** extra) {
    CALLED
    queued(launch->stream);
    return (long)function == TURN ? turn(launch, p[0]) : 0;
}
