/*
 * trials.h: how much tests do: one factor for all of them, SELVAGE_TRIALS in the environment
 * (default 1). make check runs with less, make check-deep with all, a night with ten times as much:
 *
 *     SELVAGE_TRIALS=10 ctest --test-dir build/check -R oracle/
 *
 * tests/support/trials.py is the same for tests in Python.
 */
#ifndef SELVAGE_TRIALS_H
#define SELVAGE_TRIALS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static inline double test_factor(void)
{
    const char *text = getenv("SELVAGE_TRIALS");
    char *end = NULL;
    double factor = text == NULL ? 1 : strtod(text, &end);
    if (text != NULL && (end == text || *end != 0 || !(factor > 0))) {
        fprintf(stderr, "SELVAGE_TRIALS is a factor above 0, such as 0.1 or 5, not '%s'\n", text);
        exit(2);
    }
    return factor;
}

/* A number of trials, times the factor; at least one. */
static inline uint32_t test_times(uint32_t count)
{
    double times = count * test_factor() + 0.5;
    return times < 1 ? 1 : times > 4e9 ? 4000000000u : (uint32_t)times;
}

/*
 * Whether there are as many trials as there are meant to be: what they are to meet must have been
 * met then, and not with less, which would be a matter of luck.
 */
static inline bool test_enough(void)
{
    return test_factor() >= 1;
}

/*
 * Whether the next of many cases, each with a check of its own, is in the part that is run: all of
 * them with a factor of 1, every fifth with 0.2, the first always. *seen counts them.
 */
static inline bool test_takes(uint32_t *seen)
{
    double factor = test_factor();
    return (*seen)++ % (factor >= 1 ? 1 : (uint32_t)(1 / factor + 0.5)) == 0;
}

/* The same for a program whose first argument is the number of trials, if it is given. */
static inline uint32_t test_trials(int argc, char **argv, uint32_t count)
{
    return argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : test_times(count);
}

#endif
