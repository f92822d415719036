// Prints what NVIDIA's NPP computes where neither its documentation nor docs/notes/npp.md says it: a line of inputs and results each. To
// be read and put into that note by hand; nothing is timed. Where nvcc and NPP are:
//
//   nvcc -std=c++17 -o probe npp_probe.cu -lnppig -lnppidei -lnppial -lnppicc -lnppitc -lnppc && ./probe
#include <cuda_runtime.h>
#include <npp.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

NppStreamContext context = {};

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

template <typename T>
T* uploaded(const std::vector<T>& values) {
  T* pointer = nullptr;
  check(cudaMalloc(&pointer, values.size() * sizeof(T)), "cudaMalloc");
  check(cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "upload");
  return pointer;
}

template <typename T>
std::string text(const std::vector<T>& values) {
  std::string all;
  for (const T value : values) {
    char one[32];
    std::snprintf(one, sizeof(one), " %.6g", double(value));
    all += one;
  }
  return all;
}

// What `call(inputs.., result)` makes, of `count` values; NPP's status is printed where it is not 0.
template <typename U, typename Call, typename... T>
std::vector<U> made(const char* name, size_t count, Call call, const std::vector<T>&... inputs) {
  std::vector<U> result(count, U(113));
  U* const out = uploaded(result);
  const NppStatus status = call(uploaded(inputs)..., out);
  check(cudaDeviceSynchronize(), name);
  check(cudaMemcpy(result.data(), out, count * sizeof(U), cudaMemcpyDeviceToHost), "download");
  if (status != NPP_SUCCESS) std::printf("%s: status %d\n", name, int(status));
  return result;
}

template <typename U, typename Call, typename T, typename... More>
void show(const char* name, Call call, const std::vector<T>& first, const std::vector<More>&... more) {
  const std::vector<U> result = made<U>(name, first.size(), call, first, more...);
  std::string inputs = text(first);
  ((inputs += " |" + text(more)), ...);
  std::printf("%s:%s ->%s\n", name, inputs.c_str(), text(result).c_str());
}

template <typename T>
NppiSize row(const std::vector<T>& values) { return {int(values.size()), 1}; }

// How many of random pairs are not what the host's IEEE arithmetic gives.
template <typename Call, typename Host>
void differing(const char* name, Call call, Host host) {
  std::mt19937 engine(5);
  std::vector<Npp32f> a(1 << 16), b(a.size());
  for (auto* values : {&a, &b})
    for (auto& value : *values) value = std::ldexp(float(engine()) / 4294967296.0f + 0.5f, int(engine() % 40) - 20);
  const auto got = made<Npp32f>(name, a.size(), call, a, b);
  int off = 0;
  for (size_t i = 0; i < a.size(); ++i) off += got[i] != host(a[i], b[i]);
  std::printf("%s: %d of %zu differ from IEEE\n", name, off, a.size());
}

// Images are one row, where nothing else is said: any step that holds it will do.
constexpr int STEP = 1 << 18;

void floats() {
  const NppiSize size = {1 << 16, 1};
  differing("Add_32f", [&](auto a, auto b, auto out) { return nppiAdd_32f_C1R_Ctx(a, STEP, b, STEP, out, STEP, size, context); },
            [](float a, float b) { return b + a; });
  differing("Mul_32f", [&](auto a, auto b, auto out) { return nppiMul_32f_C1R_Ctx(a, STEP, b, STEP, out, STEP, size, context); },
            [](float a, float b) { return b * a; });
  differing("Div_32f", [&](auto a, auto b, auto out) { return nppiDiv_32f_C1R_Ctx(a, STEP, b, STEP, out, STEP, size, context); },
            [](float a, float b) { return b / a; });
  differing("DivC_32f", [&](auto a, auto, auto out) { return nppiDivC_32f_C1R_Ctx(a, STEP, 0.229f, out, STEP, size, context); },
            [](float a, float) { return a / 0.229f; });
  differing("Sqrt_32f", [&](auto a, auto, auto out) { return nppiSqrt_32f_C1R_Ctx(a, STEP, out, STEP, size, context); },
            [](float a, float) { return std::sqrt(a); });
  differing("Ln_32f, against double", [&](auto a, auto, auto out) { return nppiLn_32f_C1R_Ctx(a, STEP, out, STEP, size, context); },
            [](float a, float) { return float(std::log(double(a))); });
  differing("Exp_32f, against double", [&](auto a, auto, auto out) { return nppiExp_32f_C1R_Ctx(a, STEP, out, STEP, size, context); },
            [](float a, float) { return float(std::exp(double(a))); });
}

