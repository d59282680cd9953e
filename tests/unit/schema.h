/* A checker of JSON Schema (draft 2020-12), as far as docs/report.schema.json goes. */
#ifndef TESTS_UNIT_SCHEMA_H
#define TESTS_UNIT_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Is value as the schema says? If not, why says where and what. A keyword that the checker does not know fails too. */
bool schema_check(json_t *schema, json_t *value, char *why, size_t size);

#endif
