// Times the Fused Kernel Library (https://github.com/Libraries-Openly-Fused/FusedKernelLibrary) on the cases of the device
// benchmark: long chains, batches, and the main job. `cargo xtask peers --fkl DIR` builds it.
//
// Writes peers-fkl.json to $TILEWRIGHT_OUT (default: here). Every result is compared with a loop on the host first.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <fused_kernel/algorithms/algorithms.h>
#include <fused_kernel/fused_kernel.h>

namespace {

using fk::ND;
using Plain = fk::TransformDPP<fk::defaultParArch>;
using Coarsened = fk::TransformDPP<fk::defaultParArch, fk::TF::ENABLED>;

// As in the Rust suite: a pair, and the pair that takes it back.
constexpr float FACTOR = 0.54f, SUMMAND = 0.54f, BACK_FACTOR = 1.0f / 0.54f, BACK_SUMMAND = -1.0f;
constexpr int SETS = 4;

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

template <typename T>
T* on_device(const std::vector<T>& values) {
  T* pointer = nullptr;
  check(cudaMalloc(&pointer, values.size() * sizeof(T)), "cudaMalloc");
  check(cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  return pointer;
}

template <typename T>
std::vector<T> from_device(const T* pointer, size_t count) {
  std::vector<T> values(count);
  check(cudaMemcpy(values.data(), pointer, count * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return values;
}

std::vector<uchar> random_bytes(size_t count) {
  static std::mt19937_64 engine(7);
  std::vector<uchar> bytes(count);
  for (auto& byte : bytes) byte = static_cast<uchar>(engine());
  return bytes;
}

float* poisoned(size_t count) { return on_device(std::vector<float>(count, std::nanf(""))); }

// The clock: as the device benchmark's.

__global__ void spin(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

using Call = std::function<void(int)>;

double now_us() {
  using namespace std::chrono;
  return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

// Device time of a call among many back to back, queued behind a kernel that keeps the device busy.
double device_us(const fk::Stream& stream, const Call& call) {
  for (int i = 0; i < 3; ++i) call(i);
  check(cudaDeviceSynchronize(), "warm-up");
  double begin_us = now_us();
  for (int i = 0; i < 8; ++i) call(i);
  const double queued = (now_us() - begin_us) / 8;
  check(cudaDeviceSynchronize(), "pilot");
  const double total = (now_us() - begin_us) / 8;
  const int count = std::clamp(static_cast<int>(4000 / total), 2, 256);
  const double busy = std::min(1.5 * queued * count + 100, 8000.0);
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "event");
  check(cudaEventCreate(&end), "event");
  std::vector<double> times;
  for (int repeat = 0; repeat < 15; ++repeat) {
    spin<<<1, 1, 0, stream()>>>(static_cast<long long>(busy * 2000));
    check(cudaEventRecord(begin, stream()), "record");
    for (int i = 0; i < count; ++i) call(i);
    check(cudaEventRecord(end, stream()), "record");
    check(cudaEventSynchronize(end), "synchronize");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end), "elapsed");
    times.push_back(ms * 1e3 / count);
  }
  return median(times);
}

double host_us(const Call& call) {
  std::vector<double> times;
  for (int burst = 0; burst <= 101; ++burst) {
    check(cudaDeviceSynchronize(), "burst");
    const double begin = now_us();
    for (int i = 0; i < 64; ++i) call(i);
    if (burst > 0) times.push_back((now_us() - begin) / 64);
  }
  check(cudaDeviceSynchronize(), "bursts");
  return median(times);
}

// The rows.

std::string rows, device_name;
int row_count = 0, failures = 0;

void add(const std::string& suite, const std::string& test, const char* metric, double value, const char* peer) {
  char row[512];
  std::snprintf(row, sizeof(row), "{\"suite\": \"%s\", \"case\": \"%s\", \"metric\": \"%s\", \"value\": %.6g, \"peer\": \"%s\", \"device\": \"%s\"}",
                suite.c_str(), test.c_str(), metric, value, peer, device_name.c_str());
  rows += (row_count++ ? ",\n" : "") + std::string(row);
  std::printf("%-24s %-18s %10.2f  %s\n", (suite + "/" + test).c_str(), metric, value, peer);
}

bool close(const std::string& test, const std::vector<float>& got, const std::function<float(size_t)>& expected, float most) {
  const size_t step = std::max<size_t>(1, got.size() / 100003);
  for (size_t i = 0; i < got.size(); i += step) {
    const float wanted = expected(i);
    if (!(std::fabs(got[i] - wanted) <= most * std::max(1.0f, std::fabs(wanted)))) {
      std::printf("failed: %s: %g at %zu, expected %g\n", test.c_str(), got[i], i, wanted);
      ++failures;
      return false;
    }
  }
  return true;
}

// Vertical fusion.

float pairs_of(float x, int n) {
  for (int i = 0; i < n; ++i) x = std::fma(x, i % 2 ? BACK_FACTOR : FACTOR, i % 2 ? BACK_SUMMAND : SUMMAND);
  return x;
}

template <int N>
auto chain() {
  const auto there = fk::Mul<float>::build(FACTOR).then(fk::Add<float>::build(SUMMAND));
  if constexpr (N == 1) {
    return there;
  } else {
    const auto both = there.then(fk::Mul<float>::build(BACK_FACTOR)).then(fk::Add<float>::build(BACK_SUMMAND));
    // Loops are templates that call themselves: long ones are nested.
    constexpr int outer = N > 1000 ? N / 1000 : 1;
    using Inner = fk::StaticLoop<typename decltype(both)::Operation, N / 2 / outer>;
    return fk::StaticLoop<Inner, outer>::build(both.params);
  }
}

template <int N>
void vertical(fk::Stream& stream) {
  constexpr uint width = 4096, height = 2160;
  constexpr size_t len = size_t(width) * height;
  const auto host = random_bytes(len);
  const fk::PtrDims<ND::_2D> in_dims(width, height, width), out_dims(width, height, width * sizeof(float));
  std::vector<fk::RawPtr<ND::_2D, uchar>> in;
  std::vector<fk::RawPtr<ND::_2D, float>> out;
  for (int set = 0; set < SETS; ++set) {
    in.push_back({on_device(set == 0 ? host : random_bytes(len)), in_dims});
    out.push_back({poisoned(len), out_dims});
  }
  const auto ops = chain<N>();
  const std::string test = "vertical/" + std::to_string(N);
  auto measure = [&](auto pattern, const char* name) {
    using Pattern = decltype(pattern);
    auto call = [&](int i) {
      fk::executeOperations<Pattern>(stream, fk::PerThreadRead<ND::_2D, uchar>::build(in[i % SETS]),
                                     fk::SaturateCast<uchar, float>::build(), ops,
                                     fk::PerThreadWrite<ND::_2D, float>::build(out[i % SETS]));
    };
    call(0);
    check(cudaDeviceSynchronize(), name);
    if (close(test, from_device(out[0].data, len), [&](size_t i) { return pairs_of(host[i], N); }, 2e-6f * std::max(8, 2 * N)))
      add("fuse", test, "device_us", device_us(stream, call), name);
  };
  measure(Plain{}, "FKL");
  measure(Coarsened{}, "FKL, thread fusion");
  for (auto& p : in) cudaFree(p.data);
  for (auto& p : out) cudaFree(p.data);
}

// Horizontal fusion: separate pictures.

template <size_t B>
void horizontal(fk::Stream& stream) {
  constexpr uint width = 60, height = 120;
  constexpr size_t len = width * height;
  const auto host = random_bytes(len * B);
  uchar* const bytes = on_device(host);
  float* const values = poisoned(len * B);
  std::array<fk::RawPtr<ND::_2D, uchar>, B> pictures;
  std::array<float, B> mul, sub, div;
  for (size_t i = 0; i < B; ++i) {
    pictures[i] = {bytes + i * len, fk::PtrDims<ND::_2D>(width, height, width)};
    mul[i] = 0.5f + 0.001f * i, sub[i] = 1.0f + 0.002f * i, div[i] = 3.2f + 0.001f * i;
  }
  const fk::RawPtr<ND::_3D, float> out{values, fk::PtrDims<ND::_3D>(width, height, B, 1, width * sizeof(float))};
  auto call = [&](int) {
    fk::executeOperations<Plain>(stream, fk::PerThreadRead<ND::_2D, uchar>::build(pictures), fk::SaturateCast<uchar, float>::build(),
                                 fk::Mul<float>::build(mul[0]), fk::Sub<float>::build(sub[0]), fk::Div<float>::build(div[0]),
                                 fk::TensorWrite<float>::build(out));
  };
  call(0);
  check(cudaDeviceSynchronize(), "horizontal");
  const std::string test = "horizontal/" + std::to_string(B);
  const auto expected = [&](size_t i) { return (host[i] * mul[0] - sub[0]) / div[0]; };
  if (close(test, from_device(values, len * B), expected, 1e-5f)) {
    add("fuse", test, "device_us", device_us(stream, call), "FKL, the same parameters for all");
    add("fuse", test, "host_us", host_us(call), "FKL, the same parameters for all");
  }
  cudaFree(bytes);
  cudaFree(values);
}

template <int N>
void both(fk::Stream& stream) {
  constexpr uint width = 60, height = 120;
  constexpr size_t len = width * height, B = 50;
  const auto host = random_bytes(len * B);
  uchar* const bytes = on_device(host);
  float* const values = poisoned(len * B);
  std::array<fk::RawPtr<ND::_2D, uchar>, B> pictures;
  for (size_t i = 0; i < B; ++i) pictures[i] = {bytes + i * len, fk::PtrDims<ND::_2D>(width, height, width)};
  const fk::RawPtr<ND::_3D, float> out{values, fk::PtrDims<ND::_3D>(width, height, B, 1, width * sizeof(float))};
  const auto ops = chain<N>();
  auto call = [&](int) {
    fk::executeOperations<Plain>(stream, fk::PerThreadRead<ND::_2D, uchar>::build(pictures), fk::SaturateCast<uchar, float>::build(), ops,
                                 fk::TensorWrite<float>::build(out));
  };
  call(0);
  check(cudaDeviceSynchronize(), "both");
  const std::string test = "both/" + std::to_string(N);
  if (close(test, from_device(values, len * B), [&](size_t i) { return pairs_of(host[i], N); }, 2e-6f * 2 * std::max(8, N)))
    add("fuse", test, "device_us", device_us(stream, call), "FKL");
  cudaFree(bytes);
  cudaFree(values);
}

// The main job. Corners are aligned, without the half pixel: another convention, the same work.

float crop_of(const std::vector<uchar>& frame, const fk::Rect& box, int x, int y, int c) {
  const float sx = x * (box.width / 64.0f), sy = y * (box.height / 128.0f);
  const int x1 = static_cast<int>(std::floor(sx)), y1 = static_cast<int>(std::floor(sy));
  const int x2 = std::min(x1 + 1, box.width - 1), y2 = std::min(y1 + 1, box.height - 1);
  const auto at = [&](int px, int py) { return static_cast<float>(frame[(size_t(box.y + py) * 3840 + box.x + px) * 3 + c]); };
  const float ax = sx - x1, ay = sy - y1;
  return (at(x1, y1) * (1 - ax) + at(x2, y1) * ax) * (1 - ay) + (at(x1, y2) * (1 - ax) + at(x2, y2) * ax) * ay;
}

template <size_t B>
void crops(fk::Stream& stream) {
  constexpr uint width = 3840, height = 2160;
  constexpr int out_width = 64, out_height = 128;
  constexpr size_t plane = size_t(out_width) * out_height;
  const auto host = random_bytes(size_t(width) * height * 3);
  uchar* const bytes = on_device(host);
  float* const values = poisoned(plane * 3 * B);
  const fk::RawPtr<ND::_2D, uchar3> frame{reinterpret_cast<uchar3*>(bytes), fk::PtrDims<ND::_2D>(width, height, width * 3)};
  const fk::RawPtr<ND::_3D, float> out{values, fk::PtrDims<ND::_3D>(out_width, out_height, B, 3, out_width * sizeof(float))};
  std::mt19937 engine(11);
  std::vector<std::array<fk::Rect, B>> boxes(16);
  for (auto& set : boxes)
    for (auto& box : set) box = fk::Rect(engine() % (width - 60), engine() % (height - 120), 60, 120);
  const float3 mul = fk::make_set<float3>(1.0f / 255.0f), sub{0.485f, 0.456f, 0.406f}, div{0.229f, 0.224f, 0.225f};
  auto call = [&](int i) {
    fk::executeOperations<Plain>(stream, fk::PerThreadRead<ND::_2D, uchar3>::build(frame), fk::Crop<>::build(boxes[i % boxes.size()]),
                                 fk::Resize<fk::InterpolationType::INTER_LINEAR>::build(fk::Size(out_width, out_height)),
                                 fk::ColorConversion<fk::ColorConversionCodes::COLOR_RGB2BGR, float3, float3>::build(),
                                 fk::Mul<float3>::build(mul), fk::Sub<float3>::build(sub), fk::Div<float3>::build(div),
                                 fk::TensorSplit<float3>::build(out));
  };
  call(0);
  check(cudaDeviceSynchronize(), "crops");
  const float subs[3] = {sub.x, sub.y, sub.z}, divs[3] = {div.x, div.y, div.z};
  const auto expected = [&](size_t i) {
    const int n = i / (3 * plane), c = i / plane % 3, y = i % plane / out_width, x = i % out_width;
    return (crop_of(host, boxes[0][n], x, y, 2 - c) / 255.0f - subs[c]) / divs[c];
  };
  const std::string test = std::to_string(B);
  if (close("crops/" + test, from_device(values, plane * 3 * B), expected, 1e-4f)) {
    add("crops", test, "device_us", device_us(stream, call), "FKL, corners aligned");
    const double us = host_us(call);
    add("crops", test, "host_us", us, "FKL, corners aligned");
    add("fuse", "crops/" + test, "changed_host_us", us, "FKL, corners aligned");
  }
  cudaFree(bytes);
  cudaFree(values);
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no GPU\n");
    return 0;
  }
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "properties");
  device_name = properties.name;
  fk::Stream stream;
  vertical<1>(stream), vertical<10>(stream), vertical<50>(stream), vertical<100>(stream), vertical<200>(stream), vertical<500>(stream);
  horizontal<10>(stream), horizontal<50>(stream), horizontal<100>(stream), horizontal<300>(stream), horizontal<600>(stream);
  both<1>(stream), both<100>(stream), both<1000>(stream), both<10000>(stream);
  crops<10>(stream), crops<50>(stream), crops<100>(stream), crops<150>(stream);

  const char* folder = std::getenv("TILEWRIGHT_OUT");
  const std::string file = std::string(folder && *folder ? folder : ".") + "/peers-fkl.json";
  std::FILE* const out = std::fopen(file.c_str(), "w");
  if (!out) return std::fprintf(stderr, "cannot write %s\n", file.c_str()), 1;
  std::fprintf(out, "[\n%s\n]\n", rows.c_str());
  std::fclose(out);
  std::printf("%d rows, %d failed, %s\n", row_count, failures, file.c_str());
  return failures == 0 || row_count > 0 ? 0 : 1;
}
