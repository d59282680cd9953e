/*
 * Where the Valgrind tool leads a thread that is to be stopped before an access (recorder/watch.h): the stack pointer is
 * 136 bytes below what it was, as what is there may be in use, and the address of the access is on top.
 */
	.text
	.globl	rt_watch_stop
	.hidden	rt_watch_stop
	.type	rt_watch_stop, @function
rt_watch_stop:
	pushfq
	cld
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%rbx
	push	%rbp
	mov	%rsp, %rbp
	sub	$1024, %rsp
	and	$-64, %rsp
	xor	%ecx, %ecx
	mov	$1, %eax
	cpuid
	bt	$27, %ecx /* the system saves AVX registers */
	jnc	1f
	xor	%eax, %eax
	.irp	at, 512, 520, 528, 536, 544, 552, 560, 568
	mov	%rax, \at(%rsp)
	.endr
	mov	$7, %eax
	xor	%edx, %edx
	xsave	(%rsp)
	call	rt_watch_stopped
	mov	$7, %eax
	xor	%edx, %edx
	xrstor	(%rsp)
	jmp	2f
1:	fxsave	(%rsp)
	call	rt_watch_stopped
	fxrstor	(%rsp)
2:	mov	%rbp, %rsp
	pop	%rbp
	pop	%rbx
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	popfq
	ret	$128
	.size	rt_watch_stop, . - rt_watch_stop
	.section .note.GNU-stack, "", @progbits
