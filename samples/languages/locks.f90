! Two sums, each updated under a lock.
program locks
  use omp_lib
  implicit none
  integer :: i, sum, nested
  integer(omp_lock_kind) :: lock
  integer(omp_nest_lock_kind) :: nest
  sum = 0
  nested = 0
  call omp_init_lock(lock)
  call omp_init_nest_lock(nest)
!$omp parallel do
  do i = 1, 100
    call omp_set_lock(lock)
    sum = sum + i
    call omp_unset_lock(lock)
    call omp_set_nest_lock(nest)
    call omp_set_nest_lock(nest)
    nested = nested + i
    call omp_unset_nest_lock(nest)
    nested = nested + i
    call omp_unset_nest_lock(nest)
  end do
!$omp end parallel do
  if (sum + nested < 0) print *, sum, nested
end program locks
