/* What printf and scanf read and write of the caller's memory through their arguments. */
#ifndef RECORDER_INTERCEPT_FORMAT_H
#define RECORDER_INTERCEPT_FORMAT_H

#include <stdarg.h>
#include <stdint.h>

/* The strings that printf will read (and %n writes). args is used up. */
void rt_printf_accesses(const char *format, va_list args, uintptr_t pc);
/* What scanf has written into the first n arguments that it assigns. args is used up. */
void rt_scanf_accesses(const char *format, va_list args, int n, uintptr_t pc);

#endif
