/* Where a command's result goes; see output.h. */
#include "cmd/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum rt_status cmd_output_open(struct cmd_output *o, const char *path, struct rt_error *err)
{
	*o = (struct cmd_output){.file = stdout, .to = {.fd = -1, .folder = -1}};
	if (!path || !strcmp(path, "-"))
		return RT_OK;
	enum rt_status status = rt_output_create(&o->to, path, RT_OUTPUT_STREAM, err);
	if (status)
		return status;
	int fd = fcntl(o->to.fd, F_DUPFD_CLOEXEC, 0);
	o->file = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (o->file)
		return RT_OK;
	status = rt_error_set(err, RT_ESYSTEM, "cannot write '%s': %s", path, strerror(errno));
	rt_output_discard(&o->to);
	return status;
}

int cmd_output_failure(int fd)
{
	return rt_write_all(fd, "\n", 1) ? EIO : errno;
}

enum rt_status cmd_output_close(struct cmd_output *o, enum rt_status status, struct rt_error *err)
{
	if (o->file == stdout || !o->file)
		return status;
	bool before = ferror(o->file) != 0, failed = fclose(o->file) != 0 || before;
	if (before)
		errno = cmd_output_failure(o->to.fd);
	if (!status && failed)
		status = rt_error_set(err, RT_ESYSTEM, "cannot write '%s': %s", o->to.path, strerror(errno));
	if (!status)
		return rt_output_commit(&o->to, err);
	rt_output_discard(&o->to);
	return status;
}
