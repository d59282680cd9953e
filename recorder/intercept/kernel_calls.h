/* The kernel's calls: see kernel.h. Included twice, once for each thing that is made from it: no guard. */

/* Input */
KERNEL(ssize_t, read, SYS_read, 3, (int, fd, void *, buffer, size_t, size), READS(fd), RECEIVES(fd, buffer, size))
LIBRARY(ssize_t, __read_chk, 4, (int, fd, void *, buffer, size_t, size, size_t, room), READS(fd),
        RECEIVES(fd, buffer, size))
KERNEL(ssize_t, pread64, SYS_pread64, 4, (int, fd, void *, buffer, size_t, size, off64_t, at), READS(fd),
       RECEIVES(fd, buffer, size))
LIBRARY(ssize_t, pread, 4, (int, fd, void *, buffer, size_t, size, off_t, at), READS(fd), RECEIVES(fd, buffer, size))
LIBRARY(ssize_t, __pread_chk, 5, (int, fd, void *, buffer, size_t, size, off_t, at, size_t, room), READS(fd),
        RECEIVES(fd, buffer, size))
LIBRARY(ssize_t, __pread64_chk, 5, (int, fd, void *, buffer, size_t, size, off64_t, at, size_t, room), READS(fd),
        RECEIVES(fd, buffer, size))
LIBRARY(ssize_t, recv, 4, (int, fd, void *, buffer, size_t, size, int, flags), READS_UNLESS(flags &MSG_DONTWAIT, fd),
        RECEIVES_BY(flags, fd, buffer, size))
LIBRARY(ssize_t, __recv_chk, 5, (int, fd, void *, buffer, size_t, size, size_t, room, int, flags),
        READS_UNLESS(flags &MSG_DONTWAIT, fd), RECEIVES_BY(flags, fd, buffer, size))
KERNEL(ssize_t, recvfrom, SYS_recvfrom, 6,
       (int, fd, void *, buffer, size_t, size, int, flags, struct sockaddr *, from, socklen_t *, length),
       socklen_t room = room_of(from, length, pc);
       READS(fd), RECEIVES_BY(flags, fd, buffer, size); if (r >= 0) OUT_ADDRESS(from, length))
LIBRARY(ssize_t, __recvfrom_chk, 7,
        (int, fd, void *, buffer, size_t, size, size_t, chk, int, flags, struct sockaddr *, from, socklen_t *, length),
        socklen_t room = room_of(from, length, pc);
        READS(fd), RECEIVES_BY(flags, fd, buffer, size); if (r >= 0) OUT_ADDRESS(from, length))
KERNEL(ssize_t, readv, SYS_readv, 3, (int, fd, const struct iovec *, v, int, count), READS(fd),
       RECEIVES_VECTORS(fd, v, count))
LIBRARY(ssize_t, preadv, 4, (int, fd, const struct iovec *, v, int, count, off_t, at), READS(fd),
        RECEIVES_VECTORS(fd, v, count))
LIBRARY(ssize_t, preadv64, 4, (int, fd, const struct iovec *, v, int, count, off64_t, at), READS(fd),
        RECEIVES_VECTORS(fd, v, count))
LIBRARY(ssize_t, preadv2, 5, (int, fd, const struct iovec *, v, int, count, off_t, at, int, flags), READS(fd),
        RECEIVES_VECTORS(fd, v, count))
LIBRARY(ssize_t, preadv64v2, 5, (int, fd, const struct iovec *, v, int, count, off64_t, at, int, flags), READS(fd),
        RECEIVES_VECTORS(fd, v, count))
NUMBER(ssize_t, SYS_preadv, 3, (int, fd, const struct iovec *, v, int, count), READS(fd),
       RECEIVES_VECTORS(fd, v, count))
NUMBER(ssize_t, SYS_preadv2, 3, (int, fd, const struct iovec *, v, int, count), READS(fd),
       RECEIVES_VECTORS(fd, v, count))
KERNEL(ssize_t, recvmsg, SYS_recvmsg, 3, (int, fd, struct msghdr *, message, int, flags),
       socklen_t room = message->msg_namelen;
       READS_UNLESS(flags & MSG_DONTWAIT, fd), rt_fd_read(fd, flags &MSG_WAITALL &&r > 0 ? 0 : r, pc);
       if (r >= 0) message_came(message, (size_t)r, room, pc))
KERNEL(int, recvmmsg, SYS_recvmmsg, 5,
       (int, fd, struct mmsghdr *, messages, unsigned, count, int, flags, struct timespec *, timeout), IN(timeout);
       READS(fd), messages_came(fd, messages, r, pc))

/* Output: what goes out is read and published before the call. */
KERNEL(ssize_t, write, SYS_write, 3, (int, fd, const void *, buffer, size_t, size), IN_N(buffer, size); FD(fd);
       GOES_OUT(fd, size), SENT(fd))
KERNEL(ssize_t, pwrite64, SYS_pwrite64, 4, (int, fd, const void *, buffer, size_t, size, off64_t, at),
       IN_N(buffer, size);
       FD(fd); GOES_OUT(fd, size), SENT(fd))
LIBRARY(ssize_t, pwrite, 4, (int, fd, const void *, buffer, size_t, size, off_t, at), IN_N(buffer, size); FD(fd);
        GOES_OUT(fd, size), SENT(fd))
LIBRARY(ssize_t, send, 4, (int, fd, const void *, buffer, size_t, size, int, flags), IN_N(buffer, size); FD(fd);
        GOES_OUT(fd, size), SENT(fd))
KERNEL(ssize_t, sendto, SYS_sendto, 6,
       (int, fd, const void *, buffer, size_t, size, int, flags, const struct sockaddr *, to, socklen_t, length),
       IN_N(buffer, size);
       IN_N(to, length); FD(fd); rt_fd_sends(fd, to, length, size, pc); FD_AWAITS_UNLESS(to, WRITE, fd), SENT(fd))
KERNEL(ssize_t, writev, SYS_writev, 3, (int, fd, const struct iovec *, v, int, count), IN_VECTORS(v, count); FD(fd);
       GOES_OUT(fd, SIZE_OF(v, count)), SENT(fd))
LIBRARY(ssize_t, pwritev, 4, (int, fd, const struct iovec *, v, int, count, off_t, at), IN_VECTORS(v, count); FD(fd);
        GOES_OUT(fd, SIZE_OF(v, count)), SENT(fd))
LIBRARY(ssize_t, pwritev64, 4, (int, fd, const struct iovec *, v, int, count, off64_t, at), IN_VECTORS(v, count);
        FD(fd); GOES_OUT(fd, SIZE_OF(v, count)), SENT(fd))
