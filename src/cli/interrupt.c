/*
 * interrupt.c - what to say when a run is interrupted: how to go on.
 *
 * Files are whole at any moment, so nothing is to be done but to say so and to end as the signal
 * would have it.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static const char *volatile advice;

static void interrupt(int number)
{
    if (advice)
        (void)!write(STDERR_FILENO, advice, strlen(advice));
    signal(number, SIG_DFL);
    raise(number);
}

void mase_cli_on_interrupt(const char *text)
{
    static const int numbers[] = { SIGINT, SIGTERM };
    advice = text;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (signal(numbers[i], interrupt) == SIG_IGN)
            signal(numbers[i], SIG_IGN); /* as whoever started us wants it */
}
