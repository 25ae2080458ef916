/*
 * lzf.h - unpacking LZF, the compression that h5py brings with it.
 *
 *     000LLLLL                      L + 1 bytes follow as they are
 *     LLLooooo oooooooo             L + 2 bytes again, from o + 1 bytes before (L below 7)
 *     111ooooo LLLLLLLL oooooooo    L + 9 bytes again
 */
#ifndef MASE_DATA_LZF_H
#define MASE_DATA_LZF_H

#include <stddef.h>

/* Returns how many bytes it comes to; 0: it is damaged; more than room: it takes more than that. */
size_t mase_unlzf(unsigned char *to, size_t room, const unsigned char *from, size_t size);

#endif /* MASE_DATA_LZF_H */
