/* NCCL in host memory, for tests: ranks are threads, device memory is malloc's (fake_cuda.c). It counts its calls.
 * test_nccl.py compiles it and points KC_NCCL_LIBRARY at it. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct Box { void *data; size_t size; struct Box *next; } Box;
typedef struct Group {
  int size;
  pthread_barrier_t barrier;
  const void *slots[16];
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  Box *boxes[16][16];
} Group;
typedef struct Comm { Group *group; int rank; } Comm;
typedef struct Pending { int send; void *data; size_t size; int peer; Comm *comm; } Pending;

static __thread Pending pending[64];
static __thread int pending_count, in_group;
static int inits, calls, aborts, fail;

int fake_nccl_inits(void) { return inits; }
int fake_nccl_calls(void) { return calls; }
int fake_nccl_aborts(void) { return aborts; }
void fake_nccl_fail(int code) { fail = code; }

static size_t width(int type) { static const int w[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2}; return w[type]; }

int ncclCommInitAll(void **comms, int count, const int *devices) {
  __sync_fetch_and_add(&inits, 1);
  Group *group = calloc(1, sizeof *group);
  group->size = count;
  pthread_barrier_init(&group->barrier, 0, count);
  pthread_mutex_init(&group->mutex, 0);
  pthread_cond_init(&group->changed, 0);
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < i; ++j)
      if (devices[i] == devices[j])
        return 4;
    Comm *comm = calloc(1, sizeof *comm);
    comm->group = group, comm->rank = i;
    comms[i] = comm;
  }
  return 0;
}
int ncclCommAbort(void *comm) { __sync_fetch_and_add(&aborts, 1); return 0; }
const char *ncclGetErrorString(int code) { return code == 4 ? "invalid argument" : "fake failure"; }

static const void **exchange(Comm *comm, const void *data) {
  comm->group->slots[comm->rank] = data;
  pthread_barrier_wait(&comm->group->barrier);
  return comm->group->slots;
}

int ncclAllGather(const void *in, void *out, size_t count, int type, void *c, void *stream) {
  Comm *comm = c;
  if (fail) return fail;
  __sync_fetch_and_add(&calls, 1);
  const void **slots = exchange(comm, in);
  size_t size = count * width(type);
  for (int i = 0; i < comm->group->size; ++i)
    memcpy((char *)out + i * size, slots[i], size);
  pthread_barrier_wait(&comm->group->barrier);
  return 0;
}
/* Sums of float only: what the test asks for. */
int ncclAllReduce(const void *in, void *out, size_t count, int type, int op, void *c, void *stream) {
  Comm *comm = c;
  if (type != 7 || op != 0) return 4;
  __sync_fetch_and_add(&calls, 1);
  const void **slots = exchange(comm, in);
  for (size_t k = 0; k < count; ++k) {
    float total = 0;
    for (int i = 0; i < comm->group->size; ++i)
      total += ((const float *)slots[i])[k];
    ((float *)out)[k] = total;
  }
  pthread_barrier_wait(&comm->group->barrier);
  return 0;
}
int ncclBroadcast(const void *in, void *out, size_t count, int type, int root, void *c, void *stream) {
  Comm *comm = c;
  __sync_fetch_and_add(&calls, 1);
  const void **slots = exchange(comm, in);
  memcpy(out, slots[root], count * width(type));
  pthread_barrier_wait(&comm->group->barrier);
  return 0;
}
int ncclGroupStart(void) { in_group = 1; return 0; }
int ncclSend(const void *data, size_t count, int type, int peer, void *comm, void *stream) {
  pending[pending_count++] = (Pending){1, (void *)data, count * width(type), peer, comm};
  return in_group ? 0 : 4;
}
int ncclRecv(void *data, size_t count, int type, int peer, void *comm, void *stream) {
  pending[pending_count++] = (Pending){0, data, count * width(type), peer, comm};
  return in_group ? 0 : 4;
}
int ncclGroupEnd(void) {
  __sync_fetch_and_add(&calls, 1);
  for (int pass = 1; pass >= 0; --pass)
    for (int i = 0; i < pending_count; ++i) {
      Pending *p = &pending[i];
      Group *group = p->comm->group;
      if (p->send != pass) continue;
      pthread_mutex_lock(&group->mutex);
      if (p->send) {
        Box *box = malloc(sizeof *box), **last = &group->boxes[p->comm->rank][p->peer];
        box->data = memcpy(malloc(p->size), p->data, p->size), box->size = p->size, box->next = 0;
        while (*last) last = &(*last)->next;
        *last = box;
        pthread_cond_broadcast(&group->changed);
      } else {
        Box **first = &group->boxes[p->peer][p->comm->rank], *box;
        while (!*first) pthread_cond_wait(&group->changed, &group->mutex);
        box = *first, *first = box->next;
        memcpy(p->data, box->data, box->size < p->size ? box->size : p->size);
        free(box->data), free(box);
      }
      pthread_mutex_unlock(&group->mutex);
    }
  pending_count = in_group = 0;
  return 0;
}
