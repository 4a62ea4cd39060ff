/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Calls of our libraries that fail (LD_PRELOAD): the C library's, jansson's, hwloc's, libevent's
 * and Open MPI's functions that may fail, all but the PML's, which are behind pointers (faults.c).
 *
 * PWR_FAIL=FUNCTION:N:ERROR    the N-th call of ours of that function fails with that errno
 * PWR_FAIL_RANK=R              in this rank and the helpers that it starts (default: in all)
 * PWR_FAIL_TOLD=FILE           gets a line for each process in which it came to that
 *
 * Calls count that come from an object with "poweraware" in its name, or from a program with such a
 * name.  A call that fails has done nothing; close, fclose, munmap, and what takes a value have.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <event2/event.h>
#include <hwloc.h>
#include <jansson.h>

#define HERE __builtin_return_address(0)
#define SHOWN __attribute__((visibility("default")))

/* ---- which call fails ---- */

static char function[64]; /* empty: none */
static long n;
static int error;
static atomic_long counted;

__attribute__((constructor)) static void read_settings(void)
{
    const char *what = getenv("PWR_FAIL");
    const char *wanted = getenv("PWR_FAIL_RANK");
    const char *mine = getenv("OMPI_COMM_WORLD_RANK");
    if (NULL == what || NULL == mine || (NULL != wanted && 0 != strcmp(wanted, mine)) ||
        3 != sscanf(what, "%63[^:]:%ld:%d", function, &n, &error)) {
        function[0] = '\0';
    }
}

static bool is_ours(void *caller)
{
    struct dl_find_object object;
    if (0 != _dl_find_object(caller, &object)) {
        return false;
    }
    const char *path = object.dlfo_link_map->l_name;
    const char *slash = strrchr(path, '/');
    const char *name = NULL == slash ? program_invocation_short_name : slash + 1;
    return NULL != strstr(name, "poweraware");
}

static void tell(void)
{
    const char *path = getenv("PWR_FAIL_TOLD");
    int fd = NULL == path ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND);
    if (fd >= 0) {
        char line[128];
        int length = snprintf(line, sizeof line, "%s %ld in %s\n", function, n,
                              program_invocation_short_name);
        syscall(SYS_write, fd, line, length);
        syscall(SYS_close, fd);
    }
}

static bool fails(const char *name, void *caller)
{
    if ('\0' == function[0] || 0 != strcmp(function, name) || !is_ours(caller) ||
        n != 1 + atomic_fetch_add(&counted, 1)) {
        return false;
    }
    tell();
    errno = error;
    return true;
}

/* ---- functions ---- */

