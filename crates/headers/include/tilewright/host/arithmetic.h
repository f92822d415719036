// Floating-point functions whose result is exactly defined, so that host and GPU agree bit for bit.
#pragma once

// The C library's own, declared as <math.h> does (that header would pull in much of the C++ library).
extern "C" {
float sqrtf(float) noexcept;
float fmaf(float, float, float) noexcept;
float rintf(float) noexcept;
float floorf(float) noexcept;
float ceilf(float) noexcept;
float truncf(float) noexcept;
float roundf(float) noexcept;
float fabsf(float) noexcept;
float copysignf(float, float) noexcept;
float fmodf(float, float) noexcept;
float ldexpf(float, int) noexcept;
double sqrt(double) noexcept;
double fma(double, double, double) noexcept;
double rint(double) noexcept;
double floor(double) noexcept;
double ceil(double) noexcept;
double trunc(double) noexcept;
double round(double) noexcept;
double fabs(double) noexcept;
double copysign(double, double) noexcept;
double fmod(double, double) noexcept;
double ldexp(double, int) noexcept;
int abs(int) noexcept;
long long llabs(long long) noexcept;
}

inline float sqrt(float x) { return sqrtf(x); }
inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
inline float rint(float x) { return rintf(x); }
inline float floor(float x) { return floorf(x); }
inline float ceil(float x) { return ceilf(x); }
inline float trunc(float x) { return truncf(x); }
inline float round(float x) { return roundf(x); }
inline float fabs(float x) { return fabsf(x); }
inline float abs(float x) { return fabsf(x); }
inline double abs(double x) { return fabs(x); }
inline long long abs(long long x) { return x < 0 ? -x : x; }

inline bool isnan(float x) { return __builtin_isnan(x); }
inline bool isnan(double x) { return __builtin_isnan(x); }
inline bool isinf(float x) { return __builtin_isinf(x); }
inline bool isinf(double x) { return __builtin_isinf(x); }
inline bool isfinite(float x) { return __builtin_isfinite(x); }
inline bool isfinite(double x) { return __builtin_isfinite(x); }
inline bool signbit(float x) { return __builtin_signbit(x); }
inline bool signbit(double x) { return __builtin_signbit(x); }

namespace tw {
namespace host {

// The GPU's minimum and maximum: a NaN loses, and -0 is smaller than +0 (C leaves the order of zeros open).
template <class F> F smaller(F a, F b) {
  if (a != a) return b;
  if (b != b) return a;
  return a < b || (a == b && __builtin_signbit(a)) ? a : b;
}
template <class F> F larger(F a, F b) {
  if (a != a) return b;
  if (b != b) return a;
  return a > b || (a == b && !__builtin_signbit(a)) ? a : b;
}

}  // namespace host
}  // namespace tw

inline float fminf(float a, float b) { return tw::host::smaller(a, b); }
inline float fmaxf(float a, float b) { return tw::host::larger(a, b); }
inline double fmin(double a, double b) { return tw::host::smaller(a, b); }
inline double fmax(double a, double b) { return tw::host::larger(a, b); }
inline float fmin(float a, float b) { return tw::host::smaller(a, b); }
inline float fmax(float a, float b) { return tw::host::larger(a, b); }

inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a < b ? b : a; }
inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned max(unsigned a, unsigned b) { return a < b ? b : a; }
inline long min(long a, long b) { return a < b ? a : b; }
inline long max(long a, long b) { return a < b ? b : a; }
inline unsigned long min(unsigned long a, unsigned long b) { return a < b ? a : b; }
inline unsigned long max(unsigned long a, unsigned long b) { return a < b ? b : a; }
inline long long min(long long a, long long b) { return a < b ? a : b; }
inline long long max(long long a, long long b) { return a < b ? b : a; }
inline unsigned long long min(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
inline unsigned long long max(unsigned long long a, unsigned long long b) { return a < b ? b : a; }

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __drcp_rn(double a) { return 1.0 / a; }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline double __dsqrt_rn(double a) { return sqrt(a); }

// Clamped to 0..1; a NaN gives 0.
inline float __saturatef(float a) { return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f; }