void integers() {
  const std::vector<Npp8u> zero8 = {0, 0, 0, 4}, some8 = {0, 7, 255, 255};
  const std::vector<Npp16u> zero16 = {0, 0, 0, 4}, some16 = {0, 7, 65535, 65535};
  const std::vector<Npp16s> zero16s = {0, 0, 0, 0, 0}, some16s = {0, 7, -7, 32767, -32768};
  const std::vector<Npp16s> a = {3, -3, 5, 32767, -32768}, b = {3, 3, 5, 32767, 32767};
  const NppiSize four = row(zero8), five = row(a);
  for (const int scale : {0, 1, -1}) {
    std::printf("scale %d\n", scale);
    show<Npp8u>("Div_8u Sfs", [&](auto p, auto q, auto out) { return nppiDiv_8u_C1RSfs_Ctx(p, STEP, q, STEP, out, STEP, four, scale, context); }, zero8, some8);
    show<Npp16u>("Div_16u Sfs", [&](auto p, auto q, auto out) { return nppiDiv_16u_C1RSfs_Ctx(p, STEP, q, STEP, out, STEP, four, scale, context); }, zero16, some16);
    show<Npp16s>("Div_16s Sfs", [&](auto p, auto q, auto out) { return nppiDiv_16s_C1RSfs_Ctx(p, STEP, q, STEP, out, STEP, five, scale, context); }, zero16s, some16s);
    show<Npp16s>("Mul_16s Sfs", [&](auto p, auto q, auto out) { return nppiMul_16s_C1RSfs_Ctx(p, STEP, q, STEP, out, STEP, five, scale, context); }, a, b);
    show<Npp16s>("Sqr_16s Sfs", [&](auto p, auto out) { return nppiSqr_16s_C1RSfs_Ctx(p, STEP, out, STEP, five, scale, context); }, a);
    show<Npp16s>("Sqrt_16s Sfs", [&](auto p, auto out) { return nppiSqrt_16s_C1RSfs_Ctx(p, STEP, out, STEP, five, scale, context); }, a);
    show<Npp16s>("Ln_16s Sfs", [&](auto p, auto out) { return nppiLn_16s_C1RSfs_Ctx(p, STEP, out, STEP, five, scale, context); }, some16s);
    show<Npp16s>("Exp_16s Sfs", [&](auto p, auto out) { return nppiExp_16s_C1RSfs_Ctx(p, STEP, out, STEP, five, scale, context); }, a);
  }
  show<Npp8u>("DivC_8u by 0", [&](auto p, auto out) { return nppiDivC_8u_C1RSfs_Ctx(p, STEP, 0, out, STEP, four, 0, context); }, some8);
  show<Npp16s>("Abs_16s", [&](auto p, auto out) { return nppiAbs_16s_C1R_Ctx(p, STEP, out, STEP, five, context); }, a);
  for (const Npp32u bits : {1, 7, 8, 9, 31, 32, 40}) {
    std::printf("by %u bits\n", bits);
    show<Npp8u>("LShiftC_8u", [&](auto p, auto out) { return nppiLShiftC_8u_C1R_Ctx(p, STEP, bits, out, STEP, four, context); }, some8);
    show<Npp8u>("RShiftC_8u", [&](auto p, auto out) { return nppiRShiftC_8u_C1R_Ctx(p, STEP, bits, out, STEP, four, context); }, some8);
    show<Npp16s>("RShiftC_16s", [&](auto p, auto out) { return nppiRShiftC_16s_C1R_Ctx(p, STEP, bits, out, STEP, five, context); }, some16s);
  }
  for (const NppCmpOp op : {NPP_CMP_LESS, NPP_CMP_LESS_EQ, NPP_CMP_EQ, NPP_CMP_GREATER_EQ, NPP_CMP_GREATER})
    show<Npp8u>("Threshold_8u at 7", [&](auto p, auto out) { return nppiThreshold_8u_C1R_Ctx(p, STEP, out, STEP, four, 7, op, context); }, some8);
}