LIBRARY(ssize_t, pwritev2, 5, (int, fd, const struct iovec *, v, int, count, off_t, at, int, flags),
        IN_VECTORS(v, count);
        FD(fd); GOES_OUT(fd, SIZE_OF(v, count)), SENT(fd))
LIBRARY(ssize_t, pwritev64v2, 5, (int, fd, const struct iovec *, v, int, count, off64_t, at, int, flags),
        IN_VECTORS(v, count);
        FD(fd); GOES_OUT(fd, SIZE_OF(v, count)), SENT(fd))
NUMBER(ssize_t, SYS_pwritev, 3, (int, fd, const struct iovec *, v, int, count), IN_VECTORS(v, count); FD(fd);
       GOES_OUT(fd, SIZE_OF(v, count)), SENT(fd))
NUMBER(ssize_t, SYS_pwritev2, 3, (int, fd, const struct iovec *, v, int, count), IN_VECTORS(v, count); FD(fd);
       GOES_OUT(fd, SIZE_OF(v, count)), SENT(fd))
KERNEL(ssize_t, sendmsg, SYS_sendmsg, 3, (int, fd, const struct msghdr *, message, int, flags), FD(fd);
       message_goes(fd, message, pc); FD_AWAITS_UNLESS(!rt_recording() || message->msg_name, WRITE, fd), SENT(fd))
KERNEL(int, sendmmsg, SYS_sendmmsg, 4, (int, fd, struct mmsghdr *, messages, unsigned, count, int, flags), FD(fd);
       messages_go(fd, messages, count, pc); FD_AWAITS_UNLESS(true, WRITE, fd), SENT(fd);
       messages_went(messages, r, pc))

/* From one descriptor to another: a reader of the one has seen what came in by the other. */
KERNEL(ssize_t, splice, SYS_splice, 6,
       (int, from, off64_t *, from_at, int, to, off64_t *, to_at, size_t, size, unsigned, flags), INOUT(from_at);
       INOUT(to_at); READS(from); FD(to); PASSES(from, to, size), PASSED(from, to))
KERNEL(ssize_t, tee, SYS_tee, 4, (int, from, int, to, size_t, size, unsigned, flags), READS(from); FD(to);
       PASSES(from, to, size), PASSED(from, to))
KERNEL(ssize_t, sendfile64, SYS_sendfile, 4, (int, to, int, from, off64_t *, at, size_t, size), INOUT(at); READS(from);
       FD(to); PASSES(from, to, size), PASSED(from, to))
LIBRARY(ssize_t, sendfile, 4, (int, to, int, from, off_t *, at, size_t, size), INOUT(at); READS(from); FD(to);
        PASSES(from, to, size), PASSED(from, to))
KERNEL(ssize_t, copy_file_range, SYS_copy_file_range, 6,
       (int, from, off64_t *, from_at, int, to, off64_t *, to_at, size_t, size, unsigned, flags), INOUT(from_at);
       INOUT(to_at); READS(from); FD(to); PASSES(from, to, size), PASSED(from, to))
KERNEL(ssize_t, vmsplice, SYS_vmsplice, 4, (int, fd, const struct iovec *, v, size_t, count, unsigned, flags),
       bool goes_in = rt_fd_is_written(fd);
       FD(fd);
       WHEN(goes_in, IN_VECTORS(v, count); rt_fd_sends(fd, NULL, 0, SIZE_OF(v, count), pc)), if (goes_in) SENT(fd);
       WHEN(!goes_in, RECEIVES_VECTORS(fd, v, count)); BLOCKS)

/* Pairs of descriptors, and those with something of their own behind them */
KERNEL(int, pipe, SYS_pipe, 1, (int *, fds), , WHEN(r == 0, rt_fd_pipe(fds); OUT_N(fds, 8)))
KERNEL(int, pipe2, SYS_pipe2, 2, (int *, fds, int, flags), , WHEN(r == 0, rt_fd_pipe(fds); OUT_N(fds, 8)))
KERNEL(int, socketpair, SYS_socketpair, 4, (int, domain, int, type, int, protocol, int *, fds), ,
       WHEN(r == 0, rt_fd_both_ends(fds); OUT_N(fds, 8)))
LIBRARY(int, eventfd, 2, (unsigned, value, int, flags), , rt_fd_counter(r))
NUMBER(int, SYS_eventfd, 1, (unsigned, value), , rt_fd_counter(r))
NUMBER(int, SYS_eventfd2, 2, (unsigned, value, int, flags), , rt_fd_counter(r))
LIBRARY(int, eventfd_read, 2, (int, fd, eventfd_t *, value), READS(fd), rt_fd_received(fd, r == 0, pc);
        if (r == 0) OUT(value))
LIBRARY(int, eventfd_write, 2, (int, fd, eventfd_t, value), FD(fd); GOES_OUT(fd, 0), SENT(fd))
LIBRARY(int, signalfd, 3, (int, fd, const sigset_t *, set, int, flags), IN(set), if (fd < 0) rt_fd_signals(r))
NUMBER(int, SYS_signalfd, 2, (int, fd, const void *, set), , if (fd < 0) rt_fd_signals(r))
NUMBER(int, SYS_signalfd4, 2, (int, fd, const void *, set), , if (fd < 0) rt_fd_signals(r))
KERNEL(int, timerfd_create, SYS_timerfd_create, 2, (int, clock, int, flags), , rt_fd_number(r))
KERNEL(int, timerfd_settime, SYS_timerfd_settime, 4,
       (int, fd, int, flags, const struct itimerspec *, now, struct itimerspec *, old), IN(now);
       FD(fd); SENDS(fd), if (r == 0) OUT(old))
KERNEL(int, timerfd_gettime, SYS_timerfd_gettime, 2, (int, fd, struct itimerspec *, to), FD(fd),
       WHEN(r == 0, rt_fd_received(fd, true, pc); OUT(to)))
LIBRARY(int, inotify_init, 0, (), , rt_fd_watches_files(r))
NUMBER(int, SYS_inotify_init, 0, (), , rt_fd_watches_files(r))
KERNEL(int, inotify_init1, SYS_inotify_init1, 1, (int, flags), , rt_fd_watches_files(r))
KERNEL(int, inotify_add_watch, SYS_inotify_add_watch, 3, (int, fd, const char *, path, uint32_t, mask), STR(path);
       FD(fd); SENDS(fd), )
