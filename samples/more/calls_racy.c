/*
 * The C library reads and writes the caller's memory. One thread writes a buffer, another hands it to a function,
 * later, which nothing orders; calls.c hands it another one.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ctype.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#ifndef RACE_FREE
#define RACE_FREE 0
#endif
#define SIZE 256

static int fds[2], sockets[2];
static FILE *file;
static struct addrinfo numeric = {.ai_flags = AI_NUMERICHOST};
static char out[SIZE] = "text";
static _Thread_local char own[SIZE] = "10 text";
static volatile size_t sink, eight = 8;
#define USE(value) (sink += (size_t)(value))

static void fill(volatile char *p)
{
	static const char text[] = "10 text";
	for (size_t i = 0; i < sizeof text; i++)
		p[i] = text[i]; /* @fill */
}

/* p is the buffer, own a buffer of the thread itself. */
#define PASSED(name, call)                                                                                             \
	static char name[SIZE], name##_other[SIZE] = "10 text";                                                        \
	static void *name##_use(void *second)                                                                          \
	{                                                                                                              \
		char *p = RACE_FREE ? name##_other : name;                                                             \
		if (!second) {                                                                                         \
			fill(name);                                                                                    \
			return NULL;                                                                                   \
		}                                                                                                      \
		usleep(20000);                                                                                         \
		call;                                                                                                  \
		return NULL;                                                                                           \
	}

static int compare(const void *a, const void *b)
{
	return *(const unsigned char *)a - *(const unsigned char *)b; /* @compare */
}

/* Strings and memory */
PASSED(of_strlen, USE(strlen(p)))                         /* @strlen */
PASSED(of_strnlen, USE(strnlen(p, 9)))                    /* @strnlen */
PASSED(of_strcpy, strcpy(own, p))                         /* @strcpy */
PASSED(to_strcpy, strcpy(p, own))                         /* @to_strcpy */
PASSED(of_stpcpy, USE(stpcpy(own, p)))                    /* @stpcpy */
PASSED(of_strncpy, strncpy(own, p, 9))                    /* @strncpy */
PASSED(of_strcat, (own[0] = 0, strcat(own, p)))           /* @strcat */
PASSED(of_strncat, (own[0] = 0, strncat(own, p, 3)))      /* @strncat */
PASSED(of_strcmp, USE(strcmp(own, p)))                    /* @strcmp */
PASSED(of_strncmp, USE(strncmp(own, p, 3)))               /* @strncmp */
PASSED(of_strcasecmp, USE(strcasecmp(own, p)))            /* @strcasecmp */
PASSED(of_strchr, USE(strchr(p, 'x')))                    /* @strchr */
PASSED(of_strrchr, USE(strrchr(p, 'x')))                  /* @strrchr */
PASSED(of_strstr, USE(strstr(p, own)))                    /* @strstr */
PASSED(of_strspn, USE(strspn(p, own)))                    /* @strspn */
PASSED(of_strpbrk, USE(strpbrk(p, own)))                  /* @strpbrk */
PASSED(of_strdup, USE(strdup(p)))                         /* @strdup */
PASSED(of_strtok, USE(strtok_r(p, " ", &(char *){NULL}))) /* @strtok */
PASSED(of_memcpy, memcpy(own, p, eight))                  /* @memcpy */
PASSED(to_memcpy, memcpy(p, own, eight))                  /* @to_memcpy */
PASSED(of_memmove, memmove(own, p, eight))                /* @memmove */
PASSED(of_memset, memset(p, 'x', eight))                  /* @memset */
PASSED(of_memcmp, USE(memcmp(own, p, eight)))             /* @memcmp */
PASSED(of_memchr, USE(memchr(p, 'x', 8)))                 /* @memchr */
PASSED(of_memmem, USE(memmem(p, 8, "x", 1)))              /* @memmem */

/* Numbers and time */
PASSED(of_strtol, USE(strtol(p, NULL, 10)))                                /* @strtol */
PASSED(of_strtod, USE(strtod(p, NULL)))                                    /* @strtod */
PASSED(to_localtime, USE(localtime_r(&(time_t){0}, (struct tm *)p)))       /* @localtime */
PASSED(to_gmtime, USE(gmtime_r(&(time_t){0}, (struct tm *)p)))             /* @gmtime */
PASSED(to_strftime, USE(strftime(p, SIZE, "%H:%M", &(struct tm){0})))      /* @strftime */
PASSED(to_clock, USE(clock_gettime(CLOCK_REALTIME, (struct timespec *)p))) /* @clock */
PASSED(to_strerror, USE(strerror_r(-1, p, SIZE)))                          /* @strerror */
PASSED(to_time, USE(time((time_t *)p)))                                    /* @time */

