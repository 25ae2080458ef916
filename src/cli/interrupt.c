/*
 * interrupt.c - when a run is interrupted, print how to resume it. Files are complete at any
 * moment, so the handler prints and lets the signal end the process.
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
            signal(numbers[i], SIG_IGN); /* ignored by the parent process: keep it so */
}