KERNEL(int, inotify_rm_watch, SYS_inotify_rm_watch, 2, (int, fd, int, watch), FD(fd); SENDS(fd), )
LIBRARY(int, shm_open, 3, (const char *, name, int, flags, unsigned, mode), STR(name), if (r >= 0) rt_fd_opened(r))
KERNEL(int, memfd_create, SYS_memfd_create, 2, (const char *, name, unsigned, flags), STR(name), rt_fd_opened(r))
LIBRARY(int, pidfd_open, 2, (pid_t, pid, unsigned, flags), , rt_fd_signals(r))
NUMBER(int, SYS_pidfd_open, 2, (pid_t, pid, unsigned, flags), , rt_fd_signals(r))
NUMBER(int, SYS_pidfd_getfd, 3, (int, fd, int, other, unsigned, flags), FD(fd), rt_fd_taken_from(other, r))
LIBRARY(int, pidfd_getfd, 3, (int, fd, int, other, unsigned, flags), FD(fd), rt_fd_taken_from(other, r))
LIBRARY(int, pidfd_send_signal, 4, (int, fd, int, sig, siginfo_t *, info, unsigned, flags), FD(fd); IN(info);
        rt_signal_sent(sig, pc), )
NUMBER(int, SYS_pidfd_send_signal, 3, (int, fd, int, sig, siginfo_t *, info), FD(fd); IN(info);
       rt_signal_sent(sig, pc), )

/* Terminals: the master's side must be known before the other is used. */
LIBRARY(int, posix_openpt, 1, (int, flags), , rt_fd_plain(r); rt_fd_connected(r))
LIBRARY(int, getpt, 0, (), , rt_fd_plain(r); rt_fd_connected(r))
LIBRARY(int, openpty, 5,
        (int *, master, int *, slave, char *, name, const struct termios *, how, const struct winsize *, size), IN(how);
        IN(size),
        WHEN(r == 0, rt_fd_plain(*master); rt_fd_connected(*master); rt_fd_plain(*slave); OUT(master); OUT(slave)))

/* Sockets */
KERNEL(int, socket, SYS_socket, 3, (int, domain, int, type, int, protocol), , rt_fd_socket(r))
KERNEL(int, bind, SYS_bind, 3, (int, fd, const struct sockaddr *, to, socklen_t, length), FD(fd); IN_N(to, length), )
KERNEL(int, listen, SYS_listen, 2, (int, fd, int, pending), FD(fd), )
KERNEL(int, connect, SYS_connect, 3, (int, fd, const struct sockaddr *, to, socklen_t, length), IN_N(to, length);
       FD(fd); rt_fd_connects(to, length, pc); LEAVES; FD_AWAITS(CONNECT, fd), RETURNS; BLOCKS;
       if (r == 0) rt_fd_connected(fd))
KERNEL(int, accept, SYS_accept, 3, (int, fd, struct sockaddr *, from, socklen_t *, length),
       socklen_t room = room_of(from, length, pc);
       READS(fd); FD_AWAITS(ACCEPT, fd), rt_fd_accepted(fd, r, pc); if (r >= 0) OUT_ADDRESS(from, length))
KERNEL(int, accept4, SYS_accept4, 4, (int, fd, struct sockaddr *, from, socklen_t *, length, int, flags),
       socklen_t room = room_of(from, length, pc);
       READS(fd); FD_AWAITS(ACCEPT, fd), rt_fd_accepted(fd, r, pc); if (r >= 0) OUT_ADDRESS(from, length))
KERNEL(int, shutdown, SYS_shutdown, 2, (int, fd, int, how), FD(fd); SENDS(fd), )

/* Descriptors that are opened, copied and closed. Where dup2 replaces a descriptor, this is no close of its object. */
VARIADIC(int, open, SYS_open, 3, (const char *, path, int, flags, mode_t, mode), STR(path);
         rt_name_opens(path, flags, pc), rt_name_opened(path, r, pc))
VARIADIC(int, openat, SYS_openat, 4, (int, folder, const char *, path, int, flags, mode_t, mode), STR(path);
         rt_name_opens(path, flags, pc), rt_name_opened(path, r, pc))
VARIADIC(int, open64, NONE_1, 3, (const char *, path, int, flags, mode_t, mode), STR(path);
         rt_name_opens(path, flags, pc), rt_name_opened(path, r, pc))
VARIADIC(int, openat64, NONE_2, 4, (int, folder, const char *, path, int, flags, mode_t, mode), STR(path);
         rt_name_opens(path, flags, pc), rt_name_opened(path, r, pc))
KERNEL(int, creat, SYS_creat, 2, (const char *, path, mode_t, mode), STR(path);
       rt_name_opens(path, O_CREAT, pc), rt_name_opened(path, r, pc))
LIBRARY(int, creat64, 2, (const char *, path, mode_t, mode), STR(path);
        rt_name_opens(path, O_CREAT, pc), rt_name_opened(path, r, pc))
NUMBER(int, SYS_openat2, 2, (int, folder, const char *, path), STR(path);
       rt_name_opens(path, O_CREAT, pc), rt_name_opened(path, r, pc))
KERNEL(int, open_by_handle_at, SYS_open_by_handle_at, 3, (int, folder, struct file_handle *, handle, int, flags),
       IN(handle), rt_fd_plain(r))
KERNEL(int, close, SYS_close, 1, (int, fd), rt_fd_closes(fd, pc); rt_idle_closes(fd), )
LIBRARY(int, close_range, 3, (unsigned, first, unsigned, last, int, flags), rt_fd_close_range(first, last, flags, pc);
        rt_idle_close_range(&first, &last, flags), )
NUMBER(int, SYS_close_range, 3, (unsigned, first, unsigned, last, int, flags),
       rt_fd_close_range(first, last, flags, pc);
       rt_idle_close_range(&first, &last, flags); given[0] = first; given[1] = last, )
KERNEL(int, dup, SYS_dup, 1, (int, fd), FD(fd), rt_fd_copied(fd, r))
KERNEL(int, dup2, SYS_dup2, 2, (int, fd, int, to), FD(fd); FD(to); rt_fd_ends(to, pc); rt_file_unlocking(to, pc);
       rt_idle_closes(to), rt_fd_copied(fd, r))
KERNEL(int, dup3, SYS_dup3, 3, (int, fd, int, to, int, flags), FD(fd); FD(to); rt_fd_ends(to, pc);
       rt_file_unlocking(to, pc); rt_idle_closes(to), rt_fd_copied(fd, r))
VARIADIC(int, fcntl, SYS_fcntl, 3, (int, fd, int, command, long, argument), FD(fd);
         control_begins(fd, command, argument, pc); LEAVES_UNLESS(command != F_SETLKW && command != F_OFD_SETLKW);
         PART_AWAITS(fd, command, argument), RETURNS; controlled(fd, command, argument, r, pc))
VARIADIC(int, fcntl64, NONE_3, 3, (int, fd, int, command, long, argument), FD(fd);
         control_begins(fd, command, argument, pc); LEAVES_UNLESS(command != F_SETLKW && command != F_OFD_SETLKW);
         PART_AWAITS(fd, command, argument), RETURNS; controlled(fd, command, argument, r, pc))
