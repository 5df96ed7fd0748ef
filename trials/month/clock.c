// LD_PRELOAD: the wall clock of a process comes from the file MONTH_CLOCK, which the driver writes
// (clock-file.ts has its layout). CLOCK_MONOTONIC and timers stay real, and so do limits of time.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL

struct clock { int64_t written, since, time, rate, jump, lease, written_too; };

static volatile struct clock *driven;
static int (*real_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void load(void) {
  if (real_gettime) return;
  const char *path = getenv("MONTH_CLOCK");
  int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd >= 0) {
    void *page = mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (page != MAP_FAILED) driven = page;
  }
  real_gettime = dlsym(RTLD_NEXT, "clock_gettime");
}

static int64_t driven_time(void) {
  for (;;) {
    struct clock c = *driven;
    __sync_synchronize();
    if (c.written != c.written_too || c.written != driven->written) continue;
    struct timespec t;
    real_gettime(CLOCK_MONOTONIC, &t);
    int64_t passed = t.tv_sec * SECOND + t.tv_nsec - c.since;
    // The clock stands still when the driver does not renew it.
    if (passed > c.lease) passed = c.lease;
    return c.time + (int64_t)((__int128)passed * c.rate / 1000) + c.jump;
  }
}

int clock_gettime(clockid_t id, struct timespec *ts) {
  load();
  if (!driven || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE)) return real_gettime(id, ts);
  int64_t now = driven_time();
  ts->tv_sec = now / SECOND;
  ts->tv_nsec = now % SECOND;
  return 0;
}

int gettimeofday(struct timeval *tv, void *zone) {
  struct timespec ts;
  clock_gettime(CLOCK_REALTIME, &ts);
  if (tv) {
    tv->tv_sec = ts.tv_sec;
    tv->tv_usec = ts.tv_nsec / 1000;
  }
  return 0;
}

time_t time(time_t *out) {
  struct timespec ts;
  clock_gettime(CLOCK_REALTIME, &ts);
  if (out) *out = ts.tv_sec;
  return ts.tv_sec;
}
