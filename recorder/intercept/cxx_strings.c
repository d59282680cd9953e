/*
 * What the members of std::string do to a string inside libstdc++, where no compiler puts hooks. Without that a thread
 * that asks whether a string is empty has nothing in common with one that appends to it.
 *
 * The members have parameters and results of many kinds, so none is called from a wrapper: what it accesses is recorded
 * first, and then it is jumped to, with the caller's stack, arguments and return address as they were. Of a call only
 * accesses that it makes in any case are recorded, and characters only where it reads all of them. What it copies is
 * recorded as memcpy's. The layout is that of libstdc++.so.6 since GCC 5.
 */
#include "recorder/runtime/core.h"

struct string {
	char *data;
	size_t length, capacity;
};

/* What a member does with its string, or with one that is its argument. */
enum access {
	READS_LENGTH = 1,
	READS_DATA = 2, /* where the characters are */
	READS_TEXT = 4,
	WRITES_LENGTH = 8,
	WRITES_DATA = 16,
	WRITES_CAPACITY = 32,
	IF_OTHER_LENGTH = 64 /* the writes are done if the argument is not the length */
};

/* A member of that name. `of`: what it does with its string, `with`: with the string that its first argument is. */
struct member {
	void *real;
	const char *name;
	unsigned of, with;
};

static void note(const struct string *s, unsigned access, uintptr_t pc)
{
	if (access & READS_DATA)
		rt_emit_range(RT_OP_READ, &s->data, sizeof s->data, pc);
	if (access & READS_LENGTH)
		rt_emit_range(RT_OP_READ, &s->length, sizeof s->length, pc);
	if (access & READS_TEXT)
		rt_emit_range(RT_OP_READ, s->data, s->length, pc);
	if (access & WRITES_DATA)
		rt_emit_range(RT_OP_WRITE, &s->data, sizeof s->data, pc);
	if (access & WRITES_LENGTH)
		rt_emit_range(RT_OP_WRITE, &s->length, sizeof s->length, pc);
	if (access & WRITES_CAPACITY)
		rt_emit_range(RT_OP_WRITE, &s->capacity, sizeof s->capacity, pc);
}

/* Called by the members below; returns the real one. */
__attribute__((used)) static void *seen(struct member *member, const struct string *s, uintptr_t argument,
                                        uintptr_t caller)
{
	unsigned of = member->of;
	if (of & IF_OTHER_LENGTH && s->length == argument)
		of &= ~(unsigned)WRITES_LENGTH;
	if (member->with && s == (const struct string *)argument)
		of = 0; /* to itself: nothing happens */
	else if (member->with)
		note((const struct string *)argument, member->with, caller - 1);
	note(s, of, caller - 1);
	return rt_real(&member->real, member->name);
}

