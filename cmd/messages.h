/* Standard error, where all messages of this program go: fit for a terminal, whatever names are in them. */
#ifndef CMD_MESSAGES_H
#define CMD_MESSAGES_H

/* Makes stderr a stream that escapes characters that steer a terminal, and what is not UTF-8. Names in messages may be
 * from anywhere: traces, file names, arguments. Without memory stderr stays as it is. */
void messages_init(void);

/* Shows text on the terminal's last line, in place of what was shown there before; NULL: shows nothing any more. */
void messages_progress(const char *text);

#endif
