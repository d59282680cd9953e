/*
 * The reader of JSON lines on bytes of any kind; see text.h. A header is put in front of what does not look like one,
 * so that more inputs get past it.
 */
#include "tests/fuzz/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char header[] = "{\"schema\":\"racetrace.events/1\"}\n";
	if (size && data[0] == '{' && memmem(data, size, "schema", 6)) {
		fuzz_text(data, size);
		return 0;
	}
	uint8_t *whole = malloc(sizeof header - 1 + size);
	memcpy(whole, header, sizeof header - 1);
	if (size)
		memcpy(whole + sizeof header - 1, data, size);
	fuzz_text(whole, sizeof header - 1 + size);
	free(whole);
	return 0;
}