KERNEL(int, flock, SYS_flock, 2, (int, fd, int, operation), FD(fd); rt_file_locking(fd, pc);
       LEAVES_UNLESS(operation & LOCK_NB); rt_file_awaits(fd, operation, pc), RETURNS; BLOCKS;
       if (r == 0) rt_file_locked(fd, operation, pc))
VARIADIC(int, ioctl, SYS_ioctl, 3, (int, fd, unsigned long, request, void *, argument), FD(fd);
         if (request == FIONBIO || request == FIOASYNC) IN_N(argument, sizeof(int)),
         if (r >= 0) io_controlled(fd, request, argument, pc))

/* Readiness: what makes a descriptor readable comes before the call that says so. */
KERNEL(int, poll, SYS_poll, 3, (struct pollfd *, fds, nfds_t, n, int, timeout), rt_polls(fds, n, pc);
       POLLS_MS(fds, n, timeout), BLOCKS; rt_polled(fds, n, r, pc))
LIBRARY(int, __poll_chk, 4, (struct pollfd *, fds, nfds_t, n, int, timeout, size_t, room), rt_polls(fds, n, pc);
        POLLS_MS(fds, n, timeout), BLOCKS; rt_polled(fds, n, r, pc))
KERNEL(int, ppoll, SYS_ppoll, 4,
       (struct pollfd *, fds, nfds_t, n, const struct timespec *, timeout, const sigset_t *, mask),
       rt_polls(fds, n, pc);
       IN(timeout); POLLS(fds, n, timeout), BLOCKS; rt_polled(fds, n, r, pc))
KERNEL(int, select, SYS_select, 5, (int, n, fd_set *, in, fd_set *, out, fd_set *, other, struct timeval *, timeout),
       rt_selects(n, in, out, other, pc);
       IN(timeout); SELECTS_US(n, in, out, other, timeout), BLOCKS; rt_selected(n, in, out, other, r, pc))
LIBRARY(int, pselect, 6,
        (int, n, fd_set *, in, fd_set *, out, fd_set *, other, const struct timespec *, timeout, const sigset_t *,
         mask),
        rt_selects(n, in, out, other, pc);
        IN(timeout); SELECTS(n, in, out, other, timeout), BLOCKS; rt_selected(n, in, out, other, r, pc))
NUMBER(int, SYS_pselect6, 5, (int, n, fd_set *, in, fd_set *, out, fd_set *, other, const struct timespec *, timeout),
       rt_selects(n, in, out, other, pc);
       IN(timeout); SELECTS(n, in, out, other, timeout), BLOCKS; rt_selected(n, in, out, other, r, pc))
KERNEL(int, epoll_create, SYS_epoll_create, 1, (int, size), , rt_fd_epoll(r))
KERNEL(int, epoll_create1, SYS_epoll_create1, 1, (int, flags), , rt_fd_epoll(r))
KERNEL(int, epoll_ctl, SYS_epoll_ctl, 4, (int, fd, int, operation, int, of, struct epoll_event *, event),
       if (operation != EPOLL_CTL_DEL) IN(event);
       FD(of); FD(fd); SENDS(fd); rt_fd_watched(fd, operation, of, event), )
KERNEL(int, epoll_wait, SYS_epoll_wait, 4, (int, fd, struct epoll_event *, events, int, most, int, timeout), FD(fd);
       EPOLLS_MS(fd, timeout), rt_events_came(fd, events, r, pc))
KERNEL(int, epoll_pwait, SYS_epoll_pwait, 5,
       (int, fd, struct epoll_event *, events, int, most, int, timeout, const sigset_t *, mask), FD(fd);
       EPOLLS_MS(fd, timeout), rt_events_came(fd, events, r, pc))
KERNEL(int, epoll_pwait2, SYS_epoll_pwait2, 5,
       (int, fd, struct epoll_event *, events, int, most, const struct timespec *, timeout, const sigset_t *, mask),
       FD(fd);
       IN(timeout); EPOLLS(fd, timeout), rt_events_came(fd, events, r, pc))

/* POSIX message queues: descriptors */
VARIADIC(mqd_t, mq_open, SYS_mq_open, 4, (const char *, name, int, flags, mode_t, mode, struct mq_attr *, attributes),
         STR(name), rt_fd_queue(r))
LIBRARY(int, mq_close, 1, (mqd_t, fd), rt_fd_closes(fd, pc), )
LIBRARY(int, mq_unlink, 1, (const char *, name), STR(name), )
LIBRARY(int, mq_send, 4, (mqd_t, fd, const char *, buffer, size_t, size, unsigned, priority), IN_N(buffer, size);
        FD(fd); GOES_OUT(fd, 0), SENT(fd))
KERNEL(int, mq_timedsend, SYS_mq_timedsend, 5,
       (mqd_t, fd, const char *, buffer, size_t, size, unsigned, priority, const struct timespec *, until),
       IN_N(buffer, size);
       IN(until); FD(fd); GOES_OUT(fd, 0), SENT(fd))
LIBRARY(ssize_t, mq_receive, 4, (mqd_t, fd, char *, buffer, size_t, size, unsigned *, priority), READS(fd),
        QUEUE_RECEIVES)
KERNEL(ssize_t, mq_timedreceive, SYS_mq_timedreceive, 5,
       (mqd_t, fd, char *, buffer, size_t, size, unsigned *, priority, const struct timespec *, until), IN(until);
       READS_UNTIL(until, fd), QUEUE_RECEIVES)
LIBRARY(int, mq_getattr, 2, (mqd_t, fd, struct mq_attr *, to), FD(fd),
        WHEN(r == 0, if (to->mq_curmsgs > 0) rt_fd_received(fd, true, pc); OUT(to)))
LIBRARY(int, mq_setattr, 3, (mqd_t, fd, const struct mq_attr *, from, struct mq_attr *, old), FD(fd);
        IN(from), if (r == 0) OUT(old))

/* System V: message queues, semaphores, shared memory */
KERNEL(int, msgsnd, SYS_msgsnd, 4, (int, id, const void *, message, size_t, size, int, flags),
       IN_N(message, size + sizeof(long));
       const bool waits = rt_message_may_wait(id, size); rt_message_goes(id, message, pc); LEAVES;
       AWAITS(MESSAGE), RETURNS; BLOCKS; rt_message_went(id, waits, pc))
KERNEL(ssize_t, msgrcv, SYS_msgrcv, 5, (int, id, void *, message, size_t, size, long, type, int, flags),
       rt_message_makes_room(id, pc);
       LEAVES; AWAITS(MESSAGE), RETURNS; BLOCKS;
       WHEN(r >= 0, rt_message_came(id, message, pc); OUT_N(message, (size_t)r + sizeof(long))))
