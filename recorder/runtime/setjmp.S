/*
 * setjmp and its kin return twice, so they cannot be called from a wrapper. The event is emitted first (jump.c), then
 * the real function is jumped to, with the caller's stack, arguments and return address as they were.
 */
	.text

	.macro	seen name, hook
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	endbr64
	push	%rdi
	.cfi_adjust_cfa_offset 8
	push	%rsi
	.cfi_adjust_cfa_offset 8
	mov	16(%rsp), %rsi
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	\hook
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	pop	%rsi
	.cfi_adjust_cfa_offset -8
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	*%rax
	.cfi_endproc
	.size	\name, .-\name
	.endm

	seen	setjmp, rt_seen_setjmp
	seen	_setjmp, rt_seen__setjmp
	seen	__sigsetjmp, rt_seen___sigsetjmp
	.section .note.GNU-stack, "", @progbits
