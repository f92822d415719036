// Elements of all types as complex doubles, in the memory of the stub of a driver, which is the host's.
#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef double complex number;
typedef long long i64;
enum { F32 = 0, F64 = 1, F16 = 2, I8 = 3, C64 = 4, C128 = 5, I32 = 10, BF16 = 14 };

static number get(const void* at, int type, i64 index) {
    uint32_t bits;
    float narrow;
    switch (type) {
        case F32: return ((const float*)at)[index];
        case F64: return ((const double*)at)[index];
        case F16: return (double)((const _Float16*)at)[index];
        case I8: return ((const int8_t*)at)[index];
        case C64: return ((const float complex*)at)[index];
        case C128: return ((const number*)at)[index];
        case I32: return ((const int32_t*)at)[index];
        case BF16:
            bits = (uint32_t)((const uint16_t*)at)[index] << 16;
            memcpy(&narrow, &bits, 4);
            return narrow;
    }
    abort();
}

static void put(void* at, int type, i64 index, number value) {
    uint32_t bits;
    float narrow = (float)creal(value);
    switch (type) {
        case F32: ((float*)at)[index] = narrow; return;
        case F64: ((double*)at)[index] = creal(value); return;
        case F16: ((_Float16*)at)[index] = (_Float16)creal(value); return;
        case C64: ((float complex*)at)[index] = CMPLXF(narrow, (float)cimag(value)); return;
        case C128: ((number*)at)[index] = value; return;
        case I32: ((int32_t*)at)[index] = (int32_t)creal(value); return;
        case BF16:
            memcpy(&bits, &narrow, 4);
            bits = narrow != narrow ? 0x7fc00000 : bits + 0x7fff + (bits >> 16 & 1);
            ((uint16_t*)at)[index] = bits >> 16;
            return;
    }
    abort();
}

// Without the exceptions that C makes for infinite complex numbers.
static number times(number x, number y) {
    return CMPLX(creal(x) * creal(y) - cimag(x) * cimag(y), creal(x) * cimag(y) + cimag(x) * creal(y));
}

// An element of a matrix to which an operation (0 plain, 1 transposed, 2 adjoint) is applied.
static number element(const void* a, int type, i64 ld, int op, i64 i, i64 j) {
    number value = op == 0 ? get(a, type, i + j * ld) : get(a, type, j + i * ld);
    return op == 2 ? conj(value) : value;
}

// Whether a call fails, as the ledger says: by what the library calls a lack of memory, or by what it calls a failure of the device.
static int refused(int lacks_memory, int failed) {
    int code = called();
    return code == 0 ? 0 : code == 2 ? lacks_memory : failed;
}
