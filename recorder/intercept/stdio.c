/*
 * Streams: see stream.h. A stream locks itself in each call, but for the unlocked ones, which write its position like
 * the macros that compilers inline; a program's own holds of that lock are events. Formats are in printf.c.
 */
#include "recorder/intercept/call.h" /* before all others */

#include "recorder/intercept/fd.h"
#include "recorder/intercept/stream.h"
#include "recorder/runtime/blocking.h"
#include "recorder/runtime/core.h"

#include <fcntl.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <wchar.h>

#undef fread_unlocked
#undef fwrite_unlocked

/* Each call uses the stream itself, which may not be closed at the same time. */
static void stream_uses(const FILE *f, uintptr_t pc)
{
	IN_N(f, 1);
}

void rt_stream_sends(const FILE *f, uintptr_t pc)
{
	if (!f || !rt_recording())
		return;
	IN_N(f, 1);
	rt_fd_publishes(f->_fileno, NULL, 0, pc);
}

/*
 * The thread that filled a stream's buffer, by a hash of both: while that thread takes from it alone, it is behind what
 * it has read already. 0: several take from it. Written before the real call, looked at again after it, so that a
 * thread that comes in between is noticed.
 */
#define FILLERS 64
static uint64_t fillers[FILLERS];

static uint64_t *filler_of(const FILE *f)
{
	return &fillers[((uintptr_t)f >> 4) % FILLERS];
}

static uint64_t this_thread(const FILE *f)
{
	return ((uintptr_t)f >> 4) * UINT64_C(0x9e3779b97f4a7c15) + rt_self->thread + 1;
}

enum rt_stream_source rt_stream_asks(const FILE *f, uintptr_t pc)
{
	if (f && rt_recording()) {
		__atomic_store_n(filler_of(f), this_thread(f), __ATOMIC_SEQ_CST);
		rt_fd_awaits(RT_CALL_READ, f->_fileno, pc);
	}
	return RT_STREAM_DESCRIPTOR;
}

/* Before input of one byte. */
static enum rt_stream_source stream_asks_byte(const FILE *f, uintptr_t pc)
{
	if (!rt_recording())
		return RT_STREAM_BUFFER;
	bool empty = f->_IO_read_ptr >= f->_IO_read_end;
	uint64_t me = this_thread(f), *filler = filler_of(f);
	if (!empty && __atomic_load_n(filler, __ATOMIC_SEQ_CST) == me)
		return RT_STREAM_OWN_BUFFER;
	__atomic_store_n(filler, empty ? me : 0, __ATOMIC_SEQ_CST);
	if (empty)
		rt_fd_awaits(RT_CALL_READ, f->_fileno, pc);
	return empty ? RT_STREAM_DESCRIPTOR : RT_STREAM_BUFFER;
}

void rt_stream_received(const FILE *f, enum rt_stream_source from, bool ok, uintptr_t pc)
{
	rt_call_over();
	if (!f || !rt_recording())
		return;
	IN_N(f, 1);
	if (from == RT_STREAM_OWN_BUFFER && __atomic_load_n(filler_of(f), __ATOMIC_SEQ_CST) == this_thread(f))
		return;
	if (rt_fd_carries(f->_fileno))
		rt_fd_read(f->_fileno, f->_flags & _IO_EOF_SEEN ? 0 : ok ? 1 : -1, pc);
	else if (from == RT_STREAM_DESCRIPTOR)
		rt_emit_time();
}

#define SENDS(f) rt_stream_sends(f, pc)
#define ASKS(f) const enum rt_stream_source from = rt_stream_asks(f, pc)
#define ASKS_BYTE(f) const enum rt_stream_source from = stream_asks_byte(f, pc)
#define RECEIVES(f, ok) rt_stream_received(f, from, ok, pc)
#define STREAM(f) stream_uses(f, pc)
#define TAKEN(f) OUT(&(f)->_IO_read_ptr)
#define PUT(f) OUT(&(f)->_IO_write_ptr)

