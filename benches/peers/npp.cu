// Times NVIDIA's NPP on the main job of the device benchmark: crop, resize, RGB to BGR, multiply, subtract, divide, planar. NPP has
// no such operation for a batch, so it is a loop over crops of seven calls each, queued one by one and as a CUDA graph.
//
// Its libraries come with a toolkit, so the bundle's script builds this where it runs, if both are there.
// Writes peers-npp.json to $TILEWRIGHT_OUT (default: here). Results are compared with a loop on the host first.
#include <cuda_runtime.h>
#include <npp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int WIDTH = 3840, HEIGHT = 2160, BOX_WIDTH = 60, BOX_HEIGHT = 120, OUT_WIDTH = 64, OUT_HEIGHT = 128;
constexpr int PLANE = OUT_WIDTH * OUT_HEIGHT;
// Values that a resized byte may be off on average: rounding, and the weights' own precision.
constexpr double MOST_OFF = 4.0;
const Npp32f MUL[3] = {1 / 255.0f, 1 / 255.0f, 1 / 255.0f}, SUB[3] = {0.485f, 0.456f, 0.406f}, DIV[3] = {0.229f, 0.224f, 0.225f};

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

void check(NppStatus status, const char* what) {
  if (status == NPP_SUCCESS) return;
  std::fprintf(stderr, "%s: NPP status %d\n", what, static_cast<int>(status));
  std::exit(1);
}

template <typename T>
T* on_device(size_t count) {
  T* pointer = nullptr;
  check(cudaMalloc(&pointer, count * sizeof(T)), "cudaMalloc");
  return pointer;
}

double now_us() {
  using namespace std::chrono;
  return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

NppStreamContext context_of(cudaStream_t stream) {
  cudaDeviceProp properties;
  NppStreamContext context = {};
  check(cudaGetDevice(&context.nCudaDeviceId), "device");
  check(cudaGetDeviceProperties(&properties, context.nCudaDeviceId), "properties");
  context.hStream = stream;
  context.nMultiProcessorCount = properties.multiProcessorCount;
  context.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
  context.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
  context.nSharedMemPerBlock = properties.sharedMemPerBlock;
  context.nCudaDevAttrComputeCapabilityMajor = properties.major;
  context.nCudaDevAttrComputeCapabilityMinor = properties.minor;
  check(cudaStreamGetFlags(stream, &context.nStreamFlags), "flags");
  return context;
}

struct Job {
  std::vector<Npp8u> host;
  std::vector<std::pair<int, int>> places;
  Npp8u *frame, *small, *swapped;
  Npp32f *values, *planes;
  NppStreamContext context;

  Job(int count, cudaStream_t stream) : host(size_t(WIDTH) * HEIGHT * 3), context(context_of(stream)) {
    std::mt19937_64 engine(7);
    for (auto& byte : host) byte = static_cast<Npp8u>(engine());
    for (int i = 0; i < count; ++i) places.emplace_back(engine() % (WIDTH - BOX_WIDTH), engine() % (HEIGHT - BOX_HEIGHT));
    frame = on_device<Npp8u>(host.size());
    check(cudaMemcpy(frame, host.data(), host.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
    small = on_device<Npp8u>(size_t(count) * PLANE * 3);
    swapped = on_device<Npp8u>(size_t(count) * PLANE * 3);
    values = on_device<Npp32f>(size_t(count) * PLANE * 3);
    planes = on_device<Npp32f>(size_t(count) * PLANE * 3);
    check(cudaMemset(planes, 0xff, size_t(count) * PLANE * 3 * sizeof(Npp32f)), "poison");
  }

  ~Job() {
    for (void* pointer : {static_cast<void*>(frame), static_cast<void*>(small), static_cast<void*>(swapped), static_cast<void*>(values), static_cast<void*>(planes)})
      cudaFree(pointer);
  }

  void queue() const {
    const NppiSize box = {BOX_WIDTH, BOX_HEIGHT}, size = {OUT_WIDTH, OUT_HEIGHT};
    const NppiRect whole_box = {0, 0, BOX_WIDTH, BOX_HEIGHT}, whole = {0, 0, OUT_WIDTH, OUT_HEIGHT};
    const int order[3] = {2, 1, 0}, bytes = OUT_WIDTH * 3, floats = OUT_WIDTH * 3 * sizeof(Npp32f);
    for (size_t i = 0; i < places.size(); ++i) {
      const Npp8u* const from = frame + (size_t(places[i].second) * WIDTH + places[i].first) * 3;
      Npp8u *const resized = small + i * PLANE * 3, *const bgr = swapped + i * PLANE * 3;
      Npp32f *const value = values + i * PLANE * 3, *const plane = planes + i * PLANE * 3;
      Npp32f* const split[3] = {plane, plane + PLANE, plane + 2 * PLANE};
      check(nppiResize_8u_C3R_Ctx(from, WIDTH * 3, box, whole_box, resized, bytes, size, whole, NPPI_INTER_LINEAR, context), "resize");
      check(nppiSwapChannels_8u_C3R_Ctx(resized, bytes, bgr, bytes, size, order, context), "swap");
      check(nppiConvert_8u32f_C3R_Ctx(bgr, bytes, value, floats, size, context), "convert");
      check(nppiMulC_32f_C3IR_Ctx(MUL, value, floats, size, context), "multiply");
      check(nppiSubC_32f_C3IR_Ctx(SUB, value, floats, size, context), "subtract");
      check(nppiDivC_32f_C3IR_Ctx(DIV, value, floats, size, context), "divide");
      check(nppiCopy_32f_C3P3R_Ctx(value, floats, split, OUT_WIDTH * sizeof(Npp32f), size, context), "split");
    }
  }

  // Bilinear interpolation. NPP's places: corners aligned, and a quarter of a pixel less where a picture grows.
  double pixel(size_t crop, int x, int y, int c) const {
    const auto place = [&](int i, int from, int to) {
      return std::clamp(1.0 * i * from / to - (to > from ? 0.25 : 0.0), 0.0, from - 1.0);
    };
    const double sx = place(x, BOX_WIDTH, OUT_WIDTH), sy = place(y, BOX_HEIGHT, OUT_HEIGHT);
    const int x1 = static_cast<int>(sx), y1 = static_cast<int>(sy);
    const auto at = [&](int px, int py) {
      px = std::min(px, BOX_WIDTH - 1), py = std::min(py, BOX_HEIGHT - 1);
      return static_cast<double>(host[(size_t(places[crop].second + py) * WIDTH + places[crop].first + px) * 3 + c]);
    };
    const double ax = sx - x1, ay = sy - y1;
    return (at(x1, y1) * (1 - ax) + at(x1 + 1, y1) * ax) * (1 - ay) + (at(x1, y1 + 1) * (1 - ax) + at(x1 + 1, y1 + 1) * ax) * ay;
  }

  // Whether the planes are what the chain makes of the picture.
  bool is_right() const {
    std::vector<Npp32f> got(places.size() * PLANE * 3);
    check(cudaMemcpy(got.data(), planes, got.size() * sizeof(Npp32f), cudaMemcpyDeviceToHost), "cudaMemcpy");
    double off = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      const int c = i / PLANE % 3, y = i % PLANE / OUT_WIDTH, x = i % OUT_WIDTH;
      off += std::fabs((got[i] * DIV[c] + SUB[c]) * 255.0 - pixel(i / PLANE / 3, x, y, 2 - c));
    }
    std::printf("crops/%zu: resized bytes are %.2f off on average\n", places.size(), off / got.size());
    return off / got.size() <= MOST_OFF;
  }
};

double between_events(cudaStream_t stream, const std::function<void()>& queue) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "event");
  check(cudaEventCreate(&end), "event");
  std::vector<double> times;
  for (int repeat = 0; repeat < 16; ++repeat) {
    check(cudaEventRecord(begin, stream), "record");
    queue();
    check(cudaEventRecord(end, stream), "record");
    check(cudaEventSynchronize(end), "synchronize");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end), "elapsed");
    if (repeat > 0) times.push_back(ms * 1e3);
  }
  check(cudaEventDestroy(begin), "event");
  check(cudaEventDestroy(end), "event");
  return median(times);
}

