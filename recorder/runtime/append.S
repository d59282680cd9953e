/*
 * Appends to the thread's ring. Restartable sequences: before the store at *_commit nothing is in the ring. If a
 * signal's handler interrupts one, signal.c moves the interrupted thread back to the sequence's start; its arguments
 * are preserved. Between the commit and *_end only `skipped` remains to be set to 0: signal.c does that and continues
 * at *_end.
 *
 * Slot: cur 0, limit 8, skipped 16, last_stamp 48 (checked in emit.c).
 */
	.text

	.macro	function name
	.globl	\name
	.hidden	\name
	.type	\name, @function
\name:
	.endm

	.macro	label name
	.globl	\name
	.hidden	\name
\name:
	.endm

/* The record is in the ring: moves cur to \end, and returns. */
	.macro	publish name, end
	label	\name\()_commit
	mov	\end, (%rdx)
	label	\name\()_zero
	movq	$0, 16(%rdx)
	label	\name\()_end
	ret
	.size	\name, .-\name
	.endm

/* \skipped: the number of records that were left out before this one; becomes w0 with it, unless it is too large. */
	.macro	count_skipped name, skipped
	cmp	$255, \skipped
	ja	\name\()_slow
	shl	$56, \skipped
	or	%rdi, \skipped
	.endm

/* r10: the place for two records, with room behind it; r11: w0 with the number of records that were left out. */
	.macro	begin_two name
	mov	(%rdx), %r10
	mov	16(%rdx), %r11
	lea	32(%r10), %rax
	cmp	8(%rdx), %rax
	ja	\name\()_slow
	count_skipped \name, %r11
	.endm

/* rt_append(rdi w0, rsi w1, rdx slot) */
	.p2align 5
	function rt_append
	mov	(%rdx), %rax
	mov	16(%rdx), %rcx
	cmp	8(%rdx), %rax
	jae	rt_append_slow
	count_skipped rt_append, %rcx
	mov	%rcx, (%rax)
	mov	%rsi, 8(%rax)
	add	$16, %rax
	publish	rt_append, %rax

/* rt_append2(rdi w0, rsi w1, rdx slot, rcx x0, r8 x1) */
	.p2align 5
	function rt_append2
	begin_two rt_append2
	mov	%rcx, (%r10)
	mov	%r8, 8(%r10)
	mov	%r11, 16(%r10)
	mov	%rsi, 24(%r10)
	publish	rt_append2, %rax

/*
 * rt_append_sync(rdi w0, rsi w1, rdx slot, rcx x0, r8 now, r9 clock) The stamp is max(now, last_stamp, clock + 1),
 * stored back by compare-and-swap. A restart takes another one: a gap is harmless. last_stamp: exact_stamp in emit.c
 * gives the reason.
 */
	.p2align 5
	function rt_append_sync
	begin_two rt_append_sync
	mov	%rcx, (%r10)
	mov	%r11, 16(%r10)
	mov	%rsi, 24(%r10)
	mov	48(%rdx), %rax
	cmp	%r8, %rax
	cmova	%rax, %r8
	mov	(%r9), %rax
1:	lea	1(%rax), %r11
	cmp	%r8, %r11
	cmovb	%r8, %r11
	lock cmpxchg %r11, (%r9)
	jne	1b
	mov	%r11, 8(%r10)
	mov	%r11, 48(%rdx)
	add	$32, %r10
	publish	rt_append_sync, %r10

/*
 * rt_peek(rdi at, esi size: 1, 2, 4 or 8, rdx value). Where a load faults, signal.c goes on at rt_peek_failed.
 */
	.p2align 5
	function rt_peek
	cmp	$4, %esi
	je	4f
	ja	8f
	cmp	$1, %esi
	je	1f
	movzwl	(%rdi), %eax
	jmp	9f
1:	movzbl	(%rdi), %eax
	jmp	9f
4:	mov	(%rdi), %eax
	jmp	9f
8:	mov	(%rdi), %rax
	label	rt_peek_end
9:	mov	%rax, (%rdx)
	mov	$1, %eax
	ret
	label	rt_peek_failed
	xor	%eax, %eax
	ret
	.size	rt_peek, .-rt_peek
	.section .note.GNU-stack, "", @progbits
