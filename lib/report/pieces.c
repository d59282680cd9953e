/* Pieces of a report made once; see pieces.h. */
#include "lib/report/pieces.h"

#include <stdlib.h>
#include <uthash.h>

struct piece {
	uint64_t pc;
	char *text;
	size_t length;
	UT_hash_handle hh;
};

static struct piece *piece_create(uint64_t pc, pieces_make *make, const void *arg)
{
	struct piece *piece = calloc(1, sizeof *piece);
	FILE *out = piece ? open_memstream(&piece->text, &piece->length) : NULL;
	if (out) {
		piece->pc = pc;
		make(out, pc, arg);
		bool failed = ferror(out) != 0;
		failed |= fclose(out) != 0;
		if (!failed)
			return piece;
		free(piece->text);
	}
	free(piece);
	return NULL;
}

bool pieces_write(struct pieces *p, uint64_t pc, pieces_make *make, const void *arg, FILE *out)
{
	struct piece *piece;
	HASH_FIND(hh, p->all, &pc, sizeof pc, piece);
	if (!piece) {
		piece = piece_create(pc, make, arg);
		if (!piece)
			return false;
		HASH_ADD(hh, p->all, pc, sizeof piece->pc, piece);
	}
	fwrite_unlocked(piece->text, 1, piece->length, out);
	return true;
}

void pieces_release(struct pieces *p)
{
	struct piece *piece, *next;
	HASH_ITER(hh, p->all, piece, next)
	{
		HASH_DELETE(hh, p->all, piece);
		free(piece->text);
		free(piece);
	}
}
