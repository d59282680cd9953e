// Drives LevelDB from several threads: writers put, readers get and iterate, compaction runs in its own thread and by
// hand. The write buffer is small, so that memtables are flushed and levels compacted. Checks every value at the end.
//
// Usage: leveldb_driver FOLDER KEYS
#include "leveldb/db.h"
#include "leveldb/write_batch.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

static const int kWriters = 2, kReaders = 2;

static std::string key(int writer, int i)
{
	char text[32];
	snprintf(text, sizeof text, "key-%d-%08d", writer, i);
	return text;
}

static std::string value(int writer, int i)
{
	return std::string(100, static_cast<char>('a' + (writer * 7 + i) % 26));
}

static void check(const leveldb::Status &status)
{
	if (!status.ok()) {
		fprintf(stderr, "%s\n", status.ToString().c_str());
		exit(3);
	}
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	const int keys = atoi(argv[2]);
	leveldb::Options options;
	options.create_if_missing = true;
	options.write_buffer_size = 64 << 10;
	options.compression = leveldb::kNoCompression;
	check(leveldb::DestroyDB(argv[1], options)); // which an earlier run left
	leveldb::DB *raw = nullptr;
	check(leveldb::DB::Open(options, argv[1], &raw));
	std::unique_ptr<leveldb::DB> db(raw);

	std::vector<std::thread> threads;
	for (int w = 0; w < kWriters; w++)
		threads.emplace_back([&db, w, keys] {
			for (int i = 0; i < keys; i += 2) {
				leveldb::WriteBatch batch;
				batch.Put(key(w, i), value(w, i));
				batch.Put(key(w, i + 1), value(w, i + 1));
				check(db->Write(leveldb::WriteOptions(), &batch));
			}
		});
	for (int r = 0; r < kReaders; r++)
		threads.emplace_back([&db, r, keys] {
			std::string got;
			for (int i = 0; i < keys; i++) {
				leveldb::Status status = db->Get(leveldb::ReadOptions(), key(r % kWriters, i), &got);
				if (!status.IsNotFound())
					check(status);
				if (i % 256 == 0) {
					std::unique_ptr<leveldb::Iterator> it(db->NewIterator(leveldb::ReadOptions()));
					int n = 0;
					for (it->SeekToFirst(); it->Valid() && n < 100; it->Next())
						n++;
				}
			}
		});
	threads.emplace_back([&db] { db->CompactRange(nullptr, nullptr); });
	for (std::thread &t : threads)
		t.join();

	int wrong = 0;
	std::string got;
	for (int w = 0; w < kWriters; w++)
		for (int i = 0; i < keys; i++)
			if (!db->Get(leveldb::ReadOptions(), key(w, i), &got).ok() || got != value(w, i))
				wrong++;
	printf("%d keys, %d wrong\n", kWriters * keys, wrong);
	return wrong ? 1 : 0;
}