void conversions() {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<Npp32f> odd = {std::nanf(""), inf, -inf, 1e20f, -1e20f, 254.5f, 255.5f, -0.5f, -0.6f};
  const NppiSize nine = row(odd);
  for (const NppRoundMode mode : {NPP_RND_NEAR, NPP_RND_FINANCIAL, NPP_RND_ZERO}) {
    std::printf("mode %d\n", int(mode));
    show<Npp8u>("Convert_32f8u", [&](auto p, auto out) { return nppiConvert_32f8u_C1R_Ctx(p, STEP, out, STEP, nine, mode, context); }, odd);
    show<Npp16s>("Convert_32f16s", [&](auto p, auto out) { return nppiConvert_32f16s_C1R_Ctx(p, STEP, out, STEP, nine, mode, context); }, odd);
    show<Npp8u>("Convert_32f8u Sfs 1", [&](auto p, auto out) { return nppiConvert_32f8u_C1RSfs_Ctx(p, STEP, out, STEP, nine, mode, 1, context); }, odd);
  }
  const std::vector<Npp16u> wide = {0, 255, 256, 65535};
  const std::vector<Npp16s> narrow = {-1, 255, 256, -32768, 32767};
  const NppiSize four = row(wide), five = row(narrow);
  show<Npp8u>("Convert_16u8u", [&](auto p, auto out) { return nppiConvert_16u8u_C1R_Ctx(p, STEP, out, STEP, four, context); }, wide);
  show<Npp8u>("Convert_16s8u", [&](auto p, auto out) { return nppiConvert_16s8u_C1R_Ctx(p, STEP, out, STEP, five, context); }, narrow);
}

// Resizes of `from`, of `rows` rows, to `width` x `height`.
template <typename T, typename Call>
void resized(const char* name, Call call, const std::vector<T>& from, int rows, int width, int height, int mode) {
  const int columns = int(from.size()) / rows;
  const NppiRect all = {0, 0, columns, rows}, result = {0, 0, width, height};
  const auto whole = [&](const T* p, T* out) {
    return call(p, int(columns * sizeof(T)), NppiSize{columns, rows}, all, out, int(width * sizeof(T)), NppiSize{width, height}, result, mode, context);
  };
  const std::vector<T> got = made<T>(name, size_t(width) * height, whole, from);
  std::printf("%s, mode %d, %dx%d to %dx%d:%s ->%s\n", name, mode, columns, rows, width, height, text(from).c_str(), text(got).c_str());
}

void resizes() {
  std::vector<Npp32f> impulse(16, 0.0f), ramp(48), falling(16 * 4), climbing(4 * 16);
  impulse[7] = 1;
  for (size_t i = 0; i < ramp.size(); ++i) ramp[i] = float(i);
  for (int i = 0; i < 64; ++i) falling[i] = float(i / 16), climbing[i] = float(i % 16);
  const std::vector<Npp8u> step = {0, 1, 2, 255, 254, 0, 3, 6};
  const auto of_floats = [](auto... all) { return nppiResize_32f_C1R_Ctx(all...); };
  const auto of_bytes = [](auto... all) { return nppiResize_8u_C1R_Ctx(all...); };
  for (const int mode : {NPPI_INTER_NN, NPPI_INTER_LINEAR, NPPI_INTER_CUBIC, NPPI_INTER_SUPER, NPPI_INTER_LANCZOS}) {
    // Weights, to fewer, as many, more, and far more pixels.
    for (const int to : {5, 7, 11, 16, 19, 40}) resized("Resize_32f", of_floats, impulse, 1, to, 1, mode);
    for (const int to : {120, 100}) resized("Resize_32f", of_floats, ramp, 1, to, 1, mode);
    // More along one dimension, fewer along the other.
    resized("Resize_32f", of_floats, falling, 4, 8, 8, mode);
    resized("Resize_32f", of_floats, climbing, 4, 8, 8, mode);
    for (const int to : {3, 6, 8, 16}) resized("Resize_8u", of_bytes, step, 1, to, 1, mode);
  }
}