/* Characters: a stream of one's choice, or of the program. A wide one may take several bytes. */
#define GETS(type, name, asks, eof) CALL(type, name, (FILE * f), (f), asks(f), RECEIVES(f, r != eof))
#define GETS_UNLOCKED(type, name, asks, eof) CALL(type, name, (FILE * f), (f), asks(f); TAKEN(f), RECEIVES(f, r != eof))
#define GETS_STDIN(type, name, asks, eof) CALL(type, name, (void), (), asks(stdin), RECEIVES(stdin, r != eof))
#define PUTS(result, name, type) CALL(result, name, (type c, FILE * f), (c, f), SENDS(f), )
#define PUTS_UNLOCKED(result, name, type) CALL(result, name, (type c, FILE * f), (c, f), SENDS(f); PUT(f), )
#define PUTS_STDOUT(result, name, type) CALL(result, name, (type c), (c), SENDS(stdout), )

GETS(int, fgetc, ASKS_BYTE, EOF)
GETS(int, getc, ASKS_BYTE, EOF)
GETS(int, getw, ASKS, EOF)
GETS_UNLOCKED(int, fgetc_unlocked, ASKS_BYTE, EOF)
GETS_UNLOCKED(int, getc_unlocked, ASKS_BYTE, EOF)
GETS_STDIN(int, getchar, ASKS_BYTE, EOF)
CALL(int, getchar_unlocked, (void), (), ASKS_BYTE(stdin); TAKEN(stdin), RECEIVES(stdin, r != EOF))
GETS(wint_t, fgetwc, ASKS, WEOF)
GETS(wint_t, getwc, ASKS, WEOF)
GETS_UNLOCKED(wint_t, fgetwc_unlocked, ASKS, WEOF)
GETS_UNLOCKED(wint_t, getwc_unlocked, ASKS, WEOF)
GETS_STDIN(wint_t, getwchar, ASKS, WEOF)
CALL(wint_t, getwchar_unlocked, (void), (), ASKS(stdin); TAKEN(stdin), RECEIVES(stdin, r != WEOF))
ALIAS(_IO_getc, getc);
CALL(int, ungetc, (int c, FILE *f), (c, f), STREAM(f), )
CALL(wint_t, ungetwc, (wint_t c, FILE *f), (c, f), STREAM(f), )

PUTS(int, fputc, int)
PUTS(int, putc, int)
PUTS(int, putw, int)
PUTS_UNLOCKED(int, fputc_unlocked, int)
PUTS_UNLOCKED(int, putc_unlocked, int)
PUTS_STDOUT(int, putchar, int)
CALL(int, putchar_unlocked, (int c), (c), SENDS(stdout); PUT(stdout), )
PUTS(wint_t, fputwc, wchar_t)
PUTS(wint_t, putwc, wchar_t)
PUTS_UNLOCKED(wint_t, fputwc_unlocked, wchar_t)
PUTS_UNLOCKED(wint_t, putwc_unlocked, wchar_t)
PUTS_STDOUT(wint_t, putwchar, wchar_t)
CALL(wint_t, putwchar_unlocked, (wchar_t c), (c), SENDS(stdout); PUT(stdout), )
ALIAS(_IO_putc, putc);

/* What the inlined ones call when the buffer is empty, or full. */
#define UNDERFLOW(type, name, eof) GETS(type, name, ASKS, eof)
#define OVERFLOW(type, name, character) CALL(type, name, (FILE * f, character c), (f, c), SENDS(f), )
UNDERFLOW(int, __uflow, EOF)
UNDERFLOW(int, __underflow, EOF)
UNDERFLOW(wint_t, __wuflow, WEOF)
UNDERFLOW(wint_t, __wunderflow, WEOF)
OVERFLOW(int, __overflow, int)
OVERFLOW(wint_t, __woverflow, wint_t)

/* Lines */
#define LINE(type, name, parameters, arguments, out, taken)                                                            \
	CALL(type *, name, parameters, arguments, ASKS(f); taken, RECEIVES(f, r); out(r))
