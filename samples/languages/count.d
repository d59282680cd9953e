// Two threads increment a shared counter under a lock.
import core.thread;
import core.sync.mutex;

__gshared int counter;
__gshared Mutex lock;

void work()
{
    foreach (i; 0 .. 10)
    {
        lock.lock();
        counter++;
        lock.unlock();
    }
}

void main()
{
    lock = new Mutex;
    auto a = new Thread(&work).start();
    auto b = new Thread(&work).start();
    a.join();
    b.join();
}
