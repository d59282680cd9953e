/*
 * account.c put right: a transfer takes the locks of both accounts, that of the lower address first, so that two that
 * go opposite ways do not wait for one another; the auditor takes those that it counts.
 */
#define RACE_FREE 1
#include "account.c"
