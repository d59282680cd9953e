! The sum is updated by all threads of the team; the reduction gives each a copy of its own.
program total
  implicit none
  integer :: i, sum
  sum = 0
!$omp parallel do reduction(+:sum)
  do i = 1, 100
    sum = sum + i
  end do
!$omp end parallel do
  if (sum < 0) print *, sum
end program total
