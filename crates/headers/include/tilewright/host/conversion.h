// Conversions with the GPU's rules. Floats to integers saturate. A NaN gives 0 when both sides have 32 bits; when the
// source is a double or the result has 64 bits it gives the highest bit alone, as the PTX instruction does. A plain
// cast `(int)x` of a value out of range is undefined in C++, and differs here from the GPU: use these.
#pragma once

namespace tw {
namespace host {

template <class To, class From>
To same_bits(From value) {
  static_assert(sizeof(To) == sizeof(From), "the same number of bits");
  To result;
  __builtin_memcpy(&result, &value, sizeof(To));
  return result;
}

// `value` is integral already, or infinite, or a NaN. `limit` is a power of two, the first above To's range: exact as a
// From.
template <class To, class From>
To saturate(From value, To low, To high, From limit, To if_nan) {
  if (value != value) return if_nan;
  if (value >= limit) return high;
  if (value < (From)low) return low;
  return (To)value;
}

}  // namespace host
}  // namespace tw

#define TW_HOST_CONVERSION(NAME, FROM, TO, SUFFIX, LOW, HIGH, LIMIT, IF_NAN)                    \
  inline TO NAME##_rz(FROM x) {                                                                 \
    return tw::host::saturate<TO, FROM>(__builtin_trunc##SUFFIX(x), LOW, HIGH, LIMIT, IF_NAN);  \
  }                                                                                             \
  inline TO NAME##_rn(FROM x) {                                                                 \
    return tw::host::saturate<TO, FROM>(__builtin_rint##SUFFIX(x), LOW, HIGH, LIMIT, IF_NAN);   \
  }                                                                                             \
  inline TO NAME##_rd(FROM x) {                                                                 \
    return tw::host::saturate<TO, FROM>(__builtin_floor##SUFFIX(x), LOW, HIGH, LIMIT, IF_NAN);  \
  }                                                                                             \
  inline TO NAME##_ru(FROM x) {                                                                 \
    return tw::host::saturate<TO, FROM>(__builtin_ceil##SUFFIX(x), LOW, HIGH, LIMIT, IF_NAN);   \
  }

#define TW_HOST_INT_LOW (-2147483647 - 1)
#define TW_HOST_LL_LOW (-9223372036854775807ll - 1)
#define TW_HOST_ULL_TOP 0x8000000000000000ull
TW_HOST_CONVERSION(__float2int, float, int, f, TW_HOST_INT_LOW, 2147483647, 0x1p31f, 0)
TW_HOST_CONVERSION(__float2uint, float, unsigned, f, 0u, ~0u, 0x1p32f, 0u)
TW_HOST_CONVERSION(__float2ll, float, long long, f, TW_HOST_LL_LOW, 9223372036854775807ll, 0x1p63f, TW_HOST_LL_LOW)
TW_HOST_CONVERSION(__float2ull, float, unsigned long long, f, 0ull, ~0ull, 0x1p64f, TW_HOST_ULL_TOP)
TW_HOST_CONVERSION(__double2int, double, int, , TW_HOST_INT_LOW, 2147483647, 0x1p31, TW_HOST_INT_LOW)
TW_HOST_CONVERSION(__double2uint, double, unsigned, , 0u, ~0u, 0x1p32, 0x80000000u)
TW_HOST_CONVERSION(__double2ll, double, long long, , TW_HOST_LL_LOW, 9223372036854775807ll, 0x1p63, TW_HOST_LL_LOW)
TW_HOST_CONVERSION(__double2ull, double, unsigned long long, , 0ull, ~0ull, 0x1p64, TW_HOST_ULL_TOP)
#undef TW_HOST_ULL_TOP
#undef TW_HOST_LL_LOW
#undef TW_HOST_INT_LOW
#undef TW_HOST_CONVERSION

inline float __int2float_rn(int x) { return (float)x; }
inline float __uint2float_rn(unsigned x) { return (float)x; }
inline float __ll2float_rn(long long x) { return (float)x; }
inline float __ull2float_rn(unsigned long long x) { return (float)x; }
inline double __int2double_rn(int x) { return (double)x; }
inline double __uint2double_rn(unsigned x) { return (double)x; }
inline double __ll2double_rn(long long x) { return (double)x; }
inline double __ull2double_rn(unsigned long long x) { return (double)x; }
inline float __double2float_rn(double x) { return (float)x; }

inline int __float_as_int(float x) { return tw::host::same_bits<int>(x); }
inline unsigned __float_as_uint(float x) { return tw::host::same_bits<unsigned>(x); }
inline float __int_as_float(int x) { return tw::host::same_bits<float>(x); }
inline float __uint_as_float(unsigned x) { return tw::host::same_bits<float>(x); }
inline long long __double_as_longlong(double x) { return tw::host::same_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return tw::host::same_bits<double>(x); }
inline int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return (int)__double_as_longlong(x); }
inline double __hiloint2double(int high, int low) {
  return __longlong_as_double((long long)((unsigned long long)(unsigned)high << 32 | (unsigned)low));
}
