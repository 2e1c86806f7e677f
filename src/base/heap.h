/*
 * heap.h: the first of many: an array (array.h) as a binary heap, with at[0] before all others.
 *
 *     SV_TRY(sv_array_push(ctx, &heap, one));
 *     sv_heap_rise(struct one, &heap, earlier);     the last goes to its place
 *     first = heap.at[0];
 *     sv_heap_drop(struct one, &heap, earlier);     the first leaves; there is one
 *
 * earlier(a, b), of pointers, says whether one is before the other; function or macro. Whoever
 * wants the same order everywhere lets no two be equal.
 *
 * Invariant: nothing is before its parent, which at i is at (i - 1) / 2.
 * Cost: O(log n) for each of n.
 */
#ifndef SV_BASE_HEAP_H
#define SV_BASE_HEAP_H

#include <stddef.h>

#define sv_heap_rise(type, heap, earlier)                                                          \
    do {                                                                                           \
        type *at_ = (heap)->at;                                                                    \
        size_t i_ = (heap)->length - 1;                                                            \
        const type one_ = at_[i_];                                                                 \
        for (; i_ > 0 && earlier(&one_, &at_[(i_ - 1) / 2]); i_ = (i_ - 1) / 2)                    \
            at_[i_] = at_[(i_ - 1) / 2];                                                           \
        at_[i_] = one_;                                                                            \
    } while (0)

#define sv_heap_drop(type, heap, earlier)                                                          \
    do {                                                                                           \
        type *at_ = (heap)->at;                                                                    \
        size_t length_ = --(heap)->length, i_ = 0;                                                 \
        const type last_ = at_[length_];                                                           \
        for (size_t k_ = 1; k_ < length_; k_ = 2 * i_ + 1) {                                       \
            k_ += k_ + 1 < length_ && earlier(&at_[k_ + 1], &at_[k_]);                             \
            if (!earlier(&at_[k_], &last_))                                                        \
                break;                                                                             \
            at_[i_] = at_[k_];                                                                     \
            i_ = k_;                                                                               \
        }                                                                                          \
        at_[i_] = last_;                                                                           \
    } while (0)

#endif
