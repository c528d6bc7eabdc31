/* cuSOLVER in host memory, for tests: LAPACK's functions, which the test passes by name, behind cuSOLVER's interface.
 * cusolver_checks.py compiles programs for it; device memory is malloc's (fake_cuda.c). */
#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Handle { void *stream; } Handle;
typedef void (*Routine)();
static struct { char name[16]; Routine routine; } routines[64];
static int known;
static void *last_stream;
static char log_text[1 << 16];
static int forced_info, forced_status;

void fake_lapack(const char *name, void *routine) {
  strcpy(routines[known].name, name), routines[known++].routine = (Routine)routine;
}
void *fake_stream(void) { return last_stream; }
const char *fake_calls(void) { return log_text; }
void fake_forget(void) { log_text[0] = 0; }
void fake_info(int info) { forced_info = info; }
void fake_status(int status) { forced_status = status; }
static Routine lapack(const char *name) {
  for (int i = 0; i < known; i++)
    if (strcmp(routines[i].name, name) == 0) return routines[i].routine;
  fprintf(stderr, "no %s\n", name), abort();
}
static void note(Handle *h, const char *name) {
  last_stream = h->stream;
  if (strlen(log_text) < sizeof log_text - 40) strcat(strcat(log_text, name), " ");
}
static int create(void **h) { *h = calloc(1, sizeof(Handle)); return 0; }
int cusolverDnCreate(void **h) { return create(h); }
int cublasCreate_v2(void **h) { return create(h); }
int cusolverDnCreateGesvdjInfo(void **p) { *p = (void *)0x51; return 0; }
int cusolverDnCreateSyevjInfo(void **p) { *p = (void *)0x52; return 0; }
int cusolverDnSetStream(Handle *h, void *s) { h->stream = s; return 0; }
int cublasSetStream_v2(Handle *h, void *s) { h->stream = s; return 0; }