KERNEL(int, semop, SYS_semop, 3, (int, id, struct sembuf *, operations, size_t, n), IN_N(operations, n * 6);
       rt_semaphores_before(id, operations, n, pc); LEAVES_UNLESS(rt_semaphores_by_turns(id, operations, n, NULL, pc));
       AWAITS(SEMAPHORE), RETURNS; BLOCKS; if (r == 0) rt_semaphores_after(id, operations, n, pc))
KERNEL(int, semtimedop, SYS_semtimedop, 4,
       (int, id, struct sembuf *, operations, size_t, n, const struct timespec *, timeout), IN_N(operations, n * 6);
       IN(timeout); rt_semaphores_before(id, operations, n, pc);
       LEAVES_UNLESS(rt_semaphores_by_turns(id, operations, n, timeout, pc)); AWAITS(SEMAPHORE), RETURNS; BLOCKS;
       if (r == 0) rt_semaphores_after(id, operations, n, pc))
VARIADIC(int, semctl, SYS_semctl, 4, (int, id, int, number, int, command, long, argument),
         if (command == SETVAL || command == SETALL) rt_semaphores_set(id, number, command == SETALL, pc),
         if (command == GETVAL || command == GETALL) rt_semaphores_seen(id, number, command == GETALL, pc))
KERNEL(void *, shmat, SYS_shmat, 3, (int, id, const void *, at, int, flags), , rt_map_attached(id, r, pc))
KERNEL(int, shmdt, SYS_shmdt, 1, (const void *, at), rt_map_detaches(at, pc), )

/* The address space */
KERNEL(void *, mmap, SYS_mmap, 6, (void *, at, size_t, size, int, protection, int, flags, int, fd, off_t, offset),
       if (flags & MAP_FIXED) rt_map_over(at, size, pc), rt_map_maps(r, size, flags, fd, (uint64_t)offset, pc))
LIBRARY(void *, mmap64, 6, (void *, at, size_t, size, int, protection, int, flags, int, fd, off64_t, offset),
        if (flags & MAP_FIXED) rt_map_over(at, size, pc), rt_map_maps(r, size, flags, fd, (uint64_t)offset, pc))
KERNEL(int, munmap, SYS_munmap, 2, (void *, at, size_t, size), rt_map_ends(at, size, pc),
       if (r != 0) rt_map_begins(at, size, pc))
VARIADIC(void *, mremap, SYS_mremap, 5, (void *, at, size_t, old_size, size_t, size, int, flags, void *, new_at),
         if (flags & MREMAP_FIXED) rt_map_over(new_at, size, pc);
         rt_map_moves(at, old_size, size, flags, pc), rt_map_moved(r, at, old_size, size, flags, pc))
LIBRARY(void *, sbrk, 1, (intptr_t, by), uintptr_t before = break_now();
        if (by < 0) rt_map_break(before, before + (uintptr_t)by, pc), if (by > 0) break_moved(before, pc))
LIBRARY(int, brk, 1, (void *, to), uintptr_t before = break_now();
        if ((uintptr_t)to < before) rt_map_break(before, (uintptr_t)to, pc), break_moved(before, pc))
NUMBER(void *, SYS_brk, 1, (void *, to), uintptr_t before = break_now();
       if (to && (uintptr_t)to < before) rt_map_break(before, (uintptr_t)to, pc), break_moved(before, pc))

/* Signals and timers by number; their functions are in notify.c. */
NUMBER(int, SYS_kill, 2, (pid_t, pid, int, sig), rt_signal_sent(sig, pc), )
NUMBER(int, SYS_tkill, 2, (pid_t, tid, int, sig), rt_signal_sent(sig, pc), )
NUMBER(int, SYS_tgkill, 3, (pid_t, pid, pid_t, tid, int, sig), rt_signal_sent(sig, pc), )
NUMBER(int, SYS_rt_sigqueueinfo, 3, (pid_t, pid, int, sig, const siginfo_t *, info), IN(info);
       rt_signal_sent(sig, pc), )
NUMBER(int, SYS_rt_tgsigqueueinfo, 4, (pid_t, pid, pid_t, tid, int, sig, const siginfo_t *, info), IN(info);
       rt_signal_sent(sig, pc), )
NUMBER(int, SYS_rt_sigtimedwait, 3, (const void *, set, siginfo_t *, info, const struct timespec *, timeout),
       IN(timeout);
       AWAITS(SIGNAL), RETURNS; BLOCKS; if (r > 0) OUT(info); rt_signal_received(r, pc))
NUMBER(unsigned, SYS_alarm, 1, (unsigned, seconds), rt_timer_set(pc), )
NUMBER(int, SYS_setitimer, 3, (int, which, const struct itimerval *, now, struct itimerval *, old), IN(now);
       rt_timer_set(pc), if (r == 0) OUT(old))
NUMBER(int, SYS_timer_settime, 4, (long, timer, int, flags, const struct itimerspec *, now, struct itimerspec *, old),
       IN(now);
       rt_timer_set(pc), if (r == 0) OUT(old))

/* Calls by number whose functions are in calls_*.c and block.c. */
NUMBER(int, SYS_futex, 6,
       (uint32_t *, word, int, operation, uint32_t, value, const struct timespec *, timeout, uint32_t *, other,
        uint32_t, third),
       rt_futex_begins(word, operation, other, pc);
       LEAVES_UNLESS(!rt_futex_waits(operation)); rt_futex_awaits(word, operation, timeout, pc), RETURNS;
       rt_futex_done(word, operation, other, r, pc))
NUMBER(int, SYS_nanosleep, 2, (const struct timespec *, time, struct timespec *, rest), IN(time); LEAVES;
       AWAITS(TIME), RETURNS; BLOCKS)
NUMBER(int, SYS_clock_nanosleep, 3, (int, clock, int, flags, const struct timespec *, time), IN(time); LEAVES;
       AWAITS(TIME), RETURNS; BLOCKS)
NUMBER(int, SYS_pause, 0, (), LEAVES; AWAITS(SIGNAL), RETURNS; BLOCKS)
NUMBER(pid_t, SYS_wait4, 4, (pid_t, pid, int *, status, int, options, struct rusage *, usage),
       LEAVES_UNLESS(options &WNOHANG);
       AWAITS(CHILD), RETURNS; BLOCKS; WHEN(r > 0, rt_child_ended(pc); OUT(status); OUT(usage)))
NUMBER(int, SYS_waitid, 5, (int, type, int, id, siginfo_t *, info, int, options, struct rusage *, usage),
       LEAVES_UNLESS(options &WNOHANG);
       AWAITS(CHILD), RETURNS; BLOCKS; WHEN(r == 0, rt_child_ended(pc); OUT(info); OUT(usage)))