/* What name returns where it fails; ... its arguments. */
#define CALL(type, name, failed, parameters, ...)                                                  \
    SHOWN type name parameters                                                                     \
    {                                                                                              \
        static type(*real) parameters;                                                             \
        if (fails(#name, HERE)) {                                                                  \
            return failed;                                                                         \
        }                                                                                          \
        if (NULL == real) {                                                                        \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                                             \
        }                                                                                          \
        return real(__VA_ARGS__);                                                                  \
    }

/* The same of functions that have done it all the same. */
#define CALL_DONE(type, name, failed, parameters, ...)                                             \
    SHOWN type name parameters                                                                     \
    {                                                                                              \
        static type(*real) parameters;                                                             \
        if (NULL == real) {                                                                        \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                                             \
        }                                                                                          \
        type result = real(__VA_ARGS__);                                                           \
        return fails(#name, HERE) ? failed : result;                                               \
    }

/* Those that the loader and the C library need before there is dlsym. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);

SHOWN void *malloc(size_t bytes)
{
    return fails("malloc", HERE) ? NULL : __libc_malloc(bytes);
}

SHOWN void *calloc(size_t count, size_t bytes)
{
    return fails("calloc", HERE) ? NULL : __libc_calloc(count, bytes);
}

SHOWN void *realloc(void *old, size_t bytes)
{
    return fails("realloc", HERE) ? NULL : __libc_realloc(old, bytes);
}

SHOWN int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = 0 != (flags & (O_CREAT | __O_TMPFILE)) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return fails("open", HERE) ? -1 : openat(AT_FDCWD, path, flags, mode);
}

SHOWN int openat(int at, const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = 0 != (flags & (O_CREAT | __O_TMPFILE)) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return fails("openat", HERE) ? -1 : (int)syscall(SYS_openat, at, path, flags, mode);
}

SHOWN int fcntl(int fd, int command, ...)
{
    va_list more;
    va_start(more, command);
    void *argument = va_arg(more, void *);
    va_end(more);
    return fails("fcntl", HERE) ? -1 : (int)syscall(SYS_fcntl, fd, command, argument);
}

SHOWN long syscall(long number, ...)
{
    static long (*real)(long, ...);
    va_list more;
    long a[6];
    va_start(more, number);
    for (int i = 0; i < 6; ++i) {
        a[i] = va_arg(more, long);
    }
    va_end(more);
    if (NULL == real) {
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    }
    return fails("syscall", HERE) ? -1 : real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

SHOWN int asprintf(char **line, const char *format, ...)
{
    if (fails("asprintf", HERE)) {
        return -1;
    }
    va_list more;
    va_start(more, format);
    int length = vasprintf(line, format, more);
    va_end(more);
    return length;
}

SHOWN int fprintf(FILE *file, const char *format, ...)
{
    if (fails("fprintf", HERE)) {
        return -1;
    }
    va_list more;
    va_start(more, format);
    int length = vfprintf(file, format, more);
    va_end(more);
    return length;
}

SHOWN int dprintf(int fd, const char *format, ...)
{
    if (fails("dprintf", HERE)) {
        return -1;
    }
    va_list more;
    va_start(more, format);
    int length = vdprintf(fd, format, more);
    va_end(more);
    return length;
}

SHOWN json_t *json_pack(const char *format, ...)
{
    if (fails("json_pack", HERE)) {
        return NULL;
    }
    va_list more;
    va_start(more, format);
    json_t *made = json_vpack_ex(NULL, 0, format, more);
    va_end(more);
    return made;
}

SHOWN json_t *json_sprintf(const char *format, ...)
{
    if (fails("json_sprintf", HERE)) {
        return NULL;
    }
    va_list more;
    va_start(more, format);
    json_t *made = json_vsprintf(format, more);
    va_end(more);
    return made;
}

/* clang-format off */
CALL(char *, strdup, NULL, (const char *s), s)
CALL(int, access, -1, (const char *path, int mode), path, mode)
CALL(int, bind, -1, (int fd, const struct sockaddr *a, socklen_t l), fd, a, l)
CALL_DONE(int, close, -1, (int fd), fd)
CALL(int, connect, -1, (int fd, const struct sockaddr *a, socklen_t l), fd, a, l)
CALL(void *, dlopen, NULL, (const char *name, int flags), name, flags)
CALL(int, epoll_ctl, -1, (int e, int op, int fd, struct epoll_event *v), e, op, fd, v)
CALL(int, clock_nanosleep, error, (clockid_t c, int fl, const struct timespec *t, struct timespec *r), c, fl, t, r)
CALL(int, eventfd, -1, (unsigned value, int flags), value, flags)
CALL(int, eventfd_write, -1, (int fd, eventfd_t value), fd, value)
CALL(int, faccessat, -1, (int at, const char *p, int mode, int flags), at, p, mode, flags)
CALL_DONE(int, fclose, EOF, (FILE *f), f)
CALL(FILE *, fdopen, NULL, (int fd, const char *mode), fd, mode)
CALL(DIR *, fdopendir, NULL, (int fd), fd)
CALL(int, fflush, EOF, (FILE *f), f)
CALL(char *, fgets, NULL, (char *s, int size, FILE *f), s, size, f)
CALL(int, flock, -1, (int fd, int op), fd, op)
CALL(FILE *, fopen, NULL, (const char *path, const char *mode), path, mode)
CALL(int, fputs, EOF, (const char *line, FILE *f), line, f)
CALL(size_t, fread, 0, (void *to, size_t s, size_t k, FILE *f), to, s, k, f)
CALL(int, fstat, -1, (int fd, struct stat *s), fd, s)
CALL(int, fstatat, -1, (int at, const char *p, struct stat *s, int fl), at, p, s, fl)
CALL(int, fstatvfs, -1, (int fd, struct statvfs *s), fd, s)
CALL(int, ftruncate, -1, (int fd, off_t l), fd, l)
CALL(size_t, fwrite, 0, (const void *from, size_t s, size_t k, FILE *f), from, s, k, f)
CALL(char *, getcwd, NULL, (char *to, size_t size), to, size)
CALL(int, gethostname, -1, (char *to, size_t size), to, size)
CALL(ssize_t, __getdelim, -1, (char **line, size_t *size, int end, FILE *f), line, size, end, f)
CALL(int, getrlimit, -1, (__rlimit_resource_t what, struct rlimit *limit), what, limit)
CALL(ssize_t, getrandom, -1, (void *to, size_t size, unsigned fl), to, size, fl)
CALL(int, getsockopt, -1, (int fd, int l, int o, void *v, socklen_t *s), fd, l, o, v, s)
CALL(ssize_t, getxattr, -1, (const char *p, const char *k, void *v, size_t s), p, k, v, s)
CALL(int, madvise, -1, (void *a, size_t l, int advice), a, l, advice)
CALL(int, memfd_create, -1, (const char *name, unsigned flags), name, flags)
CALL(int, mkdir, -1, (const char *p, mode_t mode), p, mode)
CALL(int, mkostemp, -1, (char *p, int flags), p, flags)
CALL(void *, mmap, MAP_FAILED, (void *a, size_t l, int p, int f, int fd, off_t o), a, l, p, f, fd, o)
CALL(int, mprotect, -1, (void *a, size_t l, int p), a, l, p)
CALL_DONE(int, munmap, -1, (void *a, size_t l), a, l)
CALL(int, nanosleep, -1, (const struct timespec *t, struct timespec *r), t, r)
CALL(locale_t, newlocale, NULL, (int mask, const char *name, locale_t base), mask, name, base)
CALL(DIR *, opendir, NULL, (const char *p), p)
CALL(FILE *, open_memstream, NULL, (char **to, size_t *size), to, size)
CALL(int, pipe2, -1, (int fds[2], int flags), fds, flags)
CALL(int, poll, -1, (struct pollfd *f, nfds_t k, int t), f, k, t)
CALL(int, ppoll, -1, (struct pollfd *f, nfds_t k, const struct timespec *t, const sigset_t *s), f, k, t, s)
CALL(int, posix_fallocate, error, (int fd, off_t o, off_t l), fd, o, l)
CALL(int, posix_spawn, error, (pid_t *pid, const char *p, const posix_spawn_file_actions_t *fa,
     const posix_spawnattr_t *at, char *const argv[], char *const envp[]), pid, p, fa, at, argv, envp)
CALL(int, posix_spawn_file_actions_init, error, (posix_spawn_file_actions_t *fa), fa)
CALL(int, posix_spawn_file_actions_adddup2, error, (posix_spawn_file_actions_t *fa, int a, int b), fa, a, b)
CALL(int, posix_spawn_file_actions_addopen, error, (posix_spawn_file_actions_t *fa, int fd, const char *p, int o, mode_t m), fa, fd, p, o, m)
CALL(int, posix_spawnattr_init, error, (posix_spawnattr_t *at), at)
CALL(int, posix_spawnattr_setflags, error, (posix_spawnattr_t *at, short f), at, f)
CALL(int, posix_spawnattr_setsigdefault, error, (posix_spawnattr_t *at, const sigset_t *s), at, s)
CALL(int, posix_spawnattr_setsigmask, error, (posix_spawnattr_t *at, const sigset_t *s), at, s)
CALL(ssize_t, pread, -1, (int fd, void *to, size_t s, off_t o), fd, to, s, o)
CALL(ssize_t, process_vm_readv, -1, (pid_t p, const struct iovec *l, unsigned long lk, const struct iovec *r,
     unsigned long rk, unsigned long f), p, l, lk, r, rk, f)
CALL(ssize_t, process_vm_writev, -1, (pid_t p, const struct iovec *l, unsigned long lk, const struct iovec *r,
     unsigned long rk, unsigned long f), p, l, lk, r, rk, f)
CALL(int, pthread_create, error, (pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg), t, a, f, arg)
CALL(int, pthread_sigmask, error, (int how, const sigset_t *s, sigset_t *old), how, s, old)
CALL(ssize_t, pwrite, -1, (int fd, const void *from, size_t s, off_t o), fd, from, s, o)
CALL(ssize_t, read, -1, (int fd, void *to, size_t s), fd, to, s)
CALL(struct dirent *, readdir, NULL, (DIR *d), d)
CALL(ssize_t, readlink, -1, (const char *p, char *to, size_t s), p, to, s)
CALL(ssize_t, readlinkat, -1, (int at, const char *p, char *to, size_t s), at, p, to, s)
CALL(char *, realpath, NULL, (const char *p, char *to), p, to)
CALL(ssize_t, recv, -1, (int fd, void *to, size_t s, int f), fd, to, s, f)
CALL(int, rename, -1, (const char *a, const char *b), a, b)
CALL(int, sched_getaffinity, -1, (pid_t p, size_t s, cpu_set_t *c), p, s, c)
CALL(int, sched_setaffinity, -1, (pid_t p, size_t s, const cpu_set_t *c), p, s, c)
CALL(ssize_t, send, -1, (int fd, const void *from, size_t s, int f), fd, from, s, f)
CALL(int, setenv, -1, (const char *name, const char *value, int over), name, value, over)
CALL(int, setsockopt, -1, (int fd, int l, int o, const void *v, socklen_t s), fd, l, o, v, s)
CALL(int, shm_open, -1, (const char *p, int f, mode_t m), p, f, m)
CALL(int, shm_unlink, -1, (const char *p), p)
CALL(int, shutdown, -1, (int fd, int how), fd, how)
CALL(int, sigpending, -1, (sigset_t *s), s)
CALL(int, sigtimedwait, -1, (const sigset_t *s, siginfo_t *i, const struct timespec *t), s, i, t)
CALL(int, socket, -1, (int d, int t, int p), d, t, p)
CALL(int, socketpair, -1, (int d, int t, int p, int fds[2]), d, t, p, fds)
CALL(int, stat, -1, (const char *p, struct stat *s), p, s)
CALL(int, symlink, -1, (const char *a, const char *b), a, b)
CALL(long, sysconf, -1, (int name), name)
CALL(int, unlink, -1, (const char *p), p)
CALL(int, unlinkat, -1, (int at, const char *p, int f), at, p, f)
CALL(pid_t, waitpid, -1, (pid_t p, int *s, int f), p, s, f)
CALL(ssize_t, write, -1, (int fd, const void *from, size_t s), fd, from, s)

CALL(hwloc_bitmap_t, hwloc_bitmap_alloc, NULL, (void), )
CALL(int, hwloc_topology_init, -1, (hwloc_topology_t *t), t)
CALL(int, hwloc_topology_set_flags, -1, (hwloc_topology_t t, unsigned long f), t, f)
CALL(int, hwloc_topology_load, -1, (hwloc_topology_t t), t)
CALL(int, hwloc_get_cpubind, -1, (hwloc_topology_t t, hwloc_cpuset_t s, int f), t, s, f)

CALL_DONE(int, json_array_append_new, -1, (json_t *to, json_t *v), to, v)
CALL_DONE(int, json_object_set_new, -1, (json_t *to, const char *key, json_t *v), to, key, v)
CALL(int, json_object_update, -1, (json_t *to, json_t *from), to, from)
CALL(json_t *, json_array, NULL, (void), )
CALL(json_t *, json_object, NULL, (void), )
CALL(json_t *, json_integer, NULL, (json_int_t v), v)
CALL(json_t *, json_real, NULL, (double v), v)
CALL(json_t *, json_string, NULL, (const char *s), s)
CALL(json_t *, json_stringn, NULL, (const char *s, size_t l), s, l)
CALL(json_t *, json_loadb, NULL, (const char *s, size_t l, size_t f, json_error_t *e), s, l, f, e)
CALL(char *, json_dumps, NULL, (const json_t *j, size_t f), j, f)
CALL(int, json_dumpf, -1, (const json_t *j, FILE *to, size_t f), j, to, f)

CALL(int, event_assign, -1, (struct event *e, struct event_base *b, evutil_socket_t fd, short what, event_callback_fn f, void *arg), e, b, fd, what, f, arg)
CALL(int, event_add, -1, (struct event *e, const struct timeval *t), e, t)

/* Of Open MPI, whose prototypes change: up to 16 integers and pointers are handed on as they came. */
typedef long any_t;
#define EACH(of) of(a), of(b), of(c), of(d), of(e), of(f), of(g), of(h), of(i), of(j), of(k), of(l), of(m), of(o), of(p), of(q)
#define TYPED(name) any_t name
#define NAMED(name) name
#define CALL_ANY(name, failed)                                                                     \
    long name(EACH(TYPED));                                                                        \
    CALL(long, name, failed, (EACH(TYPED)), EACH(NAMED))
CALL_ANY(PMIx_Get, -1)
CALL_ANY(PMIx_Put, -1)
CALL_ANY(mca_base_component_find, -1)
CALL_ANY(mca_base_component_pvar_register, -1)
CALL_ANY(mca_base_pvar_register, -1)
CALL_ANY(mca_base_var_enum_create, -1)
CALL_ANY(mca_base_var_register, -1)
CALL_ANY(ompi_attr_create_keyval, -1)
CALL_ANY(ompi_attr_set_c, -1)
CALL_ANY(ompi_datatype_sndrcv, -1)
CALL_ANY(ompi_proc_for_name, 0)
CALL_ANY(opal_argv_append_nosize, -1)
CALL_ANY(opal_argv_join, 0)
CALL_ANY(opal_argv_split, 0)
CALL_ANY(opal_datatype_copy_content_same_ddt, -1)
CALL_ANY(opal_hash_table_init, -1)
CALL_ANY(opal_hash_table_set_value_uint64, -1)
CALL_ANY(opal_info_get, -1)
CALL_ANY(opal_pointer_array_set_item, -1)
CALL_ANY(opal_progress_register, -1)
CALL_ANY(opal_value_unload, -1)
/* clang-format on */
