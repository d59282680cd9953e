// Accesses of every size and shape, and memory of every kind. One thread writes a byte of an object, another touches
// that byte in its own way; in accesses.cpp it touches the object's other half.
#include <alloca.h>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <unistd.h>

#ifndef RACE_FREE
#define RACE_FREE 0
#endif
static volatile std::uintptr_t sink;
static volatile std::size_t many = 16;

// p is 32 bytes that no other thread touches, if there is to be no race, or that another has written the last byte of.
#define TOUCHED(name, touch)                                                                                           \
	alignas(32) static volatile char name[64];                                                                     \
	static void *name##_use(void *second)                                                                          \
	{                                                                                                              \
		auto p = (char *)name + (RACE_FREE ? 32 : 0);                                                          \
		if (!second) {                                                                                         \
			write(name + 15);                                                                              \
			return nullptr;                                                                                \
		}                                                                                                      \
		usleep(20000);                                                                                         \
		touch;                                                                                                 \
		(void)p;                                                                                               \
		return nullptr;                                                                                        \
	}
static void write(volatile char *byte)
{
	*byte = 1; // @write
}
template <class T> static volatile T &at(char *p)
{
	return *(volatile T *)p;
}
struct packed {
	char before[7];
	std::uint64_t value;
	char after;
} __attribute__((packed));
struct fields {
	unsigned a : 3, b : 29, c : 31, d : 1;
};
struct block {
	long words[2];
};
typedef int vector __attribute__((vector_size(16)));
static block sunk;
static volatile vector sunk_vector;

TOUCHED(of_1, sink = at<std::uint8_t>(p + 15))                                // @of_1
TOUCHED(of_2, sink = at<std::uint16_t>(p + 14))                               // @of_2
TOUCHED(of_4, sink = at<std::uint32_t>(p + 12))                               // @of_4
TOUCHED(of_8, sink = at<std::uint64_t>(p + 8))                                // @of_8
TOUCHED(of_16, sink = (std::uintptr_t)at<unsigned __int128>(p))               // @of_16
TOUCHED(to_2, at<std::uint16_t>(p + 14) = 1)                                  // @to_2
TOUCHED(to_8, at<std::uint64_t>(p + 8) = 1)                                   // @to_8
TOUCHED(to_16, at<unsigned __int128>(p) = 1)                                  // @to_16
TOUCHED(unaligned, sink = ((volatile packed *)(p + 1))->value)                // @unaligned
TOUCHED(by_a_byte, ((volatile packed *)(p + 8))->value = 1)                   // @by_a_byte
TOUCHED(field, ((volatile fields *)(p + 8))->d = 1)                           // @field
TOUCHED(copied, sunk = *(block *)p)                                           // @copied
TOUCHED(copied_to, *(block *)p = sunk)                                        // @copied_to
TOUCHED(in_vector, sunk_vector = *(vector *)p)                                // @in_vector
TOUCHED(in_range, std::memset(p, 1, many))                                    // @in_range
TOUCHED(atomic_too, __atomic_fetch_add((long *)(p + 8), 1, __ATOMIC_SEQ_CST)) // @atomic_too

// Memory of other kinds, which its owner lends to another thread and writes too soon
static char *lent[3];
#define LENT(name, number, make)                                                                                       \
	static void *name##_use(void *second)                                                                          \
	{                                                                                                              \
		auto &shared = lent[number];                                                                           \
		if (!second) {                                                                                         \
			make;                                                                                          \
			__atomic_store_n(&shared, (char *)own, __ATOMIC_RELEASE);                                      \
			usleep(40000);                                                                                 \
			((volatile char *)own)[RACE_FREE ? 1 : 0] = 1;                                                 \
			usleep(20000);                                                                                 \
			return nullptr;                                                                                \
		}                                                                                                      \
		char *other;                                                                                           \
		while (!(other = __atomic_load_n(&shared, __ATOMIC_ACQUIRE)))                                          \
			usleep(1000);                                                                                  \
		write(other);                                                                                          \
		return nullptr;                                                                                        \
	}
static thread_local char of_thread[16];
LENT(on_stack, 0, char own[16])                     // @on_stack
LENT(by_alloca, 1, auto own = (char *)alloca(many)) // @by_alloca
LENT(in_tls, 2, auto own = of_thread)               // @in_tls

// A virtual call while the object is still being made, or gone already
struct base {
	virtual ~base()
	{ // @destroyed
		usleep(RACE_FREE ? 0 : 40000);
	}
	virtual long kind()
	{
		return 1;
	}
};
struct derived final : base {
	~derived() override
	{
		sink = 1; // @sunk
	}
	long kind() override
	{
		return 2;
	}
};
static base *object = new derived;
static void *called_use(void *second)
{
	if (RACE_FREE)
		return nullptr;
	if (second) {
		usleep(20000);
		sink = object->kind(); // @called
	} else {
		object->~base();
	}
	return nullptr;
}

int main()
{
	static void *(*const parts[])(void *) = {
	    of_1_use,     of_2_use,       of_4_use,      of_8_use,      of_16_use,  to_2_use,      to_8_use,
	    to_16_use,    unaligned_use,  by_a_byte_use, field_use,     copied_use, copied_to_use, in_vector_use,
	    in_range_use, atomic_too_use, on_stack_use,  by_alloca_use, in_tls_use, called_use};
	for (auto part : parts) {
		pthread_t a, b;
		pthread_create(&a, nullptr, part, nullptr);
		pthread_create(&b, nullptr, part, &object);
		pthread_join(a, nullptr);
		pthread_join(b, nullptr);
	}
}
