// Running a grid: from Python (kc_grid_*), and from a program (the op interpreter.run_parallel).
#include <pthread.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "abi.h"
#include "call.h"
#include "collective.h"
#include "error.h"
#include "grid.h"
#include "kc_runtime.h"
#include "program.h"

struct kc_grid {
  kc_grid(int replicas, int partitions, double timeout) : grid(replicas, partitions, timeout) { grid.has_host = true; }
  kc::Grid grid;
  kc::Message taken; // what kc_grid_take handed out last
  std::string text;
};

namespace kc {
namespace {

constexpr size_t kStack = size_t{64} << 20; // as much as a main thread's, with room: generated code keeps tiles there

struct Result {
  Array array;
  int64_t place; // in the words of kc_invoke
};

// One process of interpreter.run_parallel.
struct Work {
  Grid *grid = nullptr;
  int index = 0;
  std::vector<int64_t> layout, words;
  std::vector<Result> results;
  int32_t failed = 0;
};

int32_t run_process(Grid &grid, int index, const int64_t *layout, int64_t *words) {
  Process &self = grid.process(index);
  become(&self);
  const int32_t failed = kc_invoke(layout, words);
  become(nullptr);
  grid.finish(self, failed != 0, failed ? kc_last_error() : "");
  return failed;
}

void *run_work(void *argument) {
  Work &work = *static_cast<Work *>(argument);
  work.failed = run_process(*work.grid, work.index, work.layout.data(), work.words.data());
  return nullptr;
}

// What the call's text says of the run: "replicas=2/partitions=1/programs=f,f/infeed=g,h" and, per function, the
// numbers of arguments and results "arrays=1,1,2,1".
struct Run {
  int replicas = 1, partitions = 1;
  double timeout = 60;
  std::vector<std::string> programs, infeed, counts;
};

std::vector<std::string> split(const std::string &text, char at) {
  std::vector<std::string> parts;
  for (size_t start = 0; start < text.size();) {
    size_t end = text.find(at, start);
    end = end == std::string::npos ? text.size() : end;
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

Run read_run(const std::string &text) {
  Run run;
  for (const std::string &field : split(text, '/')) {
    const size_t equals = field.find('=');
    const std::string key = field.substr(0, equals), value = field.substr(equals + 1);
    if (key == "replicas")
      run.replicas = std::stoi(value);
    else if (key == "partitions")
      run.partitions = std::stoi(value);
    else if (key == "programs")
      run.programs = split(value, ',');
    else if (key == "infeed")
      run.infeed = split(value, ',');
    else if (key == "arrays")
      run.counts = split(value, ',');
  }
  const char *timeout = std::getenv("KC_COLLECTIVE_TIMEOUT");
  if (timeout && std::atof(timeout) > 0)
    run.timeout = std::atof(timeout);
  return run;
}

// The layout and words of kc_invoke for one function: `count` results after `arguments` arguments.
void lay_out(const kc_program *program, const std::string &name, const Array *arrays, int64_t arguments, int64_t count,
             Work &work) {
  void *entry = program->image.symbol("kc_entry_" + name);
  if (!entry)
    throw ProcessFailure{"the program has no function '" + name + "' to run in parallel"};
  work.layout = {reinterpret_cast<int64_t>(program), reinterpret_cast<int64_t>(entry), arguments, count};
  for (const Array *array = arrays; array != arrays + arguments; ++array) {
    work.words.push_back(reinterpret_cast<int64_t>(array->data));
    work.layout.push_back(array->rank);
    work.layout.insert(work.layout.end(), array->sizes, array->sizes + array->rank);
    std::vector<int64_t> strides(static_cast<size_t>(array->rank), 1);
    for (int64_t d = array->rank - 2; d >= 0; --d)
      strides[static_cast<size_t>(d)] = strides[static_cast<size_t>(d) + 1] * array->sizes[d + 1];
    work.layout.insert(work.layout.end(), strides.begin(), strides.end());
  }
  int64_t out = arguments + 2;
  for (const Array *array = arrays + arguments; array != arrays + arguments + count; ++array) {
    work.layout.insert(work.layout.end(), {array->rank, array->item});
    work.results.push_back({*array, out});
    out += 3 + 2 * array->rank;
  }
  work.words.resize(static_cast<size_t>(out), 0);
  work.words[static_cast<size_t>(arguments)] = device_of_call();
  work.words[static_cast<size_t>(arguments) + 1] = reinterpret_cast<int64_t>(stream_of_call());
}

// Moves a result to where `to` says: beside it, or (kind 1) from the GPU to the host.
void take(const int64_t *words, void *to, int64_t bytes, int32_t kind) {
  auto *base = reinterpret_cast<void *>(words[0]), *from = reinterpret_cast<void *>(words[1]);
  if (!in_gpu_call()) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return kc_free(base);
  }
  const int32_t device = device_of_call();
  void *stream = stream_of_call();
  const bool failed = bytes && kc_gpu_copy(device, stream, to, from, bytes, kind);
  if (kc_gpu_free(device, stream, base) || failed)
    throw ProcessFailure{current_error().message()};
}

void run_grid(const Call &call, const kc_program *program) {
  const Run run = read_run(call.type);
  Grid grid(run.replicas, run.partitions, run.timeout);
  grid.has_host = true;
  std::vector<Work> works(run.programs.size() + run.infeed.size());
  // arrays: the arguments of all functions, then the results of all
  std::vector<Array> arrays;
  size_t total = 0;
  for (size_t i = 0; i < works.size(); ++i)
    total += static_cast<size_t>(std::stol(run.counts[2 * i]));
  for (size_t i = 0, in = 0, out = total; i < works.size(); ++i) {
    const long arguments = std::stol(run.counts[2 * i]), results = std::stol(run.counts[2 * i + 1]);
    arrays.assign(call.arrays.begin() + static_cast<long>(in), call.arrays.begin() + static_cast<long>(in) + arguments);
    arrays.insert(arrays.end(), call.arrays.begin() + static_cast<long>(out),
                  call.arrays.begin() + static_cast<long>(out) + results);
    in += static_cast<size_t>(arguments);
    out += static_cast<size_t>(results);
    works[i].grid = &grid;
    works[i].index = static_cast<int>(i);
    lay_out(program, i < run.programs.size() ? run.programs[i] : run.infeed[i - run.programs.size()], arrays.data(),
            arguments, results, works[i]);
  }
  for (size_t i = run.programs.size(); i < works.size(); ++i) { // what these give is the queue that all processes read
    if (kc_invoke(works[i].layout.data(), works[i].words.data()))
      throw ProcessFailure{std::string("infeed: ") + kc_last_error()};
    Message message;
    message.bytes.resize(static_cast<size_t>(works[i].results[0].array.bytes()));
    take(works[i].words.data() + works[i].results[0].place, message.bytes.data(), works[i].results[0].array.bytes(), 1);
    grid.post_from_host("infeed", std::move(message));
  }
  works.resize(run.programs.size());
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStack);
  std::vector<pthread_t> threads;
  for (Work &work : works) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, run_work, &work) != 0) {
      work.failed = 1;
      grid.finish(grid.process(work.index), true, "the system starts no more threads");
      continue;
    }
    threads.push_back(thread);
  }
  pthread_attr_destroy(&attributes);
  for (pthread_t thread : threads)
    pthread_join(thread, nullptr);
  for (Work &work : works)
    for (const Result &result : work.results)
      if (!work.failed)
        take(work.words.data() + result.place, result.array.data, result.array.bytes(), 2);
  if (grid.failed())
    throw ProcessFailure{grid.failure()};
}

} // namespace
} // namespace kc