#define TO(type) type *restrict to, int size, FILE *restrict f
#define TO_CHECKED(type) type *restrict to, size_t room, int size, FILE *restrict f
LINE(char, fgets, (TO(char)), (to, size, f), OUT_STR, )
LINE(char, fgets_unlocked, (TO(char)), (to, size, f), OUT_STR, TAKEN(f))
LINE(char, __fgets_chk, (TO_CHECKED(char)), (to, room, size, f), OUT_STR, )
LINE(char, __fgets_unlocked_chk, (TO_CHECKED(char)), (to, room, size, f), OUT_STR, TAKEN(f))
LINE(wchar_t, fgetws, (TO(wchar_t)), (to, size, f), OUT_WSTR, )
LINE(wchar_t, fgetws_unlocked, (TO(wchar_t)), (to, size, f), OUT_WSTR, TAKEN(f))
LINE(wchar_t, __fgetws_chk, (TO_CHECKED(wchar_t)), (to, room, size, f), OUT_WSTR, )
LINE(wchar_t, __fgetws_unlocked_chk, (TO_CHECKED(wchar_t)), (to, room, size, f), OUT_WSTR, TAKEN(f))
CALL(char *, gets, (char *to), (to), ASKS(stdin), RECEIVES(stdin, r); OUT_STR(r))
#define LINE_READ                                                                                                      \
	RECEIVES(f, r >= 0);                                                                                           \
	WHEN(r >= 0, OUT_N(*line, r + 1)) OUT(line);                                                                   \
	OUT(size)
#define INTO char **restrict line, size_t *restrict size
CALL(ssize_t, getline, (INTO, FILE *restrict f), (line, size, f), ASKS(f); IN(line); IN(size); HEAP, LINE_READ)
CALL(ssize_t, getdelim, (INTO, int end, FILE *restrict f), (line, size, end, f), ASKS(f); IN(line); IN(size);
     HEAP, LINE_READ)
CALL(ssize_t, __getdelim, (INTO, int end, FILE *restrict f), (line, size, end, f), ASKS(f); IN(line); IN(size);
     HEAP, LINE_READ)

CALL(int, fputs, (const char *restrict s, FILE *restrict f), (s, f), STR(s); SENDS(f), )
CALL(int, fputs_unlocked, (const char *restrict s, FILE *restrict f), (s, f), STR(s); SENDS(f); PUT(f), )
CALL(int, puts, (const char *s), (s), STR(s); SENDS(stdout), )
CALL(int, fputws, (const wchar_t *restrict s, FILE *restrict f), (s, f), WSTR(s); SENDS(f), )
CALL(int, fputws_unlocked, (const wchar_t *restrict s, FILE *restrict f), (s, f), WSTR(s); SENDS(f); PUT(f), )
CALL_VOID(perror, (const char *s), (s), STR(s); SENDS(stderr), )

/* Blocks */
#define READS_BLOCK(name, parameters, arguments, taken)                                                                \
	CALL(size_t, name, parameters, arguments, ASKS(f); taken, RECEIVES(f, r); OUT_N(to, r * size))
#define BLOCK void *restrict to, size_t size, size_t n, FILE *restrict f
#define BLOCK_CHECKED void *restrict to, size_t room, size_t size, size_t n, FILE *restrict f
READS_BLOCK(fread, (BLOCK), (to, size, n, f), )
READS_BLOCK(fread_unlocked, (BLOCK), (to, size, n, f), TAKEN(f))
READS_BLOCK(__fread_chk, (BLOCK_CHECKED), (to, room, size, n, f), )
READS_BLOCK(__fread_unlocked_chk, (BLOCK_CHECKED), (to, room, size, n, f), TAKEN(f))
#define FROM const void *restrict from, size_t size, size_t n, FILE *restrict f
CALL(size_t, fwrite, (FROM), (from, size, n, f), IN_N(from, size *n); SENDS(f), )
CALL(size_t, fwrite_unlocked, (FROM), (from, size, n, f), IN_N(from, size *n); SENDS(f); PUT(f), )

