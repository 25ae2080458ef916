"""exact_numbers.py - arithmetic that the oracles of this folder share: Python's integers, and float32 rounded once."""
from fractions import Fraction

import numpy as np

NEAREST_EVEN, NEAREST_AWAY, FLOOR, TOWARD_ZERO, SIGN = "nearest_even", "nearest_away", "floor", "toward_zero", "sign"


def dyadic(x):
    """A float as integer and exponent: x = m 2^-e, e at least 0."""
    numerator, denominator = float(x).as_integer_ratio()
    return numerator, denominator.bit_length() - 1


def divide(n, by, direction=NEAREST_EVEN):
    """n / by as an integer; n an integer of Python's or an array of them, by positive."""
    whole = n // by
    rest = 2 * (n - whole * by)
    if direction == FLOOR:
        return whole
    if direction == SIGN:
        return np.where(n >= 0, 1, -1).astype(object)
    more = {
        TOWARD_ZERO: (n < 0) & (rest != 0),
        NEAREST_AWAY: (rest > by) | ((rest == by) & (n >= 0)),
        NEAREST_EVEN: (rest > by) | ((rest == by) & (whole % 2 == 1)),
    }
    return whole + np.asarray(more[direction]).astype(object)


def half_even(n, shift):
    """n / 2^shift to the nearest integer, ties to even; shift at least 0, both arrays of integers."""
    return divide(n, np.asarray(1, dtype=object) << shift)


def nearest_float(n, by=1):
    """The float32 next to the integer n over a power of two: cut to 24 bits by integers, then exact."""
    sign, n = (-1 if n < 0 else 1), abs(int(n))
    drop = max(n.bit_length() - 24, 0)
    kept = int(divide(n, 1 << drop))
    return np.float32(sign * kept * 2.0 ** (drop - (int(by).bit_length() - 1)))


def fused(a, x, b):
    """float32(a x + b), rounded once: the sum in float64 is made odd where it is not exact."""
    with np.errstate(all="ignore"):
        product = a.astype(np.float64) * x.astype(np.float64)
        b = np.broadcast_to(b.astype(np.float64), product.shape)
        total = product + b
        back = total - product
        error = (product - (total - back)) + (b - back)
        even = (np.frexp(total)[0] * 2.0**53) % 2 == 0
        total = np.where((error != 0) & even & np.isfinite(error), np.nextafter(total, np.copysign(np.inf, error)), total)
        return total.astype(np.float32)


def exact_product(x, w):
    """Integers times integers, (..., inputs) by (outputs, inputs): in 64 bits while no sum can pass them, else Python's."""
    of_x, of_w = int(np.abs(x).max(initial=0)), int(np.abs(w).sum(axis=1).max(initial=0))
    if max(of_x, of_w, of_x * of_w) < 2**62:  # zeros times what has no room
        return (x.astype(np.int64) @ w.astype(np.int64).T).astype(object)
    return x @ w.T


def largest_unit(numbers):
    """The largest fraction of which all are multiples; 1: all are zero."""
    unit = Fraction(0)
    for x in numbers:
        while x:
            unit, x = x, unit % x
    return abs(unit) or Fraction(1)
