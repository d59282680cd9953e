/* Whether asserts are on; see assert.h. */
#include "lib/base/assert.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED true
#elif defined __has_feature
#define SANITIZED __has_feature(address_sanitizer)
#else
#define SANITIZED false
#endif

bool rt_asserting = SANITIZED;