#define STATUS(info) ((info) < 0 ? 3 : 0)
#define FUNCTIONS(L, l, T, R, CONJ, IS_COMPLEX, ORGQR, EV)                                                             \
  int cusolverDn##L##getrf_bufferSize(Handle *h, int m, int n, T *a, int ld, int *size) { *size = m * n; return 0; }   \
  int cusolverDn##L##getrf(Handle *h, int m, int n, T *a, int ld, T *work, int *pivots, int *info) {                   \
    note(h, "getrf"), memset(work, 255, m * n * sizeof(T));                                                            \
    lapack(#l "getrf")(&m, &n, a, &ld, pivots, info);                                                                  \
    return STATUS(*info);                                                                                              \
  }                                                                                                                    \
  int cublas##L##getrfBatched(Handle *h, int n, T **a, int ld, int *pivots, int *info, int count) {                    \
    note(h, "getrfBatched");                                                                                           \
    for (int k = 0; k < count; k++) lapack(#l "getrf")(&n, &n, a[k], &ld, pivots + k * n, info + k);                   \
    return 0;                                                                                                          \
  }                                                                                                                    \
  int cusolverDn##L##geqrf_bufferSize(Handle *h, int m, int n, T *a, int ld, int *size) { *size = 64 * n; return 0; }  \
  int cusolverDn##L##geqrf(Handle *h, int m, int n, T *a, int ld, T *tau, T *work, int size, int *info) {              \
    note(h, "geqrf"), lapack(#l "geqrf")(&m, &n, a, &ld, tau, work, &size, info);                                      \
    return STATUS(*info);                                                                                              \
  }                                                                                                                    \
  int cublas##L##geqrfBatched(Handle *h, int m, int n, T **a, int ld, T **tau, int *info, int count) {                 \
    note(h, "geqrfBatched");                                                                                           \
    if (forced_status) return forced_status;                                                                           \
    int size = 64 * n;                                                                                                 \
    T *work = malloc(size * sizeof(T));                                                                                \
    for (int k = 0; k < count; k++) lapack(#l "geqrf")(&m, &n, a[k], &ld, tau[k], work, &size, info);                  \
    free(work);                                                                                                        \
    return 0;                                                                                                          \
  }                                                                                                                    \
  int cusolverDn##L##ORGQR##_bufferSize(Handle *h, int m, int n, int k, T *a, int ld, T *tau, int *size) {             \
    return *size = 64 * n, 0;                                                                                          \
  }                                                                                                                    \
  int cusolverDn##L##ORGQR(Handle *h, int m, int n, int k, T *a, int ld, T *tau, T *work, int size, int *info) {       \
    note(h, #ORGQR), lapack(#l #ORGQR)(&m, &n, &k, a, &ld, tau, work, &size, info);                                    \
    return STATUS(*info);                                                                                              \
  }                                                                                                                    \
  static void l##ev(int job, int uplo, int n, T *a, int ld, R *w, T *work, int size, int *info) {                      \
    R *real = malloc(3 * n * sizeof(R));                                                                               \
    const char *j = job ? "V" : "N", *u = uplo ? "U" : "L";                                                            \
    if (IS_COMPLEX) lapack(#l #EV)(j, u, &n, a, &ld, w, work, &size, real, info);                                      \
    else lapack(#l #EV)(j, u, &n, a, &ld, w, work, &size, info);                                                       \
    free(real);                                                                                                        \
  }                                                                                                                    \
  int cusolverDn##L##EV##d_bufferSize(Handle *h, int job, int uplo, int n, T *a, int ld, R *w, int *size) {            \
    return *size = 40 * n, 0;                                                                                          \
  }                                                                                                                    \
  int cusolverDn##L##EV##d(Handle *h, int job, int uplo, int n, T *a, int ld, R *w, T *work, int size, int *info) {    \
    note(h, #EV "d"), l##ev(job, uplo, n, a, ld, w, work, size, info);                                                 \
    return STATUS(*info);                                                                                              \
  }                                                                                                                    \
  int cusolverDn##L##EV##jBatched_bufferSize(Handle *h, int job, int uplo, int n, T *a, int ld, R *w, int *size,       \
                                             void *options, int count) {                                               \
    return *size = 40 * n, options == (void *)0x52 ? 0 : 3;                                                            \
  }                                                                                                                    \
  int cusolverDn##L##EV##jBatched(Handle *h, int job, int uplo, int n, T *a, int ld, R *w, T *work, int size,          \
                                  int *info, void *options, int count) {                                               \
    note(h, #EV "jBatched");                                                                                           \
    for (int k = 0; k < count; k++) {                                                                                  \
      l##ev(job, uplo, n, a + k * n * ld, ld, w + k * n, work, size, info + k);                                        \
      if (forced_info) info[k] = forced_info;                                                                          \
    }                                                                                                                  \
    return options == (void *)0x52 ? 0 : 3;                                                                            \
  }                                                                                                                    \
  static int l##svd(char ju, char jv, int m, int n, T *a, int ld, R *s, T *u, int ldu, T *vt, int ldvt, int *info) {   \
    int size = 20 * (m + n);                                                                                           \
    R *real = malloc(5 * (m + n) * sizeof(R));                                                                         \
    T *work = malloc(size * sizeof(T));                                                                                \
    if (IS_COMPLEX) lapack(#l "gesvd")(&ju, &jv, &m, &n, a, &ld, s, u, &ldu, vt, &ldvt, work, &size, real, info);      \
    else lapack(#l "gesvd")(&ju, &jv, &m, &n, a, &ld, s, u, &ldu, vt, &ldvt, work, &size, info);                       \
    free(real), free(work);                                                                                            \
    return STATUS(*info);                                                                                              \
  }                                                                                                                    \
  int cusolverDn##L##gesvd_bufferSize(Handle *h, int m, int n, int *size) { return *size = m + n, m < n ? 3 : 0; }     \
  int cusolverDn##L##gesvd(Handle *h, signed char ju, signed char jv, int m, int n, T *a, int ld, R *s, T *u, int ldu, \
                           T *vt, int ldvt, T *work, int size, R *rest, int *info) {                                   \
    note(h, "gesvd"), memset(work, 255, size * sizeof(T)), memset(rest, 255, n * sizeof(R));                           \
    return m < n ? 3 : l##svd(ju, jv, m, n, a, ld, s, u, ldu, vt, ldvt, info);                                         \
  }                                                                                                                    \
  int cusolverDn##L##gesvdjBatched_bufferSize(Handle *h, int job, int m, int n, T *a, int ld, R *s, T *u, int ldu,     \
                                              T *v, int ldv, int *size, void *options, int count) {                    \
    return *size = 20 * (m + n), options == (void *)0x51 ? 0 : 3;                                                      \
  }                                                                                                                    \
  int cusolverDn##L##gesvdjBatched(Handle *h, int job, int m, int n, T *a, int ld, R *s, T *u, int ldu, T *v, int ldv, \
                                   T *work, int size, int *info, void *options, int count) {                           \
    int least = m < n ? m : n, status = options == (void *)0x51 ? 0 : 3;                                               \
    T *vt = malloc(n * n * sizeof(T));                                                                                 \
    note(h, "gesvdjBatched"), memset(work, 255, size * sizeof(T));                                                     \
    for (int k = 0; k < count; k++, a += ld * n, u += ldu * m, v += ldv * n) {                                         \
      status |= l##svd(job ? 'A' : 'N', job ? 'A' : 'N', m, n, a, ld, s + k * least, u, ldu, vt, n, info + k);         \
      for (int r = 0; job && r < n; r++)                                                                               \
        for (int c = 0; c < n; c++) v[c + r * ldv] = CONJ(vt[r + c * n]);                                              \
    }                                                                                                                  \
    return free(vt), status;                                                                                           \
  }                                                                                                                    \
  int cublas##L##asum_v2(Handle *h, int n, R *x, int step, R *result) {                                                \
    *result = 0;                                                                                                       \
    for (int k = 0; k < n; k++) *result += x[k * step] < 0 ? -x[k * step] : x[k * step];                               \
    return 0;                                                                                                          \
  }                                                                                                                    \
  int cublas##L##gemmStridedBatched(Handle *h, int opa, int opb, int m, int n, int k, T *alpha, T *a, int lda,         \
                                    long long stepa, T *b, int ldb, long long stepb, T *beta, T *c, int ldc,           \
                                    long long stepc, int count) {                                                      \
    if (*alpha != 1 || *beta != 0 || opb != 0 || stepb != 0) return 7;                                                 \
    note(h, "gemmStridedBatched");                                                                                     \
    for (int q = 0; q < count; q++, a += stepa, c += stepc)                                                            \
      for (int i = 0; i < m; i++)                                                                                      \
        for (int j = 0; j < n; j++) {                                                                                  \
          T sum = 0;                                                                                                   \
          for (int l = 0; l < k; l++) sum += (opa == 2 ? CONJ(a[l + i * lda]) : a[i + l * lda]) * b[l + j * ldb];      \
          c[i + j * ldc] = sum;                                                                                        \
        }                                                                                                              \
    return 0;                                                                                                          \
  }                                                                                                                    \
  int cublas##L##geam(Handle *h, int opa, int opb, int m, int n, T *alpha, T *a, int lda, T *beta, T *b, int ldb,      \
                      T *c, int ldc) {                                                                                 \
    if (*alpha != 1 || *beta != 0 || opa == 0 || opb != 0 || b != c || ldb != ldc || a == c) return 7;                 \
    note(h, "geam");                                                                                                   \
    for (int i = 0; i < m; i++)                                                                                        \
      for (int j = 0; j < n; j++) c[i + j * ldc] = opa == 2 ? CONJ(a[j + i * lda]) : a[j + i * lda];                   \
    return 0;                                                                                                          \
  }

#define SAME(x) (x)
FUNCTIONS(S, s, float, float, SAME, 0, orgqr, syev)
FUNCTIONS(D, d, double, double, SAME, 0, orgqr, syev)
FUNCTIONS(C, c, float complex, float, conjf, 1, ungqr, heev)
FUNCTIONS(Z, z, double complex, double, conj, 1, ungqr, heev)
