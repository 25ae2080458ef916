/*
 * lzf.h - unpack LZF, a compression of h5py.
 *
 *     000LLLLL                      L + 1 bytes follow as they are
 *     LLLooooo oooooooo             L + 2 bytes again, from o + 1 bytes before (L below 7)
 *     111ooooo LLLLLLLL oooooooo    L + 9 bytes again
 */
#ifndef MASE_DATA_LZF_H
#define MASE_DATA_LZF_H

#include <stddef.h>

/* Returns the unpacked size; 0: damaged; more than room: it did not fit. */
size_t mase_unlzf(unsigned char *to, size_t room, const unsigned char *from, size_t size);

#endif /* MASE_DATA_LZF_H */
