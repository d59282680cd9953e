/* Standard error, to which this program writes all its messages, escaped for a terminal. */
#ifndef CMD_BASE_MESSAGES_H
#define CMD_BASE_MESSAGES_H

/* Makes stderr a stream that escapes control characters and bytes that are not UTF-8: messages hold names from traces,
 * file names and arguments. Without memory stderr stays as it is. */
void messages_init(void);

/* Shows text on the terminal's last line, in place of the text of the last call; NULL: clears it. */
void messages_progress(const char *text);

#endif