using namespace kc;

extern "C" {

void kc_run_parallel(const int64_t *words) {
  collective(words, [](Process &, const Call &call) { run_grid(call, current_program()); });
}

kc_grid *kc_grid_new(int32_t replicas, int32_t partitions, double timeout) {
  return new kc_grid(replicas, partitions, timeout);
}

void kc_grid_free(kc_grid *grid) { delete grid; }

void kc_grid_devices(kc_grid *grid, const int32_t *devices, int32_t own) {
  for (int index = 0; index < grid->grid.size(); ++index)
    grid->grid.process(index).device = devices[index];
  grid->grid.own_devices = own != 0;
}

void kc_grid_enter(kc_grid *grid, int32_t index) { become(&grid->grid.process(index)); }

void kc_grid_leave(kc_grid *grid, int32_t index, int32_t failed, const char *message) {
  become(nullptr);
  grid->grid.finish(grid->grid.process(index), failed != 0, message);
}

void kc_grid_fail(kc_grid *grid, int32_t index, const char *message) { grid->grid.fail(index, message); }

const char *kc_grid_failure(kc_grid *grid) {
  grid->text = grid->grid.failure();
  return grid->text.c_str();
}

void kc_grid_post(kc_grid *grid, const char *box, const char *type, const void *data, int64_t bytes, int64_t rank,
                  const int64_t *shape) {
  Message message;
  message.type = type;
  message.shape.assign(shape, shape + rank);
  const auto *first = static_cast<const char *>(data);
  message.bytes.assign(first, first + bytes);
  grid->grid.post_from_host(box, std::move(message));
}

const char *kc_grid_boxes(kc_grid *grid) {
  grid->text.clear();
  for (const std::string &name : grid->grid.boxes())
    grid->text += (grid->text.empty() ? "" : "\n") + name;
  return grid->text.c_str();
}

const char *kc_grid_take(kc_grid *grid, const char *box, int64_t out[5], const void **data, const int64_t **shape) {
  if (!grid->grid.take_for_host(box, grid->taken))
    return nullptr;
  const Message &message = grid->taken;
  out[0] = static_cast<int64_t>(message.bytes.size());
  out[1] = static_cast<int64_t>(message.shape.size());
  out[2] = message.sender;
  out[3] = message.part;
  out[4] = message.parts;
  *data = message.bytes.data();
  *shape = message.shape.data();
  grid->text = message.type + "\n" + message.where;
  return grid->text.c_str();
}

} // extern "C"
