/* The program's environment and descriptors are its own; so are those of what it executes. Prints them. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
	char path[64], target[256];

	for (char **e = environ; *e; e++)
		if (strncmp(*e, "_=", 2) != 0)
			printf("%s\n", *e);
	for (int fd = 3; fd < 64; fd++) {
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		ssize_t n = readlink(path, target, sizeof target - 1);
		if (n >= 0)
			printf("open %.*s\n", (int)n, target);
	}
	fflush(stdout);
	if (argc > 1)
		execl(argv[0], argv[0], (char *)NULL);
	return 0;
}
