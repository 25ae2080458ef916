/*
 * lzf.c - unpack LZF (lzf.h).
 */
#include "data/lzf.h"

#include <string.h>

size_t mase_unlzf(unsigned char *to, size_t room, const unsigned char *from, size_t size)
{
    const unsigned char *end = from + size;
    size_t at = 0;
    while (from < end) {
        const size_t head = *from++;
        size_t n = head < 32 ? head + 1 : head >> 5;
        if (head < 32) {
            if (n > (size_t)(end - from))
                return 0;
            if (n > room - at)
                return room + 1;
            memcpy(to + at, from, n);
            from += n;
            at += n;
            continue;
        }
        if (n == 7 && from < end)
            n += *from++;
        if (from == end)
            return 0;
        const size_t back = ((head & 31) << 8 | *from++) + 1;
        n += 2;
        if (back > at)
            return 0;
        if (n > room - at)
            return room + 1;
        for (; n; n--, at++) /* source and target may overlap, which repeats bytes */
            to[at] = to[at - back];
    }
    return at;
}