/* Flushing: all streams' at once if it is NULL. */
static void flushes(FILE *f, uintptr_t pc)
{
	enum { USUAL = 256 };
	if (f)
		SENDS(f);
	for (int fd = 0; !f && fd < USUAL && rt_recording(); fd++)
		rt_fd_publishes(fd, NULL, 0, pc);
}
/* open_memstream sets the address of its memory whenever it is flushed. */
#define MEMORY_STREAMS 64
static struct memory_stream {
	FILE *f;
	void *text, *size;
} memory_streams[MEMORY_STREAMS];
static void opened_memory(FILE *f, void *text, void *size)
{
	FILE *none = NULL;
	for (int i = 0; f && i < MEMORY_STREAMS; none = NULL, i++)
		if (__atomic_compare_exchange_n(&memory_streams[i].f, &none, f, false, __ATOMIC_RELAXED,
		                                __ATOMIC_RELAXED)) {
			memory_streams[i].text = text;
			memory_streams[i].size = size;
			return;
		}
}
static void flushes_memory(const FILE *f, bool closes, uintptr_t pc)
{
	for (int i = 0; f && i < MEMORY_STREAMS; i++)
		if (__atomic_load_n(&memory_streams[i].f, __ATOMIC_RELAXED) == f) {
			OUT_N(memory_streams[i].text, sizeof(char *));
			OUT_N(memory_streams[i].size, sizeof(size_t));
			if (closes)
				__atomic_store_n(&memory_streams[i].f, NULL, __ATOMIC_RELAXED);
		}
}
CALL(int, fflush, (FILE * f), (f), flushes(f, pc), flushes_memory(f, false, pc))
CALL(int, fflush_unlocked, (FILE * f), (f), flushes(f, pc); if (f) PUT(f), flushes_memory(f, false, pc))
static void closes(const FILE *f, uintptr_t pc)
{
	if (rt_recording())
		rt_fd_closes(f->_fileno, pc);
}
/* No stream is there any more, whereas freopen leaves it locked until it is another's. */
static void ends(const FILE *f, uintptr_t pc)
{
	OUT_N(f, 1);
	closes(f, pc);
}
CALL(int, fclose, (FILE * f), (f), ends(f, pc); flushes_memory(f, true, pc); HEAP, )
CALL(int, pclose, (FILE * f), (f), ends(f, pc); HEAP; LEAVES; AWAITS(CHILD), RETURNS; BLOCKS;
     WHEN(r != -1, rt_child_ended(pc)))

/* Positions, which also flush; states */
CALL(int, fseek, (FILE * f, long at, int how), (f, at, how), SENDS(f), )
CALL(int, fseeko, (FILE * f, off_t at, int how), (f, at, how), SENDS(f), )
CALL(int, fseeko64, (FILE * f, off64_t at, int how), (f, at, how), SENDS(f), )
CALL_VOID(rewind, (FILE * f), (f), SENDS(f), )
CALL(long, ftell, (FILE * f), (f), STREAM(f), )
CALL(off_t, ftello, (FILE * f), (f), STREAM(f), )
CALL(off64_t, ftello64, (FILE * f), (f), STREAM(f), )
CALL(int, fgetpos, (FILE *restrict f, fpos_t *restrict to), (f, to), STREAM(f), if (r == 0) OUT(to))
CALL(int, fgetpos64, (FILE *restrict f, fpos64_t *restrict to), (f, to), STREAM(f), if (r == 0) OUT(to))
CALL(int, fsetpos, (FILE * f, const fpos_t *from), (f, from), SENDS(f); IN(from), )
CALL(int, fsetpos64, (FILE * f, const fpos64_t *from), (f, from), SENDS(f); IN(from), )
CALL(int, feof, (FILE * f), (f), STREAM(f), )
CALL(int, ferror, (FILE * f), (f), STREAM(f), )
CALL_VOID(clearerr, (FILE * f), (f), STREAM(f), )
CALL(int, fileno, (FILE * f), (f), STREAM(f), )
CALL(int, feof_unlocked, (FILE * f), (f), STREAM(f), )
CALL(int, ferror_unlocked, (FILE * f), (f), STREAM(f), )
CALL_VOID(clearerr_unlocked, (FILE * f), (f), STREAM(f), )
CALL(int, fileno_unlocked, (FILE * f), (f), STREAM(f), )
CALL(int, fwide, (FILE * f, int mode), (f, mode), STREAM(f), )
CALL(int, setvbuf, (FILE *restrict f, char *restrict memory, int mode, size_t size), (f, memory, mode, size),
     SENDS(f), )
