/* Which functions' addresses a module holds, as data or to pass them on: they may be called through pointers. */
#ifndef RECORDER_COLLECTOR_CODE_POINTERS_H
#define RECORDER_COLLECTOR_CODE_POINTERS_H

#include "recorder/collector/code.h"

/* The name of a function of any module, or (NULL) an address, which may be that of a function of this one. */
typedef void code_pointer_visit(void *of, const char *name, uint64_t address);

/* Visits what may be one, of the image's code. */
void code_pointers(const struct code *c, const struct debug_image *image, code_pointer_visit *visit, void *of);
/* True if the image defines a class with virtual functions. */
bool code_has_vtables(const struct debug_image *image);
/* True if an instruction that calls or jumps through a pointer may have its opcode at the n bytes. */
bool code_may_call_pointer(const uint8_t *p, size_t n);

#endif