NUMBER(ssize_t, SYS_getrandom, 2, (void *, to, size_t, size), , if (r > 0) OUT_N(to, r))
NUMBER(int, SYS_clock_gettime, 2, (int, clock, struct timespec *, to), ,
       if (RT_UNLIKELY(rt_controlled) && r == 0) rt_turn_clock(clock, to);
       if (r == 0) OUT(to))
NUMBER(int, SYS_gettimeofday, 2, (struct timeval *, to, struct timezone *, zone), , WHEN(r == 0, OUT(to); OUT(zone)))
NUMBER(int, SYS_uname, 1, (struct utsname *, to), , if (r == 0) OUT(to))
NUMBER(int, SYS_sysinfo, 1, (struct sysinfo *, to), , if (r == 0) OUT(to))
NUMBER(int, SYS_getrusage, 2, (int, of, struct rusage *, to), , if (r == 0) OUT(to))
NUMBER(long, SYS_times, 1, (struct tms *, to), , if (r != -1) OUT(to))
NUMBER(long, SYS_getcwd, 2, (char *, to, size_t, size), , if (r > 0) OUT_N(to, r))
NUMBER(ssize_t, SYS_readlink, 3, (const char *, path, char *, to, size_t, size), STR(path), if (r > 0) OUT_N(to, r))
NUMBER(ssize_t, SYS_readlinkat, 4, (int, folder, const char *, path, char *, to, size_t, size), STR(path),
       if (r > 0) OUT_N(to, r))
NUMBER(ssize_t, SYS_getdents64, 3, (int, fd, void *, to, size_t, size), FD(fd), if (r > 0) OUT_N(to, r))
NUMBER(int, SYS_stat, 2, (const char *, path, struct stat *, to), STR(path), rt_name_seen(path, pc);
       WHEN(r == 0, FILE_SEEN(to); OUT(to)))
NUMBER(int, SYS_lstat, 2, (const char *, path, struct stat *, to), STR(path), rt_name_seen(path, pc);
       WHEN(r == 0, FILE_SEEN(to); OUT(to)))
NUMBER(int, SYS_fstat, 2, (int, fd, struct stat *, to), FD(fd), WHEN(r == 0, FILE_SEEN(to); OUT(to)))
NUMBER(int, SYS_newfstatat, 3, (int, folder, const char *, path, struct stat *, to), STR(path), rt_name_seen(path, pc);
       WHEN(r == 0, FILE_SEEN(to); OUT(to)))
NUMBER(int, SYS_statx, 5, (int, folder, const char *, path, int, flags, unsigned, mask, struct statx *, to), STR(path),
       rt_name_seen(path, pc);
       WHEN(r == 0, FILE_SEEN_X(to); OUT(to)))
NUMBER(int, SYS_prlimit64, 4, (pid_t, pid, unsigned, which, const struct rlimit *, now, struct rlimit *, old),
       const unsigned own = rt_limit_of(pid, which);
       struct rlimit raised; IN(now); given[2] = (long)rt_limit_raised(own, now, &raised),
                                      WHEN(r == 0, rt_limit_seen(own, old); rt_limit_set(own, now); OUT(old)))
NUMBER(int, SYS_sched_getaffinity, 3, (pid_t, pid, size_t, size, void *, to), , if (r > 0) OUT_N(to, r))
NUMBER(int, SYS_unlink, 1, (const char *, path), STR(path); rt_name_changes(path, pc), rt_name_seen(path, pc))
NUMBER(int, SYS_unlinkat, 2, (int, folder, const char *, path), STR(path);
       rt_name_changes(path, pc), rt_name_seen(path, pc))
NUMBER(int, SYS_rename, 2, (const char *, old, const char *, now), STR(old); STR(now); rt_name_changes(old, pc);
       rt_name_changes(now, pc), rt_name_seen(now, pc))
NUMBER(int, SYS_renameat, 4, (int, folder, const char *, old, int, other, const char *, now), STR(old); STR(now);
       rt_name_changes(old, pc); rt_name_changes(now, pc), rt_name_seen(now, pc))
NUMBER(int, SYS_renameat2, 4, (int, folder, const char *, old, int, other, const char *, now), STR(old); STR(now);
       rt_name_changes(old, pc); rt_name_changes(now, pc), rt_name_seen(now, pc))
NUMBER(int, SYS_mkdir, 1, (const char *, path), STR(path); rt_name_changes(path, pc), rt_name_seen(path, pc))
NUMBER(int, SYS_mkdirat, 2, (int, folder, const char *, path), STR(path);
       rt_name_changes(path, pc), rt_name_seen(path, pc))
NUMBER(int, SYS_rmdir, 1, (const char *, path), STR(path); rt_name_changes(path, pc), rt_name_seen(path, pc))
NUMBER(int, SYS_mknod, 1, (const char *, path), STR(path); rt_name_changes(path, pc), rt_name_seen(path, pc))
NUMBER(int, SYS_mknodat, 2, (int, folder, const char *, path), STR(path);
       rt_name_changes(path, pc), rt_name_seen(path, pc))
NUMBER(int, SYS_link, 2, (const char *, old, const char *, now), STR(old); STR(now);
       rt_name_changes(now, pc), rt_name_seen(now, pc))
NUMBER(int, SYS_linkat, 4, (int, folder, const char *, old, int, other, const char *, now), STR(old); STR(now);
       rt_name_changes(now, pc), rt_name_seen(now, pc))
NUMBER(int, SYS_symlink, 2, (const char *, old, const char *, now), STR(old); STR(now);
       rt_name_changes(now, pc), rt_name_seen(now, pc))
NUMBER(int, SYS_symlinkat, 3, (const char *, old, int, folder, const char *, now), STR(old); STR(now);
       rt_name_changes(now, pc), rt_name_seen(now, pc))
NUMBER(int, SYS_access, 1, (const char *, path), STR(path), rt_name_seen(path, pc))
NUMBER(int, SYS_faccessat, 2, (int, folder, const char *, path), STR(path), rt_name_seen(path, pc))
NUMBER(int, SYS_faccessat2, 2, (int, folder, const char *, path), STR(path), rt_name_seen(path, pc))
NUMBER(int, SYS_chdir, 1, (const char *, path), STR(path), rt_name_seen(path, pc))
NUMBER(int, SYS_chroot, 1, (const char *, path), STR(path), rt_name_seen(path, pc))
NUMBER(int, SYS_chmod, 1, (const char *, path), STR(path); rt_name_changes(path, pc), )
NUMBER(int, SYS_fchmodat, 2, (int, folder, const char *, path), STR(path); rt_name_changes(path, pc), )
NUMBER(int, SYS_chown, 1, (const char *, path), STR(path); rt_name_changes(path, pc), )
NUMBER(int, SYS_lchown, 1, (const char *, path), STR(path); rt_name_changes(path, pc), )
NUMBER(int, SYS_fchownat, 2, (int, folder, const char *, path), STR(path); rt_name_changes(path, pc), )
NUMBER(int, SYS_truncate, 1, (const char *, path), STR(path); rt_name_changes(path, pc), )
NUMBER(int, SYS_utime, 2, (const char *, path, const struct utimbuf *, times), STR(path); IN(times);
       rt_name_changes(path, pc), )