CALL_VOID(setbuf, (FILE *restrict f, char *restrict memory), (f, memory), SENDS(f), )
CALL_VOID(setbuffer, (FILE *restrict f, char *restrict memory, size_t size), (f, memory, size), SENDS(f), )
CALL_VOID(setlinebuf, (FILE * f), (f), SENDS(f), )

/* Opening: files carry nothing, whatever had their number before. */
#define OPENS(name)                                                                                                    \
	CALL(FILE *, name, (const char *restrict path, const char *restrict mode), (path, mode), STR(path); STR(mode); \
	     rt_name_opens(path, *mode == 'r' ? 0 : O_CREAT, pc); HEAP, rt_name_opened(path, r ? r->_fileno : -1, pc))
#define OPENS_AGAIN(name)                                                                                              \
	CALL(FILE *, name, (const char *restrict path, const char *restrict mode, FILE *restrict f), (path, mode, f),  \
	     STR(path);                                                                                                \
	     STR(mode); STREAM(f); closes(f, pc); rt_name_opens(path, *mode == 'r' ? 0 : O_CREAT, pc);                 \
	     HEAP, rt_name_opened(path, r ? r->_fileno : -1, pc))
OPENS(fopen)
OPENS(fopen64)
OPENS_AGAIN(freopen)
OPENS_AGAIN(freopen64)
CALL(FILE *, tmpfile, (void), (), HEAP, rt_fd_opened(r ? r->_fileno : -1))
CALL(FILE *, tmpfile64, (void), (), HEAP, rt_fd_opened(r ? r->_fileno : -1))
CALL(FILE *, fdopen, (int fd, const char *mode), (fd, mode), rt_fd_uses(fd, pc); STR(mode); HEAP, )
CALL(FILE *, fmemopen, (void *memory, size_t size, const char *mode), (memory, size, mode), STR(mode); HEAP, )
CALL(FILE *, open_memstream, (char **text, size_t *size), (text, size), HEAP, opened_memory(r, text, size))
CALL(FILE *, open_wmemstream, (wchar_t * *text, size_t *size), (text, size), HEAP, opened_memory(r, text, size))

/* A stream is a lock as well, which its holder may take several times. */
RT_INTERPOSE(int, ftrylockfile, (FILE * f))
{
	int result = RT_REAL(ftrylockfile)(f);
	if (result == 0 && rt_recording() && rt_held_enter(f))
		rt_emit_sync(RT_OP_ACQUIRE, (uintptr_t)f, 0, RT_PC, RT_F_TIMED);
	if (result != 0)
		rt_try_failed(RT_OP_ACQUIRE, f, RT_PC);
	return result;
}

RT_INTERPOSE(void, flockfile, (FILE * f))
{
	RT_BLOCKING_UNLESS(RT_REAL(ftrylockfile)(f) ? EBUSY : 0, EBUSY, RT_OP_ACQUIRE, f, 0, RT_FOREVER, RT_PC,
	                   (RT_REAL(flockfile)(f), 0));
	if (rt_recording() && rt_held_enter(f))
		rt_emit_sync(RT_OP_ACQUIRE, (uintptr_t)f, 0, RT_PC, 0);
}

RT_INTERPOSE(void, funlockfile, (FILE * f))
{
	if (rt_recording() && rt_held_leave(f))
		rt_emit_sync(RT_OP_RELEASE, (uintptr_t)f, 0, RT_PC, 0);
	RT_REAL(funlockfile)(f);
}