double host_us(const std::function<void()>& queue) {
  std::vector<double> times;
  for (int repeat = 0; repeat < 31; ++repeat) {
    check(cudaDeviceSynchronize(), "synchronize");
    const double begin = now_us();
    queue();
    if (repeat > 0) times.push_back(now_us() - begin);
  }
  return median(times);
}

double graph_us(cudaStream_t stream, const std::function<void()>& queue) {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  queue();
  check(cudaStreamEndCapture(stream, &graph), "capture");
  check(cudaGraphInstantiate(&executable, graph, 0), "graph");
  const double us = between_events(stream, [&] { check(cudaGraphLaunch(executable, stream), "launch"); });
  check(cudaGraphExecDestroy(executable), "graph");
  check(cudaGraphDestroy(graph), "graph");
  return us;
}

std::string rows, device_name;
int row_count = 0, failures = 0;

void add(int crops, const char* suite, const char* prefix, const char* metric, double value, const char* peer) {
  char row[512];
  std::snprintf(row, sizeof(row), "{\"suite\": \"%s\", \"case\": \"%s%d\", \"metric\": \"%s\", \"value\": %.6g, \"peer\": \"%s\", \"device\": \"%s\"}",
                suite, prefix, crops, metric, value, peer, device_name.c_str());
  rows += (row_count++ ? ",\n" : "") + std::string(row);
  std::printf("%s/%s%-8d %-18s %10.2f  %s\n", suite, prefix, crops, metric, value, peer);
}

void measure(int count, cudaStream_t stream) {
  const Job job(count, stream);
  job.queue();
  check(cudaDeviceSynchronize(), "first");
  if (!job.is_right()) {
    ++failures;
    return;
  }
  const auto queue = [&] { job.queue(); };
  add(count, "crops", "", "device_us", between_events(stream, queue), "NPP, a loop");
  const double host = host_us(queue);
  add(count, "crops", "", "host_us", host, "NPP, a loop");
  add(count, "fuse", "crops/", "changed_host_us", host, "NPP, a loop");
  add(count, "crops", "", "device_us_graph", graph_us(stream, queue), "NPP, CUDA graph");
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
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  for (const int count : {10, 50, 100, 150}) measure(count, stream);

  const char* folder = std::getenv("TILEWRIGHT_OUT");
  const std::string file = std::string(folder && *folder ? folder : ".") + "/peers-npp.json";
  std::FILE* const out = std::fopen(file.c_str(), "w");
  if (!out) return std::fprintf(stderr, "cannot write %s\n", file.c_str()), 1;
  std::fprintf(out, "[\n%s\n]\n", rows.c_str());
  std::fclose(out);
  std::printf("%d rows, %d failed, %s\n", row_count, failures, file.c_str());
  return failures == 0 ? 0 : 1;
}