void colours() {
  const std::vector<Npp8u> pixels = {0, 1, 0, 1, 1, 1, 3, 2, 1, 255, 254, 253, 7, 9, 10, 200, 100, 50};
  const NppiSize six = {6, 1};
  const Npp32f twist[3][4] = {{0.5f, 0, 0, 0}, {0, 0.5f, 0, 1.5f}, {-1, 0.5f, 0, 0}};
  const Npp32f weights[3] = {0.25f, 0.25f, 0.0f};
  show<Npp8u>("ColorTwist32f_8u", [&](auto p, auto out) { return nppiColorTwist32f_8u_C3R_Ctx(p, STEP, out, STEP, six, twist, context); }, pixels);
  show<Npp8u>("ColorToGray_8u", [&](auto p, auto out) { return nppiColorToGray_8u_C3C1R_Ctx(p, STEP, out, STEP, six, weights, context); }, pixels);
  show<Npp8u>("RGBToGray_8u", [&](auto p, auto out) { return nppiRGBToGray_8u_C3C1R_Ctx(p, STEP, out, STEP, six, context); }, pixels);
  show<Npp8u>("Compare_8u_C3R", [&](auto p, auto out) { return nppiCompare_8u_C3R_Ctx(p, STEP, p, STEP, out, STEP, six, NPP_CMP_EQ, context); }, pixels);
}

void places() {
  const std::vector<Npp8u> square = {1, 2, 3, 4};
  const NppiSize two = {2, 2}, large = {9, 2}, small = {2, 1};
  for (const NppiAxis axis : {NPP_HORIZONTAL_AXIS, NPP_VERTICAL_AXIS, NPP_BOTH_AXIS})
    show<Npp8u>("Mirror_8u 2x2", [&](auto p, auto out) { return nppiMirror_8u_C1R_Ctx(p, 2, out, 2, two, axis, context); }, square);
  const auto wrapped = made<Npp8u>("CopyWrapBorder_8u", 18, [&](auto p, auto out) { return nppiCopyWrapBorder_8u_C1R_Ctx(p, 2, small, out, 9, large, 1, 3, context); }, square);
  std::printf("CopyWrapBorder_8u of 1 2, 3 columns and a row before:%s\n", text(wrapped).c_str());
  show<Npp8u>("CopyConstBorder_8u into less", [&](auto p, auto out) { return nppiCopyConstBorder_8u_C1R_Ctx(p, 2, two, out, 2, small, 1, 0, 9, context); }, square);
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no GPU\n");
    return 0;
  }
  cudaDeviceProp properties;
  check(cudaGetDevice(&context.nCudaDeviceId), "device");
  check(cudaGetDeviceProperties(&properties, context.nCudaDeviceId), "properties");
  context.nMultiProcessorCount = properties.multiProcessorCount;
  context.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
  context.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
  context.nSharedMemPerBlock = properties.sharedMemPerBlock;
  context.nCudaDevAttrComputeCapabilityMajor = properties.major;
  context.nCudaDevAttrComputeCapabilityMinor = properties.minor;
  const NppLibraryVersion* const version = nppGetLibVersion();
  std::printf("NPP %d.%d.%d on %s\n", version->major, version->minor, version->build, properties.name);
  floats();
  integers();
  conversions();
  resizes();
  colours();
  places();
  return 0;
}
