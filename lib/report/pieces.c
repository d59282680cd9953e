/* Pieces of a report made once; see pieces.h. */
#include "lib/report/pieces.h"

#include "lib/base/hash.h"
#include "lib/base/memory_file.h"

#include <stdlib.h>

struct piece {
	uint64_t pc;
	struct rt_bytes text;
	UT_hash_handle hh;
};

static struct piece *piece_create(uint64_t pc, pieces_make *make, const void *arg)
{
	struct piece *piece = calloc(1, sizeof *piece);
	FILE *out = piece ? rt_memory_file(&piece->text) : NULL;
	if (out) {
		piece->pc = pc;
		make(out, pc, arg);
		bool failed = ferror(out) != 0;
		failed |= fclose(out) != 0;
		if (!failed)
			return piece;
		rt_bytes_release(&piece->text);
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
		if (!HASH_ADDED(piece)) {
			rt_bytes_release(&piece->text);
			free(piece);
			return false;
		}
	}
	fwrite_unlocked(piece->text.data, 1, piece->text.len, out);
	return true;
}

void pieces_release(struct pieces *p)
{
	struct piece *piece, *next;
	HASH_ITER(hh, p->all, piece, next)
	{
		HASH_DELETE(hh, p->all, piece);
		rt_bytes_release(&piece->text);
		free(piece);
	}
}
