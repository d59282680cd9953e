/* What functions are by their names; see code_names.h. */
#include "recorder/collector/code_names.h"

#include <string.h>

static bool has_prefix(const char *name, const char *const *prefixes, size_t count)
{
	for (size_t i = 0; name && i < count; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

bool code_name_annotates(const char *name)
{
	static const char *const prefixes[] = {"racetrace_hook_", "__tsan_acquire", "__tsan_release",
	                                       "__tsan_mutex_",   "Annotate",       "WTFAnnotate"};
	return has_prefix(name, prefixes, sizeof prefixes / sizeof *prefixes);
}

bool code_name_is_runtime(const char *name)
{
	static const char *const prefixes[] = {
	    "_Unwind_", "__register_frame", "__deregister_frame", "__cxa_", "__gxx_", "__cpu_indicator_init", "__libc_",
	    "__gcc_",   "__gcov_",          "__llvm_profile_",    "lprof"};
	return has_prefix(name, prefixes, sizeof prefixes / sizeof *prefixes);
}

bool code_name_is_of_libstdcxx(const char *name)
{
	static const char *const prefixes[] = {"_ZNSt",
	                                       "_ZNKSt",
	                                       "_ZSt",
	                                       "_ZNSi",
	                                       "_ZNSo",
	                                       "_ZNSd",
	                                       "_ZNSs",
	                                       "_Z27_txnal_cow_string",
	                                       "_ZN9__gnu_cxx",
	                                       "_ZN10__cxxabiv1",
	                                       "execute_native_thread_routine"};
	return has_prefix(name, prefixes, sizeof prefixes / sizeof *prefixes) ||
	       (name && !strncmp(name, "_ZT", 3) && strstr(name, "_NS")) || /* a thunk */
	       (name && strstr(name, "__gxx_exception_cleanup"));
}

size_t code_whole_function(const struct code *code, size_t function)
{
	const char *name = code->functions[function].name, *cold = name ? strstr(name, ".cold") : NULL;
	for (size_t i = 0; cold && i < code->function_count; i++) {
		const char *other = code->functions[i].name;
		if (other && strlen(other) == (size_t)(cold - name) && !strncmp(other, name, (size_t)(cold - name)))
			return i;
	}
	return function;
}
