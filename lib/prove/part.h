/*
 * Parts: files with the results of some of an analysis's candidates, each written by a process of its own, perhaps on
 * another machine. What a part says is taken over only for the same candidates, and a proof only if the judge agrees.
 * A file has a head, the arguments of the command that wrote it, a digest of the candidates, the results, and an end
 * with the checksum of all bytes before it.
 * It is for this version of the program on this kind of machine alone.
 */
#ifndef LIB_PROVE_PART_H
#define LIB_PROVE_PART_H

#include "lib/prove/jobs.h"

/* A part that is being written. */
struct part {
	int fd;              /* borrowed */
	uint32_t shard, of;  /* from 0 */
	int failure;         /* 0, or the errno for which it cannot be written */
	void *sum;           /* of what was written so far */
	uint64_t size, most; /* bytes written; more than `most` count as a failure, 0: any number is fine */
};

/* args: count strings, for the one that merges. */
void part_begin(struct part *p, char *const *args, uint32_t count);
/* Of the candidates, before they are decided. */
void part_digest(struct part *p, uint64_t digest);
/* pass: which of the analysis's tasks. */
void part_put(struct part *p, uint32_t pass, uint32_t index, const struct anomaly *a, const struct prove_counts *before,
              const struct prove_counts *after);
/* Once after part_begin, also if the analysis failed. */
void part_end(struct part *p);

/* True if the file begins as a part does. */
bool part_is(const char *path);

/* All parts of one analysis. */
struct parts;

/* Reads them. On RT_OK *out is the caller's. RT_EINPUT: one is damaged or missing, or they are not of one analysis. */
enum rt_status parts_open(char *const *paths, size_t count, struct parts **out, struct rt_error *err);
void parts_free(struct parts *p);
/* The arguments of the command; borrowed. */
char *const *parts_args(const struct parts *p, uint32_t *count);
/* True if the parts are of candidates with this digest. */
bool parts_are_of(const struct parts *p, uint64_t digest);
/* Takes over the result for an anomaly. False if it is to be decided. */
bool parts_take(struct parts *p, struct provers *provers, uint32_t pass, uint32_t index, struct anomaly *a);

#endif
