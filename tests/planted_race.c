/*
 * planted_race.c - threads that count together without asking each other. The thread sanitizer must
 * see it; it must not take the barrier, the reduction and the critical section for races, which it
 * would without the tool that tells it of them.
 */
#include <stdio.h>

enum { N = 64, THREADS = 4 };

int main(void)
{
    static int count, cell[N], sum;
    int total = 0;
#pragma omp parallel for num_threads(THREADS) reduction(+ : total)
    for (int i = 0; i < N; i++) {
        total += i;
        cell[i] = i;
    }
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp for
        for (int i = 0; i < N; i++)
            cell[i]++;
        for (int i = 0; i < N; i++) {
#pragma omp critical(sum)
            sum += cell[i];
        }
    }
#pragma omp parallel for num_threads(THREADS)
    for (int i = 0; i < N; i++)
        count++; /* here */
    printf("%d %d %d\n", total, sum, count);
    return 0;
}