NUMBER(int, SYS_utimes, 2, (const char *, path, const struct timeval *, times), STR(path);
       IN_N(times, 2 * sizeof *times); rt_name_changes(path, pc), )
NUMBER(int, SYS_futimesat, 3, (int, folder, const char *, path, const struct timeval *, times), STR(path);
       IN_N(times, 2 * sizeof *times); rt_name_changes(path, pc), )
NUMBER(int, SYS_utimensat, 3, (int, folder, const char *, path, const struct timespec *, times), STR(path);
       IN_N(times, 2 * sizeof *times); rt_name_changes(path, pc), )
NUMBER(int, SYS_statfs, 2, (const char *, path, struct statfs *, to), STR(path), if (r == 0) OUT(to))
NUMBER(int, SYS_fstatfs, 2, (int, fd, struct statfs *, to), FD(fd), if (r == 0) OUT(to))
KERNEL(int, ftruncate, SYS_ftruncate, 2, (int, fd, off_t, size), FD(fd); SENDS(fd), )
LIBRARY(int, ftruncate64, 2, (int, fd, off64_t, size), FD(fd); SENDS(fd), )
KERNEL(int, fallocate, SYS_fallocate, 4, (int, fd, int, mode, off_t, at, off_t, size), FD(fd); SENDS(fd), BLOCKS)
LIBRARY(int, fallocate64, 4, (int, fd, int, mode, off64_t, at, off64_t, size), FD(fd); SENDS(fd), BLOCKS)
LIBRARY(int, posix_fallocate, 3, (int, fd, off_t, at, off_t, size), FD(fd); SENDS(fd), BLOCKS)
LIBRARY(int, posix_fallocate64, 3, (int, fd, off64_t, at, off64_t, size), FD(fd); SENDS(fd), BLOCKS)
KERNEL(int, fchmod, SYS_fchmod, 2, (int, fd, mode_t, mode), FD(fd); SENDS(fd), )
KERNEL(int, fchown, SYS_fchown, 3, (int, fd, uid_t, user, gid_t, group), FD(fd); SENDS(fd), )
KERNEL(off_t, lseek, SYS_lseek, 3, (int, fd, off_t, by, int, from), FD(fd),
       if (r >= 0 && from >= SEEK_END) rt_fd_received(fd, true, pc))
LIBRARY(off64_t, lseek64, 3, (int, fd, off64_t, by, int, from), FD(fd),
        if (r >= 0 && from >= SEEK_END) rt_fd_received(fd, true, pc))
NUMBER(int, SYS_fsync, 1, (int, fd), FD(fd), BLOCKS)
NUMBER(int, SYS_fdatasync, 1, (int, fd), FD(fd), BLOCKS)

/* Extended attributes */
NUMBER(ssize_t, SYS_getxattr, 4, (const char *, path, const char *, name, void *, to, size_t, size), STR(path);
       STR(name), if (r > 0 && size) OUT_N(to, r))
NUMBER(ssize_t, SYS_lgetxattr, 4, (const char *, path, const char *, name, void *, to, size_t, size), STR(path);
       STR(name), if (r > 0 && size) OUT_N(to, r))
NUMBER(ssize_t, SYS_fgetxattr, 4, (int, fd, const char *, name, void *, to, size_t, size), FD(fd);
       STR(name), if (r > 0 && size) OUT_N(to, r))
NUMBER(ssize_t, SYS_listxattr, 3, (const char *, path, char *, to, size_t, size), STR(path),
       if (r > 0 && size) OUT_N(to, r))
NUMBER(ssize_t, SYS_llistxattr, 3, (const char *, path, char *, to, size_t, size), STR(path),
       if (r > 0 && size) OUT_N(to, r))
NUMBER(ssize_t, SYS_flistxattr, 3, (int, fd, char *, to, size_t, size), FD(fd), if (r > 0 && size) OUT_N(to, r))
NUMBER(int, SYS_setxattr, 4, (const char *, path, const char *, name, const void *, from, size_t, size), STR(path);
       STR(name); IN_N(from, size); rt_name_changes(path, pc), )
NUMBER(int, SYS_lsetxattr, 4, (const char *, path, const char *, name, const void *, from, size_t, size), STR(path);
       STR(name); IN_N(from, size); rt_name_changes(path, pc), )
NUMBER(int, SYS_fsetxattr, 4, (int, fd, const char *, name, const void *, from, size_t, size), FD(fd); STR(name);
       IN_N(from, size); SENDS(fd), )
NUMBER(int, SYS_removexattr, 2, (const char *, path, const char *, name), STR(path); STR(name);
       rt_name_changes(path, pc), )
NUMBER(int, SYS_lremovexattr, 2, (const char *, path, const char *, name), STR(path); STR(name);
       rt_name_changes(path, pc), )
NUMBER(int, SYS_fremovexattr, 2, (int, fd, const char *, name), FD(fd); STR(name); SENDS(fd), )
NUMBER(int, SYS_name_to_handle_at, 4, (int, folder, const char *, path, struct file_handle *, to, int *, mount),
       STR(path);
       IN_N(to, sizeof(unsigned)), WHEN(r == 0, OUT_N(to, 8 + to->handle_bytes); OUT(mount)))

/* Other memory, by process */
KERNEL(ssize_t, process_vm_readv, SYS_process_vm_readv, 6,
       (pid_t, pid, const struct iovec *, v, unsigned long, count, const struct iovec *, other, unsigned long, n,
        unsigned long, flags),
       IN_N(other, n * sizeof *other),
       WHEN(r > 0, vectors(RT_OP_WRITE, v, count, (size_t)r, pc);
            if (own_process(pid)) vectors(RT_OP_READ, other, n, (size_t)r, pc)))
KERNEL(ssize_t, process_vm_writev, SYS_process_vm_writev, 6,
       (pid_t, pid, const struct iovec *, v, unsigned long, count, const struct iovec *, other, unsigned long, n,
        unsigned long, flags),
       IN_N(other, n * sizeof *other);
       IN_VECTORS(v, count), WHEN(r > 0 && own_process(pid), vectors(RT_OP_WRITE, other, n, (size_t)r, pc)))

