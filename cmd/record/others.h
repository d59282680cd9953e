/* The processes that a recorded program has made, and leaves behind when it ends. */
#ifndef CMD_RECORD_OTHERS_H
#define CMD_RECORD_OTHERS_H

#include "recorder/collector/tree.h"

/*
 * Waits until they are recorded. While the program ran, signals went to it. From here on a signal that ends a process
 * ends the recording instead: this command writes the traces first.
 */
void others_wait(struct tree *t);
/* n of them were not recorded; why the first one was not has been said. */
void others_say_unrecorded(size_t n);

#endif
