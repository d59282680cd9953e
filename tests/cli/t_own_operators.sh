#!/bin/bash
# t_own_operators.sh BUILD: an allocator that has operators of its own hands out new memory by them, and a program with
# the C++ library linked statically has none but the recorder's.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
cat >pool.cpp <<'C'
#include <stdlib.h>
#include <new>
extern "C" {
static char memory[1 << 24];
static size_t used;
static struct block { size_t size; block *next; } *idle;
static int busy;
static void lock() { while (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE)); }
static void unlock() { __atomic_store_n(&busy, 0, __ATOMIC_RELEASE); }
static void *get(size_t size)
{
	lock();
	size = (size + 31) & ~(size_t)31;
	block **b = &idle;
	while (*b && (*b)->size != size)
		b = &(*b)->next;
	block *got = *b;
	if (got)
		*b = got->next;
	else
		(got = (block *)(memory + used))->size = size, used += size + 32;
	unlock();
	return (char *)got + 32;
}
static void put(void *p)
{
	if (!p)
		return;
	block *b = (block *)((char *)p - 32);
	lock();
	b->next = idle;
	idle = b;
	unlock();
}
void *malloc(size_t size) { return get(size); }
void *calloc(size_t n, size_t size) { char *p = (char *)get(n * size); for (size_t i = 0; i < n * size; i++) p[i] = 0; return p; }
void free(void *p) { put(p); }
size_t malloc_usable_size(void *p) { return p ? ((block *)((char *)p - 32))->size : 0; }
void *realloc(void *p, size_t size) { char *q = (char *)get(size); for (size_t i = 0; p && i < size && i < malloc_usable_size(p); i++) q[i] = ((char *)p)[i]; put(p); return q; }
}
void *operator new(size_t size) { return get(size); }
void operator delete(void *p) noexcept { put(p); }
void operator delete(void *p, size_t) noexcept { put(p); }
C
cat >app.cpp <<'C'
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
static std::mutex m;
static std::vector<std::unique_ptr<std::string>> box;
static void work()
{
	for (int i = 0; i < 50; i++) {
		auto p = std::make_unique<std::string>(i % 40, 'a');
		std::lock_guard<std::mutex> l(m);
		box.push_back(std::move(p));
		if (box.size() > 10)
			box.erase(box.begin());
	}
}
int main()
{
	std::vector<std::thread> threads;
	for (int i = 0; i < 3; i++)
		threads.emplace_back(work);
	for (auto &t : threads)
		t.join();
	return box.size() != 10;
}
C
g++ -O2 -fPIC -shared -fno-builtin pool.cpp -o libpool.so || exit 1
for with in ./libpool.so '-static-libstdc++ -static-libgcc'; do
	g++ -g -O1 -fsanitize=thread app.cpp -o app $with || exit 1
	rm -f t.zst
	"$RACETRACE" record -o t.zst ./app 2>err || wrong "$with: $(cat err)"
	"$RACETRACE" analyze -f json t.zst >report.json || wrong "$with: $(jq -c '[.findings[].title]' report.json)"
	jq -e '.findings == []' report.json >/dev/null || wrong "$with: $(jq -c '[.findings[].title]' report.json)"
	[ "$("$RACETRACE" dump t.zst | grep -c ' free  ')" -ge 250 ] || wrong "$with: frees are missing"
done
exit $fail
