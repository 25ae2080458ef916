/*
 * reader_socket.c - send and receive through the reader's socket, for both sides.
 */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "data/reader.h"

bool mase_reader_send(int fd, const void *data, size_t size)
{
    for (const char *p = data; size;) {
        const ssize_t n = send(fd, p, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

bool mase_reader_receive(int fd, void *data, size_t size)
{
    for (char *p = data; size;) {
        const ssize_t n = read(fd, p, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}
