/*
 * Tree: a sorted tree behind a wrapper that takes a lock around each call, as Java's synchronizedSortedSet does
 * (TreeSet in PECAN's Table 1).
 *
 * The bug: sum_all() asks for one key after the other; each call locks the tree, the walk as a whole does not. A key
 * that is put in meanwhile is met or not, and what was counted at the beginning is not what was met. The whole walk is
 * meant to be atomic.
 *
 * In the recorded run the new key is put in when the walk is over.
 */
#include "../../recorder/racetrace.h"
#include "run.h"

struct node {
	struct node *left, *right;
	int key;
};

struct tree {
	pthread_mutex_t lock;
	struct node *root;
	int size;
};

static struct node nodes[] = {{NULL, NULL, 1}, {NULL, NULL, 3}, {&nodes[0], &nodes[1], 2}};
struct tree tree = {PTHREAD_MUTEX_INITIALIZER, &nodes[2], 3};

static int tree_size(struct tree *t)
{
	int size;

	pthread_mutex_lock(&t->lock);
	size = t->size; /* @size */
	pthread_mutex_unlock(&t->lock);
	return size;
}

/* The least key above; 0 if there is none. */
static int tree_above(struct tree *t, int key)
{
	int above = 0;

	pthread_mutex_lock(&t->lock);
	for (const struct node *n = t->root; n;)
		if (n->key > key) {
			above = n->key;
			n = n->left; /* @left */
		} else {
			n = n->right; /* @right */
		}
	pthread_mutex_unlock(&t->lock);
	return above;
}

/* Puts a new leaf at the right end. */
static void tree_append(struct tree *t, struct node *leaf)
{
	struct node *n;

	pthread_mutex_lock(&t->lock);
	for (n = t->root; n->right; n = n->right)
		;
	leaf->key = n->key + 1;
	n->right = leaf; /* @link */
	t->size++;       /* @count */
	pthread_mutex_unlock(&t->lock);
}

static void sum_all(int thread, int round)
{
	int count = 0, size;

	(void)thread;
	(void)round;
	racetrace_region_begin();
	size = tree_size(&tree);
	for (int key = tree_above(&tree, 0); key; key = tree_above(&tree, key))
		count++;
	if (tree_size(&tree) == size && count != size)
		puts("ERROR: keys were missed");
	racetrace_region_end();
}

static void append(int thread, int round)
{
	(void)thread;
	if (round % 64 == 0 && round < 512)
		tree_append(&tree, calloc(1, sizeof(struct node)));
}

int main(int argc, char **argv)
{
	static part *const parts[] = {sum_all, append};

	run(argc, argv, parts, 2, 2);
	for (struct node *n = nodes[1].right, *next; n; n = next) {
		next = n->right;
		free(n);
	}
	return 0;
}
