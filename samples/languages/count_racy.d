// Two threads increment a shared counter without a lock.
import core.thread;
import core.sync.mutex;

__gshared int counter;

void work()
{
    foreach (i; 0 .. 10)
        counter++;
}

void main()
{
    auto a = new Thread(&work).start();
    auto b = new Thread(&work).start();
    a.join();
    b.join();
}