/* Streams */
PASSED(of_printf, USE(snprintf(own, SIZE, "%s", p))) /* @printf */
PASSED(to_sprintf, USE(snprintf(p, SIZE, "%d", 10))) /* @to_sprintf */
PASSED(of_format, USE(snprintf(own, SIZE, p)))       /* @format */
PASSED(of_fprintf, USE(fprintf(file, "%s", p)))      /* @fprintf */
PASSED(of_sscanf, USE(sscanf(p, "%*d")))             /* @sscanf */
PASSED(to_sscanf, USE(sscanf(own, "%d", (int *)p)))  /* @to_sscanf */
PASSED(of_fputs, USE(fputs(p, file)))                /* @fputs */
PASSED(of_fwrite, USE(fwrite(p, 1, 8, file)))        /* @fwrite */
PASSED(to_fread, USE(fread(p, 1, 8, file)))          /* @fread */
PASSED(to_fgets, USE(fgets(p, 8, file)))             /* @fgets */
PASSED(of_fopen, USE(fopen(p, "r")))                 /* @fopen */

/* Files, pipes, sockets */
PASSED(of_write, USE(write(fds[1], p, 8)))                                                     /* @write */
PASSED(to_read, USE(read(fds[0], p, 8)))                                                       /* @read */
PASSED(of_send, USE(send(sockets[0], p, 8, 0)))                                                /* @send */
PASSED(to_recv, USE(recv(sockets[1], p, 8, 0)))                                                /* @recv */
PASSED(of_writev, USE(writev(fds[1], &(struct iovec){p, 8}, 1)))                               /* @writev */
PASSED(to_readv, USE(readv(fds[0], &(struct iovec){p, 8}, 1)))                                 /* @readv */
PASSED(to_stat, USE(stat("/", (struct stat *)p)))                                              /* @stat */
PASSED(of_stat, USE(stat(p, (struct stat *)own)))                                              /* @of_stat */
PASSED(of_open, USE(open(p, O_RDONLY)))                                                        /* @open */
PASSED(of_access, USE(access(p, R_OK)))                                                        /* @access */
PASSED(of_unlink, USE(unlink(p)))                                                              /* @unlink */
PASSED(to_getcwd, USE(getcwd(p, SIZE)))                                                        /* @getcwd */
PASSED(to_getsockname, USE(getsockname(sockets[0], (struct sockaddr *)p, &(socklen_t){SIZE}))) /* @getsockname */
PASSED(of_getaddrinfo, USE(getaddrinfo(p, NULL, &numeric, (struct addrinfo **)own)))           /* @getaddrinfo */
PASSED(of_inet_pton, USE(inet_pton(AF_INET, p, own)))                                          /* @inet_pton */

/* And what is called back */
PASSED(of_qsort, qsort(p, 8, 1, compare))               /* @qsort */
PASSED(of_bsearch, USE(bsearch("x", p, 8, 1, compare))) /* @bsearch */

int main(void)
{
	static void *(*const parts[])(void *) = {
	    of_strlen_use,  of_strnlen_use,  of_strcpy_use,      to_strcpy_use,      of_stpcpy_use,     of_strncpy_use,
	    of_strcat_use,  of_strncat_use,  of_strcmp_use,      of_strncmp_use,     of_strcasecmp_use, of_strchr_use,
	    of_strrchr_use, of_strstr_use,   of_strspn_use,      of_strpbrk_use,     of_strdup_use,     of_strtok_use,
	    of_memcpy_use,  to_memcpy_use,   of_memmove_use,     of_memset_use,      of_memcmp_use,     of_memchr_use,
	    of_memmem_use,  of_strtol_use,   of_strtod_use,      to_localtime_use,   to_gmtime_use,     to_strftime_use,
	    to_clock_use,   to_strerror_use, to_time_use,        of_printf_use,      to_sprintf_use,    of_format_use,
	    of_fprintf_use, of_sscanf_use,   to_sscanf_use,      of_fputs_use,       of_fwrite_use,     to_fread_use,
	    to_fgets_use,   of_fopen_use,    of_write_use,       to_read_use,        of_send_use,       to_recv_use,
	    of_writev_use,  to_readv_use,    to_stat_use,        of_stat_use,        of_open_use,       of_access_use,
	    of_unlink_use,  to_getcwd_use,   to_getsockname_use, of_getaddrinfo_use, of_inet_pton_use,  of_qsort_use,
	    of_bsearch_use};
	if (pipe(fds) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) || !(file = tmpfile()))
		return 1;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		pthread_t a, b;
		rewind(file);
		pthread_create(&a, NULL, parts[i], NULL);
		pthread_create(&b, NULL, parts[i], out);
		pthread_join(a, NULL);
		pthread_join(b, NULL);
	}
	return 0;
}
