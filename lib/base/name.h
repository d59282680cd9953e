/* Names in lines of source. */
#ifndef LIB_BASE_NAME_H
#define LIB_BASE_NAME_H

#include <ctype.h>
#include <stdbool.h>

/* True if the character may be of a name in C or C++, or is a part of one in UTF-8. */
static inline bool is_in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

#endif
