/*
 * Drives SQLite from several threads, each with a connection of its own to one database in WAL mode: writers insert in
 * transactions, readers select sums, one thread checkpoints. Ends with a check of its own that nothing was lost.
 *
 * Usage: sqlite_driver DATABASE TRANSACTIONS
 */
#include "sqlite3.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { WRITERS = 2, READERS = 1, ROWS = 20 };

static const char *path;
static int transactions;

static void die(sqlite3 *db, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, db ? sqlite3_errmsg(db) : "no connection");
	exit(3);
}

/* Removes the database that an earlier run left. */
static void clear(void)
{
	static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
	char name[4096];
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		snprintf(name, sizeof name, "%s%s", path, endings[i]);
		remove(name);
	}
}

static sqlite3 *connect(void)
{
	sqlite3 *db = NULL;
	if (sqlite3_open(path, &db) != SQLITE_OK)
		die(db, "open");
	sqlite3_busy_timeout(db, 60000);
	return db;
}

static void run(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		die(db, sql);
}

static sqlite3_int64 ask(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement;
	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK || sqlite3_step(statement) != SQLITE_ROW)
		die(db, sql);
	sqlite3_int64 answer = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return answer;
}

static void *writer(void *arg)
{
	sqlite3 *db = connect();
	sqlite3_stmt *insert;
	if (sqlite3_prepare_v2(db, "INSERT INTO t(writer, n, text) VALUES(?, ?, ?)", -1, &insert, NULL) != SQLITE_OK)
		die(db, "prepare");
	for (int i = 0; i < transactions; i++) {
		run(db, "BEGIN IMMEDIATE");
		for (int row = 0; row < ROWS; row++) {
			char text[64];
			int length = snprintf(text, sizeof text, "row %d of transaction %d", row, i);
			sqlite3_bind_int(insert, 1, *(int *)arg);
			sqlite3_bind_int(insert, 2, row);
			sqlite3_bind_text(insert, 3, text, length, SQLITE_STATIC);
			if (sqlite3_step(insert) != SQLITE_DONE)
				die(db, "insert");
			sqlite3_reset(insert);
		}
		run(db, "COMMIT");
	}
	sqlite3_finalize(insert);
	sqlite3_close(db);
	return NULL;
}

static void *reader(void *arg)
{
	(void)arg;
	sqlite3 *db = connect();
	for (int i = 0; i < transactions; i++)
		if (ask(db, "SELECT count(*) FROM t") % ROWS != 0)
			die(db, "half a transaction is visible");
	sqlite3_close(db);
	return NULL;
}

static void *checkpointer(void *arg)
{
	(void)arg;
	sqlite3 *db = connect();
	for (int i = 0; i < transactions / 4; i++)
		ask(db, "PRAGMA wal_checkpoint(PASSIVE)");
	sqlite3_close(db);
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	path = argv[1];
	transactions = atoi(argv[2]);
	clear();
	sqlite3 *db = connect();
	run(db, "PRAGMA journal_mode=WAL");
	run(db, "PRAGMA synchronous=OFF");
	run(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, writer INT, n INT, text TEXT)");
	run(db, "CREATE INDEX by_text ON t(text)");
	pthread_t threads[WRITERS + READERS + 1];
	int numbers[WRITERS];
	int count = 0;
	for (int i = 0; i < WRITERS; i++) {
		numbers[i] = i;
		pthread_create(&threads[count++], NULL, writer, &numbers[i]);
	}
	for (int i = 0; i < READERS; i++)
		pthread_create(&threads[count++], NULL, reader, NULL);
	pthread_create(&threads[count++], NULL, checkpointer, NULL);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	sqlite3_int64 rows = ask(db, "SELECT count(*) FROM t");
	sqlite3_close(db);
	printf("%lld rows\n", rows);
	return rows == (sqlite3_int64)WRITERS * transactions * ROWS ? 0 : 1;
}
