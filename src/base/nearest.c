/*
 * nearest.c - "did you mean": the known name closest to what was typed.
 *
 * Distance is the number of letters inserted, dropped, changed or swapped with their neighbour,
 * upper and lower case being equal. A name counts as meant when a third of the word or less is
 * wrong; failing that, when one of the two is the beginning of the other ("optim" for
 * "optimizer").
 */
#include <mase/str.h>

#include <limits.h>
#include <string.h>

#include "base/number.h"

enum { LONGEST = 128, SHORTEST_PREFIX = 3 };

static int least(int a, int b, int c)
{
    const int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

static bool same(char a, char b)
{
    return mase_to_lower(a) == mase_to_lower(b);
}

/* Optimal string alignment distance; both texts shorter than LONGEST. */
static int distance(const char *a, int n, const char *b, int m)
{
    int rows[3][LONGEST + 1];
    int *before = rows[0], *above = rows[1], *row = rows[2];
    for (int j = 0; j <= m; j++)
        above[j] = j;
    for (int i = 1; i <= n; i++) {
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            const int change = above[j - 1] + !same(a[i - 1], b[j - 1]);
            row[j] = least(above[j] + 1, row[j - 1] + 1, change);
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                row[j] = least(row[j], row[j], before[j - 2] + 1);
        }
        int *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[m];
}

static bool is_beginning(const char *a, int n, const char *b, int m)
{
    const int shorter = n < m ? n : m;
    return shorter >= SHORTEST_PREFIX && mase_strncaseeq(a, b, (size_t)shorter);
}

const char *mase_nearest(const char *word, const char *const *names, int n)
{
    const size_t len = strlen(word);
    if (len == 0 || len >= LONGEST)
        return NULL;
    const int wrong_limit = ((int)len + 2) / 3;
    const char *best = NULL, *begun = NULL;
    int best_distance = INT_MAX, begun_excess = INT_MAX;
    for (int i = 0; i < n; i++) {
        const size_t m = names[i] ? strlen(names[i]) : 0;
        if (m == 0 || m >= LONGEST)
            continue;
        const int d = distance(word, (int)len, names[i], (int)m);
        const int longer = (int)(len > m ? len : m), shorter = (int)(len + m) - longer;
        if (d <= wrong_limit && d < longer && d < best_distance) {
            best = names[i];
            best_distance = d;
        }
        if (is_beginning(word, (int)len, names[i], (int)m) && longer - shorter < begun_excess) {
            begun = names[i];
            begun_excess = longer - shorter;
        }
    }
    return best ? best : begun;
}