/* %r11: the member. Results that are objects have their place as the first argument, before the string. */
#define ENTRY(label, string, argument)                                                                                 \
	__asm__(".text\n\t.p2align 4\n\t.type " #label ", @function\n" #label ":\n\t.cfi_startproc\n\t"                \
	        "push %rdi\n\t.cfi_adjust_cfa_offset 8\n\tpush %rsi\n\t.cfi_adjust_cfa_offset 8\n\t"                   \
	        "push %rdx\n\t.cfi_adjust_cfa_offset 8\n\tpush %rcx\n\t.cfi_adjust_cfa_offset 8\n\t"                   \
	        "push %r8\n\t.cfi_adjust_cfa_offset 8\n\tpush %r9\n\t.cfi_adjust_cfa_offset 8\n\t"                     \
	        "mov 48(%rsp), %rcx\n\tmov " argument ", %r8\n\tmov " string ", %rsi\n\tmov %r8, %rdx\n\t"             \
	        "mov %r11, %rdi\n\tsub $8, %rsp\n\t.cfi_adjust_cfa_offset 8\n\t"                                       \
	        "call seen\n\t"                                                                                        \
	        "add $8, %rsp\n\t.cfi_adjust_cfa_offset -8\n\tpop %r9\n\t.cfi_adjust_cfa_offset -8\n\t"                \
	        "pop %r8\n\t.cfi_adjust_cfa_offset -8\n\tpop %rcx\n\t.cfi_adjust_cfa_offset -8\n\t"                    \
	        "pop %rdx\n\t.cfi_adjust_cfa_offset -8\n\tpop %rsi\n\t.cfi_adjust_cfa_offset -8\n\t"                   \
	        "pop %rdi\n\t.cfi_adjust_cfa_offset -8\n\tjmp *%rax\n\t"                                               \
	        ".cfi_endproc\n\t.size " #label ", .-" #label)
ENTRY(string_member, "%rdi", "%rsi");
ENTRY(string_member_of_object, "%rsi", "%rdx");

#define DEFINE(name, entry, of, with)                                                                                  \
	static struct member member_##name __attribute__((used)) = {NULL, #name, of, with};                            \
	static struct rt_real_entry entry_##name                                                                       \
	    __attribute__((section("rt_reals"), used)) = {&member_##name.real, #name};                                 \
	__asm__(".text\n\t.p2align 4\n\t.globl " #name "\n\t.type " #name ", @function\n" #name                        \
	        ":\n\tendbr64\n\tlea member_" #name "(%rip), %r11\n\tjmp " #entry "\n\t.size " #name ", .-" #name)
#define MEMBER(name, of, with)                                                                                         \
	DEFINE(_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE##name, string_member, of, with)
#define CONST(name, of, with)                                                                                          \
	DEFINE(_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE##name, string_member, of, with)

/* ---- Members that only look ---- */

/* Of a string that may be changed by what they return, and of one that may not. */
#define BOTH(name, of)                                                                                                 \
	MEMBER(name, of, 0);                                                                                           \
	CONST(name, of, 0)
BOTH(5beginEv, READS_DATA);
BOTH(3endEv, READS_DATA | READS_LENGTH);
BOTH(6rbeginEv, READS_DATA | READS_LENGTH);
BOTH(4rendEv, READS_DATA);
BOTH(5frontEv, READS_DATA);
BOTH(4backEv, READS_DATA | READS_LENGTH);
BOTH(ixEm, READS_DATA);
BOTH(2atEm, READS_DATA | READS_LENGTH);
MEMBER(4dataEv, READS_DATA, 0);
CONST(4dataEv, READS_DATA, 0);
CONST(5c_strEv, READS_DATA, 0);
CONST(6cbeginEv, READS_DATA, 0);
CONST(4cendEv, READS_DATA | READS_LENGTH, 0);
CONST(7crbeginEv, READS_DATA | READS_LENGTH, 0);
CONST(5crendEv, READS_DATA, 0);
CONST(4sizeEv, READS_LENGTH, 0);
CONST(6lengthEv, READS_LENGTH, 0);
CONST(5emptyEv, READS_LENGTH, 0);
CONST(8capacityEv, READS_DATA, 0);
CONST(cvSt17basic_string_viewIcS2_EEv, READS_DATA | READS_LENGTH, 0);
CONST(7_M_dataEv, READS_DATA, 0);
CONST(11_M_is_localEv, READS_DATA, 0);
CONST(8_M_checkEmPKc, READS_LENGTH, 0);
CONST(8_M_limitEmm, READS_LENGTH, 0);
CONST(15_M_check_lengthEmmPKc, READS_LENGTH, 0);
CONST(11_M_disjunctEPKc, READS_DATA | READS_LENGTH, 0);
CONST(4copyEPcmm, READS_DATA | READS_LENGTH, 0);

/* Searches end where they have found it: their characters are not known. */
#define SEARCH(name)                                                                                                   \
	CONST(name##EPKcm, READS_DATA | READS_LENGTH, 0);                                                              \
	CONST(name##EPKcmm, READS_DATA | READS_LENGTH, 0);                                                             \
	CONST(name##ERKS4_m, READS_DATA | READS_LENGTH, READS_DATA | READS_LENGTH);                                    \
	CONST(name##Ecm, READS_DATA | READS_LENGTH, 0)
SEARCH(4find);
SEARCH(5rfind);
SEARCH(13find_first_of);
SEARCH(12find_last_of);
SEARCH(17find_first_not_of);
SEARCH(16find_last_not_of);
CONST(7compareEPKc, READS_DATA | READS_LENGTH, 0);
CONST(7compareEmmPKc, READS_DATA | READS_LENGTH, 0);
CONST(7compareEmmPKcm, READS_DATA | READS_LENGTH, 0);
CONST(7compareEmmRKS4_, READS_DATA | READS_LENGTH, 0);
CONST(7compareEmmRKS4_mm, READS_DATA | READS_LENGTH, 0);
CONST(7compareERKS4_, READS_DATA | READS_LENGTH, READS_DATA | READS_LENGTH);
DEFINE(_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6substrEmm, string_member_of_object,
       READS_DATA | READS_LENGTH, 0);

/* ---- Members that change their string ---- */

#define CHANGES (READS_DATA | READS_LENGTH | WRITES_LENGTH)
#define SETS (READS_DATA | WRITES_LENGTH)
#define OTHER (READS_LENGTH | READS_TEXT | READS_DATA)
MEMBER(9_M_appendEPKcm, CHANGES, 0);
MEMBER(9_M_assignERKS4_, SETS, OTHER);
MEMBER(10_M_replaceEmmPKcm, CHANGES, 0);
MEMBER(14_M_replace_auxEmmmc, CHANGES, 0);
MEMBER(8_M_eraseEmm, CHANGES, 0);
MEMBER(9_M_mutateEmmPKcm, READS_DATA | READS_LENGTH | WRITES_DATA | WRITES_CAPACITY, 0);
MEMBER(10_M_disposeEv, READS_DATA, 0);
MEMBER(7_M_dataEPc, WRITES_DATA, 0);
MEMBER(9_M_lengthEm, WRITES_LENGTH, 0);
MEMBER(11_M_capacityEm, WRITES_CAPACITY, 0);
MEMBER(13_M_set_lengthEm, SETS, 0);
MEMBER(6appendEPKc, CHANGES, 0);
MEMBER(6appendEPKcm, CHANGES, 0);
MEMBER(6appendERKS4_, CHANGES, OTHER);
MEMBER(6appendERKS4_mm, CHANGES, READS_DATA | READS_LENGTH);
MEMBER(6appendESt16initializer_listIcE, CHANGES, 0);
MEMBER(6appendEmc, CHANGES, 0);
MEMBER(pLEPKc, CHANGES, 0);
MEMBER(pLERKS4_, CHANGES, OTHER);
MEMBER(pLESt16initializer_listIcE, CHANGES, 0);
MEMBER(pLEc, CHANGES, 0);
MEMBER(9push_backEc, CHANGES, 0);
MEMBER(8pop_backEv, CHANGES, 0);
MEMBER(6assignEPKc, SETS, 0);
MEMBER(6assignEPKcm, SETS, 0);
MEMBER(6assignERKS4_, SETS, OTHER);
MEMBER(6assignERKS4_mm, SETS, READS_DATA | READS_LENGTH);
MEMBER(6assignESt16initializer_listIcE, SETS, 0);
MEMBER(6assignEmc, SETS, 0);
MEMBER(aSEPKc, SETS, 0);
MEMBER(aSERKS4_, SETS, OTHER);
MEMBER(aSESt16initializer_listIcE, SETS, 0);
MEMBER(aSEc, SETS, 0);
MEMBER(6assignEOS4_, SETS, READS_DATA | READS_LENGTH | WRITES_LENGTH);
MEMBER(aSEOS4_, SETS, READS_DATA | READS_LENGTH | WRITES_LENGTH);
MEMBER(4swapERS4_, READS_DATA | READS_LENGTH | WRITES_LENGTH, READS_DATA | READS_LENGTH | WRITES_LENGTH);
MEMBER(6insertEmPKc, CHANGES, 0);
MEMBER(6insertEmPKcm, CHANGES, 0);
MEMBER(6insertEmRKS4_, CHANGES, 0);
MEMBER(6insertEmRKS4_mm, CHANGES, 0);
MEMBER(6insertEmmc, CHANGES, 0);
MEMBER(6insertEN9__gnu_cxx17__normal_iteratorIPKcS4_EEc, CHANGES, 0);
MEMBER(6insertEN9__gnu_cxx17__normal_iteratorIPKcS4_EEmc, CHANGES, 0);
MEMBER(5eraseEmm, READS_DATA | READS_LENGTH | WRITES_LENGTH, 0);
MEMBER(5eraseEN9__gnu_cxx17__normal_iteratorIPKcS4_EE, CHANGES, 0);
MEMBER(5eraseEN9__gnu_cxx17__normal_iteratorIPKcS4_EES9_, CHANGES, 0);
MEMBER(7replaceEmmPKc, CHANGES, 0);
MEMBER(7replaceEmmPKcm, CHANGES, 0);
MEMBER(7replaceEmmRKS4_, CHANGES, 0);
MEMBER(7replaceEmmRKS4_mm, CHANGES, 0);
MEMBER(7replaceEmmmc, CHANGES, 0);
MEMBER(5clearEv, SETS, 0);
MEMBER(6resizeEm, CHANGES | IF_OTHER_LENGTH, 0);
MEMBER(6resizeEmc, CHANGES | IF_OTHER_LENGTH, 0);
MEMBER(7reserveEm, READS_DATA, 0);
MEMBER(7reserveEv, READS_DATA | READS_LENGTH, 0);
MEMBER(13shrink_to_fitEv, READS_DATA | READS_LENGTH, 0);

/* ---- From nothing, and to nothing ---- */

/* GCC makes one function of both kinds of constructors, and so of destructors: either name may be called. */
#define MAKES(name, with)                                                                                              \
	MEMBER(C1##name, WRITES_DATA | WRITES_LENGTH, with);                                                           \
	MEMBER(C2##name, WRITES_DATA | WRITES_LENGTH, with)
MAKES(Ev, 0);
MAKES(ERKS3_, 0);
MAKES(ERKS4_, OTHER);
MAKES(ERKS4_RKS3_, OTHER);
MAKES(ERKS4_mRKS3_, READS_DATA | READS_LENGTH);
MAKES(ERKS4_mm, READS_DATA | READS_LENGTH);
MAKES(ERKS4_mmRKS3_, READS_DATA | READS_LENGTH);
MAKES(EOS4_, READS_DATA | READS_LENGTH | WRITES_LENGTH);
MAKES(EOS4_RKS3_, READS_DATA | READS_LENGTH | WRITES_LENGTH);
MAKES(EPKcRKS3_, 0);
MAKES(EPKcmRKS3_, 0);
MAKES(EmcRKS3_, 0);
MAKES(ESt16initializer_listIcERKS3_, 0);
MAKES(IPKcvEET_S8_RKS3_, 0);
MAKES(IPcvEET_S7_RKS3_, 0);
MAKES(IN9__gnu_cxx17__normal_iteratorIPcS4_EEvEET_SA_RKS3_, 0);
MEMBER(D1Ev, READS_DATA, 0);
MEMBER(D2Ev, READS_DATA, 0);
