/* The reader of RAPID's STD text on bytes of any kind; see text.h. */
#include "tests/fuzz/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_text(data, size);
	return 0;
}
