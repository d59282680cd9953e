/* Options that set a member; see setting.h. */
#include "cmd/base/setting.h"

#include "cmd/base/command.h"

bool cmd_set(const struct cmd_setting *list, int key, const char *arg, struct argp_state *state, void *options)
{
	while (list->key && list->key != key)
		list++;
	if (!list->key)
		return false;
	void *member = (char *)options + list->at;
	switch (list->kind) {
	case CMD_FLAG:
		*(bool *)member = true;
		break;
	case CMD_TEXT:
		*(const char **)member = arg;
		break;
	case CMD_NUMBER_32:
		*(uint32_t *)member = cmd_number(state, list->what, arg, list->min, list->max);
		break;
	case CMD_NUMBER_64:
		*(uint64_t *)member = cmd_number(state, list->what, arg, list->min, list->max);
		break;
	case CMD_TIME:
		*(uint64_t *)member = cmd_time_ms(state, list->what, arg, !list->min);
		break;
	}
	return true;
}