/* Queries and settings of the system */
NUMBER(int, SYS_getrlimit, 2, (unsigned, which, struct rlimit *, to), , WHEN(r == 0, rt_limit_seen(which, to); OUT(to)))
NUMBER(int, SYS_setrlimit, 2, (unsigned, which, const struct rlimit *, from), struct rlimit raised; IN(from);
       given[1] = (long)rt_limit_raised(which, from, &raised), if (r == 0) rt_limit_set(which, from))
NUMBER(int, SYS_clock_getres, 2, (int, clock, struct timespec *, to), , if (r == 0) OUT(to))
NUMBER(int, SYS_clock_settime, 2, (int, clock, const struct timespec *, from), IN(from), )
NUMBER(int, SYS_settimeofday, 2, (const struct timeval *, from, const struct timezone *, zone), IN(from); IN(zone), )
NUMBER(int, SYS_time, 1, (time_t *, to), , if (r != -1) OUT(to))
NUMBER(int, SYS_getitimer, 2, (int, which, struct itimerval *, to), , if (r == 0) OUT(to))
NUMBER(int, SYS_timer_gettime, 2, (long, timer, struct itimerspec *, to), , if (r == 0) OUT(to))
NUMBER(int, SYS_sched_setaffinity, 3, (pid_t, pid, size_t, size, const void *, from), IN_N(from, size), )
NUMBER(int, SYS_sched_setparam, 2, (pid_t, pid, const struct sched_param *, from), IN(from), )
NUMBER(int, SYS_sched_getparam, 2, (pid_t, pid, struct sched_param *, to), , if (r == 0) OUT(to))
NUMBER(int, SYS_sched_setscheduler, 3, (pid_t, pid, int, policy, const struct sched_param *, from), IN(from), )
NUMBER(int, SYS_sched_rr_get_interval, 2, (pid_t, pid, struct timespec *, to), , if (r == 0) OUT(to))
NUMBER(int, SYS_rt_sigpending, 2, (void *, to, size_t, size), , WHEN(r == 0, rt_signals_seen(pc); OUT_N(to, size)))
NUMBER(int, SYS_rt_sigsuspend, 2, (const void *, set, size_t, size), IN_N(set, size); LEAVES; AWAITS(SIGNAL), RETURNS;
       BLOCKS)
NUMBER(int, SYS_getresuid, 3, (uid_t *, one, uid_t *, two, uid_t *, three), ,
       WHEN(r == 0, OUT(one); OUT(two); OUT(three)))
NUMBER(int, SYS_getresgid, 3, (gid_t *, one, gid_t *, two, gid_t *, three), ,
       WHEN(r == 0, OUT(one); OUT(two); OUT(three)))
NUMBER(int, SYS_getgroups, 2, (int, n, gid_t *, to), , if (r > 0 && n) OUT_N(to, (size_t)r * sizeof *to))
NUMBER(int, SYS_setgroups, 2, (size_t, n, const gid_t *, from), IN_N(from, n * sizeof *from), )
NUMBER(int, SYS_getcpu, 2, (unsigned *, one, unsigned *, two), , WHEN(r == 0, OUT(one); OUT(two)))
NUMBER(int, SYS_sethostname, 2, (const char *, from, size_t, size), IN_N(from, size), )
NUMBER(int, SYS_getsockname, 3, (int, fd, void *, to, socklen_t *, length), socklen_t room = room_of(to, length, pc);
       FD(fd), if (r == 0) OUT_ADDRESS(to, length))
NUMBER(int, SYS_getpeername, 3, (int, fd, void *, to, socklen_t *, length), socklen_t room = room_of(to, length, pc);
       FD(fd), if (r == 0) OUT_ADDRESS(to, length))
NUMBER(int, SYS_getsockopt, 5, (int, fd, int, level, int, option, void *, to, socklen_t *, length),
       socklen_t room = room_of(to, length, pc);
       FD(fd), if (r == 0) OUT_ADDRESS(to, length))
NUMBER(int, SYS_setsockopt, 5, (int, fd, int, level, int, option, const void *, from, socklen_t, length),
       IN_N(from, length);
       FD(fd); rt_fd_option(fd, level, option), )
KERNEL(int, msgctl, SYS_msgctl, 3, (int, id, int, command, struct msqid_ds *, data), if (command == IPC_SET) IN(data),
       WHEN(r >= 0 && command == IPC_STAT, AFTER(rt_message_queue(id)); OUT(data)))
NUMBER(int, SYS_shmctl, 3, (int, id, int, command, struct shmid_ds *, data), if (command == IPC_SET) IN(data),
       if (r >= 0 && command == IPC_STAT) OUT(data))
NUMBER(int, SYS_mq_unlink, 1, (const char *, path), STR(path), )
NUMBER(int, SYS_mq_getsetattr, 3, (mqd_t, fd, const struct mq_attr *, from, struct mq_attr *, old), FD(fd);
       IN(from), WHEN(r == 0 && old, if (old->mq_curmsgs > 0) rt_fd_received(fd, true, pc); OUT(old)))
NUMBER(int, SYS_mincore, 3, (void *, at, size_t, size, unsigned char *, to), ,
       if (r == 0) OUT_N(to, (size + 4095) / 4096))

/* Rings and queues that the kernel works on by itself: what they order is not seen. */
NUMBER(int, SYS_io_uring_setup, 2, (unsigned, entries, void *, parameters), , if (r >= 0) NOT_UNDERSTOOD)
NUMBER(int, SYS_io_uring_enter, 4, (int, fd, unsigned, submit, unsigned, complete, unsigned, flags), NOT_UNDERSTOOD,
       NOT_UNDERSTOOD)
NUMBER(int, SYS_io_setup, 2, (unsigned, events, void *, context), , if (r >= 0) NOT_UNDERSTOOD)
NUMBER(int, SYS_io_submit, 3, (long, context, long, n, void *, list), NOT_UNDERSTOOD, )
NUMBER(int, SYS_io_getevents, 5, (long, context, long, least, long, most, void *, events, void *, timeout), ,
       NOT_UNDERSTOOD)
LIBRARY(int, io_uring_queue_init, 3, (unsigned, entries, void *, ring, unsigned, flags), , if (r >= 0) NOT_UNDERSTOOD)
LIBRARY(int, io_uring_queue_init_params, 3, (unsigned, entries, void *, ring, void *, parameters), ,
        if (r >= 0) NOT_UNDERSTOOD)
LIBRARY(int, io_uring_queue_init_mem, 5,
        (unsigned, entries, void *, ring, void *, parameters, void *, memory, size_t, size), ,
        if (r >= 0) NOT_UNDERSTOOD)
LIBRARY(int, io_uring_submit, 1, (void *, ring), NOT_UNDERSTOOD, )
LIBRARY(int, io_uring_submit_and_wait, 2, (void *, ring, unsigned, n), NOT_UNDERSTOOD, NOT_UNDERSTOOD)
